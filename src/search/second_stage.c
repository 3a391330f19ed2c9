#include "search/second_stage.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

typedef struct fast_row {
  double time_s;
  double residual; /* predicted - measured log time */
} fast_row;

static int by_time(const void *a, const void *b) {
  double x = ((const fast_row *)a)->time_s, y = ((const fast_row *)b)->time_s;
  return (x > y) - (x < y);
}

/* The optimum is taken to be exchangeable with the k fastest rows. Then its error is the largest of the k + 1 with
 * probability 1 / (k + 1), so the largest of the k bounds it with probability k / (k + 1). */
static size_t n_fastest(double confidence) { return (size_t)ceil(confidence / (1 - confidence) - 1e-9); }

double clt_second_stage_margin(const clt_row *rows, size_t n_rows, const float *residuals, size_t n_residuals,
                               double confidence) {
  fast_row *fast = clt_new_array(n_residuals, sizeof *fast);
  if (fast == NULL) return NAN;
  double margin = NAN;
  size_t n = 0;
  for (size_t i = 0; i < n_rows && n < n_residuals; i++) {
    if (rows[i].failed) continue;
    fast[n] = (fast_row){rows[i].time_s, residuals[n]};
    n++;
  }
  qsort(fast, n, sizeof *fast, by_time);
  size_t k = n_fastest(confidence);
  if (k >= 1 && k <= n) margin = fast[0].residual;
  for (size_t i = 1; i < k && k <= n; i++) margin = fmax(margin, fast[i].residual);
  free(fast);
  return margin;
}

double clt_second_stage_threshold(double best_s, double margin, double tolerance) {
  return log(best_s) - log1p(tolerance) + margin;
}
