#include <unistd.h>

#include "cli/tuning.h"
#include "device/device.h"
#include "problem/command.h"
#include "problem/data.h"
#include "problem/guidance.h"
#include "problem/plan.h"
#include "session/contest.h"
#include "session/session.h"
#include "space/space.h"

/* --- the configurations --- */

/* T1 problems often have no default, and their first values may violate a condition. */
clt_config cli_choose_configuration(const char *typed, const clt_instance *instance, bool quiet) {
  const clt_space *space = clt_instance_space(instance);
  clt_text rest = {0};
  const clt_config standard = clt_instance_default(instance);
  clt_config out = standard;
  bool given[CLT_MAX_PARAMETERS];
  if (typed == NULL) {
    const char *violated = clt_space_violation(space, standard, NULL);
    if (violated == NULL || clt_space_valid(space) == 0) return standard;
    fprintf(stderr,
            "clatune: warning: the default configuration is not valid (%s); the first valid configuration is used\n",
            violated);
    return clt_space_at(space, 0);
  }
  cli_check_typed(clt_config_parse_onto(&out, given, space, typed, &cli_error));
  uint32_t positions[CLT_MAX_PARAMETERS];
  clt_space_positions(positions, space, standard);
  for (size_t p = 0; p < clt_space_n_parameters(space); p++) {
    const clt_parameter *parameter = clt_space_parameter(space, p);
    if (given[p]) continue;
    clt_text_printf(&rest, " %s=", parameter->name);
    clt_value_spell(&rest, parameter, positions[p]);
  }
  if (rest.n > 0 && !quiet) fprintf(stderr, "clatune: note: default values used:%s\n", rest.bytes);
  clt_text_release(&rest);
  return out;
}

/* The *n configurations to check: the given one, the default one, or different random ones. */
static clt_config *choose_configurations(size_t *n, const cli_arguments *arguments, const clt_instance *instance) {
  const size_t n_sample = (size_t)cli_integer(arguments, "sample", 0, 1, 10000);
  const uint64_t seed = (uint64_t)cli_integer(arguments, "seed", 1, 0, INT64_MAX);
  const char *typed = cli_text(arguments, "configuration");
  clt_config *out = cli_new(n_sample, sizeof *out);
  clt_rng rng;
  *n = 1;
  if (n_sample == 0) {
    *out = cli_choose_configuration(typed, instance, cli_given(arguments, "quiet"));
    return out;
  }
  if (typed) cli_usage("--sample and --configuration exclude each other; give one of them");
  clt_rng_init(&rng, seed);
  const int64_t n_drawn = clt_space_sample(out, clt_instance_space(instance), &rng, n_sample, &cli_error);
  cli_check(n_drawn < 0);
  if (n_drawn == 0) cli_die(CLI_NO_VALID, "no configuration is valid; 'clatune space' shows why");
  *n = (size_t)n_drawn;
  return out;
}

/* --- the verdict --- */

/* The checks of a single configuration beyond its own input. */
typedef struct plan_result {
  clt_checking checking;
  clt_margin *margins;
  size_t n_margins;
} plan_result;

#define SHOWN_FINDINGS 5 /* an out-of-bounds loop has one for each element */

/* The result for one configuration; findings is Oclgrind's log, NULL without Oclgrind. */
typedef struct verdict {
  clt_measurement m;
  const char *violation;
  char *findings;
  size_t n_findings;
} verdict;

/* Whether the configuration is its own reference. */
static bool is_own_reference(const clt_instance *instance, const clt_measurement *m) {
  const clt_problem *problem = clt_instance_problem(instance);
  const clt_space *space = clt_instance_space(instance);
  return clt_measurement_correct(m) && !clt_problem_is_command(problem) && !clt_problem_has_reference(problem) &&
         clt_space_canonical(space, m->config) ==
             clt_space_canonical(space, clt_instance_reference_configuration(instance));
}

static bool is_right(const verdict *v) { return clt_measurement_correct(&v->m) && v->n_findings == 0; }

/* The check that accepted the result of a correct configuration. */
static const char *judge_of(const clt_instance *instance, const clt_measurement *m) {
  const clt_problem *problem = clt_instance_problem(instance);
  if (clt_problem_is_command(problem)) return clt_problem_has_reference(problem) ? "check-command" : "none";
  if (is_own_reference(instance, m)) return "itself";
  if (!isnan(m->max_abs_error)) return "reference";
  return clt_instance_reference_kind(instance) == CLT_REFERENCE_NONE ? "no-output" : "verify-expression";
}

