/* The end of a tuning, for people and as JSON. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/tuning.h"
#include "measurement/objective.h"
#include "problem/command.h"
#include "problem/guidance.h"

/* --- for people --- */

/* A count that the searcher noted; 0 where it noted none. */
static json_int_t noted_count(const clt_search_report *s, const char *name) {
  double n = clt_note_value(s->notes, s->n_notes, name);
  return n > 0 ? (json_int_t)n : 0;
}

/* Programs that report a figure are judged by that, unless the objective says otherwise. */
static bool has_time(const clt_objective *o) {
  return strcmp(clt_objective_metric(o, clt_objective_standard(o)).name, "time") == 0;
}

static void print_best(const cli_tuning *tuning, const clt_tune_result *r) {
  const clt_problem *problem = tuning->subject.problem;
  const clt_measurement *best = &r->best;
  bool is_time = has_time(tuning->objective);
  char *configuration = clt_config_string(clt_instance_space(tuning->subject.instance), best->config), *options = NULL;
  char figure[64];
  clt_instance_options(tuning->subject.instance, best->config, &options, NULL);
  printf("best configuration  %s\n", configuration ? configuration : "?");
  printf("options             %s\n", options ? options : "?");
  printf("%-20s%s +- %.2g %% (%s of %zu runs%s)\n", is_time ? "time" : "figure",
         cli_figure_of(figure, tuning->objective, best), 100 * r->best_spread,
         r->best_is_finalist               ? "median of interleaved rounds"
         : clt_problem_is_command(problem) ? "summary"
                                           : "least",
         best->n_runs,
         !is_time                          ? ""
         : best->clock == CLT_CLOCK_DEVICE ? ", device clock"
                                           : ", host clock");
  cli_print_metrics(tuning->objective, best, 20);
  free(configuration);
  free(options);
}

/* How many times better the best is, by an objective other than time. */
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
    printf("                    %lld correct configurations have no value of it\n", (long long)r->n_without_value);
}

/* By the standard objective. */
static void print_speedup(const clt_objective *o, const clt_tune_result *r) {
  const clt_measurement *standard = &r->default_measurement, *sampled = &r->timed_beside;
  bool is_time = has_time(o);
  double best = clt_objective_cost(o, &r->best);
  char figure[64], median[64];
  printf("%-20s", is_time ? "speed-up" : "gain");
  if (r->has_default)
    printf("%.3g over the default configuration (%s)", clt_objective_cost(o, standard) / best,
           cli_figure_of(figure, o, standard));
  else
    printf("none over the default configuration%s%s", standard->config == CLT_CONFIG_NONE ? "" : ": ",
           standard->config == CLT_CONFIG_NONE ? "" : clt_reason_text(standard->reason));
  if (sampled->config != CLT_CONFIG_NONE && clt_measurement_correct(sampled))
    printf(", %.3g over the best random sample (%s)", clt_objective_cost(o, sampled) / best,
           cli_figure_of(figure, o, sampled));
  putchar('\n');
  /* Single runs of a search and medians of finalists are not the same measure: these figures have their own line. */
  if (isfinite(r->median_cost))
    printf("in the search       %s was the %s, %s the median configuration's: %.3g times %s\n",
           cli_figure(figure, o, clt_objective_exchange(o, r->least_cost)), is_time ? "least time" : "best",
           cli_figure(median, o, clt_objective_exchange(o, r->median_cost)), r->median_cost / r->least_cost,
           is_time ? "as long" : "worse");
}

static void print_evaluations(const cli_tuning *tuning, const clt_tune_result *r) {
  printf("evaluations         %lld: %lld measured, %lld already known; %lld correct%s\n", (long long)r->evaluations,
         (long long)r->measured, (long long)r->reused, (long long)r->n_correct,
         r->ending == CLT_ENDED_BY_TARGET       ? "; ended: the target is reached"
         : r->ending == CLT_ENDED_BY_STAGNATION ? "; ended: nothing better for long"
         : r->ending == CLT_NOT_ENDED           ? "; nothing is left to measure"
                                                : "");
  if (r->aliased)
    printf("aliases             %lld were answered by the configuration that they stand for\n", (long long)r->aliased);
  for (int i = CLT_REASON_NONE + 1; i < CLT_N_REASONS; i++) {
    clt_config first;
    int64_t n = clt_tune_n_failed(r, (clt_reason)i, &first);
    if (n == 0) continue;
    char *example = clt_config_string(clt_instance_space(tuning->subject.instance), first);
    printf("failed              %lld %s, e.g. %s\n", (long long)n, clt_reason_name((clt_reason)i),
           example ? example : "?");
    free(example);
  }
  if (r->evaluations > r->n_correct)
    puts("                    ('clatune verify PROBLEM --configuration \"...\"' shows why)");
}

