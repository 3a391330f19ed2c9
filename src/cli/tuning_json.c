/* The end of a tuning, as JSON. */
#include <math.h>
#include <string.h>

#include "cli/certainty.h"
#include "cli/output.h"
#include "cli/tuning.h"

static json_t *evaluations(const clt_tune_result *r) {
  json_t *out = json_pack("{s:I, s:I, s:I, s:I}", "total", (json_int_t)r->evaluations, "measured",
                          (json_int_t)r->measured, "reused", (json_int_t)r->reused, "aliased", (json_int_t)r->aliased);
  for (int i = 0; i < CLT_N_INVALIDITIES; i++)
    json_object_set_new(out, clt_invalidity_name((clt_invalidity)i), json_integer((json_int_t)r->by_invalidity[i]));
  return out;
}

static json_t *reasons(const clt_tune_result *r) {
  json_t *out = json_object();
  for (int i = CLT_REASON_NONE + 1; i < CLT_N_REASONS; i++)
    if (r->by_reason[i])
      json_object_set_new(out, clt_reason_name((clt_reason)i), json_integer((json_int_t)r->by_reason[i]));
  return out;
}

static json_t *runs(const clt_measurement *m) {
  json_t *out = json_array();
  for (size_t i = 0; i < m->n_runs; i++) json_array_append_new(out, clt_json_real(m->runs_s[i]));
  return out;
}

static json_t *measurement(const cli_tuning *tuning, const clt_measurement *m) {
  const clt_instance *instance = tuning->subject.instance;
  return json_pack("{s:o, s:o, s:o, s:o, s:s, s:s, s:o}", "configuration",
                   cli_json_configuration(clt_instance_space(instance), m->config), "options",
                   cli_json_best_options(instance, m->config), "time_s", clt_json_real(m->time_s), "metrics",
                   cli_json_metrics(tuning->objective, m), "reason", clt_reason_name(m->reason), "clock",
                   m->clock == CLT_CLOCK_DEVICE ? "device" : "host", "runs_s", runs(m));
}

static json_t *best(const cli_tuning *tuning, const clt_tune_result *r) {
  if (r->best.config == CLT_CONFIG_NONE) return json_null();
  json_t *out = measurement(tuning, &r->best);
  double over_default = r->has_default ? r->default_measurement.time_s / r->best.time_s : NAN;
  json_object_set_new(out, "speedup_over_default", clt_json_real(over_default));
  json_object_set_new(out, "speedup_over_median", clt_json_real(r->median_s / r->least_s));
  json_object_set_new(out, "spread", clt_json_real(r->best_spread));
  json_object_set_new(out, "finalist", json_boolean(r->best_is_finalist));
  return out;
}

static json_t *model(const clt_search_report *s) {
  if (!s->has_model) return json_null();
  return json_pack("{s:o, s:I, s:I, s:o, s:o, s:o}", "mean_relative_error", clt_json_real(s->model.mean_relative_error),
                   "rows", (json_int_t)s->model.n_rows, "failed_rows", (json_int_t)s->model.n_failed, "log_error_sd",
                   clt_json_real(s->model.log_error_sd), "fit_s", clt_json_real(s->fit_s), "predict_s",
                   clt_json_real(s->predict_s));
}

static json_t *phases(const clt_phases *p) {
  return json_pack("{s:o, s:o, s:o, s:o, s:o}", "build_s", clt_json_real(p->build_s), "first_launch_s",
                   clt_json_real(p->first_launch_s), "runs_s", clt_json_real(p->runs_s), "verify_s",
                   clt_json_real(p->verify_s), "wait_s", clt_json_real(p->wait_s));
}

/* The second stage that the confidence would have taken, where the searcher chose it. */
static json_t *needed(const clt_search_report *s) {
  return s->has_model && s->second_stage_needed > 0 ? json_integer((json_int_t)s->second_stage_needed) : json_null();
}

/* What a program was ranked by, in its own unit; null where that is the time. */
static json_t *figure(const clt_problem *problem, double best) {
  if (clt_problem_figure_is_time(problem)) return json_null();
  return json_pack("{s:s, s:b, s:o}", "unit", clt_problem_figure_unit(problem), "larger_is_better",
                   clt_problem_larger_is_better(problem), "best", clt_json_real(clt_problem_figure(problem, best)));
}

/* The objective, and the values of it that matter. */
static json_t *objective(const cli_tuning *tuning, const clt_tune_result *r) {
  const clt_objective *o = tuning->objective;
  json_t *out = cli_json_objective(o);
  bool found = r->best.config != CLT_CONFIG_NONE;
  double best = found ? clt_objective_cost(o, &r->best) : NAN;
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
  json_t *out = json_pack("{s:s, s:o, s:o, s:s, s:I, s:{s:I, s:I}}", "problem", clt_problem_name(subject->problem),
                          "sizes", cli_json_sizes(subject->instance), "device", cli_json_device(subject->device),
                          "searcher", tuning->settings.searcher, "seed", (json_int_t)tuning->settings.seed, "space",
                          "cartesian", (json_int_t)r->cartesian, "valid", (json_int_t)r->valid);
  json_object_set_new(out, "objective", objective(tuning, r));
  json_object_set_new(out, "evaluations", evaluations(r));
  json_object_set_new(out, "reasons", reasons(r));
  json_object_set_new(out, "best", best(tuning, r));
  json_object_set_new(out, "default", r->has_default ? measurement(tuning, &r->default_measurement) : json_null());
  json_object_set_new(
      out, "best_of_first_stage",
      r->first_stage_best.config == CLT_CONFIG_NONE ? json_null() : measurement(tuning, &r->first_stage_best));
  json_object_set_new(out, "median_s", clt_json_real(r->median_s));
  json_object_set_new(out, "figure", figure(subject->problem, r->best.time_s));
  json_object_set_new(out, "quality", cli_json_quality(subject->problem, r->quality));
  json_object_set_new(out, "model", model(&r->search));
  json_object_set_new(out, "second_stage",
                      json_pack("{s:I, s:I, s:o}", "measured", (json_int_t)r->search.second_stage_measured, "failed",
                                (json_int_t)r->search.second_stage_failed, "needed", needed(&r->search)));
  json_object_set_new(
      out, "certainty",
      clt_objective_ranks_by_time(tuning->objective) ? cli_certainty_json(&tuning->settings, r) : json_null());
  json_object_set_new(out, "phases", phases(&r->phases));
  json_object_set_new(out, "store", tuning->store ? json_string(clt_store_path(tuning->store)) : json_null());
  json_object_set_new(out, "stopped", json_boolean(r->stopped));
  json_object_set_new(out, "ended_by", json_string(clt_ending_name(r->ending)));
  if (tuning->results) json_object_set(out, "results", tuning->results);
  json_object_set_new(out, "wall_s", clt_json_real(r->wall_s));
  return out;
}
