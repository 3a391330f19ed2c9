/* session/contest.h - finalists side by side: interleaved rounds until they are told apart. */
#ifndef CLT_SESSION_CONTEST_H
#define CLT_SESSION_CONTEST_H

#include <clatune/sys/evaluator.h>

#include "measurement/objective.h"

/* Rounds end when the leader's median is ahead with significance, or within tolerance of all others, or at the limits.
 */
typedef struct clt_contest_policy {
  unsigned min_rounds, max_rounds;
  double max_total_s;             /* no round begins after it, whatever min_rounds says; 0: no limit */
  double tolerance;               /* relative */
  const clt_objective *objective; /* what is compared; NULL: times */
} clt_contest_policy;

/* Keeps the configurations prepared in an open evaluator that has keep and time_again, and runs them in rounds. out[i]
 * belongs to configs[i] and is the caller's: runs_s holds the last of its runs, time_s the median of all, energy_J the
 * median of what was measured; one that fails has its reason. Nothing is filled on an error. */
int clt_contest_run(const clt_evaluator_type *evaluator, void *state, const clt_config *configs, size_t n,
                    const clt_contest_policy *policy, clt_measurement *out, clt_error *error);

/* What `clatune verify` does with one configuration: prepare, verify on the usual data and on further data, run once.
 * *out is the caller's; *quality (nullable) is the problem's figure of quality, NaN where it has none. Settings
 * (nullable) are the evaluator's options. */
int clt_verify_config(const clt_instance *instance, clt_config config, const clt_setting *settings, size_t n_settings,
                      clt_measurement *out, double *quality, clt_log_fn log, void *log_user, clt_error *error);

/* --- statistics --- */

/* The probability that the one with the more wins in paired rounds would win as often by chance (one-sided sign test;
 * ties are left out). 1 for no rounds. */
double clt_sign_test(const double *a, const double *b, size_t n);

/* How far the median of n runs may be from the truth, relative to it: its standard error, from the median absolute
 * deviation as if the runs were normal (Rousseeuw and Croux, "Alternatives to the median absolute deviation", 1993,
 * section 1, for the factor). 0 for runs that are all equal; infinite for fewer than two. */
double clt_median_error(const double *runs_s, size_t n);

/* The costs of a finalist's runs so far, or of its turns; NULL: it is out. The k-th ones of two finalists belong to one
 * round, unless one of them was left out of some rounds. */
typedef struct clt_contender {
  const double *costs;
  size_t n;
} clt_contender;

typedef enum clt_standing {
  CLT_STANDING_OUT,
  CLT_STANDING_LEADS, /* the least median */
  CLT_STANDING_NEAR, /* within the tolerance of the leader's median, and both medians are known well enough to say so */
  CLT_STANDING_BEHIND, /* not within it, and slower with significance (5 %) */
  CLT_STANDING_BEATEN, /* the same with more certainty (0.1 %, as it is asked after every round): it need not run in
                          further rounds */
  CLT_STANDING_OPEN
} clt_standing;

/* Judges all; true where none is open. */
bool clt_rounds_judge(const clt_contender *contenders, size_t n, double tolerance, clt_standing *out);

#endif
