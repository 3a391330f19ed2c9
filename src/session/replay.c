/* Many sessions on recordings, side by side. */
#include <clatune/replay.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "base/parallel.h"

#define MOST_EVALUATIONS 10000000
#define DEFAULT_TOLERANCE 0.02

/* One run, while it goes on. */
struct run {
  double *fractions; /* [evaluation] */
  size_t n, budget;
  const clt_objective *objective;
  double optimum, best; /* costs */
};

/* What is kept of a run beside its fractions. */
struct kept {
  double search_s; /* an evaluation */
  int64_t second_stage_measured, second_stage_failed;
};

struct replay {
  const clt_replay_settings *settings;
  clt_replay_result *result;
  struct kept *kept; /* [recording][repeat] */
  clt_objective **objectives; /* of each recording */
};

static void on_progress(void *user, const clt_progress *now) {
  struct run *run = user;
  if (now->last == NULL || run->n == run->budget) return;
  run->best = fmin(run->best, clt_objective_cost(run->objective, now->last)); /* NaN: it has none */
  run->fractions[run->n++] = run->optimum / run->best;                        /* 0 while best is infinite */
}

static clt_tune_settings settings_of_run(const clt_replay_settings *s, const clt_recording *recording, uint64_t seed) {
  static const clt_setting noise = {"noise", "yes"};
  clt_tune_settings tune;
  clt_tune_settings_init(&tune);
  tune.recording = recording;
  tune.evaluator = "replay";
  tune.evaluator_settings = &noise;
  tune.n_evaluator_settings = s->noise;
  tune.objective = s->objective;
  tune.searcher = s->searcher;
  tune.searcher_settings = s->searcher_settings;
  tune.n_searcher_settings = s->n_searcher_settings;
  tune.budget = s->budget;
  tune.tolerance = s->tolerance;
  tune.batch = s->batch ? s->batch : 1;
  tune.finalists = 0;
  tune.seed = seed;
  tune.threads = 1; /* the runs share the processors */
  tune.progress = on_progress;
  tune.stop = s->stop;
  return tune;
}

/* All sources but the recording itself. *out is malloc'ed. */
static int sources_of_run(const clt_recording ***out, size_t *n, const clt_replay_settings *s,
                          const clt_recording *recording, clt_error *error) {
  *n = 0;
  *out = clt_new_array(s->n_learn_from, sizeof **out);
  if (*out == NULL) return clt_fail_memory(error);
  for (size_t i = 0; i < s->n_learn_from; i++)
    if (strcmp(clt_recording_name(s->learn_from[i]), clt_recording_name(recording)) != 0)
      (*out)[(*n)++] = s->learn_from[i];
  return CLT_OK;
}

/* Indices go through the recordings first, so that a long one does not come last. */
static int one_run(void *user, size_t index, clt_error *error) {
  struct replay *r = user;
  const clt_replay_settings *s = r->settings;
  size_t space = index % s->n_recordings, repeat = index / s->n_recordings, budget = (size_t)s->budget;
  const clt_recording *recording = s->recordings[space];
  struct run run = {r->result->spaces[space].fractions + repeat * budget,
                    0,
                    budget,
                    r->objectives[space],
                    r->result->spaces[space].least_cost,
                    INFINITY};
  clt_tune_settings tune = settings_of_run(s, recording, s->seed + repeat);
  const clt_recording **sources;
  int rc = sources_of_run(&sources, &tune.n_learn_from, s, recording, error);
  if (rc) return rc;
  tune.learn_from = sources;
  tune.user = &run;
  clt_tune_result result;
  clt_error failure = {0};
  rc = clt_tune(&result, &tune, &failure);
  r->kept[space * s->repeats + repeat] =
      (struct kept){result.evaluations ? result.search_s / (double)result.evaluations : 0,
                    result.search.second_stage_measured, result.search.second_stage_failed};
  clt_tune_result_release(&result);
  free(sources);
  for (double last = run.n ? run.fractions[run.n - 1] : 0; run.n < budget; run.n++) run.fractions[run.n] = last;
  if (rc == CLT_OK || rc == CLT_E_NO_VALID) return CLT_OK;
  if (error && error->code == 0) *error = failure;
  return rc;
}

static int check(const clt_replay_settings *s, clt_error *error) {
  if (s->budget < 1 || s->budget > MOST_EVALUATIONS || s->repeats < 1)
    return clt_fail(error, CLT_E_ARGUMENT, "a replay needs a repeat and a budget of 1 to %d evaluations",
                    MOST_EVALUATIONS);
  for (size_t i = 0; i < s->n_recordings; i++)
    if (!(clt_recording_optimum_s(s->recordings[i]) > 0))
      return clt_fail(error, CLT_E_NO_VALID, "no configuration of the recording '%s' is correct",
                      clt_recording_name(s->recordings[i]));
  return CLT_OK;
}

