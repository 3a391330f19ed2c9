/* measurement/statistics.h - of several runs. */
#ifndef CLT_MEASUREMENT_STATISTICS_H
#define CLT_MEASUREMENT_STATISTICS_H

#include <clatune/measurement.h>

/* Median and median absolute deviation of n numbers (scratch copy inside; NaNs are left out; NaN where nothing is left
 * and when out of memory). */
double clt_median(const double *values, size_t n);
double clt_mad(const double *values, size_t n);

/* Median absolute deviation over median of its runs: their figures where a program reports some, else their seconds.
 * NaN where none are known. */
double clt_spread(const clt_measurement *m);

/* Whether the least of n runs has been met twice: the second shortest takes at most (1 + relative) times as long. */
bool clt_runs_steady(const double *runs_s, size_t n, double relative);

int clt_reason_parse(clt_reason *out, const char *name, clt_error *error);

#endif
