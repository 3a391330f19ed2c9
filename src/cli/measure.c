/* `clatune measure`: times given configurations side by side, without a search and without storing anything. */
#include "cli/tuning.h"
#include "problem/guidance.h"
#include "session/session.h"

#define MOST_CONFIGURATIONS 32 /* each has a process of its own */
#define MOST_ROUNDS 2000
#define MAX_TOTAL_S 20.0 /* without --rounds; as at the end of a tuning */

/* Its cost relative to the first configuration's; NaN if one of the two failed. */
static double over_first(const clt_objective *o, const clt_measurement *m, size_t i) {
  return clt_objective_cost(o, &m[i]) / clt_objective_cost(o, &m[0]);
}

static const clt_line measured_lines[] = {
    {.form = "{!first}"},
    {"configuration", "{text}"},
    {"[{?figure}figure|time]", "{?correct}{.:median}, median of {runs_s:n} interleaved round{runs_s:s}, {clock} clock"},
    {"{name}", "{?correct}{?name!=$objective.name}{value:.4g}[ {unit}]", .each = "metrics"},
    {"objective", "{?correct}{!objective.is_default}[{value:in objective.unit}|-]"},
    {"cost", "{?correct}{!first}{over_first:.4g} times that of the first configuration"},
    {"{other_cache.cache} caches", "{?correct}{other_cache:median}"},
    CLT_STATE_LINES("", ""),
    {"failed", "{!correct}{reason:reason} ({reason})"},
    {.form = "{!correct}log\n{log}"}};
static const clt_text_layout measured_layout = CLT_TEXT_LAYOUT(0, 16, measured_lines);
static const clt_line answer_lines[] = {{.each = "measurements", .item = &measured_layout}};
static const clt_text_layout answer_layout = CLT_TEXT_LAYOUT(0, 16, answer_lines);

static json_t *measured_json(const clt_instance *instance, const clt_objective *o, const clt_measurement *all,
                             size_t i) {
  const clt_measurement *m = &all[i];
  json_t *out = cli_json_measurement(instance, o, m, true);
  json_object_update_new(out, json_pack("{s:b, s:o, s:o, s:o}", "correct", clt_measurement_correct(m), "value",
                                        clt_json_real(clt_objective_value(o, m)), "over_first",
                                        clt_json_real(over_first(o, all, i)), "log", clt_json_text(m->log)));
  return out;
}

static clt_contest_policy rounds_of(const cli_arguments *arguments, const clt_objective *objective) {
  const bool has_rounds = strcmp(arguments->command->name, "measure") == 0;
  const int64_t rounds = has_rounds ? cli_integer(arguments, "rounds", 0, 1, MOST_ROUNDS) : 0;
  clt_contest_policy contest = {.min_rounds = CLT_MAX_RUNS,
                                .max_rounds = MOST_ROUNDS,
                                .max_total_s = MAX_TOTAL_S,
                                .tolerance = CLT_DEFAULT_TOLERANCE,
                                .objective = objective};
  if (rounds > 0) {
    contest.min_rounds = contest.max_rounds = (unsigned)rounds;
    contest.max_total_s = 0;
  }
  return contest;
}

bool cli_wants_both_caches(const cli_arguments *arguments, const clt_objective *objective) {
  const char *cache = cli_text(arguments, "cache"), *evaluator = cli_text(arguments, "evaluator");
  if (cache == NULL || strcmp(cache, "both") != 0) return false;
  if (clt_objective_needs_energy(objective))
    cli_usage("energy is not measured with cold caches; leave out '--cache both'");
  const clt_evaluator_type *type = evaluator ? clt_evaluator_find(evaluator) : NULL;
  if (type && !type->measures_device) cli_usage("'--cache both' needs an evaluator that runs on the device");
  return true;
}

bool cli_add_other_cache(json_t *const *of, const cli_arguments *arguments, const cli_subject *subject,
                         const clt_config *configs, size_t n, const clt_tune_settings *settings) {
  const bool cold = !clt_problem_guidance(subject->problem)->cold_cache;
  const cli_subject other = cli_subject_with_cache(arguments, subject, cold);
  const clt_objective *objective = cli_objective(arguments, other.instance);
  const clt_contest_policy contest = rounds_of(arguments, objective);
  clt_measurement measured[MOST_CONFIGURATIONS];
  clt_error error = {0};
  int rc = clt_verify_configs(measured, NULL, other.instance, configs, n, &contest, settings, &error);
  if (rc && rc != CLT_E_STOPPED) cli_say(&error);
  for (size_t i = 0; rc == CLT_OK && i < n; i++) {
    json_t *one = cli_json_measurement(other.instance, objective, &measured[i], true);
    json_object_set_new(one, "cache", json_string(cold ? "cold" : "warm"));
    json_object_set_new(of[i], "other_cache", one);
    clt_measurement_release(&measured[i]);
  }
  return rc != CLT_E_STOPPED;
}

