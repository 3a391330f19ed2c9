#include "eval/rounds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"

#define SIGNIFICANT 0.05
#define CERTAIN 0.001
#define MANY 200                    /* rounds from which on the binomial is as good as normal */
#define MAD_TO_DEVIATION 1.4826     /* of normal numbers */
#define MEDIAN_TO_MEAN_ERROR 1.2533 /* sqrt(pi / 2): the standard error of a median over that of a mean */
#define KNOWN_WELL 0.3              /* a median whose error is this part of the tolerance */

static double upper_tail(double wins, double n) { return 0.5 * erfc((wins - 0.5 - n / 2) / sqrt(n / 2)); }

double clt_sign_test(const double *a, const double *b, size_t n) {
  size_t wins = 0, decided = 0;
  for (size_t i = 0; i < n; i++) {
    wins += a[i] < b[i];
    decided += a[i] != b[i];
  }
  if (decided > MANY) return upper_tail((double)wins, (double)decided);
  double p = 0, term = ldexp(1, -(int)decided); /* of k = decided wins; then one fewer each time */
  for (size_t k = decided; k + 1 > wins; k--) {
    p += term;
    if (k == 0) break;
    term *= (double)k / (double)(decided - k + 1);
  }
  return fmin(p, 1);
}

double clt_median_error(const double *runs_s, size_t n) {
  if (n < 2) return INFINITY;
  double deviation = MAD_TO_DEVIATION * clt_mad(runs_s, n);
  return MEDIAN_TO_MEAN_ERROR * deviation / sqrt((double)n) / clt_median(runs_s, n);
}

static size_t find_leader(const clt_contender *c, size_t n) {
  size_t leader = n;
  double best_s = INFINITY;
  for (size_t i = 0; i < n; i++) {
    double median_s = c[i].runs_s && c[i].n ? clt_median(c[i].runs_s, c[i].n) : INFINITY;
    if (!(median_s < best_s)) continue;
    best_s = median_s;
    leader = i;
  }
  return leader;
}

static clt_standing judge(const clt_contender *leader, const clt_contender *other, double tolerance) {
  double best_s = clt_median(leader->runs_s, leader->n);
  if (clt_median(other->runs_s, other->n) <= best_s * (1 + tolerance)) {
    double error = fmax(clt_median_error(leader->runs_s, leader->n), clt_median_error(other->runs_s, other->n));
    return error <= KNOWN_WELL * tolerance ? CLT_STANDING_NEAR : CLT_STANDING_OPEN;
  }
  double p = clt_sign_test(leader->runs_s, other->runs_s, leader->n < other->n ? leader->n : other->n);
  return p > SIGNIFICANT ? CLT_STANDING_OPEN : p > CERTAIN ? CLT_STANDING_BEHIND : CLT_STANDING_BEATEN;
}

bool clt_rounds_judge(const clt_contender *contenders, size_t n, double tolerance, clt_standing *out) {
  size_t leader = find_leader(contenders, n);
  bool decided = true;
  for (size_t i = 0; i < n; i++) {
    const clt_contender *c = &contenders[i];
    out[i] = c->runs_s == NULL || leader == n ? CLT_STANDING_OUT
             : i == leader                    ? CLT_STANDING_LEADS
                                              : judge(&contenders[leader], c, tolerance);
    decided = decided && out[i] != CLT_STANDING_OPEN;
  }
  return decided;
}

void clt_rounds_take(clt_measurement *out, const double *runs_s, size_t n) {
  size_t kept = n < CLT_MAX_RUNS ? n : CLT_MAX_RUNS;
  if (kept) memcpy(out->runs_s, runs_s + n - kept, kept * sizeof *runs_s);
  out->n_runs = kept;
  out->time_s = clt_median(runs_s, n);
}

/* --- runs as they come --- */

int clt_runs_add(clt_runs *runs, double run_s) {
  if (clt_grow(&runs->runs_s, &runs->capacity, runs->n + 1, sizeof *runs->runs_s)) return CLT_E_MEMORY;
  runs->runs_s[runs->n++] = run_s;
  return CLT_OK;
}

void clt_runs_release(clt_runs *runs) {
  free(runs->runs_s);
  *runs = (clt_runs){0};
}

bool clt_runs_decide(clt_runs *all, size_t n, double tolerance) {
  clt_contender *contenders = clt_new_array(n, sizeof *contenders);
  clt_standing *standings = clt_new_array(n, sizeof *standings);
  bool decided = false;
  if (contenders && standings) {
    for (size_t i = 0; i < n; i++) contenders[i] = (clt_contender){all[i].out ? NULL : all[i].runs_s, all[i].n};
    decided = clt_rounds_judge(contenders, n, tolerance, standings);
    for (size_t i = 0; i < n; i++) all[i].beaten = standings[i] == CLT_STANDING_BEATEN;
  }
  free(contenders);
  free(standings);
  return decided;
}

int clt_rounds_run(const clt_compare_policy *policy, clt_runs *all, size_t n, clt_round_fn round, void *user,
                   clt_error *error) {
  double begin_s = clt_now_s();
  for (size_t done = 1; done <= policy->max_rounds; done++) {
    int rc = round(user, error);
    if (rc) return rc;
    if (policy->max_total_s > 0 && clt_now_s() - begin_s > policy->max_total_s) break;
    if (done >= policy->min_rounds && clt_runs_decide(all, n, policy->tolerance)) break;
  }
  return CLT_OK;
}
