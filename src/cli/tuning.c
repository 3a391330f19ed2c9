#include "cli/tuning.h"
#include "session/session.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void on_progress(void *user, const clt_progress *now) {
  cli_tuning *tuning = user;
  if (tuning->results && now->last) json_array_append_new(tuning->results, cli_json_evaluation(&tuning->events, now));
  cli_events_progress(&tuning->events, now);
  cli_progress_update(&tuning->progress, now);
}

static void on_log(void *user, clt_log_level level, const char *text) {
  cli_tuning *tuning = user;
  cli_progress_end(&tuning->progress);
  cli_log(&tuning->quiet, level, text);
}

static int read_numbers(clt_tune_settings *s, const cli_arguments *a) {
  int64_t seed, finalists, batch, threads;
  int rc = cli_integer(&s->budget, a, "budget", 0, 1, INT64_MAX);
  if (rc == 0) rc = cli_integer(&seed, a, "seed", 1, 0, INT64_MAX);
  if (rc == 0) rc = cli_integer(&finalists, a, "finalists", s->finalists, 0, 1000);
  if (rc == 0) rc = cli_integer(&batch, a, "batch", 0, 1, 1000000);
  if (rc == 0) rc = cli_integer(&threads, a, "threads", 0, 1, 1024);
  if (rc == 0) rc = cli_seconds(&s->time_s, a, "time", 0, 0.001, 1e9);
  if (rc == 0) rc = cli_integer(&s->stagnation, a, "stagnation", 0, 1, INT64_MAX);
  if (rc == 0) rc = cli_real_number(&s->space_fraction, a, "space-fraction", 0, 1e-12, 1);
  if (rc == 0) rc = cli_real_number(&s->target, a, "target", 0, 1e-30, 1e30);
  if (rc == 0) rc = cli_real_number(&s->tolerance, a, "tolerance", s->tolerance, 1e-6, 1);
  if (rc == 0) rc = cli_real_number(&s->confidence, a, "confidence", s->confidence, 0.01, 0.9999);
  if (rc) return rc;
  s->seed = (uint64_t)seed;
  s->finalists = (unsigned)finalists;
  s->batch = (size_t)batch;
  s->threads = (unsigned)threads;
  return 0;
}

int cli_tuning_init(cli_tuning *t, const cli_arguments *arguments, const char *searcher) {
  clt_tune_settings *s = &t->settings;
  *t = (cli_tuning){.quiet = cli_given(arguments, "quiet"), .race_check = "not checked"};
  clt_tune_settings_init(s);
  int rc = cli_subject_load(&t->subject, arguments, arguments->positional[0]);
  if (rc) return rc;
  s->searcher = clt_tune_searcher(searcher, t->subject.problem);
  s->evaluator = clt_tune_evaluator(cli_text(arguments, "evaluator"), t->subject.problem);
  if (clt_searcher_find(s->searcher) == NULL)
    rc = cli_no_plugin(arguments, &clt_searchers, s->searcher);
  else if (clt_evaluator_find(s->evaluator) == NULL)
    rc = cli_no_plugin(arguments, &clt_evaluators, s->evaluator);
  if (rc == 0)
    rc = cli_settings(&t->searcher_settings, &s->n_searcher_settings, arguments, &clt_searchers, s->searcher);
  if (rc == 0)
    rc = cli_settings(&t->evaluator_settings, &s->n_evaluator_settings, arguments, &clt_evaluators, s->evaluator);
  if (rc == 0) rc = read_numbers(s, arguments);
  if (rc == 0) rc = cli_load_sources(&t->sources, &s->n_learn_from, arguments);
  if (rc == 0) rc = cli_subject_complete(&t->subject, arguments, CLI_DEVICES_REQUIRED);
  if (rc == 0) rc = cli_objective(&t->objective, arguments, t->subject.instance);
  bool dry = cli_given(arguments, "dry-run"); /* makes no file */
  if (rc == 0 && !cli_given(arguments, "no-store"))
    rc = dry ? cli_open_store_to_read(&t->store, arguments) : cli_open_store(&t->store, arguments);
  if (rc == 0 && !dry) rc = cli_events_open(&t->events.out, arguments);
  if (rc) return cli_tuning_release(t), rc;
  t->events.space = clt_instance_space(t->subject.instance);
  t->events.objective = t->objective;
  t->events.best = CLT_CONFIG_NONE;
  if (getloadavg(&t->load, 1) != 1) t->load = NAN;
  cli_progress_init(&t->progress, t->quiet, t->objective);
  cli_signals_install();
  s->searcher_settings = t->searcher_settings;
  s->evaluator_settings = t->evaluator_settings;
  s->learn_from = (const clt_recording *const *)t->sources;
  s->instance = t->subject.instance;
  s->more_devices = t->subject.device + 1;
  s->n_more_devices = t->subject.n_devices - 1;
  s->objective = cli_text(arguments, "objective");
  s->store = t->store;
  s->no_reuse = cli_given(arguments, "fresh");
  s->no_transfer = cli_given(arguments, "no-transfer");
  s->progress = on_progress;
  s->log = on_log;
  s->user = t;
  s->stop = cli_signals_flag();
  return 0;
}

