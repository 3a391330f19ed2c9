#include "cli/tuning.h"

#include <stdlib.h>
#include <string.h>

#include "cli/output.h"
#include "cli/progress.h"

static void keep(cli_tuning *tuning, const clt_measurement *m) {
  const clt_space *space = clt_instance_space(tuning->subject.instance);
  json_array_append_new(tuning->results,
                        json_pack("{s:o, s:o, s:s, s:o}", "configuration", cli_json_configuration(space, m->config),
                                  "time_s", clt_json_real(m->time_s), "reason", clt_reason_name(m->reason), "metrics",
                                  cli_json_metrics(tuning->objective, m)));
}

static void on_progress(void *user, const clt_progress *now) {
  cli_tuning *tuning = user;
  if (tuning->results && now->last) keep(tuning, now->last);
  cli_progress_update(&tuning->progress, now);
}

static void on_log(void *user, clt_log_level level, const char *text) {
  cli_tuning *tuning = user;
  cli_progress_end(&tuning->progress);
  cli_log(&tuning->quiet, level, text);
}

static int plug_ins(cli_tuning *t, const cli_arguments *arguments) {
  clt_tune_settings *s = &t->settings;
  if (clt_searcher_find(s->searcher) == NULL)
    return cli_usage("there is no searcher '%s' (see 'clatune tune --help')", s->searcher);
  if (clt_evaluator_find(s->evaluator) == NULL)
    return cli_usage("there is no evaluator '%s' (see 'clatune tune --help')", s->evaluator);
  int rc = cli_settings(&t->searcher_settings, &s->n_searcher_settings, arguments, "searcher", s->searcher);
  if (rc == 0)
    rc = cli_settings(&t->evaluator_settings, &s->n_evaluator_settings, arguments, "evaluator", s->evaluator);
  s->searcher_settings = t->searcher_settings;
  s->evaluator_settings = t->evaluator_settings;
  return rc;
}

static int numbers(clt_tune_settings *s, const cli_arguments *a) {
  int64_t seed, finalists, batch, threads;
  int rc = cli_integer(&s->budget, a, "budget", 0, 1, INT64_MAX);
  if (rc == 0) rc = cli_integer(&seed, a, "seed", 1, 0, INT64_MAX);
  if (rc == 0) rc = cli_integer(&finalists, a, "finalists", s->finalists, 0, 1000);
  if (rc == 0) rc = cli_integer(&batch, a, "batch", 0, 1, 1000000);
  if (rc == 0) rc = cli_integer(&threads, a, "threads", 0, 1, 1024);
  if (rc == 0) rc = cli_real_number(&s->time_s, a, "time", 0, 0.001, 1e9);
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
  *t = (cli_tuning){.quiet = cli_given(arguments, "quiet")};
  clt_tune_settings_init(&t->settings);
  const char *evaluator = cli_text(arguments, "evaluator");
  int rc = cli_subject_load(&t->subject, arguments->positional[0]);
  if (rc) return rc;
  t->settings.searcher = clt_tune_searcher(searcher, t->subject.problem);
  t->settings.evaluator = clt_tune_evaluator(evaluator, t->subject.problem);
  rc = plug_ins(t, arguments);
  if (rc == 0) rc = numbers(&t->settings, arguments);
  if (rc == 0) rc = cli_load_sources(&t->sources, &t->settings.n_learn_from, arguments);
  if (rc == 0) rc = cli_subject_complete(&t->subject, arguments, CLI_DEVICE_REQUIRED);
  if (rc == 0) rc = cli_objective(&t->objective, arguments, t->subject.instance);
  if (rc == 0 && !cli_given(arguments, "no-store")) rc = cli_open_store(&t->store, arguments);
  if (rc) return cli_tuning_release(t), rc;
  cli_progress_init(&t->progress, t->quiet, t->subject.problem, t->objective);
  cli_signals_install();
  t->settings.learn_from = (const clt_recording *const *)t->sources;
  t->settings.instance = t->subject.instance;
  t->settings.objective = cli_text(arguments, "objective");
  t->settings.store = t->store;
  t->settings.no_reuse = cli_given(arguments, "fresh");
  t->settings.no_transfer = cli_given(arguments, "no-transfer");
  t->settings.progress = on_progress;
  t->settings.log = on_log;
  t->settings.user = t;
  t->settings.stop = cli_signals_flag();
  return 0;
}

void cli_tuning_release(cli_tuning *tuning) {
  clt_store_close(tuning->store);
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

int cli_tuning_keep_slow(cli_tuning *t) {
  static const clt_setting patience = {"run-timeout-factor", "0"};
  size_t n = t->settings.n_evaluator_settings;
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

static int run_session(clt_tune_result *result, cli_tuning *tuning) {
  clt_error error = {0};
  int rc = clt_tune(result, &tuning->settings, &error);
  cli_progress_end(&tuning->progress);
  if (rc == CLT_E_STOPPED) return 128 + *cli_signals_flag();
  return rc ? cli_report(&error) : CLI_FOUND;
}

int cli_tuning_measure(cli_tuning *tuning) {
  clt_tune_result result = {0};
  int rc = run_session(&result, tuning);
  clt_tune_result_release(&result);
  return rc;
}

int cli_tuning_run(cli_tuning *tuning, cli_tuning_answer answer, bool as_json) {
  clt_tune_result result = {0};
  int rc = run_session(&result, tuning);
  if (rc == CLI_FOUND || rc > 128 || result.evaluations > 0) {
    int printed = answer(tuning, &result, as_json);
    if (rc == 0) rc = printed;
  }
  clt_tune_result_release(&result);
  cli_tuning_release(tuning);
  return rc;
}
