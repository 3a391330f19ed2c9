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

#define MOST_PAIRS ((size_t)1 << 20)

/* --- times by group --- */

typedef struct timed {
  size_t group;
  double time_s; /* NaN: failed */
} timed;

static int by_group_then_time(const void *a, const void *b) {
  const timed *x = a, *y = b;
  if (x->group != y->group) return x->group < y->group ? -1 : 1;
  if (isnan(x->time_s) || isnan(y->time_s)) return isnan(x->time_s) - isnan(y->time_s);
  return (x->time_s > y->time_s) - (x->time_s < y->time_s);
}

/* Of times in ascending order, between two of them where the share falls there. */
static double quantile(const timed *times, size_t n, double share) {
  double at = share * (double)(n - 1);
  size_t below = (size_t)at, above = below + (below + 1 < n);
  return times[below].time_s + (at - (double)below) * (times[above].time_s - times[below].time_s);
}

/* One group, its times in ascending order with the failures behind. */
static clt_effect_value sum_up(const timed *times, size_t n) {
  clt_effect_value value = {.n = n, .median_s = NAN, .least_s = NAN, .lower_quartile_s = NAN, .upper_quartile_s = NAN};
  size_t n_correct = 0;
  while (n_correct < n && isfinite(times[n_correct].time_s)) n_correct++;
  value.n_failed = n - n_correct;
  if (n_correct == 0) return value;
  value.least_s = times[0].time_s;
  value.lower_quartile_s = quantile(times, n_correct, 0.25);
  value.median_s = quantile(times, n_correct, 0.5);
  value.upper_quartile_s = quantile(times, n_correct, 0.75);
  return value;
}

/* groups has one entry a row, each below n_groups; out has n_groups. */
static int sum_up_groups(clt_effect_value *out, size_t n_groups, const clt_report *report, const size_t *groups,
                         clt_error *error) {
  size_t n = report->rows.n;
  timed *times = clt_new_array(n, sizeof *times);
  if (times == NULL) return clt_fail_memory(error);
  for (size_t i = 0; i < n; i++) times[i] = (timed){groups[i], report->rows.items[i].cost};
  if (n) qsort(times, n, sizeof *times, by_group_then_time);
  for (size_t g = 0; g < n_groups; g++) out[g] = sum_up(NULL, 0);
  for (size_t first = 0, end; first < n; first = end) {
    for (end = first; end < n && times[end].group == times[first].group;) end++;
    out[times[first].group] = sum_up(&times[first], end - first);
  }
  free(times);
  return CLT_OK;
}

/* The rows' positions of one parameter, or their pairs of positions of two. */
static int find_groups(size_t **out, const clt_report *report, size_t first, size_t second, clt_error *error) {
  size_t *groups = clt_new_array(report->rows.n, sizeof *groups);
  size_t n_second = clt_space_parameter(report->space, second)->n_values;
  uint32_t all[CLT_MAX_PARAMETERS];
  if (groups == NULL) return clt_fail_memory(error);
  for (size_t i = 0; i < report->rows.n; i++) {
    clt_space_positions(report->space, report->rows.items[i].config, all);
    groups[i] = first == second ? all[first] : all[first] * n_second + all[second];
  }
  *out = groups;
  return CLT_OK;
}

int clt_report_pairs(clt_effect_value **out, const clt_report *report, size_t first, size_t second, clt_error *error) {
  size_t n, *groups = NULL;
  if (!clt_size_multiply(&n, clt_space_parameter(report->space, first)->n_values,
                         clt_space_parameter(report->space, second)->n_values) ||
      n > MOST_PAIRS)
    return clt_fail(error, CLT_E_RANGE, "there are too many pairs of values");
  clt_effect_value *values = clt_new_array(n, sizeof *values);
  int rc = values ? find_groups(&groups, report, first, second, error) : clt_fail_memory(error);
  if (rc == CLT_OK) rc = sum_up_groups(values, n, report, groups, error);
  free(groups);
  if (rc) {
    free(values);
  } else {
    *out = values;
  }
  return rc;
}

/* --- one parameter --- */

/* Between groups over all. */
static double explained(const clt_report *report, const size_t *positions, size_t n_values, clt_error *error) {
  double *sums = clt_new_array(n_values, sizeof *sums), mean = 0, all = 0, between = 0;
  size_t *counts = clt_new_array(n_values, sizeof *counts), n = 0;
  if (sums == NULL || counts == NULL) clt_fail_memory(error);
  for (size_t i = 0; sums && counts && i < report->rows.n; i++) {
    if (!isfinite(report->rows.items[i].cost)) continue;
    sums[positions[i]] += log(report->rows.items[i].cost);
    counts[positions[i]]++;
    n++;
  }
  for (size_t v = 0; n && v < n_values; v++) mean += sums[v] / (double)n;
  for (size_t i = 0; n && i < report->rows.n; i++) {
    double d = log(report->rows.items[i].cost) - mean;
    if (isfinite(report->rows.items[i].cost)) all += d * d;
  }
  for (size_t v = 0; n && v < n_values; v++)
    if (counts[v]) between += (double)counts[v] * pow(sums[v] / (double)counts[v] - mean, 2);
  free(sums);
  free(counts);
  return n < 2 ? NAN : all > 0 ? between / all : 0;
}

int clt_report_effect(clt_effect *out, const clt_report *report, size_t parameter, clt_error *error) {
  size_t *positions = NULL;
  clt_effect effect = {.n_values = clt_space_parameter(report->space, parameter)->n_values};
  clt_error memory = {0};
  effect.values = clt_new_array(effect.n_values, sizeof *effect.values);
  int rc = effect.values ? find_groups(&positions, report, parameter, parameter, error) : clt_fail_memory(error);
  if (rc == CLT_OK) rc = sum_up_groups(effect.values, effect.n_values, report, positions, error);
  if (rc == CLT_OK) effect.importance = explained(report, positions, effect.n_values, &memory);
  if (rc == CLT_OK && memory.code) rc = clt_fail_memory(error);
  free(positions);
  if (rc) {
    clt_effect_release(&effect);
  } else {
    *out = effect;
  }
  return rc;
}
