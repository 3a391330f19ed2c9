#include "cli/tuning.h"
#include "session/session.h"

#include <float.h>
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

void cli_tuning_init(cli_tuning *t, const cli_arguments *arguments, const char *searcher) {
  const cli_arguments *a = arguments;
  clt_tune_settings *s = &t->settings;
  *t = (cli_tuning){.quiet = cli_given(a, "quiet"), .arguments = a};
  clt_tune_settings_init(s);
  t->subject = cli_subject_load(a, a->positional[0]);
  s->searcher = clt_tune_searcher(searcher, t->subject.problem);
  s->evaluator = clt_tune_evaluator(cli_text(a, "evaluator"), t->subject.problem);
  if (clt_searcher_find(s->searcher) == NULL) cli_no_plugin(a, &clt_searchers, s->searcher);
  if (clt_evaluator_find(s->evaluator) == NULL) cli_no_plugin(a, &clt_evaluators, s->evaluator);
  s->searcher_settings = cli_settings(&s->n_searcher_settings, a, &clt_searchers, s->searcher);
  s->evaluator_settings = cli_settings(&s->n_evaluator_settings, a, &clt_evaluators, s->evaluator);
  s->budget = cli_integer(a, "budget", 0, 1, INT64_MAX);
  s->seed = (uint64_t)cli_integer(a, "seed", 1, 0, INT64_MAX);
  s->finalists = (unsigned)cli_integer(a, "finalists", s->finalists, 0, 1000);
  s->batch = (size_t)cli_integer(a, "batch", 0, 1, 1000000);
  s->threads = (unsigned)cli_integer(a, "threads", 0, 1, 1024);
  s->time_s = cli_seconds(a, "time", 0, 0.001, 1e9);
  s->stagnation = cli_integer(a, "stagnation", 0, 1, INT64_MAX);
  s->space_fraction = cli_real_number(a, "space-fraction", 0, 1e-12, 1);
  s->target = cli_real_number(a, "target", 0, -1e30, 1e30);
  if (s->target == 0 && cli_text(a, "target")) s->target = DBL_MIN; /* 0 is no target, and this has the cost of 0 */
  s->tolerance = cli_real_number(a, "tolerance", s->tolerance, 1e-6, 1);
  s->confidence = cli_real_number(a, "confidence", s->confidence, 0.01, 0.9999);
  s->learn_from = (const clt_recording *const *)cli_load_sources(&s->n_learn_from, a);
  cli_subject_complete(&t->subject, a, CLI_DEVICES_REQUIRED);
  t->objective = cli_objective(a, t->subject.instance);
  cli_wants_both_caches(a, t->objective);
  size_t earlier, again = clt_objective_restates(&earlier, t->objective);
  if (again && !t->quiet)
    cli_message(CLI_FOUND, "note: the objective '%s' says the same as '%s': both depend on the time alone",
                clt_objective_nth(t->objective, again).name, clt_objective_nth(t->objective, earlier).name);
  const bool dry = cli_given(a, "dry-run"); /* makes no file */
  if (!cli_given(a, "no-store")) t->store = dry ? cli_open_store_to_read(a) : cli_open_store(a);
  t->events = (cli_events){.out = dry ? NULL : cli_events_open(a),
                           .space = clt_instance_space(t->subject.instance),
                           .objective = t->objective,
                           .best = CLT_CONFIG_NONE};
  if (getloadavg(&t->load, 1) != 1) t->load = NAN;
  cli_progress_init(&t->progress, t->quiet, t->objective);
  cli_signals_install();
  s->instance = t->subject.instance;
  s->more_devices = t->subject.device + 1;
  s->n_more_devices = t->subject.n_devices - 1;
  s->objective = cli_text(a, "objective");
  s->store = t->store;
  s->no_reuse = cli_given(a, "fresh");
  s->no_transfer = cli_given(a, "no-transfer");
  s->progress = on_progress;
  s->log = on_log;
  s->user = t;
  s->stop = cli_signals_flag();
}

void cli_tuning_sample(cli_tuning *t, const cli_arguments *arguments) {
  static const clt_setting patience = {"run-timeout-factor", "0"};
  clt_tune_settings *s = &t->settings;
  s->finalists = 0;
  s->skip_default = true;
  if (strcmp(s->evaluator, "opencl") != 0 && strcmp(s->evaluator, "command") != 0) return;
  if (cli_given(arguments, patience.name)) return;
  clt_setting *longer = cli_new(s->n_evaluator_settings + 1, sizeof *longer);
  for (size_t i = 0; i < s->n_evaluator_settings; i++) longer[i] = s->evaluator_settings[i];
  longer[s->n_evaluator_settings++] = patience;
  s->evaluator_settings = longer;
}

/* Stores facts about the tuning that measurements do not have, for 'clatune report'. An error is ignored: the tuning
 * itself has succeeded. */
