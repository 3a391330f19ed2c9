/* `clatune tune`, and its result as text and as JSON. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/tuning.h"
#include "measurement/statistics.h"
#include "problem/command.h"
#include "problem/guidance.h"
#include "session/session.h"

/* --- as text --- */

const char cli_unchecked_program[] =
    "it runs; the result was not checked, because the problem has no \"Check\" command";

/* A count among the searcher's notes; 0 if it has none of this name. */
static json_int_t noted_count(const clt_search_report *s, const char *name) {
  double n = clt_note_value(s->notes, s->n_notes, name);
  return n > 0 ? (json_int_t)n : 0;
}

/* Whether the standard metric is time. For programs that report a figure it is the figure. */
static bool has_time(const clt_objective *o) {
  return strcmp(clt_objective_metric(o, clt_objective_default(o)).name, "time") == 0;
}

static void print_best(const cli_tuning *tuning, const clt_tune_result *r) {
  const clt_problem *problem = tuning->subject.problem;
  const clt_measurement *best = &r->best;
  bool is_time = has_time(tuning->objective);
  char *configuration = clt_config_string(clt_instance_space(tuning->subject.instance), best->config), *options = NULL;
  char figure[200];
  clt_instance_options(&options, tuning->subject.instance, best->config, NULL);
  printf("best configuration  %s\n", configuration ? configuration : "?");
  if (clt_problem_has_options(problem)) printf("options             %s\n", options ? options : "?");
  printf("%-20s%s", is_time ? "time" : "figure",
         (r->best_is_finalist ? cli_median_of : cli_figure_of)(figure, tuning->objective, best));
  if (r->best_is_finalist)
    printf(", median of %zu interleaved round%s", best->n_runs, best->n_runs == 1 ? "" : "s");
  else if (best->n_runs == 1)
    printf(", a single run");
  else
    printf(", %s of %zu runs with a spread of %.2g %%", clt_problem_is_command(problem) ? "summary" : "shortest",
           best->n_runs, 100 * r->best_spread);
  printf("%s\n", !is_time ? "" : best->clock == CLT_CLOCK_DEVICE ? ", device clock" : ", host clock");
  cli_print_metrics(tuning->objective, best, 20);
  free(configuration);
  free(options);
}

/* The checks that the winner has passed. */
static void print_checks(const cli_tuning *tuning, const clt_tune_result *r) {
  const bool measured = clt_evaluator_find(tuning->settings.evaluator)->measures_device;
  const clt_problem *problem = tuning->subject.problem;
  if (r->best.config == CLT_CONFIG_NONE || !measured) return;
  if (clt_problem_is_command(problem)) {
    if (!clt_problem_has_reference(problem)) printf("verified            %s\n", cli_unchecked_program);
    return;
  }
  cli_print_checks("verified", r->checks, r->n_checks, 20);
  printf("races               %s%s%s\n",
         strcmp(tuning->race_check, "not checked") == 0 ? "not checked with Oclgrind"
         : strcmp(tuning->race_check, "passed") == 0    ? "Oclgrind found none"
                                                        : "Oclgrind found a fault",
         tuning->race_reason[0] ? ": " : "", tuning->race_reason);
}

/* For an objective other than the standard one. */
static void print_improvement(const clt_objective *o, const clt_tune_result *r) {
  char name[160], value[96];
  double best = clt_objective_cost(o, &r->best), standard = clt_objective_cost(o, &r->default_measurement);
  printf("objective           %s: %s", cli_objective_text(name, o),
         cli_value(value, o, clt_objective_value(o, &r->best)));
  if (r->has_default && standard > 0)
    printf(", %.3g times better than the default configuration (%s)", standard / best,
           cli_value(value, o, clt_objective_value(o, &r->default_measurement)));
  if (isfinite(r->median_cost))
    printf(", %.3g times better than the median in the search", r->median_cost / r->least_cost);
  putchar('\n');
  if (r->n_without_value)
    printf("                    %lld correct configurations have no value of the objective\n",
           (long long)r->n_without_value);
}

