/* `clatune tune`: its answer as a document, and the text drawn from it. */
#include "cli/tuning.h"
#include "problem/guidance.h"
#include "session/contest.h"
#include "session/session.h"

/* --- the document --- */

/* A count among the searcher's notes; 0 if it has none of this name. */
static json_int_t noted_count(const clt_search_report *s, const char *name) {
  double n = clt_note_value(s->notes, s->n_notes, name);
  return n > 0 ? (json_int_t)n : 0;
}

/* m NULL: null. */
static json_t *finalist_json(const cli_tuning *tuning, const clt_tune_result *r, const clt_measurement *m) {
  if (m == NULL) return json_null();
  return cli_json_measurement(tuning->subject.instance, tuning->objective, m, r->best_is_finalist);
}

static json_t *best_json(const cli_tuning *tuning, const clt_tune_result *r) {
  if (r->best.config == CLT_CONFIG_NONE) return json_null();
  json_t *out = finalist_json(tuning, r, &r->best);
  const clt_objective *o = tuning->objective;
  double best = clt_objective_default_cost(o, &r->best);
  double over_default =
      r->has_default ? clt_cost_ratio(clt_objective_default_cost(o, &r->default_measurement), best) : NAN;
  double over_median =
      clt_objective_is_default(o) ? clt_cost_ratio(r->median_cost, r->least_cost) : r->median_s / r->least_s;
  const bool sampled = r->timed_beside.config != CLT_CONFIG_NONE;
  const double over_sample = sampled ? clt_cost_ratio(clt_objective_default_cost(o, &r->timed_beside), best) : NAN;
  json_object_update_new(out, json_pack("{s:o, s:o, s:o, s:o, s:b}", "speedup_over_default",
                                        clt_json_real(over_default), "speedup_over_median", clt_json_real(over_median),
                                        "speedup_over_first_stage", clt_json_real(over_sample), "spread",
                                        clt_json_real(r->best_spread), "finalist", r->best_is_finalist));
  return out;
}

/* The objective and its values. */
static json_t *objective_json(const clt_objective *o, const clt_tune_result *r) {
  json_t *out = clt_json_objective(o);
  double best = r->best.config == CLT_CONFIG_NONE ? NAN : clt_objective_cost(o, &r->best);
  double standard = r->has_default ? clt_objective_cost(o, &r->default_measurement) : NAN;
  json_object_update_new(
      out, json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:I}", "value", clt_json_real(clt_objective_value_of(o, best)),
                     "default", clt_json_real(clt_objective_value_of(o, standard)), "median",
                     clt_json_real(clt_objective_value_of(o, r->median_cost)), "best_in_search",
                     clt_json_real(clt_objective_value_of(o, r->least_cost)), "improvement_over_default",
                     clt_json_real(clt_cost_ratio(standard, best)), "improvement_over_median",
                     clt_json_real(clt_cost_ratio(r->median_cost, r->least_cost)), "without_value",
                     (json_int_t)r->n_without_value));
  return out;
}

static json_t *front_json(const cli_tuning *tuning, const clt_tune_result *r) {
  json_t *out = json_array();
  for (size_t i = 0; i < r->n_front; i++) {
    json_t *one = finalist_json(tuning, r, &r->front[i]);
    json_object_update_new(one, clt_json_values(tuning->objective, &r->front[i]));
    json_array_append_new(out, one);
  }
  return out;
}

/* "evaluations", "reasons" and "failures". */
static void add_evaluations(json_t *out, const cli_tuning *tuning, const clt_tune_result *r) {
  json_t *evaluations =
      json_pack("{s:I, s:I, s:I, s:I}", "total", (json_int_t)r->evaluations, "measured", (json_int_t)r->measured,
                "reused", (json_int_t)r->reused, "aliased", (json_int_t)r->aliased);
  const json_int_t abandoned = clt_tune_n_failed(NULL, r, CLT_REASON_ABANDONED);
  for (int i = 0; i < CLT_N_INVALIDITIES; i++)
    json_object_set_new(
        evaluations, clt_invalidity_name((clt_invalidity)i),
        json_integer((json_int_t)clt_tune_n_invalid(r, (clt_invalidity)i) - (i == CLT_TIMEOUT ? abandoned : 0)));
  json_object_set_new(evaluations, "abandoned", json_integer(abandoned));
  json_object_set_new(evaluations, "confirmed_alone", json_integer((json_int_t)r->n_confirmed_alone));
  json_t *reasons = json_object(), *failures = json_array();
  for (int i = CLT_REASON_NONE + 1; i < CLT_N_REASONS; i++) {
    const char *name = clt_reason_name((clt_reason)i);
    clt_config first;
    const json_int_t n = clt_tune_n_failed(&first, r, (clt_reason)i);
    if (n == 0) continue;
    if (i != CLT_REASON_ABANDONED) json_object_set_new(reasons, name, json_integer(n));
    json_array_append_new(failures,
                          json_pack("{s:s, s:I, s:o}", "reason", name, "count", n, "example",
                                    cli_json_config_text(clt_instance_space(tuning->subject.instance), first)));
  }
  json_object_set_new(out, "evaluations", evaluations);
  json_object_set_new(out, "reasons", reasons);
  json_object_set_new(out, "failures", failures);
}

