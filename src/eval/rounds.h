/* eval/rounds.h - when interleaved rounds have decided between finalists. */
#ifndef CLT_EVAL_ROUNDS_H
#define CLT_EVAL_ROUNDS_H

#include <clatune/sys/evaluator.h>
#include <stdbool.h>
#include <stddef.h>

/* The probability that the one with the more wins in paired rounds would win as often by chance (one-sided sign test;
 * ties are left out). 1 for no rounds. */
double clt_sign_test(const double *a, const double *b, size_t n);

/* How far the median of n runs may be from the truth, relative to it: its standard error, from the median absolute
 * deviation as if the runs were normal (Rousseeuw and Croux, "Alternatives to the median absolute deviation", 1993,
 * section 1, for the factor). 0 for runs that are all equal; infinite for fewer than two. */
double clt_median_error(const double *runs_s, size_t n);

/* A finalist's runs so far; runs_s NULL: it is out. The k-th runs of two finalists belong to one round, unless one of
 * them was left out of some rounds. */
typedef struct clt_contender {
  const double *runs_s;
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

/* What a finalist's runs, n in all, come to: the time is the median of all, and what is kept of them are the last. */
void clt_rounds_take(clt_measurement *out, const double *runs_s, size_t n);

/* Judges all; true where none is open. */
bool clt_rounds_judge(const clt_contender *contenders, size_t n, double tolerance, clt_standing *out);

/* One finalist's runs as they come. */
typedef struct clt_runs {
  double *runs_s;
  size_t n, capacity;
  bool out;    /* it failed */
  bool beaten; /* it need not run in further rounds */
} clt_runs;    /* zeroed: none */

int clt_runs_add(clt_runs *runs, double run_s); /* 0, or CLT_E_MEMORY */
void clt_runs_release(clt_runs *runs);
/* Judges n of them, and notes who is beaten; true where none is open. */
bool clt_runs_decide(clt_runs *all, size_t n, double tolerance);

/* Rounds over n finalists until they are decided, or the policy says that it is enough. */
typedef int (*clt_round_fn)(void *user, clt_error *error);
int clt_rounds_run(const clt_compare_policy *policy, clt_runs *all, size_t n, clt_round_fn round, void *user,
                   clt_error *error);

#endif