/* For the standard objective. */
static void print_speedup(const clt_objective *o, const clt_tune_result *r) {
  const clt_measurement *standard = &r->default_measurement, *sampled = &r->timed_beside;
  bool is_time = has_time(o);
  double best = clt_objective_cost(o, &r->best);
  char figure[200], median[64];
  printf("%-20s", is_time ? "speed-up" : "gain");
  const char *(*figure_of)(char *, const clt_objective *, const clt_measurement *) =
      r->best_is_finalist ? cli_median_of : cli_figure_of;
  if (r->has_default)
    printf("%.3g over the default configuration (%s)", clt_objective_cost(o, standard) / best,
           figure_of(figure, o, standard));
  else
    printf("not known: no correct result of the default configuration%s%s",
           standard->config == CLT_CONFIG_NONE ? "" : "; ",
           standard->config == CLT_CONFIG_NONE ? "" : clt_reason_text(standard->reason));
  if (sampled->config != CLT_CONFIG_NONE && clt_measurement_correct(sampled))
    printf(", %.3g over the best random sample (%s)", clt_objective_cost(o, sampled) / best,
           figure_of(figure, o, sampled));
  putchar('\n');
  /* Single runs in the search cannot be compared with medians of finalists: these values have their own line. */
  if (isfinite(r->median_cost))
    printf("in the search       %s %s, median configuration %s (%.3g times %s)\n", is_time ? "shortest time" : "best",
           cli_figure(figure, o, clt_objective_exchange(o, r->least_cost)),
           cli_figure(median, o, clt_objective_exchange(o, r->median_cost)), r->median_cost / r->least_cost,
           is_time ? "as long" : "worse");
}

static void print_evaluations(const cli_tuning *tuning, const clt_tune_result *r) {
  printf("evaluations         %lld: %lld measured, %lld already known; %lld correct%s\n", (long long)r->evaluations,
         (long long)r->measured, (long long)r->reused, (long long)r->n_correct,
         r->ending == CLT_ENDED_BY_TARGET       ? "; ended: target reached"
         : r->ending == CLT_ENDED_BY_STAGNATION ? "; ended: no improvement (--stagnation)"
         : r->ending == CLT_NOT_ENDED           ? "; no configuration is left"
                                                : "");
  if (r->aliased)
    printf("aliases             %lld answered with the result of their canonical configuration\n",
           (long long)r->aliased);
  for (int i = CLT_REASON_NONE + 1; i < CLT_N_REASONS; i++) {
    clt_config first;
    int64_t n = clt_tune_n_failed(&first, r, (clt_reason)i);
    if (n == 0) continue;
    const bool slow = i == CLT_REASON_ABANDONED;
    char *example = clt_config_string(clt_instance_space(tuning->subject.instance), first);
    printf("%-20s%lld %s, e.g. %s\n", slow ? "slow" : "failed", (long long)n,
           slow ? "stopped because they took many times as long as the best (--run-timeout-factor)"
                : clt_reason_name((clt_reason)i),
           example ? example : "?");
    free(example);
  }
  if (r->evaluations > r->n_correct + clt_tune_n_failed(NULL, r, CLT_REASON_ABANDONED))
    puts("                    ('clatune verify PROBLEM --configuration \"...\"' shows why)");
  if (r->n_machine_busy) printf("machine was busy    %lld time limits were extended\n", (long long)r->n_machine_busy);
}

