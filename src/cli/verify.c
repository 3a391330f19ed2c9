#include <clatune/sys/evaluator.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/output.h"
#include "cli/setting_up.h"

static void on_log(void *user, clt_log_level level, const char *text) { cli_log(user, level, text); }

static int choose(clt_config *out, const cli_arguments *arguments, const clt_instance *instance) {
  clt_error error = {0};
  const char *text = cli_text(arguments, "configuration");
  *out = clt_instance_default(instance);
  if (text == NULL) return 0;
  return clt_config_parse(out, clt_instance_space(instance), text, &error) ? (cli_report(&error), CLI_USAGE) : 0;
}

static json_t *to_json(const clt_instance *instance, const clt_measurement *m, const char *violation, double quality) {
  return json_pack("{s:o, s:o, s:b, s:s, s:s?, s:o, s:o, s:s?}", "configuration",
                   cli_json_configuration(clt_instance_space(instance), m->config), "options",
                   cli_json_best_options(instance, m->config), "correct", clt_measurement_correct(m), "reason",
                   clt_reason_name(m->reason), "violation", violation, "max_abs_error", cli_json_real(m->max_abs_error),
                   "quality", cli_json_quality(clt_instance_problem(instance), quality), "log", m->log);
}

static void print_text(const clt_instance *instance, const clt_measurement *m, const char *violation, double quality) {
  char *configuration = cli_configuration(clt_instance_space(instance), m->config);
  printf("configuration   %s\n", configuration ? configuration : "?");
  if (clt_measurement_correct(m)) {
    printf("verified        yes; largest difference from the reference %.3g\n", m->max_abs_error);
  } else {
    printf("verified        no: %s (%s)\n", clt_reason_text(m->reason), clt_reason_name(m->reason));
    if (violation) printf("violates        %s\n", violation);
    if (m->log && m->log[0]) printf("log\n%s\n", m->log);
  }
  if (violation == NULL) cli_print_quality(clt_instance_problem(instance), quality, 16);
  free(configuration);
}

static int check(const cli_arguments *arguments, const cli_subject *subject, clt_config config) {
  clt_error error = {0};
  clt_measurement m;
  double quality = NAN;
  clt_constraint_origin origin = CLT_CONDITION;
  bool quiet = cli_given(arguments, "quiet");
  const char *violation = clt_space_violation(clt_instance_space(subject->instance), config, &origin);
  clt_measurement_init(&m, config);
  if (violation) {
    clt_measurement_fail(&m, origin == CLT_DEVICE_LIMIT ? CLT_REASON_DEVICE_LIMIT : CLT_REASON_CONDITION, NULL);
  } else if (clt_verify_config(subject->instance, config, &m, &quality, on_log, &quiet, &error)) {
    return cli_report(&error);
  }
  int rc = clt_measurement_correct(&m) ? CLI_FOUND : CLI_VERIFY_FAILED;
  if (cli_given(arguments, "json")) {
    int printed = cli_print_json(to_json(subject->instance, &m, violation, quality));
    if (rc == 0) rc = printed;
  } else {
    print_text(subject->instance, &m, violation, quality);
  }
  clt_measurement_release(&m);
  return rc;
}

static int run(const cli_arguments *arguments) {
  cli_subject subject;
  clt_config config;
  int rc = cli_subject_init(&subject, arguments, arguments->positional[0], CLI_DEVICE_REQUIRED);
  if (rc) return rc;
  rc = choose(&config, arguments, subject.instance);
  if (rc == 0) rc = check(arguments, &subject, config);
  cli_subject_release(&subject);
  return rc;
}

static const cli_flag flags[] = {
    CLI_FLAG_DEVICE,
    CLI_FLAG_SIZE,
    {"configuration", "\"a=1 b=2\"", "the configuration to check (default: the problem's)"},
    CLI_FLAG_JSON,
    CLI_FLAG_QUIET};

const cli_command cli_verify = {
    .name = "verify",
    .summary = "checks a problem file and its default configuration",
    .synopsis = "PROBLEM [--device NAME] [--size NAME=N]... [--configuration \"a=1 b=2\"] [--json]",
    .description =
        "Checks a problem file, then builds and runs its default configuration (or the one given) and compares\n"
        "the result with the reference, on two sets of input. Exit code 5 if it differs or fails.",
    .flags = flags,
    .n_flags = sizeof flags / sizeof *flags,
    .min_positional = 1,
    .max_positional = 1,
    .run = run,
};
