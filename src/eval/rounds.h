/* eval/rounds.h - when interleaved rounds have decided between finalists. */
#ifndef CLT_EVAL_ROUNDS_H
#define CLT_EVAL_ROUNDS_H

#include <clatune/measurement.h>
#include <stdbool.h>
#include <stddef.h>

/* The probability that the one with the more wins in paired rounds would win as often by chance (one-sided sign test;
 * ties are left out). 1 for no rounds. */
double clt_sign_test(const double *a, const double *b, size_t n);

/* runs[i] are n_rounds runs of finalist i, NULL for one that is out. True where each of the others is within
 * `tolerance` of the leader's median, or slower with significance (5 %). */
bool clt_rounds_decided(const double *const *runs, size_t n, size_t n_rounds, double tolerance);

#endif