static void print_tuning(const cli_tuning *tuning, const clt_tune_result *r) {
  const clt_search_report *s = r->search;
  char wall[32], sure[200], more[40];
  printf("%s on %s%s%s\n", clt_problem_name(tuning->subject.problem), tuning->subject.device->name,
         cli_more_devices(more, tuning),
         !r->stopped     ? ""
         : tuning->store ? " (stopped early; the same command continues)"
                         : " (stopped early)");
  if (!clt_evaluator_find(tuning->settings.evaluator)->measures_device)
    printf("evaluator           %s: nothing was run on the device\n", tuning->settings.evaluator);
  printf("space               %llu configurations, %llu valid on this device\n", (unsigned long long)r->cartesian,
         (unsigned long long)r->valid);
  if (r->best.config == CLT_CONFIG_NONE) {
    printf("best configuration  none%s\n", r->evaluations ? ": no configuration gave a correct result" : " yet");
  } else {
    print_best(tuning, r);
    if (clt_objective_is_default(tuning->objective))
      print_speedup(tuning->objective, r);
    else
      print_improvement(tuning->objective, r);
  }
  for (size_t i = 0; i < r->n_notes; i++) printf("%-20s%s\n", i == 0 ? "notes" : "", r->notes[i]);
  print_checks(tuning, r);
  cli_print_quality(tuning->subject.problem, r->quality, 20);
  print_evaluations(tuning, r);
  if (s->has_model)
    printf("model               mean relative error %.3g %% on measurements not trained on (%zu in all)\n",
           100 * s->model.mean_relative_error, s->model.n_rows - s->model.n_failed);
  if (s->has_model && noted_count(s, "second_stage_measured") > 0)
    printf("second stage        %lld measured, %lld of them failed\n",
           (long long)noted_count(s, "second_stage_measured"), (long long)noted_count(s, "second_stage_failed"));
  /* The replays behind these figures minimise time. */
  if (clt_objective_ranks_as_usual(tuning->objective) && cli_certainty_text(sure, &tuning->settings, r))
    printf("search quality      %s\n", sure);
  printf("took                %s", clt_time_text(wall, r->wall_s));
  if (r->waited_s >= 1) printf(", %s of it waiting for other tuners on the device", clt_time_text(wall, r->waited_s));
  putchar('\n');
  if (tuning->store) printf("stored in           %s\n", clt_store_path(tuning->store));
}

/* --- as JSON --- */

json_t *cli_measurement_json(const clt_instance *instance, const clt_objective *objective, const clt_measurement *m,
                             bool is_median) {
  const clt_interval none = {NAN, NAN, 0}, interval = is_median ? clt_measurement_interval(m) : none;
  const double error = clt_interval_error(&interval, isnan(m->figure) ? m->time_s : m->figure);
  json_t *runs = json_array();
  for (size_t i = 0; i < m->n_runs; i++) json_array_append_new(runs, clt_json_real(m->runs_s[i]));
  clt_launch_sizes *launches = NULL;
  size_t n_launches = 0;
  clt_instance_launches(&launches, &n_launches, instance, m->config, NULL); /* none if an expression gives no size */
  json_t *how = cli_json_launches(launches, n_launches);
  free(launches);
  return json_pack("{s:o, s:o, s:o, s:o, s:o, s:s, s:s, s:o, s:o, s:o, s:o, s:o}", "configuration",
                   cli_json_configuration(clt_instance_space(instance), m->config), "options",
                   cli_json_best_options(instance, m->config), "launches", how, "time_s", clt_json_real(m->time_s),
                   "metrics", cli_json_metrics(objective, m), "reason", clt_reason_name(m->reason), "clock",
                   m->clock == CLT_CLOCK_DEVICE ? "device" : "host", "runs_s", runs, "interval",
                   clt_json_real(isfinite(error) ? error : NAN), "interval_low", clt_json_real(interval.low),
                   "interval_high", clt_json_real(interval.high), "interval_confidence",
                   clt_json_real(isfinite(error) ? interval.confidence : NAN));
}

/* m NULL: null. */
static json_t *finalist_json(const cli_tuning *tuning, const clt_tune_result *r, const clt_measurement *m) {
  if (m == NULL) return json_null();
  return cli_measurement_json(tuning->subject.instance, tuning->objective, m, r->best_is_finalist);
}

static json_t *best_json(const cli_tuning *tuning, const clt_tune_result *r) {
  if (r->best.config == CLT_CONFIG_NONE) return json_null();
  json_t *out = finalist_json(tuning, r, &r->best);
  const clt_objective *o = tuning->objective;
  double best = clt_objective_default_cost(o, &r->best);
  double over_default = r->has_default ? clt_objective_default_cost(o, &r->default_measurement) / best : NAN;
  double over_median = clt_objective_is_default(o) ? r->median_cost / r->least_cost : r->median_s / r->least_s;
  json_object_update_new(out, json_pack("{s:o, s:o, s:o, s:b}", "speedup_over_default", clt_json_real(over_default),
                                        "speedup_over_median", clt_json_real(over_median), "spread",
                                        clt_json_real(r->best_spread), "finalist", r->best_is_finalist));
  return out;
}