/* The figure that a program reports or its time; null for a kernel. */
static json_t *program_json(const clt_instance *instance, const clt_measurement *m) {
  clt_objective *o = NULL;
  if (!clt_problem_is_command(clt_instance_problem(instance)) || !clt_measurement_correct(m)) return json_null();
  if (clt_objective_new(&o, instance, "", NULL)) return json_null();
  json_t *out = json_pack("{s:o, s:o}", "time_s", clt_json_real(m->time_s), "figure", cli_json_figure(o, m));
  clt_objective_free(o);
  return out;
}

/* An element that the result does not depend on tells nothing about the comparison. */
static double positive(double margin) { return margin > 0 ? margin : NAN; }

/* How well the comparison notices a changed element of each input. */
static json_t *margins_json(const plan_result *plan) {
  json_t *margins = json_array();
  for (const clt_margin *m = plan->margins; m < plan->margins + plan->n_margins; m++) {
    const double both = fmin(positive(m->last), positive(m->middle)); /* fmin leaves out NaNs */
    const double least = isnan(both) ? INFINITY : both;
    const bool unnoticed = least < 1, without_effect = isnan(both) && (m->last == 0 || m->middle == 0);
    double change = NAN, tolerance = NAN;
    if (isfinite(least) && least >= 1) change = least > 1e20 ? 0 : 1 / least;
    if (unnoticed && m->relative_tolerance > 0) tolerance = 0.5 * m->relative_tolerance * least;
    json_array_append_new(
        margins,
        json_pack("{s:s, s:o, s:o, s:o, s:o, s:b, s:b}", "argument", m->argument, "last", clt_json_real(m->last),
                  "middle", clt_json_real(m->middle), "noticed_change", clt_json_real(change), "noticing_tolerance",
                  clt_json_real(tolerance), "without_effect", without_effect, "unnoticed", unnoticed));
  }
  return margins;
}

static json_t *verdict_json(const clt_instance *instance, const verdict *v, double quality, const plan_result *plan) {
  const clt_problem *problem = clt_instance_problem(instance);
  const clt_space *space = clt_instance_space(instance);
  const clt_measurement *m = &v->m;
  const bool own = is_own_reference(instance, m);
  json_t *out =
      json_pack("{s:o, s:o, s:o, s:b, s:s, s:s?, s:o, s:o, s:b, s:b, s:s}", "configuration",
                clt_json_configuration(space, m->config), "text", cli_json_config_text(space, m->config), "options",
                clt_json_options(instance, m->config), "correct", clt_measurement_correct(m), "reason",
                clt_reason_name(m->reason), "violation", v->violation, "max_abs_error",
                clt_json_real(own ? NAN : m->max_abs_error), "quality", cli_json_quality(problem, quality), "reference",
                clt_problem_has_reference(problem), "own_reference", own, "judge", judge_of(instance, m));
  json_object_update_new(
      out, json_pack("{s:o, s:o, s:o, s:o, s:b, s:o, s:o}", "log", clt_json_text(m->log), "oclgrind",
                     clt_json_text(v->findings), "findings",
                     v->findings ? json_integer((json_int_t)v->n_findings) : json_null(), "program",
                     program_json(instance, m), "default_is_valid",
                     clt_space_contains(space, clt_instance_default(instance)), "checks",
                     cli_json_checks(plan->checking.results, plan->checking.n_results), "margins", margins_json(plan)));
  return out;
}

/* --- as text --- */

#define WIDTH 16

