/* One cost made of several, with random weights. */
#include "base/base.h"
#include "measurement/measurement.h"
#include "search/surrogate.h"

#define RHO 0.05 /* the weight of the sum: Knowles' value */

int clt_weighing_add(clt_weighing *w, clt_config config, const double *costs, clt_error *error) {
  if (clt_grow(&w->logs, &w->capacity, w->n_told + 1, w->n * sizeof *w->logs)) return clt_fail_memory(error);
  uint64_t *index = clt_map_add(&w->indices, config, NULL);
  if (index == NULL) return clt_fail_memory(error);
  *index = w->n_told++;
  for (size_t k = 0; k < w->n; k++) w->logs[*index * w->n + k] = log(costs[k]);
  return CLT_OK;
}

/* NULL: the row failed. */
static const double *logs_of(const clt_weighing *w, const clt_result_row *row) {
  const uint64_t *index = isnan(row->cost) ? NULL : clt_map_find(&w->indices, row->config);
  return index ? w->logs + *index * w->n : NULL;
}

double clt_weighing_draw(const clt_weighing *w, clt_result_row *rows, size_t n_rows, clt_rng *rng) {
  double weight[CLT_MOST_OBJECTIVES], low[CLT_MOST_OBJECTIVES], range[CLT_MOST_OBJECTIVES], sum = 0, scale = 0,
                                                                                            least = INFINITY;
  for (size_t k = 0; k < w->n; k++) {
    double high = -INFINITY;
    low[k] = INFINITY;
    for (size_t i = 0; i < n_rows; i++) {
      const double *logs = logs_of(w, &rows[i]);
      if (logs) low[k] = fmin(low[k], logs[k]), high = fmax(high, logs[k]);
    }
    range[k] = high > low[k] ? high - low[k] : 1;
    weight[k] = -log1p(-clt_rng_unit(rng)); /* exponential, so that the weights are uniform on the simplex */
    sum += weight[k];
  }
  for (size_t k = 0; k < w->n; k++) {
    weight[k] /= sum;
    scale += weight[k] * range[k]; /* with all of the weight on one objective the cost is about that objective's */
  }
  for (size_t i = 0; i < n_rows; i++) {
    const double *logs = logs_of(w, &rows[i]);
    double most = 0, total = 0;
    for (size_t k = 0; logs && k < w->n; k++) {
      const double term = weight[k] * (logs[k] - low[k]) / range[k];
      most = fmax(most, term);
      total += term;
    }
    if (logs) rows[i].cost = exp(scale * (most + RHO * total));
    if (logs) least = fmin(least, rows[i].cost);
  }
  return least;
}

void clt_weighing_release(clt_weighing *w) {
  clt_map_release(&w->indices);
  free(w->logs);
}
