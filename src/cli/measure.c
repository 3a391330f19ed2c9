/* `clatune measure`: times given configurations side by side, without a search and without storing anything. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/tuning.h"
#include "measurement/statistics.h"
#include "problem/guidance.h"
#include "session/session.h"

#define MOST_CONFIGURATIONS 32 /* each has a process of its own */
#define MOST_ROUNDS 2000
#define MAX_TOTAL_S 20.0 /* without --rounds; as at the end of a tuning */

/* Its cost relative to the first configuration's; NaN if one of the two failed. */
static double over_first(const clt_objective *o, const clt_measurement *m, size_t i) {
  return clt_objective_cost(o, &m[i]) / clt_objective_cost(o, &m[0]);
}

static void print_measured(const clt_instance *instance, const clt_objective *o, const clt_measurement *all, size_t i) {
  const clt_measurement *m = &all[i];
  char figure[200], value[96], *configuration = clt_config_string(clt_instance_space(instance), m->config);
  printf("%sconfiguration   %s\n", i ? "\n" : "", configuration ? configuration : "?");
  if (clt_measurement_correct(m)) {
    printf("%-16s%s, median of %zu interleaved round%s, %s clock\n", isnan(m->figure) ? "time" : "figure",
           cli_median_of(figure, o, m), m->n_runs, m->n_runs == 1 ? "" : "s",
           m->clock == CLT_CLOCK_DEVICE ? "device" : "host");
    cli_print_metrics(o, m, 16);
    if (!clt_objective_is_default(o)) printf("objective       %s\n", cli_value(value, o, clt_objective_value(o, m)));
    if (i > 0 && isfinite(over_first(o, all, i)))
      printf("cost            %.4g times that of the first configuration\n", over_first(o, all, i));
  } else {
    printf("failed          %s (%s)\n", clt_reason_text(m->reason), clt_reason_name(m->reason));
    if (m->log && m->log[0]) printf("log\n%s\n", m->log);
  }
  free(configuration);
}

static json_t *measured_json(const clt_instance *instance, const clt_objective *o, const clt_measurement *all,
                             size_t i) {
  const clt_measurement *m = &all[i];
  json_t *out = cli_measurement_json(instance, o, m, true);
  json_object_update_new(out, json_pack("{s:b, s:o, s:o, s:s?}", "correct", clt_measurement_correct(m), "value",
                                        clt_json_real(clt_objective_value(o, m)), "over_first",
                                        clt_json_real(over_first(o, all, i)), "log", m->log));
  return out;
}

static int run_measure(const cli_arguments *arguments) {
  clt_error error = {0};
  clt_measurement measured[MOST_CONFIGURATIONS];
  clt_config configs[MOST_CONFIGURATIONS];
  size_t n = 0, n_failed = 0;
  bool quiet = cli_given(arguments, "quiet"), as_json = cli_given(arguments, "json");
  const int64_t rounds = cli_integer(arguments, "rounds", 0, 1, MOST_ROUNDS);
  const char **typed = cli_texts(&n, arguments, "configuration");
  if (n > MOST_CONFIGURATIONS)
    cli_usage("at most %d configurations can be measured side by side; leave some out", MOST_CONFIGURATIONS);
  const cli_subject subject = cli_subject_new(arguments, arguments->positional[0], CLI_DEVICE_REQUIRED);
  const clt_instance *instance = subject.instance;
  clt_tune_settings settings;
  clt_tune_settings_init(&settings);
  settings.log = cli_log;
  settings.user = &quiet;
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
  const clt_contest_policy contest = {.min_rounds = rounds ? (unsigned)rounds : CLT_MAX_RUNS,
                                      .max_rounds = rounds ? (unsigned)rounds : MOST_ROUNDS,
                                      .max_total_s = rounds ? 0 : MAX_TOTAL_S,
                                      .tolerance = CLT_DEFAULT_TOLERANCE,
                                      .objective = objective};
  cli_signals_install();
  int rc = clt_verify_configs(measured, NULL, instance, configs, n, &contest, &settings, &error);
  if (error.code == CLT_E_STOPPED) return 128 + *cli_signals_flag();
  if (rc) cli_report(&error);
  json_t *list = json_array();
  for (size_t i = 0; i < n; i++) {
    n_failed += !clt_measurement_correct(&measured[i]);
    if (as_json)
      json_array_append_new(list, measured_json(instance, objective, measured, i));
    else
      print_measured(instance, objective, measured, i);
  }
  if (as_json)
    rc = cli_print_json(json_pack("{s:s, s:o, s:o, s:o, s:O}", "problem", clt_problem_name(subject.problem), "sizes",
                                  cli_json_sizes(instance), "device", cli_json_device(subject.device), "objective",
                                  cli_json_objective(objective), "measurements", list));
  for (size_t i = 0; i < n; i++) clt_measurement_release(&measured[i]);
  json_decref(list);
  return rc ? rc : n_failed > 0 ? CLI_VERIFY_FAILED : CLI_FOUND;
}

static const cli_flag flags[] = {
    CLI_FLAG_DEVICE,
    CLI_FLAG_SIZE,
    CLI_FLAG_CACHE,
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
        "all\n"
        "of them. Prints each median with its 95 % confidence interval (lower confidence with fewer than 6 rounds), "
        "and\n"
        "the cost relative to the first configuration. Stores nothing; the exit code is 5 if a configuration fails.",
    CLI_FLAGS(flags),
    .plugins = {&clt_evaluators},
    .n_positional = {1, 1},
    .run = run_measure,
};