static const clt_line verdict_lines[] = {
    {"configuration", "{text}"},
    {"verified",
     "{!correct}no: {reason:reason} ({reason})"
     "|{?judge=check-command}yes; the check command accepts it"
     "|{?judge=none}" CLI_UNCHECKED_PROGRAM
     "|{?judge=itself}it runs; the result was not compared: the problem has no \"Reference\""
     "[{!default_is_valid} and no valid default configuration]"
     "|{?judge=no-output}it runs; the result was not compared: no argument is an output"
     "|{?judge=verify-expression}yes; the problem's \"Verify\" accepts it"
     "|{?reference}yes; largest difference from the reference {max_abs_error:.3g}"
     "|yes; largest difference from the default configuration's result {max_abs_error:.3g}"},
    {"to do",
     "{?correct}{?judge=itself}give the problem a \"Reference\"[{!default_is_valid}, or give every parameter a"
     " \"Default\", so that the default configuration is valid and correct]"},
    {"figure", "{program:figure}"},
    {"violates", "{violation}"},
    {.form = "[{?correct}printed|log]\n{log}"},
    {"Oclgrind", "{findings} finding{findings:s}[{?findings>5}, the first 5:][\n{oclgrind}]"}};
static const clt_text_layout verdict_layout = CLT_TEXT_LAYOUT(0, WIDTH, verdict_lines);

static const clt_line margin_lines[] = {
    {"[{?first}sensitivity]",
     "{?noticed_change>0}'{argument}': the comparison notices a change of one element by about {noticed_change:.2%} of "
     "its value"
     "|{?without_effect}'{argument}': not known, as the correct result depends neither on its last nor on a middle "
     "element; an output that the kernel only writes is WriteOnly, without FillType"
     "|{?unnoticed}'{argument}': a missing element would not be noticed on the file's inputs"
     "[; a \"RelativeTolerance\" of {noticing_tolerance:.1g} would notice it, if rounding errors are below that]"
     "|{?noticed_change=0}'{argument}': the comparison notices any change of one element",
     .each = "margins"},
    {"{quality.name}", "{!violation}[{quality.value:.3g}[ {quality.unit}]|not known]"}};
static const clt_text_layout margin_layout = CLT_TEXT_LAYOUT(0, WIDTH, margin_lines);

static int answer_verdict(const cli_arguments *arguments, json_t *answer, bool is_right) {
  const json_t *checks = json_object_get(answer, "checks");
  if (cli_given(arguments, "json")) return cli_print_json(answer);
  cli_draw(answer, &verdict_layout);
  if (is_right && json_array_size(checks) > 0) cli_draw_checks("checks", checks, WIDTH);
  cli_draw(answer, &margin_layout);
  json_decref(answer);
  return CLI_FOUND;
}

static int answer_sample(const cli_arguments *arguments, const clt_instance *instance, const verdict *verdicts,
                         size_t n, double quality) {
  static const clt_line lines[] = {
      {"verified",
       "{correct} of {sample} random configurations; their largest difference from the reference"
       " {largest_error:.3g}[{?own_reference}; one of them is itself the reference]"},
      {"{quality.name}", "[{quality.value:.3g}[ {quality.unit}]|not known]"}};
  static const clt_text_layout layout = CLT_TEXT_LAYOUT(0, WIDTH, lines);
  const plan_result none = {.n_margins = 0};
  size_t n_right = 0;
  double largest = 0;
  bool any_own = false;
  json_t *all = json_array();
  for (const verdict *v = verdicts; v < verdicts + n; v++) {
    json_t *json = verdict_json(instance, v, quality, &none);
    if (!is_right(v) && !cli_given(arguments, "json")) cli_draw(json, &verdict_layout);
    json_array_append_new(all, json);
    n_right += is_right(v);
    if (clt_measurement_correct(&v->m)) largest = fmax(largest, v->m.max_abs_error);
    any_own = any_own || is_own_reference(instance, &v->m);
  }
  return cli_answer(arguments,
                    json_pack("{s:I, s:I, s:o, s:b, s:o, s:o}", "sample", (json_int_t)n, "correct", (json_int_t)n_right,
                              "largest_error", clt_json_real(largest), "own_reference", any_own, "quality",
                              cli_json_quality(clt_instance_problem(instance), quality), "configurations", all),
                    &layout);
}

/* Warns of a likely cause if a kernel builds, but fails or gives an incorrect result: the first argument whose elements
 * have another size in the kernel (often a vector type), or whose name belongs to another position. Builds the
 * configuration once more; no warning if that fails. */