static json_t *model_json(const clt_search_report *s) {
  if (!s->has_model) return json_null();
  return json_pack(
      "{s:b, s:o, s:I, s:I, s:I, s:o, s:o, s:o}", "useless", clt_model_useless(&s->model), "mean_relative_error",
      clt_json_real(s->model.mean_relative_error), "rows", (json_int_t)s->model.n_rows, "failed_rows",
      (json_int_t)s->model.n_failed, "correct_rows", (json_int_t)(s->model.n_rows - s->model.n_failed), "log_error_sd",
      clt_json_real(s->model.log_error_sd), "fit_s", clt_json_real(clt_note_value(s->notes, s->n_notes, "fit_s")),
      "predict_s", clt_json_real(clt_note_value(s->notes, s->n_notes, "predict_s")));
}

/* A program's figure, in its own unit; null if it is the time. */
static json_t *figure_json(const clt_objective *o, const clt_measurement *best) {
  json_t *out = cli_json_figure(o, best);
  if (json_is_null(out)) return out;
  const clt_metric standard = clt_objective_metric(o, clt_objective_default(o));
  json_object_set(out, "best", json_object_get(out, "value"));
  json_object_del(out, "value");
  json_object_set_new(out, "larger_is_better", json_boolean(standard.goal == CLT_MAXIMISE));
  return out;
}

/* The checks that the best has passed. */
static void add_checks(json_t *out, const cli_tuning *tuning, const clt_tune_result *r) {
  const clt_problem *problem = tuning->subject.problem;
  const char *other_sizes = NULL;
  bool checked = false;
  for (size_t i = 0; i < r->n_checks; i++) {
    if (!r->checks[i].passed) continue;
    checked = true;
    if (!r->checks[i].own_sizes && other_sizes == NULL) other_sizes = r->checks[i].sizes;
  }
  json_object_update_new(
      out, json_pack("{s:b, s:o, s:o, s:o, s:s, s:o, s:b}", "verified_on_one_input", !checked, "second_size",
                     clt_json_text(other_sizes), "checks", cli_json_checks(r->checks, r->n_checks), "checks_s",
                     clt_json_real(r->checks_s), "race_check", clt_race_check_name(r->race_check), "race_reason",
                     clt_json_text(r->race_reason), "unchecked_program",
                     clt_problem_is_command(problem) && !clt_problem_has_reference(problem)));
}

