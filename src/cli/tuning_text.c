/* The end of a tuning, for people. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/certainty.h"
#include "cli/output.h"
#include "cli/tuning.h"

static void print_best(const cli_tuning *tuning, const clt_tune_result *r) {
  const clt_measurement *best = &r->best;
  char *configuration = clt_config_string(clt_instance_space(tuning->subject.instance), best->config), *options = NULL;
  char figure[64];
  const clt_problem *problem = tuning->subject.problem;
  clt_instance_options(tuning->subject.instance, best->config, &options, NULL);
  printf("best configuration  %s\n", configuration ? configuration : "?");
  printf("options             %s\n", options ? options : "?");
  printf("%-20s%s +- %.2g %% (%s of %zu runs%s)\n", clt_problem_figure_is_time(problem) ? "time" : "figure",
         cli_figure(figure, problem, best->time_s), 100 * r->best_spread,
         r->best_is_finalist               ? "median of interleaved rounds"
         : clt_problem_is_command(problem) ? "summary"
                                           : "least",
         best->n_runs,
         !clt_problem_figure_is_time(problem) ? ""
         : best->clock == CLT_CLOCK_DEVICE    ? ", device clock"
                                              : ", host clock");
  cli_print_metrics(tuning->objective, best, 20);
  free(configuration);
  free(options);
}

/* How many times better the best is, by an objective other than time. */
static void print_improvement(const cli_tuning *tuning, const clt_tune_result *r) {
  const clt_objective *o = tuning->objective;
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

static void print_speedup(const clt_problem *problem, const clt_tune_result *r) {
  char figure[64];
  printf("%-20s", clt_problem_figure_is_time(problem) ? "speed-up" : "gain");
  if (r->has_default) {
    printf("%.3g over the default configuration (%s)", r->default_measurement.time_s / r->best.time_s,
           cli_figure(figure, problem, r->default_measurement.time_s));
  } else {
    const clt_measurement *m = &r->default_measurement;
    printf("none over the default configuration%s%s", m->config == CLT_CONFIG_NONE ? "" : ": ",
           m->config == CLT_CONFIG_NONE ? "" : clt_reason_text(m->reason));
  }
  if (r->first_stage_best.config != CLT_CONFIG_NONE && clt_measurement_correct(&r->first_stage_best))
    printf(", %.3g over the best random sample (%s)", r->first_stage_best.time_s / r->best.time_s,
           cli_figure(figure, problem, r->first_stage_best.time_s));
  putchar('\n');
}

/* Single runs of a search and medians of finalists are not the same measure, so these figures have a line of their own.
 */
static void print_search(const clt_problem *problem, const clt_tune_result *r) {
  char least[64], median[64];
  const char *best = clt_problem_figure_is_time(problem) ? "least time" : "best",
             *factor = clt_problem_figure_is_time(problem) ? "as long" : "worse";
  if (isfinite(r->median_s))
    printf("in the search       %s was the %s, %s the median configuration's: %.3g times %s\n",
           cli_figure(least, problem, r->least_s), best, cli_figure(median, problem, r->median_s),
           r->median_s / r->least_s, factor);
}

static void print_failures(const cli_tuning *tuning, const clt_tune_result *r) {
  for (int i = CLT_REASON_NONE + 1; i < CLT_N_REASONS; i++) {
    if (r->by_reason[i] == 0) continue;
    char *example = clt_config_string(clt_instance_space(tuning->subject.instance), r->example[i]);
    printf("failed              %lld %s, e.g. %s\n", (long long)r->by_reason[i], clt_reason_name((clt_reason)i),
           example ? example : "?");
    free(example);
  }
  if (r->evaluations > r->by_invalidity[CLT_CORRECT])
    puts("                    ('clatune verify PROBLEM --configuration \"...\"' shows why)");
}

static const char *ending(const clt_tune_result *r) {
  return r->ending == CLT_ENDED_BY_TARGET       ? "; ended: the target is reached"
         : r->ending == CLT_ENDED_BY_STAGNATION ? "; ended: nothing better for long"
         : r->ending == CLT_NOT_ENDED           ? "; nothing is left to measure"
                                                : "";
}

static void print_counts(const clt_tune_result *r) {
  printf("evaluations         %lld: %lld measured, %lld already known; %lld correct%s\n", (long long)r->evaluations,
         (long long)r->measured, (long long)r->reused, (long long)r->by_invalidity[CLT_CORRECT], ending(r));
  if (r->aliased)
    printf("aliases             %lld were answered by the configuration that they stand for\n", (long long)r->aliased);
}

static void print_model(const clt_search_report *s) {
  if (!s->has_model) return;
  printf("model               mean relative error %.3g %% on rows not trained on (%zu rows)\n",
         100 * s->model.mean_relative_error, s->model.n_rows - s->model.n_failed);
  if (s->second_stage_measured)
    printf("second stage        %lld measured, %lld of them failed\n", (long long)s->second_stage_measured,
           (long long)s->second_stage_failed);
}

void cli_tuning_print(const cli_tuning *tuning, const clt_tune_result *r) {
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
    if (clt_objective_is_time(tuning->objective)) {
      print_speedup(tuning->subject.problem, r);
      print_search(tuning->subject.problem, r);
    } else {
      print_improvement(tuning, r);
    }
  }
  cli_print_quality(tuning->subject.problem, r->quality, 20);
  print_counts(r);
  print_failures(tuning, r);
  print_model(&r->search);
  if (clt_objective_ranks_by_time(tuning->objective) && cli_certainty_text(sure, &tuning->settings, r))
    printf("how sure            %s\n", sure);
  printf("took                %s\n", cli_time(wall, r->wall_s));
  if (tuning->store) printf("stored in           %s\n", clt_store_path(tuning->store));
}
