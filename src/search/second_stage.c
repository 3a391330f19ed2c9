#include "search/second_stage.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

#define FASTEST_SHARE 0.1 /* of the correct rows: those taken to be like the optimum */

typedef struct fast_row {
  double time_s;
  double residual; /* predicted - measured log time */
} fast_row;

static int by_time(const void *a, const void *b) {
  double x = ((const fast_row *)a)->time_s, y = ((const fast_row *)b)->time_s;
  return (x > y) - (x < y);
}

static int by_residual(const void *a, const void *b) {
  double x = ((const fast_row *)a)->residual, y = ((const fast_row *)b)->residual;
  return (x > y) - (x < y);
}

/* How many of the fastest to look at: a share of all, but enough for the quantile to exist: the ceil((k + 1) p)-th of
 * k. */
static size_t n_fastest(size_t n, double confidence) {
  size_t least = (size_t)ceil(confidence / (1 - confidence) - 1e-9), wanted = (size_t)(FASTEST_SHARE * (double)n);
  if (wanted < least) wanted = least;
  return wanted <= n ? wanted : 0;
}

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
  size_t k = n_fastest(n, confidence);
  if (k) {
    qsort(fast, k, sizeof *fast, by_residual);
    size_t place = (size_t)ceil((double)(k + 1) * confidence - 1e-9);
    margin = fast[(place > k ? k : place) - 1].residual;
  }
  free(fast);
  return margin;
}

double clt_second_stage_threshold(double best_s, double margin, double tolerance) {
  return log(best_s) - log1p(tolerance) + margin;
}