/* The objective and its values. */
static json_t *objective_json(const clt_objective *o, const clt_tune_result *r) {
  json_t *out = cli_json_objective(o);
  double best = r->best.config == CLT_CONFIG_NONE ? NAN : clt_objective_cost(o, &r->best);
  double standard = r->has_default ? clt_objective_cost(o, &r->default_measurement) : NAN;
  json_object_update_new(
      out, json_pack("{s:o, s:o, s:o, s:o, s:o, s:I}", "value", clt_json_real(clt_objective_exchange(o, best)),
                     "default", clt_json_real(clt_objective_exchange(o, standard)), "median",
                     clt_json_real(clt_objective_exchange(o, r->median_cost)), "improvement_over_default",
                     clt_json_real(standard / best), "improvement_over_median",
                     clt_json_real(r->median_cost / r->least_cost), "without_value", (json_int_t)r->n_without_value));
  return out;
}

static json_t *places_json(const cli_subject *subject) {
  json_t *out = json_array();
  for (const clt_device_info *d = subject->device; d < subject->device + subject->n_devices; d++)
    json_array_append_new(out, json_sprintf("%d:%d", d->platform_index, d->device_index));
  return out;
}

static void add_checks(json_t *out, const cli_tuning *tuning, const clt_tune_result *r) {
  const char *other_sizes;
  const bool checked = cli_checked_elsewhere(r->checks, r->n_checks, &other_sizes);
  json_object_set_new(out, "verified_on_one_input", json_boolean(!checked));
  json_object_set_new(out, "second_size", other_sizes ? clt_json_text(other_sizes) : json_null());
  json_object_set_new(out, "checks", cli_json_checks(r->checks, r->n_checks));
  json_object_set_new(out, "checks_s", clt_json_real(r->checks_s));
  json_object_set_new(out, "race_check", json_string(tuning->race_check));
}

