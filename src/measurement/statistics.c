#include <clatune/measurement.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static int ascending(const void *a, const void *b) {
  double x, y;
  memcpy(&x, a, sizeof x);
  memcpy(&y, b, sizeof y);
  return (x > y) - (x < y);
}

static double sorted_median(const double *sorted, size_t n) {
  if (n == 0) return NAN;
  double low = sorted[(n - 1) / 2], high = sorted[n / 2];
  return low == high ? low : low * 0.5 + high * 0.5;
}

static size_t keep_numbers(double *values, size_t n) {
  size_t n_numbers = 0;
  for (size_t i = 0; i < n; i++)
    if (!isnan(values[i])) values[n_numbers++] = values[i];
  return n_numbers;
}

/* The median of the values, or of |value - *centre| where centre is not NULL. */
static double median_of(const double *values, size_t n, const double *centre) {
  double small[CLT_MAX_RUNS], *scratch = n <= CLT_MAX_RUNS ? small : clt_new_array(n, sizeof *scratch);
  if (scratch == NULL) return NAN;
  for (size_t i = 0; i < n; i++) scratch[i] = centre ? fabs(values[i] - *centre) : values[i];
  size_t n_numbers = keep_numbers(scratch, n);
  qsort(scratch, n_numbers, sizeof *scratch, ascending);
  double median = sorted_median(scratch, n_numbers);
  if (scratch != small) free(scratch);
  return median;
}

double clt_median(const double *values, size_t n) { return median_of(values, n, NULL); }

double clt_mad(const double *values, size_t n) {
  double median = clt_median(values, n);
  return median_of(values, n, &median);
}

bool clt_runs_steady(const double *runs_s, size_t n, double relative) {
  double first = INFINITY, second = INFINITY;
  for (size_t i = 0; i < n; i++) {
    if (runs_s[i] < first) {
      second = first;
      first = runs_s[i];
    } else if (runs_s[i] < second) {
      second = runs_s[i];
    }
  }
  return second <= first * (1 + relative);
}
