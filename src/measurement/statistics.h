/* measurement/statistics.h - of several runs. */
#ifndef CLT_MEASUREMENT_STATISTICS_H
#define CLT_MEASUREMENT_STATISTICS_H

#include <clatune/measurement.h>

/* Median and median absolute deviation of n numbers (scratch copy inside; NaNs are left out; NaN where nothing is left
 * and when out of memory). */
double clt_median(const double *values, size_t n);
int clt_by_number(const void *a, const void *b); /* for qsort, of doubles that are no NaNs */
double clt_mad(const double *values, size_t n);

/* Median absolute deviation over median of its runs: their figures where a program reports some, else their seconds.
 * NaN where none are known. */
double clt_spread(const clt_measurement *m);

/* How far the median of n runs may be from the truth, relative to it: its standard error, from the median absolute
 * deviation as if the runs were normal (Rousseeuw and Croux, "Alternatives to the median absolute deviation", 1993,
 * section 1, for the factor). 0 for runs that are all equal; infinite for fewer than two. */
double clt_median_error(const double *runs_s, size_t n);

/* Whether the newer of two correct measurements of a finalist counts. That is so unless it is less well founded: it has
 * fewer than five runs, which is the least that rounds can decide by, and fewer than the older one; or its median is
 * known less well, and not to within 2 %, which is what counts as equally good. doubt: clt_doubt of each. */
double clt_doubt(const clt_measurement *m);
bool clt_newer_counts(double newer_doubt, double older_doubt);

/* Whether the least of n runs has been met twice: the second shortest takes at most (1 + relative) times as long. */
bool clt_runs_steady(const double *runs_s, size_t n, double relative);

int clt_reason_parse(clt_reason *out, const char *name, clt_error *error);

#endif
