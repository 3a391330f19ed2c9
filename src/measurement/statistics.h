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

#define CLT_USUAL_CONFIDENCE 0.95

/* The interval between two of the values that holds the median of what they were drawn from, whatever its distribution
 * is, with at least 95 %: the k-th least and the k-th greatest, by the binomial distribution (order statistics:
 * Thompson 1936; David and Nagaraja, "Order Statistics", 2003, section 7.1). The values have to be independent of each
 * other: one a round. confidence: what these two have. That is less than 95 % for fewer than six values, whose interval
 * is from the least to the greatest: 1 - 2^(1-n), so 93.75 % for five and 50 % for two. Of fewer than two, and when out
 * of memory, NaN, NaN and 0. NaNs are left out. */
typedef struct clt_interval {
  double low, high, confidence;
} clt_interval;
clt_interval clt_median_interval(const double *values, size_t n);

/* Of a measurement whose time is the median of its runs: of these, in seconds; of a program's figures where it reports
 * some. This is what "+-" stands for wherever a time is shown. */
clt_interval clt_measurement_interval(const clt_measurement *m);

/* What is behind "+-": how far the end that is further away is from the centre, relative to it. Infinite for the
 * interval of a single value. */
double clt_interval_error(const clt_interval *interval, double centre);

/* The same of the median of n values, from their own median. */
double clt_median_error(const double *values, size_t n);

/* " +- 2.8 % (95 %)", or "" where the error is not finite. A confidence above 95 % counts as that. */
const char *clt_interval_text(char out[64], double error, double confidence);

/* Whether the newer of two correct measurements of a finalist counts. That is so unless it is less well founded: it has
 * fewer than five runs, which is the least that rounds can decide by, and fewer than the older one; or its median is
 * known less well, and not to within 4 % (clt_median_error). doubt: clt_doubt of each. */
double clt_doubt(const clt_measurement *m);
bool clt_newer_counts(double newer_doubt, double older_doubt);

/* Whether the least of n runs has been met twice: the second shortest takes at most (1 + relative) times as long. */
bool clt_runs_steady(const double *runs_s, size_t n, double relative);

int clt_reason_parse(clt_reason *out, const char *name, clt_error *error);

#endif