static void warn_of_arguments(const clt_instance *instance, clt_config config, bool *quiet) {
  clt_plan *plan = NULL;
  clt_kernel_info *kernels = NULL;
  size_t n = 0;
  if (clt_plan_new_with_source(&plan, instance, config, NULL)) return;
  const clt_device_info *device = clt_instance_device(instance);
  bool said = clt_inspect(&kernels, &n, NULL, device, plan->source, plan->options, NULL) != CLT_OK;
  for (size_t l = 0; l < plan->n_launches; l++) {
    const clt_plan_launch *launch = &plan->launches[l];
    const clt_kernel_info *kernel = kernels;
    while (kernel < kernels + n && strcmp(kernel->name, launch->kernel) != 0) kernel++;
    if (kernel == kernels + n) continue;
    for (size_t i = 0; !said && i < launch->n_args && i < kernel->n_arguments; i++) {
      const char *expected = kernel->arguments[i].name, *given = plan->args[launch->args[i]].name;
      const clt_element element = plan->args[launch->args[i]].element;
      char type[sizeof kernel->arguments[i].type], own[16], text[512];
      clt_element taken;
      bool elsewhere = false;
      snprintf(type, sizeof type, "%.*s", (int)strcspn(kernel->arguments[i].type, "* "), kernel->arguments[i].type);
      if (kernel->arguments[i].address == CLT_ADDRESS_GLOBAL && clt_element_parse(&taken, type) == CLT_OK &&
          taken.bytes != element.bytes && element.bytes > 1) {
        clt_element_print(own, element);
        snprintf(
            text, sizeof text,
            "argument %zu of the kernel '%s' is '%s %s', but '%s' has the Type %s in the problem file: its Size counts "
            "elements of %zu bytes, the kernel's %s has %zu bytes",
            i + 1, launch->kernel, kernel->arguments[i].type, expected, given, own, element.bytes, type, taken.bytes);
        cli_log(quiet, CLT_LOG_WARNING, text);
        said = true;
        continue;
      }
      for (size_t j = 0; j < launch->n_args; j++)
        elsewhere = elsewhere || (j != i && strcmp(expected, plan->args[launch->args[j]].name) == 0);
      if (strcmp(expected, given) == 0 || !elsewhere) continue;
      snprintf(
          text, sizeof text,
          "argument %zu of the kernel '%s' is '%s', but the problem file passes '%s' there: arguments are passed in "
          "the order of the problem file, and their names do not matter",
          i + 1, launch->kernel, expected, given);
      cli_log(quiet, CLT_LOG_WARNING, text);
      said = true;
    }
  }
  free(kernels);
  clt_plan_free(plan);
}

/* Under Oclgrind one by one, so that each configuration gets its own findings. */
static void verify_all(verdict *verdicts, size_t n, double *quality, const clt_instance *instance,
                       const clt_config *configs, const clt_oclgrind *oclgrind, const clt_tune_settings *settings) {
  clt_measurement *measured = cli_new(n, sizeof *measured);
  const size_t step = oclgrind->log ? 1 : n;
  char text[128];
  snprintf(text, sizeof text, "running %zu configuration%s and the reference%s", n, CLT_PLURAL(n),
           oclgrind->log ? " under Oclgrind" : "");
  cli_log(settings->user, CLT_LOG_INFO, text);
  for (size_t i = 0; i < n; i += step) {
    cli_check(clt_verify_configs(measured, quality, instance, configs + i, step, NULL, settings, &cli_error));
    for (size_t k = 0; k < step; k++) verdicts[i + k].m = measured[k];
    if (oclgrind->log == NULL) continue;
    verdicts[i].findings = clt_oclgrind_findings(&verdicts[i].n_findings, SHOWN_FINDINGS, oclgrind);
    if (verdicts[i].findings == NULL || truncate(oclgrind->log, 0))
      cli_failure("cannot read the findings of Oclgrind from '%s'", oclgrind->log);
  }
}

/* --- the check plan --- */

