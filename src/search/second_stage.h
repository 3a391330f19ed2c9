/* search/second_stage.h - how deep the second stage must go: docs/searchers/two-stage.md. */
#ifndef CLT_SEARCH_SECOND_STAGE_H
#define CLT_SEARCH_SECOND_STAGE_H

#include "search/searchers.h"

/* By how much the optimum may have been predicted slower than it is, in log time, with probability `confidence`: the
 * largest such error among the fastest k of the measured rows, k / (k + 1) >= confidence, each predicted by networks
 * that have seen it neither for fitting nor for stopping. rows: those the model was fitted on, in that order;
 * residuals: clt_model_residuals, one for each correct row. NaN where fewer than k rows are correct. */
double clt_second_stage_margin(const clt_row *rows, size_t n_rows, const float *residuals, size_t n_residuals,
                               double confidence);

/* The predicted log time beyond which, by that margin, nothing lies that is faster than best_s by more than tolerance.
 */
double clt_second_stage_threshold(double best_s, double margin, double tolerance);

#endif