static int run_measure(const cli_arguments *arguments) {
  clt_error error = {0};
  clt_measurement measured[MOST_CONFIGURATIONS];
  clt_config configs[MOST_CONFIGURATIONS];
  size_t n = 0, n_failed = 0;
  const bool quiet = cli_given(arguments, "quiet");
  const char **typed = cli_texts(&n, arguments, "configuration");
  if (n > MOST_CONFIGURATIONS)
    cli_usage("at most %d configurations can be measured side by side; leave some out", MOST_CONFIGURATIONS);
  const cli_subject subject = cli_subject_new(arguments, arguments->positional[0], CLI_DEVICE_REQUIRED);
  const clt_instance *instance = subject.instance;
  clt_tune_settings settings;
  clt_tune_settings_init(&settings);
  settings.log = cli_log;
  settings.user = (void *)&quiet;
  settings.stop = cli_signals_flag();
  settings.evaluator_settings = cli_settings(&settings.n_evaluator_settings, arguments, &clt_evaluators,
                                             clt_tune_evaluator(NULL, subject.problem));
  const clt_objective *objective = cli_objective(arguments, instance);
  if (n == 0) n = 1; /* the default one */
  for (size_t i = 0; i < n; i++) {
    configs[i] = cli_choose_configuration(typed[i], instance, quiet);
    const char *violation = clt_space_violation(clt_instance_space(instance), configs[i], NULL);
    if (violation) cli_usage("configuration %zu is not valid: %s", i + 1, violation);
  }
  const clt_contest_policy contest = rounds_of(arguments, objective);
  const bool both = cli_wants_both_caches(arguments, objective);
  cli_signals_install();
  int rc = clt_verify_configs(measured, NULL, instance, configs, n, &contest, &settings, &error);
  if (error.code == CLT_E_STOPPED) return 128 + *cli_signals_flag();
  if (rc) cli_report(&error);
  json_t *list = json_array(), *of[MOST_CONFIGURATIONS];
  for (size_t i = 0; i < n; i++) {
    n_failed += !clt_measurement_correct(&measured[i]);
    json_array_append_new(list, of[i] = measured_json(instance, objective, measured, i));
  }
  if (both && !cli_add_other_cache(of, arguments, &subject, configs, n, &settings)) return 128 + *cli_signals_flag();
  rc = cli_answer(arguments,
                  json_pack("{s:s, s:o, s:o, s:o, s:o}", "problem", clt_problem_name(subject.problem), "sizes",
                            clt_json_sizes(instance), "device", cli_json_device(subject.device), "objective",
                            clt_json_objective(objective), "measurements", list),
                  &answer_layout);
  for (size_t i = 0; i < n; i++) clt_measurement_release(&measured[i]);
  if (rc) return rc;
  return n_failed > 0 ? CLI_VERIFY_FAILED : CLI_FOUND;
}

static const cli_flag flags[] = {
    CLI_FLAG_DEVICE,
    CLI_FLAG_SIZE,
    CLI_FLAG_CACHES,
    {"configuration", "\"a=1 b=2\"",
     "a configuration to measure; may be repeated (default: the default configuration); missing parameters have their "
     "default values"},
    {"rounds", "N", "number of rounds (default: 64, more until the configurations can be told apart, at most 20 s)"},
    CLI_FLAG_OBJECTIVE,
    CLI_FLAG_JSON,
    CLI_FLAG_QUIET};

const cli_command cli_measure = {
    .name = "measure",
    .summary = "times given configurations side by side",
    .synopsis = "PROBLEM [--device NAME] [--size NAME=N]... [--configuration \"a=1 b=2\"]... [--rounds N] [--json]",
    .description =
        "Builds and verifies the given configurations and runs them in interleaved rounds, so that disturbances affect "
        "all of them. Prints each median with its 95 % confidence interval (lower confidence with fewer than 6 "
        "rounds), and the cost relative to the first configuration. Stores nothing; the exit code is 5 if a "
        "configuration fails.",
    CLI_FLAGS(flags),
    .plugins = {&clt_evaluators},
    .n_positional = {1, 1},
    .run = run_measure,
};