json_t *cli_tuning_json(const cli_tuning *tuning, const clt_tune_result *r) {
  const cli_subject *subject = &tuning->subject;
  const clt_problem *problem = subject->problem;
  const clt_search_report *s = r->search;
  const clt_phases *p = &r->phases;
  const clt_objective *o = tuning->objective;
  const bool comparable = clt_objective_ranks_as_usual(o); /* with the replays, which minimise time */
  const clt_measurement *sample = r->timed_beside.config == CLT_CONFIG_NONE ? NULL : &r->timed_beside;
  const clt_measurement *standard = r->has_default ? &r->default_measurement : NULL;
  const bool default_failed = !r->has_default && r->default_measurement.config != CLT_CONFIG_NONE;
  char sure[200];
  const bool is_sure = comparable && cli_certainty_text(sure, &tuning->settings, r);
  json_t *certainty = comparable ? cli_certainty_json(&tuning->settings, r) : json_null();
  json_t *notes = json_array(), *out = json_pack("{s:i}", "schema", CLI_SCHEMA);
  for (size_t i = 0; i < r->n_notes; i++) json_array_append_new(notes, clt_json_text(r->notes[i]));
  /* needed: the size of the second stage for the confidence, if the searcher chose the size. */
  const json_int_t n_needed = s->has_model ? noted_count(s, "second_stage_needed") : 0;
  json_t *needed = n_needed > 0 ? json_integer(n_needed) : json_null();
  json_object_update_new(out, cli_json_session(subject->instance, subject->device, &tuning->settings, o));
  json_object_update_new(
      out, json_pack("{s:o, s:s, s:o, s:s, s:b, s:b, s:b}", "devices", cli_json_places(subject), "cache",
                     clt_problem_guidance(problem)->cold_cache ? "cold" : "warm", "objective", objective_json(o, r),
                     "evaluator", tuning->settings.evaluator, "on_device",
                     clt_evaluator_find(tuning->settings.evaluator)->measures_device, "program",
                     clt_problem_is_command(problem), "uses_options", clt_problem_has_options(problem)));
  add_evaluations(out, tuning, r);
  json_object_update_new(
      out, json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "best", best_json(tuning, r), "front",
                     front_json(tuning, r), "default", finalist_json(tuning, r, standard), "default_failure",
                     clt_json_text(default_failed ? clt_reason_name(r->default_measurement.reason) : NULL),
                     "best_of_first_stage", finalist_json(tuning, r, sample), "median_s", clt_json_real(r->median_s),
                     "figure", figure_json(o, &r->best), "quality", cli_json_quality(problem, r->quality)));
  add_checks(out, tuning, r);
  json_object_update_new(
      out, json_pack("{s:o, s:{s:I, s:I, s:o}, s:o, s:o}", "model", model_json(s), "second_stage", "measured",
                     noted_count(s, "second_stage_measured"), "failed", noted_count(s, "second_stage_failed"), "needed",
                     needed, "certainty", certainty, "how_sure", clt_json_text(is_sure ? sure : NULL)));
  json_object_update_new(out, json_pack("{s:{s:o, s:o, s:o, s:o, s:o}, s:o, s:I, s:o, s:b, s:s, s:o, s:o}", "phases",
                                        "build_s", clt_json_real(p->build_s), "first_launch_s",
                                        clt_json_real(p->first_launch_s), "runs_s", clt_json_real(p->runs_s),
                                        "verify_s", clt_json_real(p->verify_s), "wait_s", clt_json_real(p->wait_s),
                                        "store", clt_json_text(tuning->store ? clt_store_path(tuning->store) : NULL),
                                        "machine_busy", (json_int_t)r->n_machine_busy, "notes", notes, "stopped",
                                        r->stopped, "ended_by", clt_ending_name(r->ending), "wall_s",
                                        clt_json_real(r->wall_s), "waited_s", clt_json_real(r->waited_s)));
  if (tuning->results) json_object_set(out, "results", tuning->results);
  return out;
}

/* --- the text --- */

#define WIDTH 20

