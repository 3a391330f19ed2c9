/* What groups of rows come to: those with one value of a parameter, or with one pair of values of two. */
#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/memory.h"
#include "report/rows.h"

typedef struct member {
  size_t group;
  double cost; /* NaN: failed */
} member;

static int by_group_then_cost(const void *a, const void *b) {
  const member *x = a, *y = b;
  if (x->group != y->group) return x->group < y->group ? -1 : 1;
  if (isnan(x->cost) || isnan(y->cost)) return isnan(x->cost) - isnan(y->cost);
  return (x->cost > y->cost) - (x->cost < y->cost);
}

/* Of costs in ascending order, between two of them where the share falls there. */
static double quantile(const member *members, size_t n, double share) {
  double at = share * (double)(n - 1);
  size_t below = (size_t)at, above = below + (below + 1 < n);
  return members[below].cost + (at - (double)below) * (members[above].cost - members[below].cost);
}

/* One group, its costs in ascending order with the failures behind. */
static clt_effect sum_up(const member *members, size_t n) {
  clt_effect effect = {.n = n, .least = NAN, .lower_quartile = NAN, .median = NAN, .upper_quartile = NAN};
  size_t n_correct = 0;
  while (n_correct < n && isfinite(members[n_correct].cost)) n_correct++;
  effect.n_failed = n - n_correct;
  if (n_correct == 0) return effect;
  effect.least = members[0].cost;
  effect.lower_quartile = quantile(members, n_correct, 0.25);
  effect.median = quantile(members, n_correct, 0.5);
  effect.upper_quartile = quantile(members, n_correct, 0.75);
  return effect;
}

int clt_effects_new(clt_effect **out, size_t n_groups, const clt_tuning *tuning, const size_t *groups,
                    clt_error *error) {
  size_t n = tuning->rows.n;
  member *members = clt_new_array(n, sizeof *members);
  clt_effect *effects = clt_new_array(n_groups, sizeof *effects);
  if (members == NULL || effects == NULL) {
    free(members);
    free(effects);
    return clt_fail_memory(error);
  }
  for (size_t i = 0; i < n; i++) members[i] = (member){groups[i], tuning->rows.items[i].cost};
  if (n) qsort(members, n, sizeof *members, by_group_then_cost);
  for (size_t g = 0; g < n_groups; g++) effects[g] = sum_up(NULL, 0);
  for (size_t first = 0, end; first < n; first = end) {
    for (end = first; end < n && members[end].group == members[first].group;) end++;
    effects[members[first].group] = sum_up(&members[first], end - first);
  }
  free(members);
  *out = effects;
  return CLT_OK;
}

/* The variance between groups over that of all. */
int clt_effects_importance(double *out, size_t n_groups, const clt_tuning *tuning, const size_t *groups,
                           clt_error *error) {
  const clt_report_rows *rows = &tuning->rows;
  double *sums = clt_new_array(n_groups, sizeof *sums), mean = 0, all = 0, between = 0;
  size_t *counts = clt_new_array(n_groups, sizeof *counts), n = 0;
  int rc = sums && counts ? CLT_OK : clt_fail_memory(error);
  for (size_t i = 0; rc == CLT_OK && i < rows->n; i++) {
    if (!isfinite(rows->items[i].cost)) continue;
    sums[groups[i]] += log(rows->items[i].cost);
    counts[groups[i]]++;
    n++;
  }
  for (size_t g = 0; n && g < n_groups; g++) mean += sums[g] / (double)n;
  for (size_t i = 0; n && i < rows->n; i++)
    if (isfinite(rows->items[i].cost)) all += pow(log(rows->items[i].cost) - mean, 2);
  for (size_t g = 0; n && g < n_groups; g++)
    if (counts[g]) between += (double)counts[g] * pow(sums[g] / (double)counts[g] - mean, 2);
  free(sums);
  free(counts);
  *out = n < 2 ? NAN : all > 0 ? between / all : 0;
  return rc;
}