static void note_tuning(const cli_tuning *t, const clt_tune_result *r, const json_t *answer) {
  static const char *const same[] = {"searcher", "seed", "ended_by", "notes"};
  const clt_instance *instance = t->subject.instance;
  const json_t *best = json_object_get(answer, "best");
  clt_store_key key;
  const bool measured = clt_evaluator_find(t->settings.evaluator)->measures_device;
  const bool searched = measured && !t->settings.skip_default && json_is_object(best);
  if (t->store == NULL || !searched || clt_store_key_init(&key, instance, NULL)) return;
  json_t *note = json_pack("{s:I, s:o, s:I, s:s, s:o, s:O, s:O, s:O}", "evaluations", (json_int_t)r->evaluations,
                           "load", clt_json_real(t->load), "processors", (json_int_t)sysconf(_SC_NPROCESSORS_ONLN),
                           "how_sure", clt_json_string(answer, "how_sure"), "default",
                           cli_json_config_text(clt_instance_space(instance), clt_instance_default(instance)), "best",
                           json_object_get(best, "text"), "options", json_object_get(best, "options"), "metrics",
                           json_object_get(best, "metrics"));
  for (size_t i = 0; i < sizeof same / sizeof *same; i++)
    json_object_set(note, same[i], json_object_get(answer, same[i]));
  char *text = note ? json_dumps(note, JSON_COMPACT) : NULL;
  if (text) clt_store_describe(t->store, &(clt_store_description){.key = key, .tuning_json = text}, NULL);
  free(text);
  json_decref(note);
}

/* The best and the default configuration with the caches in the other state. */
static void add_other_cache(const cli_tuning *t, const clt_tune_result *r, const json_t *answer) {
  json_t *of[2] = {json_object_get(answer, "best")};
  clt_config configs[2] = {r->best.config, r->default_measurement.config};
  const bool has_default = r->has_default && r->default_measurement.config != r->best.config;
  if (!json_is_object(of[0]) || !cli_wants_both_caches(t->arguments, t->objective)) return;
  if (has_default) of[1] = json_object_get(answer, "default");
  cli_add_other_cache(of, t->arguments, &t->subject, configs, 1 + has_default, &t->settings);
}

int cli_tuning_run(cli_tuning *tuning, cli_tuning_print print, bool as_json) {
  clt_tune_result *result;
  clt_error error = {0};
  cli_events *events = &tuning->events;
  if (events->out) cli_event_started(events, tuning->subject.instance, tuning->subject.device, &tuning->settings);
  int rc = clt_tune_run(&result, &tuning->settings, &error);
  cli_progress_end(&tuning->progress);
  json_t *answer = result ? cli_tuning_json(tuning, result) : json_null();
  if (result) note_tuning(tuning, result, answer);
  if (rc == CLT_OK) add_other_cache(tuning, result, answer);
  if (rc == CLT_E_STOPPED)
    rc = 128 + *cli_signals_flag();
  else if (rc)
    rc = cli_say(&error);
  if (events->out)
    cli_event(events, "finished",
              json_pack("{s:i, s:o, s:O}", "exit_code", rc, "error",
                        rc > 0 && rc < 128 ? clt_json_text(error.message) : json_null(), "result", answer));
  if (print && events->out != stdout && result && (rc == CLI_FOUND || rc > 128 || result->evaluations > 0)) {
    if (as_json) {
      const int printed = cli_print_json(json_incref(answer));
      if (rc == 0) rc = printed;
    } else {
      print(answer);
    }
  }
  json_decref(answer);
  clt_tune_result_free(result);
  int closed = cli_events_close(events->out);
  events->out = NULL;
  return rc ? rc : closed;
}

/* --- --dry-run --- */

static const clt_line dry_lines[] = {
    {.form = "{problem} on {device.name}[{?devices>1} ({devices:n} devices)], searcher {searcher}"},
    {"space",
     "{space.cartesian} configuration{space.cartesian:s}, {space.valid} valid on this device, {known} in the store"},
    {"[{?default_first}evaluated first|default]", "{default_text}[{!default_is_valid} (not valid, left out)]"},
    {"options", "{?uses_options}[{options}]"},
    {"objective", "[*objectives:{goal} {name}]"},
    {.form = "nothing was measured"}};
static const clt_text_layout dry_layout = CLT_TEXT_LAYOUT(0, 20, dry_lines);

int cli_dry_run(const cli_arguments *arguments, const char *searcher, bool default_first) {
  cli_tuning t;
  clt_store_key key;
  clt_store_answers answers = {0};
  size_t known = 0;
  cli_tuning_init(&t, arguments, searcher);
  const clt_instance *instance = t.subject.instance;
  const clt_space *space = clt_instance_space(instance);
  clt_config standard = clt_instance_default(instance);
  bool valid = clt_space_contains(space, standard), energy = clt_objective_needs_energy(t.objective);
  if (t.store) {
    cli_check(clt_store_key_init(&key, instance, &cli_error));
    cli_check(clt_store_newest(&answers, t.store, &key, space, energy, NULL, &cli_error));
  }
  for (size_t i = 0; i < answers.n; i++) known += answers.all[i].claimed != NULL;
  clt_store_answers_release(&answers);
  json_t *answer = cli_json_session(instance, t.subject.device, &t.settings, t.objective), *objectives = json_array();
  for (size_t i = 0; i < clt_objective_n(t.objective); i++) {
    const clt_metric metric = clt_objective_nth(t.objective, i);
    json_array_append_new(objectives, json_pack("{s:s, s:s}", "name", metric.name, "goal", clt_goal_name(metric.goal)));
  }
  json_object_update_new(
      answer, json_pack("{s:o, s:o, s:I, s:o, s:o, s:b, s:o, s:b, s:b}", "objectives", objectives, "devices",
                        cli_json_places(&t.subject), "known", (json_int_t)known, "default",
                        clt_json_configuration(space, standard), "default_text", cli_json_config_text(space, standard),
                        "default_first", default_first, "options", clt_json_options(instance, standard), "uses_options",
                        clt_problem_has_options(t.subject.problem), "default_is_valid", valid));
  return cli_answer(arguments, answer, &dry_layout);
}