static const clt_line best_lines[] = {
    {.form = "{problem} on {device.name}[{?devices>1} ({devices:n} devices)]"
             "[{?stopped}{?store} (stopped early; the same command continues)|{?stopped} (stopped early)]"},
    {"evaluator", "{!on_device}{evaluator}: nothing was run on the device"},
    {"space", "{space.cartesian} configuration{space.cartesian:s}, {space.valid} valid on this device"},
    {"best configuration", "[{best.text}|none[{?evaluations.total}: no configuration gave a correct result| yet]]"},
    {"options", "{?uses_options}{?best}[{best.options}]"},
    {"[{?figure}figure|time]",
     "{?best}[{?best.finalist}{best:median}, median of {best.runs_s:n} interleaved round{best.runs_s:s}"
     "|{?best.runs_s>1}{best:figure}, [{?program}summary|shortest] of {best.runs_s:n} runs"
     " with a spread of {best.spread:.2%}|{best:figure}, a single run][{!figure}, {best.clock} clock]"},
    {"{best.other_cache.cache} caches",
     "{?best}{best.other_cache:median}[, {default.other_cache:median} for the default configuration]"},
    CLT_STATE_LINES("best.", "{?best.state.launch_share>0.1}"),
    {"{name}", "{?name!=$objective.name}{value:.4g}[ {unit}]", .each = "best.metrics"},
    {"[{?figure}gain|speed-up]",
     "{?best}{?objective.is_default}[{best.speedup_over_default:.3g} over the default configuration ({default:median})"
     "|not known: no correct result of the default configuration[; {default_failure:reason}]]"
     "[, {best.speedup_over_first_stage:.3g} over the best random sample ({best_of_first_stage:median})]"},
    /* Single runs in the search cannot be compared with medians of finalists: these values have their own line. */
    {"in the search",
     "{?best}{?objective.is_default}{?figure}best {objective.best_in_search:.5g}[ {figure.unit}]"
     ", median configuration {objective.median:.5g}[ {figure.unit}] ({objective.improvement_over_median:.3g} times "
     "worse)"
     "|{?best}{?objective.is_default}shortest time {objective.best_in_search:time}"
     ", median configuration {objective.median:time} ({objective.improvement_over_median:.3g} times as long)"},
    {"objective",
     "{?best}{!objective.is_default}{objective.goal} {objective.name}: [{objective.value:in objective.unit}|-]"
     "[, {objective.improvement_over_default:.3g} times better than the default configuration"
     " ({objective.default:in objective.unit})]"
     "[, {objective.improvement_over_median:.3g} times better than the median in the search]"},
    {"",
     "{?best}{!objective.is_default}{?objective.without_value}{objective.without_value} correct configurations have"
     " no value of the objective"},
    {"[{?first}front]", "{text}: {summary}", .each = "front"},
    {"[{?first}notes]", "{.}", .each = "notes"}};
static const clt_text_layout best_layout = CLT_TEXT_LAYOUT(0, WIDTH, best_lines);

static const clt_line search_lines[] = {
    {"verified", "{?best}{?on_device}{?unchecked_program}" CLI_UNCHECKED_PROGRAM},
    {"races",
     "{?best}{?on_device}{!program}[{?race_check=passed}Oclgrind found none"
     "|{?race_check=failed}Oclgrind found a fault|{?race_reason}not checked|not checked with Oclgrind][: "
     "{race_reason}]"},
    {"{quality.name}", "[{quality.value:.3g}[ {quality.unit}]|not known]"},
    {"evaluations",
     "{evaluations.total}: {evaluations.measured} measured, {evaluations.reused} already known;"
     " {evaluations.correct} correct[{?ended_by=target}; ended: target reached"
     "|{?ended_by=stagnation}; ended: no improvement (--stagnation)|{?ended_by=space}; no configuration is left]"},
    {"aliases",
     "{?evaluations.aliased}{evaluations.aliased} answered with the result of their canonical configuration"},
    {"[{?reason=abandoned}slow|failed]",
     "{count} [{?reason=abandoned}stopped because they took many times as long as the best (--run-timeout-factor)"
     "|{reason}], e.g. {example}",
     .each = "failures"},
    {"", "{?reasons}('clatune verify PROBLEM --configuration \"...\"' shows why)"},
    {"machine was busy", "{?machine_busy}extended {machine_busy} time limit{machine_busy:s}"},
    {"model",
     "[{?model.useless}useless: no better than the mean of the measurements"
     "|{?model.mean_relative_error>1}a few predictions are far off (mean relative error above 100 %),"
     "|mean relative error [{model.mean_relative_error:.3%}|not known]] on measurements not trained on"
     " ({model.correct_rows} in all)"},
    {"second stage",
     "{?model}{?second_stage.measured}{second_stage.measured} measured, {second_stage.failed} of them failed"},
    {"search quality", "{how_sure}"},
    {"took", "{wall_s:time}[{?waited_s>1}, {waited_s:time} of it waiting for other tuners on the device]"},
    {"stored in", "{store}"}};
static const clt_text_layout search_layout = CLT_TEXT_LAYOUT(0, WIDTH, search_lines);

static void draw_tuning(const json_t *answer) {
  cli_draw(answer, &best_layout);
  if (json_is_object(json_object_get(answer, "best")) && json_is_true(json_object_get(answer, "on_device")) &&
      !json_is_true(json_object_get(answer, "program")))
    cli_draw_checks("verified", json_object_get(answer, "checks"), WIDTH);
  cli_draw(answer, &search_layout);
}

/* --- the command --- */