/* The searches that certainty was measured on were for time. */
static bool has_certainty(const clt_objective *objective) {
  return clt_objective_ranks_by_time(objective) || clt_objective_is_standard(objective);
}

void cli_tuning_print(const cli_tuning *tuning, const clt_tune_result *r) {
  const clt_search_report *s = r->search;
  char wall[32], sure[200];
  printf("%s on %s%s\n", clt_problem_name(tuning->subject.problem), tuning->subject.device->name,
         !r->stopped     ? ""
         : tuning->store ? " (stopped early; the same command goes on from here)"
                         : " (stopped early)");
  if (!clt_evaluator_find(tuning->settings.evaluator)->measures_device)
    printf("evaluator           %s: nothing was run on the device\n", tuning->settings.evaluator);
  printf("space               %llu configurations, %llu valid on this device\n", (unsigned long long)r->cartesian,
         (unsigned long long)r->valid);
  if (r->best.config == CLT_CONFIG_NONE) {
    printf("best configuration  none%s\n", r->evaluations ? ": no configuration gave a right result" : " yet");
  } else {
    print_best(tuning, r);
    if (clt_objective_is_standard(tuning->objective))
      print_speedup(tuning->objective, r);
    else
      print_improvement(tuning->objective, r);
  }
  cli_print_quality(tuning->subject.problem, r->quality, 20);
  print_evaluations(tuning, r);
  if (s->has_model)
    printf("model               mean relative error %.3g %% on rows not trained on (%zu rows)\n",
           100 * s->model.mean_relative_error, s->model.n_rows - s->model.n_failed);
  if (s->has_model && noted_count(s, "second_stage_measured") > 0)
    printf("second stage        %lld measured, %lld of them failed\n",
           (long long)noted_count(s, "second_stage_measured"), (long long)noted_count(s, "second_stage_failed"));
  if (has_certainty(tuning->objective) && cli_certainty_text(sure, &tuning->settings, r))
    printf("how sure            %s\n", sure);
  printf("took                %s\n", cli_time(wall, r->wall_s));
  if (tuning->store) printf("stored in           %s\n", clt_store_path(tuning->store));
}

/* --- as JSON --- */

static json_t *measurement_json(const cli_tuning *tuning, const clt_measurement *m) {
  const clt_instance *instance = tuning->subject.instance;
  json_t *runs = json_array();
  for (size_t i = 0; i < m->n_runs; i++) json_array_append_new(runs, clt_json_real(m->runs_s[i]));
  return json_pack("{s:o, s:o, s:o, s:o, s:s, s:s, s:o}", "configuration",
                   cli_json_configuration(clt_instance_space(instance), m->config), "options",
                   cli_json_best_options(instance, m->config), "time_s", clt_json_real(m->time_s), "metrics",
                   cli_json_metrics(tuning->objective, m), "reason", clt_reason_name(m->reason), "clock",
                   m->clock == CLT_CLOCK_DEVICE ? "device" : "host", "runs_s", runs);
}

static json_t *best_json(const cli_tuning *tuning, const clt_tune_result *r) {
  if (r->best.config == CLT_CONFIG_NONE) return json_null();
  json_t *out = measurement_json(tuning, &r->best);
  const clt_objective *o = tuning->objective;
  double best = clt_objective_standard_cost(o, &r->best);
  double over_default = r->has_default ? clt_objective_standard_cost(o, &r->default_measurement) / best : NAN;
  json_object_set_new(out, "speedup_over_default", clt_json_real(over_default));
  json_object_set_new(
      out, "speedup_over_median",
      clt_json_real(clt_objective_is_standard(o) ? r->median_cost / r->least_cost : r->median_s / r->least_s));
  json_object_set_new(out, "spread", clt_json_real(r->best_spread));
  json_object_set_new(out, "finalist", json_boolean(r->best_is_finalist));
  return out;
}

/* The objective, and the values of it that matter. */
static json_t *objective_json(const clt_objective *o, const clt_tune_result *r) {
  json_t *out = cli_json_objective(o);
  double best = r->best.config == CLT_CONFIG_NONE ? NAN : clt_objective_cost(o, &r->best);
  double standard = r->has_default ? clt_objective_cost(o, &r->default_measurement) : NAN;
  json_object_set_new(out, "value", clt_json_real(clt_objective_exchange(o, best)));
  json_object_set_new(out, "default", clt_json_real(clt_objective_exchange(o, standard)));
  json_object_set_new(out, "median", clt_json_real(clt_objective_exchange(o, r->median_cost)));
  json_object_set_new(out, "improvement_over_default", clt_json_real(standard / best));
  json_object_set_new(out, "improvement_over_median", clt_json_real(r->median_cost / r->least_cost));
  json_object_set_new(out, "without_value", json_integer((json_int_t)r->n_without_value));
  return out;
}