/* One a recording: their sizes differ. */
static int make_objectives(struct replay *r, clt_error *error) {
  const clt_replay_settings *s = r->settings;
  int rc = CLT_OK;
  r->objectives = clt_new_array(s->n_recordings, sizeof *r->objectives);
  if (r->objectives == NULL) return clt_fail_memory(error);
  for (size_t i = 0; rc == CLT_OK && i < s->n_recordings; i++) {
    double *least = &r->result->spaces[i].least_cost;
    rc = clt_recording_objective(&r->objectives[i], s->recordings[i], s->objective, error);
    if (rc) break;
    *least = clt_recording_least_cost(s->recordings[i], r->objectives[i]);
    r->result->spaces[i].optimum = clt_objective_exchange(r->objectives[i], *least);
    if (!(*least > 0))
      rc = clt_fail(error, CLT_E_NO_VALID,
                    "no configuration of the recording '%s' has a value of the objective '%.200s' above 0",
                    clt_recording_name(s->recordings[i]), clt_objective_name(r->objectives[i]));
  }
  return rc;
}

static void free_objectives(struct replay *r) {
  for (size_t i = 0; r->objectives && i < r->settings->n_recordings; i++) clt_objective_free(r->objectives[i]);
  free(r->objectives);
}

static int allocate(clt_replay_result *out, const clt_replay_settings *s, clt_error *error) {
  size_t n;
  *out = (clt_replay_result){clt_new_array(s->n_recordings, sizeof *out->spaces), s->n_recordings, s->repeats,
                             (size_t)s->budget, s->tolerance > 0 ? s->tolerance : DEFAULT_TOLERANCE};
  if (out->spaces == NULL || !clt_size_multiply(&n, s->repeats, (size_t)s->budget)) return clt_fail_memory(error);
  for (size_t i = 0; i < s->n_recordings; i++) {
    out->spaces[i].recording = s->recordings[i];
    out->spaces[i].fractions = clt_new_array(n, sizeof(double));
    if (out->spaces[i].fractions == NULL) return clt_fail_memory(error);
  }
  return CLT_OK;
}

static void summarise(clt_replay_space *out, const struct kept *runs, size_t repeats) {
  for (size_t i = 0; i < repeats; i++) {
    out->search_s += runs[i].search_s / (double)repeats;
    out->second_stage_measured += runs[i].second_stage_measured;
    out->second_stage_failed += runs[i].second_stage_failed;
  }
}

int clt_replay(clt_replay_result *result, const clt_replay_settings *s, clt_error *error) {
  clt_replay_result made = {0};
  struct replay replay = {.settings = s, .result = &made};
  int rc = check(s, error);
  if (!rc) rc = allocate(&made, s, error);
  if (!rc) rc = make_objectives(&replay, error);
  if (!rc && (replay.kept = clt_new_array(s->n_recordings, s->repeats * sizeof *replay.kept)) == NULL)
    rc = clt_fail_memory(error);
  if (!rc) rc = clt_parallel(s->threads, s->n_recordings * s->repeats, one_run, &replay, error);
  for (size_t i = 0; !rc && i < made.n_spaces; i++)
    summarise(&made.spaces[i], replay.kept + i * s->repeats, s->repeats);
  free(replay.kept);
  free_objectives(&replay);
  if (rc) return clt_replay_result_release(&made), rc;
  *result = made;
  return CLT_OK;
}

void clt_replay_result_release(clt_replay_result *result) {
  for (size_t i = 0; result->spaces && i < result->n_spaces; i++) free(result->spaces[i].fractions);
  free(result->spaces);
  *result = (clt_replay_result){0};
}

/* --- figures --- */

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double percentile(const double *sorted, size_t n, double share) {
  double place = share * (double)(n - 1);
  size_t below = (size_t)place, above = below + 1 < n ? below + 1 : below;
  return sorted[below] + (place - (double)below) * (sorted[above] - sorted[below]);
}

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
  qsort(values, n, sizeof *values, ascending);
  *out = (clt_replay_figures){mean, n > 1 ? sqrt(squares / (double)(n - 1) / (double)n) : NAN,
                              percentile(values, n, 0.05), missed / (double)n};
  free(values);
  return CLT_OK;
}
