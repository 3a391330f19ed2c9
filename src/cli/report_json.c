#include "cli/report_json.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/output.h"

#define FASTEST 10

json_t *cli_report_json_text(const char *text) {
  json_t *json = json_string(text);
  char *plain = json ? NULL : strdup(text);
  for (char *c = plain; c && *c; c++)
    if ((unsigned char)*c >= 128) *c = '?';
  if (plain) json = json_string(plain);
  free(plain);
  return json;
}

static json_t *row_json(const clt_report *report, size_t index) {
  const clt_report_row *row = clt_report_row_at(report, index);
  return json_pack("{s:I, s:o, s:o, s:o, s:o, s:o}", "evaluation", (json_int_t)index + 1, "time_s",
                   clt_json_real(row->time_s), "value", clt_json_real(clt_report_value(report, row->cost)), "spread",
                   clt_json_real(row->spread), "finalist_s", clt_json_real(row->final_s), "configuration",
                   cli_json_configuration(clt_report_space(report), row->config));
}

static json_t *fastest_json(const clt_report *report) {
  size_t indices[FASTEST], n = clt_report_fastest(report, indices, FASTEST);
  json_t *list = json_array();
  for (size_t i = 0; i < n; i++) json_array_append_new(list, row_json(report, indices[i]));
  return list;
}

static json_t *reasons_json(const clt_report *report) {
  json_int_t counts[CLT_N_REASONS] = {0};
  json_t *reasons = json_object();
  for (size_t i = 0; i < clt_report_n_rows(report); i++) counts[clt_report_row_at(report, i)->reason]++;
  for (int r = CLT_REASON_NONE + 1; r < CLT_N_REASONS; r++)
    if (counts[r]) json_object_set_new(reasons, clt_reason_name((clt_reason)r), json_integer(counts[r]));
  return reasons;
}

/* Each improvement. */
static json_t *progress_json(const clt_report *report) {
  json_t *list = json_array();
  double best = INFINITY, spent_s = 0;
  for (size_t i = 0; i < clt_report_n_rows(report); i++) {
    const clt_report_row *row = clt_report_row_at(report, i);
    spent_s += row->spent_s;
    if (!(row->cost < best)) continue;
    best = row->cost;
    json_array_append_new(
        list,
        json_pack("{s:I, s:o, s:o, s:o}", "evaluation", (json_int_t)i + 1, "best_s", clt_json_real(row->time_s),
                  "best_value", clt_json_real(clt_report_value(report, best)), "spent_s", clt_json_real(spent_s)));
  }
  return list;
}

/* Times have had names of their own before there were objectives. */
static void add_figures(json_t *json, const clt_report *report, const clt_effect_value *e) {
  static const char *const names[2][4] = {{"best", "better_quartile", "median", "worse_quartile"},
                                          {"least_s", "lower_quartile_s", "median_s", "upper_quartile_s"}};
  const double costs[] = {e->least_s, e->lower_quartile_s, e->median_s, e->upper_quartile_s};
  bool is_time = clt_report_figure_of(report).is_time;
  for (size_t i = 0; i < 4; i++)
    json_object_set_new(json, names[is_time][i], clt_json_real(clt_report_value(report, costs[i])));
}

static json_t *value_json(const clt_report *report, clt_value value, const clt_effect_value *e) {
  json_t *json = json_pack("{s:o, s:I, s:I}", "value", clt_json_value(value), "rows", (json_int_t)e->n, "failed",
                           (json_int_t)e->n_failed);
  add_figures(json, report, e);
  return json;
}

static int add_parameter(json_t *list, const clt_report *report, size_t index, clt_error *error) {
  const clt_parameter *parameter = clt_space_parameter(clt_report_space(report), index);
  clt_effect effect;
  int rc = clt_report_effect(&effect, report, index, error);
  if (rc) return rc;
  json_t *values = json_array();
  for (size_t v = 0; v < effect.n_values; v++)
    if (effect.values[v].n) json_array_append_new(values, value_json(report, parameter->values[v], &effect.values[v]));
  json_array_append_new(list, json_pack("{s:s, s:o, s:o}", "name", parameter->name, "importance",
                                        clt_json_real(effect.importance), "values", values));
  clt_effect_release(&effect);
  return 0;
}

static json_t *model_json(const clt_report *report, const clt_report_options *options, int *rc, clt_error *error) {
  clt_report_fit fit;
  *rc = clt_report_fit_init(&fit, report, options->seed, options->threads, error);
  if (*rc || fit.n == 0) return json_null();
  json_t *model = json_pack("{s:I, s:I, s:o, s:o}", "rows", (json_int_t)fit.accuracy.n_rows, "failed_rows",
                            (json_int_t)fit.accuracy.n_failed, "mean_relative_error",
                            clt_json_real(fit.accuracy.mean_relative_error), "log_error_sd",
                            clt_json_real(fit.accuracy.log_error_sd));
  clt_report_fit_release(&fit);
  return model;
}

static json_t *objective_json(const clt_report *report) {
  clt_report_figure f = clt_report_figure_of(report);
  return json_pack("{s:o, s:o, s:s}", "name", cli_report_json_text(f.name), "unit", cli_report_json_text(f.unit),
                   "goal", f.maximised ? "maximise" : "minimise");
}

json_t *cli_report_json(const clt_report *report, const clt_report_options *options, clt_error *error) {
  const clt_space *space = clt_report_space(report);
  size_t best = clt_report_best(report);
  json_t *parameters = json_array();
  int rc = 0;
  for (size_t i = 0; rc == 0 && i < clt_space_n_parameters(space); i++)
    rc = add_parameter(parameters, report, i, error);
  json_t *model = rc ? json_null() : model_json(report, options, &rc, error);
  json_t *json =
      json_pack("{s:o, s:o, s:o, s:o, s:o, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o}", "title",
                cli_report_json_text(clt_report_title(report)), "objective", objective_json(report), "sizes",
                cli_report_json_text(clt_report_sizes(report)), "key", cli_report_json_text(clt_report_device(report)),
                "device", cli_json_device(clt_report_device_info(report)), "configurations",
                (json_int_t)clt_report_n_rows(report), "correct", (json_int_t)clt_report_n_correct(report), "reasons",
                reasons_json(report), "best", best == SIZE_MAX ? json_null() : row_json(report, best), "fastest",
                fastest_json(report), "progress", progress_json(report), "parameters", parameters, "model", model);
  if (rc == 0) return json;
  json_decref(json);
  return NULL;
}
