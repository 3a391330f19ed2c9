#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/oclgrind.h"
#include "cli/output.h"
#include "cli/subject.h"
#include "eval/evaluators.h"
#include "problem/data.h"
#include "session/contest.h"

/* T1 problems often have no "Default", and their first values may violate a condition. */
static clt_config standard(const clt_instance *instance) {
  const clt_space *space = clt_instance_space(instance);
  clt_config config = clt_instance_default(instance);
  const char *violated = clt_space_violation(space, config, NULL);
  if (violated == NULL || clt_space_valid(space) == 0) return config;
  fprintf(stderr, "clatune: warning: the default configuration is not valid (%s); this is the first one that is\n",
          violated);
  return clt_space_at(space, 0);
}

static bool names(const char *text, const char *name) {
  size_t n = strlen(name);
  for (const char *at = strstr(text, name); at; at = strstr(at + 1, name))
    if ((at == text || strchr(" \t\r\n,", at[-1])) && at[n] == '=') return true;
  return false;
}

/* What is typed, and behind it the default's values of the parameters that it does not name, which are said. malloc'ed.
 */
static char *completed(const clt_space *space, const char *typed, clt_config standard, bool quiet) {
  char *text = NULL, *rest = NULL;
  size_t bytes;
  FILE *file = open_memstream(&rest, &bytes);
  for (size_t p = 0; file && p < clt_space_n_parameters(space); p++) {
    char value[512];
    const char *name = clt_space_parameter(space, p)->name;
    if (names(typed, name)) continue;
    clt_value_print(clt_space_value(space, standard, p), value, sizeof value);
    fprintf(file, " %s=%s", name, value);
  }
  if (file == NULL || fclose(file)) return free(rest), NULL;
  if (bytes > 0 && !quiet) fprintf(stderr, "clatune: note: of the default configuration:%s\n", rest);
  size_t need = strlen(typed) + bytes + 1;
  if ((text = malloc(need)) != NULL) snprintf(text, need, "%s%s", typed, rest);
  free(rest);
  return text;
}

static int choose(clt_config *out, const cli_arguments *arguments, const clt_instance *instance) {
  clt_error error = {0};
  const char *text = cli_text(arguments, "configuration");
  if (text == NULL) return *out = standard(instance), 0;
  const clt_space *space = clt_instance_space(instance);
  char *whole = completed(space, text, clt_instance_default(instance), cli_given(arguments, "quiet"));
  if (whole == NULL) return cli_failure("out of memory");
  int rc = clt_config_parse(out, space, whole, &error);
  free(whole);
  return rc ? (cli_report(&error), CLI_USAGE) : 0;
}

/* What came out of it; findings is Oclgrind's log, NULL where it was not asked. */
typedef struct verdict {
  clt_measurement m;
  const char *violation;
  double quality;
  char *findings;
  size_t n_findings;
} verdict;

static json_t *to_json(const clt_instance *instance, const verdict *v) {
  const clt_measurement *m = &v->m;
  return json_pack("{s:o, s:o, s:b, s:s, s:s?, s:o, s:o, s:s?, s:s?, s:b}", "configuration",
                   cli_json_configuration(clt_instance_space(instance), m->config), "options",
                   cli_json_best_options(instance, m->config), "correct", clt_measurement_correct(m), "reason",
                   clt_reason_name(m->reason), "violation", v->violation, "max_abs_error",
                   clt_json_real(m->max_abs_error), "quality",
                   cli_json_quality(clt_instance_problem(instance), v->quality), "log", m->log, "oclgrind", v->findings,
                   "reference", clt_problem_has_reference(clt_instance_problem(instance)));
}

/* Of a program. */
static void print_run(const clt_instance *instance, const clt_measurement *m, bool checked) {
  char figure[64];
  printf("verified        %s\n", checked ? "yes; the check command accepts it"
                                         : "it runs; whether it is right nobody says: there is no \"Check\"");
  printf("figure          %s\n", cli_figure(figure, clt_instance_problem(instance), m->time_s));
}

static void print_text(const clt_instance *instance, const verdict *v) {
  const clt_measurement *m = &v->m;
  char *configuration = clt_config_string(clt_instance_space(instance), m->config);
  printf("configuration   %s\n", configuration ? configuration : "?");
  bool has_reference = clt_problem_has_reference(clt_instance_problem(instance));
  if (clt_measurement_correct(m) && clt_problem_is_command(clt_instance_problem(instance))) {
    print_run(instance, m, has_reference);
  } else if (clt_measurement_correct(m) && !has_reference && m->config == clt_instance_default(instance)) {
    puts("verified        it runs; whether it is right nobody says: the problem has no Reference, so it is its own");
  } else if (clt_measurement_correct(m)) {
    printf("verified        yes; largest difference from the reference %.3g\n", m->max_abs_error);
  } else {
    printf("verified        no: %s (%s)\n", clt_reason_text(m->reason), clt_reason_name(m->reason));
    if (v->violation) printf("violates        %s\n", v->violation);
    if (m->log && m->log[0]) printf("log\n%s\n", m->log);
  }
  if (v->findings) printf("Oclgrind        %zu findings\n%s", v->n_findings, v->findings);
  if (v->violation == NULL) cli_print_quality(clt_instance_problem(instance), v->quality, 16);
  free(configuration);
}