void cli_tuning_release(cli_tuning *tuning) {
  cli_events_close(tuning->events.out);
  clt_store_free(tuning->store);
  clt_objective_free(tuning->objective);
  cli_subject_release(&tuning->subject);
  cli_free_recordings(tuning->sources, tuning->settings.n_learn_from);
  json_decref(tuning->results);
  free(tuning->configurations);
  clt_model_free(tuning->model);
  free(tuning->searcher_settings);
  free(tuning->evaluator_settings);
  *tuning = (cli_tuning){0};
}

int cli_tuning_sample(cli_tuning *t) {
  static const clt_setting patience = {"run-timeout-factor", "0"};
  size_t n = t->settings.n_evaluator_settings;
  t->settings.finalists = 0;
  t->settings.skip_default = true;
  if (strcmp(t->settings.evaluator, "opencl") != 0 && strcmp(t->settings.evaluator, "command") != 0) return 0;
  for (size_t i = 0; i < n; i++)
    if (strcmp(t->evaluator_settings[i].name, patience.name) == 0) return 0;
  clt_setting *longer = realloc(t->evaluator_settings, (n + 1) * sizeof *longer);
  if (longer == NULL) return cli_failure("out of memory");
  longer[n] = patience;
  t->settings.evaluator_settings = t->evaluator_settings = longer;
  t->settings.n_evaluator_settings = n + 1;
  return 0;
}

/* What a report shows of the tuning and no measurement says, for whoever has the store alone. It is no loss that is
 * worth failing for. */
static void note_tuning(const cli_tuning *t, const clt_tune_result *r) {
  const clt_instance *instance = t->subject.instance;
  clt_store_key key;
  char sure[200] = "", *options = NULL;
  const bool measured = clt_evaluator_find(t->settings.evaluator)->measures_device;
  const bool searched = measured && !t->settings.skip_default && r->best.config != CLT_CONFIG_NONE;
  if (t->store == NULL || !searched || clt_store_key_init(&key, instance, NULL)) return;
  if (clt_objective_ranks_as_usual(t->objective)) cli_certainty_text(sure, &t->settings, r);
  clt_instance_options(&options, instance, r->best.config, NULL);
  json_t *notes = json_array();
  for (size_t i = 0; i < r->n_notes; i++) json_array_append_new(notes, clt_json_text(r->notes[i]));
  char *best = clt_config_string(clt_instance_space(instance), r->best.config);
  char *standard = clt_config_string(clt_instance_space(instance), clt_instance_default(instance));
  json_t *note =
      json_pack("{s:s, s:I, s:I, s:s, s:o, s:I, s:s, s:s?, s:s?, s:s?, s:o, s:o}", "searcher", t->settings.searcher,
                "seed", (json_int_t)t->settings.seed, "evaluations", (json_int_t)r->evaluations, "ended_by",
                clt_ending_name(r->ending), "load", clt_json_real(t->load), "processors",
                (json_int_t)sysconf(_SC_NPROCESSORS_ONLN), "how_sure", sure, "default", standard, "best", best,
                "options", options, "metrics", cli_json_metrics(t->objective, &r->best), "notes", notes);
  char *text = note ? json_dumps(note, JSON_COMPACT) : NULL;
  if (text) clt_store_describe(t->store, &(clt_store_description){.key = key, .tuning_json = text}, NULL);
  free(text);
  json_decref(note);
  free(standard);
  free(best);
  free(options);
}

