#include "eval/rounds.h"

#include <math.h>

#define SIGNIFICANT 0.05

double clt_sign_test(const double *a, const double *b, size_t n) {
  size_t wins = 0, decided = 0;
  for (size_t i = 0; i < n; i++) {
    wins += a[i] < b[i];
    decided += a[i] != b[i];
  }
  double p = 0, term = ldexp(1, -(int)decided); /* of k = decided wins; then one fewer each time */
  for (size_t k = decided; k + 1 > wins; k--) {
    p += term;
    if (k == 0) break;
    term *= (double)k / (double)(decided - k + 1);
  }
  return fmin(p, 1);
}

static size_t find_leader(const double *const *runs, size_t n, size_t n_rounds) {
  size_t leader = n;
  for (size_t i = 0; i < n; i++)
    if (runs[i] && (leader == n || clt_median(runs[i], n_rounds) < clt_median(runs[leader], n_rounds))) leader = i;
  return leader;
}

bool clt_rounds_decided(const double *const *runs, size_t n, size_t n_rounds, double tolerance) {
  size_t leader = find_leader(runs, n, n_rounds);
  if (leader == n) return true;
  double best_s = clt_median(runs[leader], n_rounds);
  for (size_t i = 0; i < n; i++) {
    if (i == leader || runs[i] == NULL) continue;
    bool near = clt_median(runs[i], n_rounds) <= best_s * (1 + tolerance);
    if (!near && clt_sign_test(runs[leader], runs[i], n_rounds) > SIGNIFICANT) return false;
  }
  return true;
}