/* Oclgrind interprets every instruction. */
static const clt_setting patience[] = {{"run-timeout", "3600"}, {"compile-timeout", "3600"}, {"host-timeout", "3600"}};

static int judge(verdict *v, const cli_arguments *arguments, const cli_subject *subject, const cli_oclgrind *oclgrind) {
  clt_error error = {0};
  clt_constraint_origin origin = CLT_CONDITION;
  bool quiet = cli_given(arguments, "quiet");
  v->violation = clt_space_violation(clt_instance_space(subject->instance), v->m.config, &origin);
  if (v->violation) {
    clt_measurement_fail(&v->m, origin == CLT_DEVICE_LIMIT ? CLT_REASON_DEVICE_LIMIT : CLT_REASON_CONDITION, NULL);
    return 0;
  }
  if (clt_verify_config(subject->instance, v->m.config, patience, oclgrind ? 3 : 0, &v->m, &v->quality, cli_log, &quiet,
                        &error))
    return cli_report(&error);
  if (!clt_measurement_correct(&v->m) && !clt_problem_is_command(clt_instance_problem(subject->instance)))
    clt_check_arguments(subject->instance, v->m.config, cli_log, &quiet);
  if (oclgrind && (v->findings = cli_oclgrind_findings(oclgrind, &v->n_findings)) == NULL)
    return cli_failure("cannot read what Oclgrind has found");
  return 0;
}

static int check(const cli_arguments *arguments, const cli_subject *subject, clt_config config,
                 const cli_oclgrind *oclgrind) {
  verdict v = {.quality = NAN};
  clt_measurement_init(&v.m, config);
  int rc = judge(&v, arguments, subject, oclgrind);
  bool good = clt_measurement_correct(&v.m) && v.n_findings == 0;
  if (rc == 0 && cli_given(arguments, "json"))
    rc = cli_print_json(to_json(subject->instance, &v));
  else if (rc == 0)
    print_text(subject->instance, &v);
  clt_measurement_release(&v.m);
  free(v.findings);
  return rc == 0 && !good ? CLI_VERIFY_FAILED : rc;
}

static int run_verify(const cli_arguments *arguments) {
  cli_subject subject;
  cli_oclgrind oclgrind = {""};
  clt_config config;
  bool grind = cli_given(arguments, "oclgrind");
  int rc = grind ? cli_oclgrind_begin(&oclgrind) : 0;
  if (rc == 0) rc = cli_subject_init(&subject, arguments, arguments->positional[0], CLI_DEVICE_REQUIRED);
  if (rc == CLI_NO_DEVICE && grind) cli_failure("--oclgrind needs the Oclgrind driver (Debian's package 'oclgrind')");
  if (rc) return cli_oclgrind_end(&oclgrind), rc;
  rc = choose(&config, arguments, subject.instance);
  if (rc == 0) rc = check(arguments, &subject, config, grind ? &oclgrind : NULL);
  cli_subject_release(&subject);
  cli_oclgrind_end(&oclgrind);
  return rc;
}

static const cli_flag flags[] = {
    CLI_FLAG_DEVICE,
    CLI_FLAG_SIZE,
    {"configuration", "\"a=1 b=2\"",
     "the configuration to check; parameters that it does not name keep the default's values"},
    {"oclgrind", NULL,
     "runs it under Oclgrind: accesses out of bounds, races, values that nobody wrote; choose small sizes"},
    CLI_FLAG_JSON,
    CLI_FLAG_QUIET};

const cli_command cli_verify = {
    .name = "verify",
    .summary = "checks a problem file and its default configuration",
    .synopsis = "PROBLEM [--device NAME] [--size NAME=N]... [--configuration \"a=1 b=2\"] [--oclgrind] [--json]",
    .description =
        "Checks a problem file, then builds and runs its default configuration (or the one given) and compares\n"
        "the result with the reference, on two sets of input. Exit code 5 if it differs or fails, or Oclgrind finds "
        "something.",
    CLI_FLAGS(flags),
    .n_positional = {1, 1},
    .run = run_verify,
};