/* Prints which checks a winner must pass, without making them. */
static void print_plan(clt_checking *c, clt_config config, const plan_result *result) {
  static const char *const kinds[] = {"the problem's sizes", "smaller, odd, unequal", "multiples of a power of two",
                                      "larger, as time and memory allow; verify does it with each size as the largest"};
  clt_check_stage stages[3];
  size_t n = 0;
  cli_check(clt_check_stages(stages, &n, c, config, &cli_error));
  const clt_check finalist = clt_finalist_check(c->instance);
  const clt_reference_kind kind = clt_instance_reference_kind(c->instance);
  char *own = clt_instance_sizes_text(c->instance);
  printf("every finalist, at %s\n  %-42s %s\n", own && *own ? own : "the problem's sizes",
         clt_recipe_name(&finalist.recipe), clt_check_purpose(&finalist));
  free(own);
  for (size_t i = 0; i < n; i++) {
    const clt_check_stage *stage = &stages[i];
    char *sizes = clt_instance_sizes_text(stage->instance ? stage->instance : c->instance);
    if (stage->n_checks == 0 && stage->instance == NULL) {
      printf("no sizes that are %s: %s\n", kinds[stage->kind], stage->note ? stage->note : "");
    } else {
      printf("the winner, at %s (%s", sizes && *sizes ? sizes : "its own inputs' size", kinds[stage->kind]);
      if (stage->note) printf("; %s", stage->note);
      puts(stage->n_checks > 0 ? "), in the opposite order of work-items and groups" : ")");
      if (stage->n_checks == 0)
        printf("  %-42s %s\n", clt_recipe_name(&stage->inputs), "narrow indices, fixed tables, limits of groups");
    }
    for (size_t k = 0; k < stage->n_checks; k++)
      printf("  %-42s %s\n", clt_recipe_name(&stage->checks[k].recipe), clt_check_purpose(&stage->checks[k]));
    free(sizes);
    clt_stage_release(&stages[i]);
  }
  const char *left_out = clt_instance_stays_finite(c->instance, config);
  const clt_recipe special = {CLT_INPUTS_SPECIAL, CLT_SPECIAL_NAN};
  if (left_out && clt_recipe_applies(clt_instance_problem(c->instance), &special))
    printf("left out: NaN and infinities: %s\n", left_out);
  if (kind == CLT_REFERENCE_FILE)
    puts("judge: the default configuration, as the reference is data files");
  else if (kind == CLT_REFERENCE_DEFAULT)
    puts("judge: the default configuration, as the problem has no reference");
  else
    puts("judge: the reference; if it does not follow the inputs, the default configuration");
  json_t *margins = json_pack("{s:o}", "margins", margins_json(result));
  cli_draw(margins, &margin_layout);
  json_decref(margins);
}

static void tell_check(void *quiet, const char *what) { cli_log(quiet, CLT_LOG_INFO, what); }

static void end_oclgrind(void *oclgrind) { clt_oclgrind_end(oclgrind); }

