/* measurement/statistics.h - medians, intervals and scatter of repeated runs. */
#ifndef CLT_MEASUREMENT_STATISTICS_H
#define CLT_MEASUREMENT_STATISTICS_H

#include <clatune/measurement.h>

/* Median and median absolute deviation of n numbers, without NaNs. NaN if no number is left or memory is short.
 * values stay as they are. */
double clt_median(const double *values, size_t n);
int clt_by_number(const void *a, const void *b); /* for qsort, of doubles without NaNs */
double clt_mad(const double *values, size_t n);

/* Its figures if the program reports any, else its seconds: m->n_runs of them. */
const double *clt_measurement_runs(const clt_measurement *m);

/* The median absolute deviation of a measurement's runs, divided by their median. NaN if there are no runs. */
double clt_spread(const clt_measurement *m);

#define CLT_USUAL_CONFIDENCE 0.95

/* A confidence interval for the median of the distribution that the values come from, whatever it is, with at least 95
 * %: from the k-th smallest to the k-th largest value, where k follows from the binomial distribution (order
 * statistics: Thompson 1936; David and Nagaraja, "Order Statistics", 2003, section 7.1). The values must be
 * independent: one per round.
 *
 * confidence is the actual confidence. For fewer than six values it is less than 95 %, and the interval is their
 * whole range: 1 - 2^(1-n), that is 93.75 % for five values and 50 % for two. For fewer than two, or if memory is
 * short, the interval is NaN, NaN, 0. NaNs are left out. */
typedef struct clt_interval {
  double low, high, confidence;
} clt_interval;
clt_interval clt_median_interval(const double *values, size_t n);

/* The interval of a measurement whose result is the median of its runs: the one behind every "+-". */
clt_interval clt_measurement_interval(const clt_measurement *m);

/* The number after "+-": the distance of the farther end from the centre, relative to the centre. Infinite for the
 * interval of a single value. */
double clt_interval_error(const clt_interval *interval, double centre);

/* The same for the median of n values and its interval. */
double clt_median_error(const double *values, size_t n);

/* Prints " +- 2.8 % (95 %)", or "" if the error is not finite. A confidence above 95 % is printed as 95 %. Returns
 * out. */
const char *clt_interval_text(char out[64], double error, double confidence);

/* Whether the shortest of n runs is confirmed: the second shortest takes at most (1 + relative) times as long. */
bool clt_runs_steady(const double *runs_s, size_t n, double relative);

int clt_reason_parse(clt_reason *out, const char *name, clt_error *error);

#endif