json_t *cli_tuning_json(const cli_tuning *tuning, const clt_tune_result *r) {
  const cli_subject *subject = &tuning->subject;
  const clt_problem *problem = subject->problem;
  const clt_search_report *s = r->search;
  const clt_phases *p = &r->phases;
  size_t i_standard = clt_objective_standard(tuning->objective);
  clt_metric standard = clt_objective_metric(tuning->objective, i_standard);
  json_t *evaluations =
      json_pack("{s:I, s:I, s:I, s:I}", "total", (json_int_t)r->evaluations, "measured", (json_int_t)r->measured,
                "reused", (json_int_t)r->reused, "aliased", (json_int_t)r->aliased);
  for (int i = 0; i < CLT_N_INVALIDITIES; i++)
    json_object_set_new(evaluations, clt_invalidity_name((clt_invalidity)i),
                        json_integer((json_int_t)clt_tune_n_invalid(r, (clt_invalidity)i)));
  json_t *reasons = json_object();
  for (int i = CLT_REASON_NONE + 1; i < CLT_N_REASONS; i++)
    if (clt_tune_n_failed(r, (clt_reason)i, NULL))
      json_object_set_new(reasons, clt_reason_name((clt_reason)i),
                          json_integer((json_int_t)clt_tune_n_failed(r, (clt_reason)i, NULL)));
  json_t *out = json_pack("{s:s, s:o, s:o, s:s, s:I, s:{s:I, s:I}}", "problem", clt_problem_name(problem), "sizes",
                          cli_json_sizes(subject->instance), "device", cli_json_device(subject->device), "searcher",
                          tuning->settings.searcher, "seed", (json_int_t)tuning->settings.seed, "space", "cartesian",
                          (json_int_t)r->cartesian, "valid", (json_int_t)r->valid);
  json_object_set_new(out, "objective", objective_json(tuning->objective, r));
  json_object_set_new(out, "evaluations", evaluations);
  json_object_set_new(out, "reasons", reasons);
  json_object_set_new(out, "best", best_json(tuning, r));
  json_object_set_new(out, "default", r->has_default ? measurement_json(tuning, &r->default_measurement) : json_null());
  bool sampled = r->timed_beside.config != CLT_CONFIG_NONE;
  json_object_set_new(out, "best_of_first_stage", sampled ? measurement_json(tuning, &r->timed_beside) : json_null());
  json_object_set_new(out, "median_s", clt_json_real(r->median_s));
  /* What a program was ranked by, in its own unit. */
  json_object_set_new(
      out, "figure",
      has_time(tuning->objective)
          ? json_null()
          : json_pack("{s:s, s:b, s:o}", "unit", standard.unit, "larger_is_better", standard.goal == CLT_MAXIMISE,
                      "best", clt_json_real(clt_objective_metric_value(tuning->objective, i_standard, &r->best))));
  json_object_set_new(out, "quality", cli_json_quality(problem, r->quality));
  json_object_set_new(
      out, "model",
      !s->has_model
          ? json_null()
          : json_pack("{s:o, s:I, s:I, s:o, s:o, s:o}", "mean_relative_error",
                      clt_json_real(s->model.mean_relative_error), "rows", (json_int_t)s->model.n_rows, "failed_rows",
                      (json_int_t)s->model.n_failed, "log_error_sd", clt_json_real(s->model.log_error_sd), "fit_s",
                      clt_json_real(clt_note_value(s->notes, s->n_notes, "fit_s")), "predict_s",
                      clt_json_real(clt_note_value(s->notes, s->n_notes, "predict_s"))));
  /* needed: the second stage that the confidence would have taken, where the searcher chose it. */
  bool chosen = s->has_model && noted_count(s, "second_stage_needed") > 0;
  json_object_set_new(out, "second_stage",
                      json_pack("{s:I, s:I, s:o}", "measured", noted_count(s, "second_stage_measured"), "failed",
                                noted_count(s, "second_stage_failed"), "needed",
                                chosen ? json_integer(noted_count(s, "second_stage_needed")) : json_null()));
  json_object_set_new(out, "certainty",
                      has_certainty(tuning->objective) ? cli_certainty_json(&tuning->settings, r) : json_null());
  json_object_set_new(out, "phases",
                      json_pack("{s:o, s:o, s:o, s:o, s:o}", "build_s", clt_json_real(p->build_s), "first_launch_s",
                                clt_json_real(p->first_launch_s), "runs_s", clt_json_real(p->runs_s), "verify_s",
                                clt_json_real(p->verify_s), "wait_s", clt_json_real(p->wait_s)));
  json_object_set_new(out, "store", tuning->store ? json_string(clt_store_path(tuning->store)) : json_null());
  json_object_set_new(out, "stopped", json_boolean(r->stopped));
  json_object_set_new(out, "ended_by", json_string(clt_ending_name(r->ending)));
  if (tuning->results) json_object_set(out, "results", tuning->results);
  json_object_set_new(out, "wall_s", clt_json_real(r->wall_s));
  return out;
}
