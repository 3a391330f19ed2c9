/* Many sessions on recordings, run in parallel. */
#include "base/base.h"
#include "format/format.h"
#include "measurement/measurement.h"
#include "session/sources.h"

struct run {
  double *fractions;   /* [evaluation] */
  clt_config *configs; /* the same */
  size_t n, budget;
  const clt_objective *objective;
  double optimum, best; /* costs */
  clt_tune_result *result;
};

struct replay {
  const clt_tune_settings *settings;
  clt_replay_result *result;
  struct run *runs;           /* [recording][repeat] */
  clt_objective **objectives; /* of each recording: their sizes differ */
};

static void on_progress(void *user, const clt_progress *now) {
  struct run *run = user;
  if (now->last == NULL || run->n == run->budget) return;
  run->best = fmin(run->best, clt_objective_cost(run->objective, now->last)); /* NaN: it has none */
  run->configs[run->n] = now->last->config;
  run->fractions[run->n++] = run->optimum / run->best; /* 0 while best is infinite */
}

/* Consecutive indices are of different recordings, so that a long one does not come last. */
static int replay_once(void *user, size_t index, clt_error *error) {
  struct replay *r = user;
  const clt_replay_result *all = r->result;
  size_t space = index % all->n_spaces, repeat = index / all->n_spaces, budget = all->budget;
  clt_replay_space *out = &all->spaces[space];
  struct run *run = &r->runs[space * all->repeats + repeat];
  *run = (struct run){.fractions = out->fractions + repeat * budget,
                      .configs = out->configs + repeat * budget,
                      .budget = budget,
                      .objective = r->objectives[space],
                      .optimum = out->least_cost,
                      .best = INFINITY};
  clt_tune_settings tune = *r->settings;
  const clt_recording **sources = clt_new_array(tune.n_learn_from, sizeof *sources); /* without the recording itself */
  if (sources == NULL) return clt_fail_memory(error);
  tune.n_learn_from = 0;
  for (size_t i = 0; i < r->settings->n_learn_from; i++)
    if (strcmp(clt_recording_name(tune.learn_from[i]), clt_recording_name(out->recording)) != 0)
      sources[tune.n_learn_from++] = tune.learn_from[i];
  tune.recording = out->recording;
  tune.evaluator = "replay";
  tune.seed += repeat;
  tune.threads = 1; /* the runs share the processors */
  tune.progress = on_progress;
  tune.user = run;
  tune.learn_from = sources;
  clt_error failure = {0};
  int rc = clt_tune_run(&run->result, &tune, &failure);
  free(sources);
  for (double last = run->n ? run->fractions[run->n - 1] : 0; run->n < budget; run->n++)
    run->fractions[run->n] = last, run->configs[run->n] = CLT_CONFIG_NONE;
  if (rc == CLT_OK || rc == CLT_E_NO_VALID) return CLT_OK;
  if (error && error->code == 0) *error = failure;
  return rc;
}

static int prepare_space(clt_replay_space *out, clt_objective **objective, const clt_recording *recording,
                         const char *objective_text, size_t n_fractions, clt_error *error) {
  out->recording = recording;
  int rc = clt_recording_objective(objective, recording, objective_text, error);
  if (rc) return rc;
  out->least_cost = clt_recording_least_cost(recording, *objective);
  out->optimum = clt_objective_value_of(*objective, out->least_cost);
  if (!(out->least_cost > 0))
    return clt_fail(error, CLT_E_NO_VALID, "no configuration of the recording '%s' is correct",
                    clt_recording_name(recording));
  out->fractions = clt_new_array(n_fractions, sizeof *out->fractions);
  out->configs = clt_new_array(n_fractions, sizeof *out->configs);
  return out->fractions && out->configs ? CLT_OK : clt_fail_memory(error);
}

int clt_replay(clt_replay_result *result, const clt_recording *const *recordings, size_t n_recordings, unsigned repeats,
               const clt_tune_settings *settings, clt_error *error) {
  const double tolerance = settings->tolerance > 0 ? settings->tolerance : CLT_DEFAULT_TOLERANCE;
  clt_replay_result out = {clt_new_array(n_recordings, sizeof *out.spaces), n_recordings, repeats,
                           (size_t)settings->budget, tolerance};
  struct replay replay = {settings, &out, clt_new_array(n_recordings, repeats * sizeof *replay.runs),
                          clt_new_array(n_recordings, sizeof *replay.objectives)};
  size_t n;
  int rc = out.spaces && replay.objectives && replay.runs && clt_size_multiply(&n, repeats, out.budget)
               ? CLT_OK
               : clt_fail_memory(error);
  for (size_t i = 0; rc == CLT_OK && i < n_recordings; i++)
    rc = prepare_space(&out.spaces[i], &replay.objectives[i], recordings[i], settings->objective, n, error);
  if (rc == CLT_OK) rc = clt_parallel(settings->threads, n_recordings * repeats, replay_once, &replay, error);
  for (size_t i = 0; rc == CLT_OK && i < out.n_spaces * repeats;
       i++) { /* means of the times, sums of the searcher's notes */
    clt_replay_space *space = &out.spaces[i / repeats];
    const clt_tune_result *one = replay.runs[i].result;
    if (one->evaluations) space->search_s += one->search_s / (double)one->evaluations / (double)repeats;
    for (size_t k = 0; k < one->search->n_notes; k++) {
      const clt_note *note = &one->search->notes[k];
      size_t at = 0;
      while (at < space->n_notes && strcmp(space->notes[at].name, note->name) != 0) at++;
      if (at == CLT_MOST_NOTES) continue;
      if (at == space->n_notes) space->notes[space->n_notes++] = (clt_note){note->name, 0};
      space->notes[at].value += note->value;
    }
  }
  for (size_t i = 0; replay.runs && i < n_recordings * repeats; i++) clt_tune_result_free(replay.runs[i].result);
  for (size_t i = 0; replay.objectives && i < n_recordings; i++) clt_objective_free(replay.objectives[i]);
  free(replay.objectives);
  free(replay.runs);
  if (rc == CLT_OK)
    *result = out;
  else
    clt_replay_result_release(&out);
  return rc;
}

void clt_replay_result_release(clt_replay_result *result) {
  for (size_t i = 0; result->spaces && i < result->n_spaces; i++) {
    free(result->spaces[i].fractions);
    free(result->spaces[i].configs);
  }
  free(result->spaces);
  *result = (clt_replay_result){0};
}

/* --- figures --- */

int clt_replay_figures_at(clt_replay_figures *out, const clt_replay_result *r, size_t space, size_t evaluations,
                          clt_error *error) {
  size_t n = r->repeats;
  double *values = clt_new_array(n, sizeof *values), sum = 0, squares = 0, missed = 0;
  if (values == NULL) return clt_fail_memory(error);
  for (size_t i = 0; i < n; i++) sum += values[i] = r->spaces[space].fractions[i * r->budget + evaluations - 1];
  double mean = sum / (double)n;
  for (size_t i = 0; i < n; i++) {
    squares += (values[i] - mean) * (values[i] - mean);
    missed += values[i] < 1 / (1 + r->tolerance);
  }
  qsort(values, n, sizeof *values, clt_by_number);
  double place = 0.05 * (double)(n - 1);
  size_t below = (size_t)place, above = below + 1 < n ? below + 1 : below;
  double percentile_5 = values[below] + (place - (double)below) * (values[above] - values[below]);
  *out = (clt_replay_figures){mean, n > 1 ? sqrt(squares / (double)(n - 1) / (double)n) : NAN, percentile_5,
                              missed / (double)n};
  free(values);
  return CLT_OK;
}
