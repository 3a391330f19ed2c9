/* What a parameter does. */
#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/memory.h"
#include "report/report.h"

void clt_effect_release(clt_effect *effect) {
  free(effect->values);
  *effect = (clt_effect){0};
}

/* The rows' positions of one parameter. */
static int find_positions(uint32_t **out, const clt_report *report, size_t parameter, clt_error *error) {
  uint32_t *positions = clt_new_array(report->n, sizeof *positions);
  uint32_t all[CLT_MAX_PARAMETERS];
  if (positions == NULL) return clt_fail_memory(error);
  for (size_t i = 0; i < report->n; i++) {
    clt_space_positions(report->space, report->rows[i].config, all);
    positions[i] = all[parameter];
  }
  *out = positions;
  return CLT_OK;
}

/* times_s has room for all rows. */
static void sum_up(clt_effect_value *value, const clt_report *report, const uint32_t *positions, uint32_t position,
                   double *times_s) {
  size_t n_correct = 0;
  *value = (clt_effect_value){.median_s = NAN, .least_s = NAN};
  for (size_t i = 0; i < report->n; i++) {
    double time_s = report->rows[i].time_s;
    if (positions[i] != position) continue;
    value->n++;
    value->n_failed += !isfinite(time_s);
    if (isfinite(time_s)) times_s[n_correct++] = time_s;
  }
  for (size_t i = 0; i < n_correct; i++) value->least_s = fmin(value->least_s, times_s[i]);
  if (n_correct) value->median_s = clt_median(times_s, n_correct);
}

/* Between groups over all. */
static double explained(const clt_report *report, const uint32_t *positions, size_t n_values, clt_error *error) {
  double *sums = clt_new_array(n_values, sizeof *sums), mean = 0, all = 0, between = 0;
  size_t *counts = clt_new_array(n_values, sizeof *counts), n = 0;
  if (sums == NULL || counts == NULL) clt_fail_memory(error);
  for (size_t i = 0; sums && counts && i < report->n; i++) {
    if (!isfinite(report->rows[i].time_s)) continue;
    sums[positions[i]] += log(report->rows[i].time_s);
    counts[positions[i]]++;
    n++;
  }
  for (size_t v = 0; n && v < n_values; v++) mean += sums[v] / (double)n;
  for (size_t i = 0; n && i < report->n; i++) {
    double d = log(report->rows[i].time_s) - mean;
    if (isfinite(report->rows[i].time_s)) all += d * d;
  }
  for (size_t v = 0; n && v < n_values; v++)
    if (counts[v]) between += (double)counts[v] * pow(sums[v] / (double)counts[v] - mean, 2);
  free(sums);
  free(counts);
  return n < 2 ? NAN : all > 0 ? between / all : 0;
}

int clt_report_effect(clt_effect *out, const clt_report *report, size_t parameter, clt_error *error) {
  uint32_t *positions = NULL;
  clt_effect effect = {.n_values = clt_space_parameter(report->space, parameter)->n_values};
  clt_error memory = {0};
  int rc = find_positions(&positions, report, parameter, error);
  double *times_s = clt_new_array(report->n, sizeof *times_s);
  effect.values = clt_new_array(effect.n_values, sizeof *effect.values);
  if (rc == CLT_OK && (times_s == NULL || effect.values == NULL)) rc = clt_fail_memory(error);
  for (uint32_t v = 0; rc == CLT_OK && v < effect.n_values; v++)
    sum_up(&effect.values[v], report, positions, v, times_s);
  if (rc == CLT_OK) effect.importance = explained(report, positions, effect.n_values, &memory);
  if (rc == CLT_OK && memory.code) rc = clt_fail_memory(error);
  free(positions);
  free(times_s);
  if (rc) {
    clt_effect_release(&effect);
  } else {
    *out = effect;
  }
  return rc;
}