int cli_tuning_run(cli_tuning *tuning, void (*print)(const cli_tuning *, const clt_tune_result *), bool as_json) {
  clt_tune_result *result;
  clt_error error = {0};
  cli_events *events = &tuning->events;
  if (events->out) cli_event_started(events, tuning->subject.instance, tuning->subject.device, &tuning->settings);
  int rc = clt_tune_run(&result, &tuning->settings, &error);
  cli_progress_end(&tuning->progress);
  if (result) note_tuning(tuning, result);
  if (rc == CLT_E_STOPPED)
    rc = 128 + *cli_signals_flag();
  else if (rc)
    rc = cli_report(&error);
  if (events->out)
    cli_event(events, "finished",
              json_pack("{s:i, s:o, s:o}", "exit_code", rc, "error",
                        rc > 0 && rc < 128 ? clt_json_text(error.message) : json_null(), "result",
                        result ? cli_tuning_json(tuning, result) : json_null()));
  if (print && events->out != stdout && result && (rc == CLI_FOUND || rc > 128 || result->evaluations > 0)) {
    int printed = as_json ? cli_print_json(cli_tuning_json(tuning, result)) : (print(tuning, result), 0);
    if (rc == 0) rc = printed;
  }
  clt_tune_result_free(result);
  int closed = cli_events_close(events->out);
  events->out = NULL;
  return rc ? rc : closed;
}

const char *cli_more_devices(char out[40], const cli_tuning *tuning) {
  const size_t n = tuning->subject.n_devices;
  out[0] = '\0';
  if (n > 1) snprintf(out, 40, " (%zu devices)", n);
  return out;
}

/* --- a session that does not take place --- */

int cli_dry_run(const cli_arguments *arguments, const char *searcher, bool default_first) {
  cli_tuning t;
  clt_store_key key;
  clt_error error = {0};
  clt_store_answers answers = {0};
  size_t known = 0;
  int rc = cli_tuning_init(&t, arguments, searcher);
  if (rc) return rc;
  const clt_problem *problem = t.subject.problem;
  const clt_instance *instance = t.subject.instance;
  const clt_space *space = clt_instance_space(instance);
  clt_config standard = clt_instance_default(instance);
  bool valid = clt_space_contains(space, standard), energy = clt_objective_needs_energy(t.objective);
  if (t.store && (clt_store_key_init(&key, instance, &error) ||
                  clt_store_newest(&answers, t.store, &key, space, energy, NULL, &error)))
    rc = cli_report(&error);
  for (size_t i = 0; i < answers.n; i++) known += answers.all[i].newest != NULL;
  clt_store_answers_release(&answers);
  if (rc == 0 && cli_given(arguments, "json")) {
    rc = cli_print_json(json_pack("{s:s, s:o, s:o, s:s, s:o, s:{s:I, s:I}, s:I, s:o, s:o, s:b}", "problem",
                                  clt_problem_name(problem), "sizes", cli_json_sizes(instance), "device",
                                  cli_json_device(t.subject.device), "searcher", t.settings.searcher, "objective",
                                  cli_json_objective(t.objective), "space", "cartesian",
                                  (json_int_t)clt_space_cartesian(space), "valid", (json_int_t)clt_space_valid(space),
                                  "known", (json_int_t)known, "default", cli_json_configuration(space, standard),
                                  "options", cli_json_best_options(instance, standard), "default_is_valid", valid));
  } else if (rc == 0) {
    char goal[160], more[40], *text = clt_config_string(space, standard), *options = NULL;
    if (clt_instance_options(&options, instance, standard, &error)) {
      rc = cli_report(&error);
    } else {
      printf("%s on %s%s, by %s\n", clt_problem_name(problem), t.subject.device->name, cli_more_devices(more, &t),
             t.settings.searcher);
      printf("space               %llu configurations, %llu valid on this device, %zu known already\n",
             (unsigned long long)clt_space_cartesian(space), (unsigned long long)clt_space_valid(space), known);
      printf("%-19s %s%s\n", default_first ? "begins with" : "default", text ? text : "?",
             valid ? "" : " (not valid: left out)");
      if (clt_problem_has_options(problem)) printf("options             %s\n", options);
      printf("objective           %s\n", cli_objective_text(goal, t.objective));
      puts("nothing was measured");
    }
    free(text);
    free(options);
  }
  cli_tuning_release(&t);
  return rc;
}