static clt_race_need read_race_need(const cli_arguments *arguments, const char *evaluator) {
  const char *choice = cli_text(arguments, "oclgrind");
  if (choice == NULL || strcmp(choice, "auto") == 0) return CLT_RACES_IF_POSSIBLE;
  if (strcmp(choice, "no") == 0) return CLT_RACES_IGNORED;
  if (strcmp(choice, "yes") != 0) cli_usage("option '--oclgrind' needs auto, no or yes, not '%s'", choice);
  if (strcmp(evaluator, "opencl") != 0) cli_usage("'--oclgrind yes' needs the evaluator 'opencl'");
  if (!clt_oclgrind_installed()) cli_die(CLI_NO_DEVICE, CLI_NO_OCLGRIND);
  return CLT_RACES_REQUIRED;
}

static int run_tune(const cli_arguments *arguments) {
  cli_tuning tuning;
  const char *searcher = cli_text(arguments, "searcher");
  const bool json = cli_given(arguments, "json"), lists = cli_given(arguments, "evaluations");
  if (cli_given(arguments, "dry-run")) return cli_dry_run(arguments, searcher, true);
  if (lists && !json && !cli_given(arguments, "events"))
    cli_usage("option '--evaluations' needs '--json' or '--events'");
  if (cli_given(arguments, "warm-start") && cli_given(arguments, "no-store"))
    cli_usage("option '--warm-start' reads a model from the store; leave out '--no-store'");
  cli_tuning_init(&tuning, arguments, searcher);
  if (cli_given(arguments, "warm-start")) tuning.settings.model = cli_trained_model(arguments, &tuning.subject);
  if (lists) tuning.results = json_array();
  tuning.settings.races = read_race_need(arguments, tuning.settings.evaluator);
  int rc = cli_tuning_run(&tuning, draw_tuning, json);
  json_decref(tuning.results);
  return rc;
}

static const cli_flag flags[] = {
    {"searcher", "NAME",
     "the search algorithm, see below (default: the one in the problem file, else " CLT_DEFAULT_SEARCHER ")"},
    {"budget", "N",
     "maximum number of evaluations (default: from the searcher's options, else the problem's Budget, else 200)"},
    {"finalists", "N",
     "how many of the best are verified on other data and compared in interleaved rounds at the end (default 5; 0: "
     "none, the winner is verified on one input only)"},
    {"oclgrind", "WHEN",
     "check of the winner for races with Oclgrind, at a small size: auto (the default: at most 30 s, if Oclgrind is "
     "installed), yes (at most 10 minutes) or no"},
    {"space-fraction", "X", "limits the evaluations to a fraction of the valid configurations (0.1: a tenth)"},
    {"target", "X", "ends the search when the objective reaches X (in seconds if the objective is time)"},
    {"stagnation", "N", "ends the search after N evaluations without an improvement by more than the tolerance"},
    {"tolerance", "X", "relative difference that counts as equal (default 0.02)"},
    {"confidence", "P", "confidence for searchers that choose the number of measurements (default 0.9)"},
    {"warm-start", NULL,
     "begins with configurations suggested by a model trained at other sizes (see 'clatune train')"},
    CLI_FLAG_LEARN_FROM,
    CLI_FLAG_NO_TRANSFER,
    CLI_FLAG_EVENTS,
    {"evaluations", NULL, "adds every evaluation to the result ('results') of --json or --events"},
    CLI_TUNING_FLAGS,
};

const cli_command cli_tune = {
    .name = "tune",
    .summary = "searches for the fastest configuration of a kernel or a program",
    .synopsis = "PROBLEM [--device NAME] [--size NAME=N]... [--budget N] [OPTION...]",
    .description =
        "Searches for the fastest configuration of the kernel or program of a problem file. Every candidate is built,\n"
        "run and verified in a process of its own, and every measurement is stored at once, so that the same command\n"
        "continues an interrupted search. The first limit that is reached ends the search: --budget,\n"
        "--space-fraction, --time, --target or --stagnation.",
    CLI_FLAGS(flags),
    .examples =
        "  clatune tune my.json                                 200 evaluations, or the problem's Budget\n"
        "  clatune tune my.json --device gpu --time 10m         for ten minutes, on the GPU\n"
        "  clatune tune my.json --size n=4096 --budget 100      at another size\n"
        "  clatune tune my.json --json --evaluations            the result as JSON, with every evaluation\n\n"
        "For more, see 'man clatune' and 'clatune help NAME'.\n",
    .plugins = {&clt_searchers, &clt_evaluators},
    .n_positional = {1, 1},
    .run = run_tune,
};