static int run_verify(const cli_arguments *arguments) {
  /* Oclgrind interprets every instruction, which is slow. */
  static const clt_setting patience[] = {
      {"run-timeout", "3600"}, {"compile-timeout", "3600"}, {"host-timeout", "3600"}};
  static clt_oclgrind oclgrind;
  clt_constraint_origin origin = CLT_CONDITION;
  bool quiet = cli_given(arguments, "quiet"), is_sample = cli_given(arguments, "sample");
  double quality = NAN;
  size_t n = 0, wrong = 0; /* wrong: the first */
  clt_device_info device;
  clt_tune_settings settings;
  clt_tune_settings_init(&settings);
  settings.log = cli_log;
  settings.user = &quiet;
  if (cli_given(arguments, "oclgrind")) {
    cli_check(clt_oclgrind_begin(&oclgrind, NULL, true, &cli_error));
    cli_keep(&oclgrind, end_oclgrind);
    setenv("CLATUNE_DEVICE", "oclgrind", 1);
  }
  if (cli_given(arguments, "plan") &&
      (cli_given(arguments, "sample") || cli_given(arguments, "oclgrind") || cli_given(arguments, "json")))
    cli_usage("--plan excludes --sample, --oclgrind and --json");
  cli_subject subject = cli_subject_load(arguments, arguments->positional[0]);
  if (oclgrind.log && !clt_problem_is_command(subject.problem)) {
    const char *typed = cli_text(arguments, "device");
    if (cli_find_device(&device, typed ? typed : getenv("CLATUNE_DEVICE"), &cli_error))
      cli_die(cli_say(&cli_error), CLI_NO_OCLGRIND);
    settings.evaluator_settings = patience;
    settings.n_evaluator_settings = sizeof patience / sizeof *patience;
  }
  cli_subject_complete(&subject, arguments, CLI_DEVICE_REQUIRED);
  const clt_instance *instance = subject.instance;
  const clt_config *configs = choose_configurations(&n, arguments, instance);
  verdict *verdicts = cli_new(n, sizeof *verdicts);
  for (size_t i = 0; i < n; i++) clt_measurement_init(&verdicts[i].m, configs[i]);
  /* All configurations of a sample are valid. */
  verdicts[0].violation = clt_space_violation(clt_instance_space(instance), configs[0], &origin);
  if (verdicts[0].violation)
    clt_measurement_fail(&verdicts[0].m, origin == CLT_DEVICE_LIMIT ? CLT_REASON_DEVICE_LIMIT : CLT_REASON_CONDITION,
                         NULL);
  else
    verify_all(verdicts, n, &quality, instance, configs, &oclgrind, &settings);
  plan_result plan = {.checking = {.instance = instance,
                                   .settings = &settings,
                                   .run_s = verdicts[0].m.time_s,
                                   .thorough = true,
                                   .tell = tell_check,
                                   .user = &quiet,
                                   .accused = CLT_CONFIG_NONE}};
  const bool plans = !is_sample && oclgrind.log == NULL && !clt_problem_is_command(subject.problem) &&
                     clt_measurement_correct(&verdicts[0].m) &&
                     clt_instance_reference_kind(instance) != CLT_REFERENCE_NONE;
  if (plans && !cli_given(arguments, "plan")) {
    cli_log(&quiet, CLT_LOG_INFO, "checking other inputs, sizes and orders of work-items");
    cli_check(clt_check_config(&plan.checking, &verdicts[0].m, &cli_error));
  }
  if (plans) cli_check(clt_check_margins(&plan.margins, &plan.n_margins, &plan.checking, configs[0], &cli_error));
  while (wrong < n && clt_measurement_correct(&verdicts[wrong].m)) wrong++;
  if (wrong < n && verdicts[0].violation == NULL && !clt_problem_is_command(subject.problem))
    warn_of_arguments(instance, configs[wrong], &quiet);
  int rc = CLI_FOUND;
  if (plans && cli_given(arguments, "plan"))
    print_plan(&plan.checking, configs[0], &plan);
  else if (is_sample)
    rc = answer_sample(arguments, instance, verdicts, n, quality);
  else
    rc = answer_verdict(arguments, verdict_json(instance, verdicts, quality, &plan), is_right(verdicts));
  for (size_t i = 0; rc == CLI_FOUND && i < n; i++)
    if (!is_right(&verdicts[i])) rc = CLI_VERIFY_FAILED;
  for (size_t i = 0; i < n; i++) {
    clt_measurement_release(&verdicts[i].m);
    free(verdicts[i].findings);
  }
  clt_check_results_clear(&plan.checking.results, &plan.checking.n_results);
  free(plan.margins);
  free(plan.checking.unfollowed);
  return rc;
}

static const cli_flag flags[] = {
    CLI_FLAG_DEVICE,
    CLI_FLAG_SIZE,
    {"configuration", "\"a=1 b=2\"", "the configuration to check; missing parameters have their default values"},
    {"plan", NULL, "only prints which checks the winner of a tuning must pass, and what each finds"},
    {"sample", "N", "checks N random valid configurations instead of one; prints the incorrect ones and their number"},
    CLI_FLAG_SEED,
    {"oclgrind", NULL,
     "runs the configurations under Oclgrind, which finds out-of-bounds accesses, races and uninitialised values; it "
     "is slow, so choose small sizes"},
    CLI_FLAG_JSON,
    CLI_FLAG_QUIET};

const cli_command cli_verify = {
    .name = "verify",
    .summary = "checks a problem file and its default configuration",
    .synopsis =
        "PROBLEM [--device NAME] [--size NAME=N]... [--configuration \"a=1 b=2\" | --sample N] [--plan] [--oclgrind] "
        "[--json]",
    .description =
        "Checks a problem file, then builds and runs its default configuration (or the given one, or a random sample) "
        "and compares the result with the reference. A single configuration must also pass the check plan: other "
        "inputs, sizes and orders of work-items. Prints the kernel's own output. The exit code is 5 if a configuration "
        "fails, gives an incorrect result, or Oclgrind finds a fault.",
    CLI_FLAGS(flags),
    .n_positional = {1, 1},
    .run = run_verify,
};