json_t *cli_tuning_json(const cli_tuning *tuning, const clt_tune_result *r) {
  const cli_subject *subject = &tuning->subject;
  const clt_problem *problem = subject->problem;
  const clt_search_report *s = r->search;
  const clt_phases *p = &r->phases;
  const clt_objective *o = tuning->objective;
  size_t i_standard = clt_objective_default(o);
  clt_metric standard = clt_objective_metric(o, i_standard);
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
  json_t *reasons = json_object();
  for (int i = CLT_REASON_NONE + 1; i < CLT_N_REASONS; i++) {
    json_int_t n = clt_tune_n_failed(NULL, r, (clt_reason)i);
    if (n && i != CLT_REASON_ABANDONED) json_object_set_new(reasons, clt_reason_name((clt_reason)i), json_integer(n));
  }
  bool sampled = r->timed_beside.config != CLT_CONFIG_NONE;
  /* A program's figure, in its own unit. */
  json_t *figure = json_null(), *model = json_null();
  if (!has_time(o))
    figure = json_pack("{s:s, s:b, s:o}", "unit", standard.unit, "larger_is_better", standard.goal == CLT_MAXIMISE,
                       "best", clt_json_real(clt_objective_metric_value(o, i_standard, &r->best)));
  if (s->has_model)
    model = json_pack("{s:o, s:I, s:I, s:o, s:o, s:o}", "mean_relative_error",
                      clt_json_real(s->model.mean_relative_error), "rows", (json_int_t)s->model.n_rows, "failed_rows",
                      (json_int_t)s->model.n_failed, "log_error_sd", clt_json_real(s->model.log_error_sd), "fit_s",
                      clt_json_real(clt_note_value(s->notes, s->n_notes, "fit_s")), "predict_s",
                      clt_json_real(clt_note_value(s->notes, s->n_notes, "predict_s")));
  /* needed: the size of the second stage for the confidence, if the searcher chose the size. */
  json_int_t needed = s->has_model ? noted_count(s, "second_stage_needed") : 0;
  json_t *second_stage =
      json_pack("{s:I, s:I, s:o}", "measured", noted_count(s, "second_stage_measured"), "failed",
                noted_count(s, "second_stage_failed"), "needed", needed > 0 ? json_integer(needed) : json_null());
  json_t *phases = json_pack("{s:o, s:o, s:o, s:o, s:o}", "build_s", clt_json_real(p->build_s), "first_launch_s",
                             clt_json_real(p->first_launch_s), "runs_s", clt_json_real(p->runs_s), "verify_s",
                             clt_json_real(p->verify_s), "wait_s", clt_json_real(p->wait_s));
  json_t *out = json_pack("{s:i, s:s, s:o, s:o, s:s, s:I, s:{s:I, s:I}}", "schema", CLI_SCHEMA, "problem",
                          clt_problem_name(problem), "sizes", cli_json_sizes(subject->instance), "device",
                          cli_json_device(subject->device), "searcher", tuning->settings.searcher, "seed",
                          (json_int_t)tuning->settings.seed, "space", "cartesian", (json_int_t)r->cartesian, "valid",
                          (json_int_t)r->valid);
  json_object_set_new(out, "devices", places_json(subject));
  json_object_set_new(out, "cache", json_string(clt_problem_guidance(problem)->cold_cache ? "cold" : "warm"));
  json_object_set_new(out, "objective", objective_json(o, r));
  json_object_set_new(out, "evaluations", evaluations);
  json_object_set_new(out, "reasons", reasons);
  json_object_set_new(out, "best", best_json(tuning, r));
  json_object_set_new(out, "default", finalist_json(tuning, r, r->has_default ? &r->default_measurement : NULL));
  json_object_set_new(out, "best_of_first_stage", finalist_json(tuning, r, sampled ? &r->timed_beside : NULL));
  json_object_set_new(out, "median_s", clt_json_real(r->median_s));
  json_object_set_new(out, "figure", figure);
  json_object_set_new(out, "quality", cli_json_quality(problem, r->quality));
  add_checks(out, tuning, r);
  json_object_set_new(out, "model", model);
  json_object_set_new(out, "second_stage", second_stage);
  json_object_set_new(out, "certainty",
                      clt_objective_ranks_as_usual(o) ? cli_certainty_json(&tuning->settings, r) : json_null());
  json_object_set_new(out, "phases", phases);
  json_object_set_new(out, "store", tuning->store ? json_string(clt_store_path(tuning->store)) : json_null());
  json_object_set_new(out, "machine_busy", json_integer((json_int_t)r->n_machine_busy));
  json_t *notes = json_array();
  for (size_t i = 0; i < r->n_notes; i++) json_array_append_new(notes, clt_json_text(r->notes[i]));
  json_object_set_new(out, "notes", notes);
  json_object_set_new(out, "stopped", json_boolean(r->stopped));
  json_object_set_new(out, "ended_by", json_string(clt_ending_name(r->ending)));
  if (tuning->results) json_object_set(out, "results", tuning->results);
  json_object_set_new(out, "wall_s", clt_json_real(r->wall_s));
  json_object_set_new(out, "waited_s", clt_json_real(r->waited_s));
  return out;
}

/* --- the command --- */

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
  cli_race_check(&tuning, arguments);
  int rc = cli_tuning_run(&tuning, print_tuning, json);
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
     "none, "
     "the winner is verified on one input only)"},
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
    .summary = "finds the fastest configuration of a kernel or a program",
    .synopsis = "PROBLEM [--device NAME] [--size NAME=N]... [--budget N] [OPTION...]",
    .description =
        "Finds the fastest configuration of the kernel or program of a problem file. Every candidate is built, run "
        "and\n"
        "verified in a process of its own, and every measurement is stored at once, so that the same command continues "
        "an\n"
        "interrupted search. The first limit that is reached ends the search: --budget, --space-fraction, --time,\n"
        "--target or --stagnation.",
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
