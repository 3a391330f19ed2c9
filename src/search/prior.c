#include "search/prior.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/map.h"
#include "base/memory.h"

#define NOISE 0.05    /* of log time: of a measurement */
#define DEVIATION 0.1 /* of configurations from what is predicted */
#define LENGTH 1.5    /* over so many parameters from one end to the other a deviation is forgotten to 1/e */
#define LEVEL 2.0     /* deviation that all have in common */
#define P_FAIL 0.5f

void clt_prior_release(clt_prior *prior) {
  free(prior->configs);
  free(prior->log_time);
  free(prior->x);
  *prior = (clt_prior){0};
}

int clt_prior_init(clt_prior *prior, const clt_search_source *predictions, const clt_encoding *encoding,
                   clt_error *error) {
  const clt_space *space = encoding->space;
  size_t n = predictions->n, n_inputs = encoding->n_inputs;
  *prior = (clt_prior){encoding, clt_new_array(n, sizeof *prior->configs), clt_new_array(n, sizeof *prior->log_time),
                       clt_new_array(n, (n_inputs + 1) * sizeof *prior->x), 0};
  if (!prior->configs || !prior->log_time || !prior->x) return clt_fail_memory(error);
  for (size_t i = 0; i < n; i++) {
    clt_config config = predictions->configs[i];
    if (isnan(predictions->log_costs[i]) || !clt_space_contains(space, config) ||
        clt_space_canonical(space, config) != config)
      continue;
    prior->configs[prior->n] = config;
    prior->log_time[prior->n] = predictions->log_costs[i];
    clt_encode(encoding, config, prior->x + prior->n++ * n_inputs);
  }
  return CLT_OK;
}

/* --- the correction --- */

typedef struct correction {
  const clt_prior *prior;
  size_t *rows;   /* places in the prior */
  double *weight; /* what each of them adds to its surroundings */
  size_t n;
} correction;

static double covariance(const clt_prior *prior, size_t a, size_t b) {
  size_t n = prior->encoding->n_inputs;
  const float *x = prior->x + a * n, *y = prior->x + b * n;
  float distance = 0; /* an input spans 2 */
  for (size_t k = 0; k < n; k++) distance += fabsf(x[k] - y[k]) / 2;
  return DEVIATION * DEVIATION * exp(-(double)distance / LENGTH);
}

/* a[n][n], symmetric and positive definite, is replaced by its lower Cholesky factor; b by the solution. */
static void solve(double *a, double *b, size_t n) {
  for (size_t j = 0; j < n; j++) {
    for (size_t k = 0; k < j; k++)
      for (size_t i = j; i < n; i++) a[i * n + j] -= a[i * n + k] * a[j * n + k];
    double root = sqrt(a[j * n + j]);
    for (size_t i = j; i < n; i++) a[i * n + j] /= root;
  }
  for (size_t i = 0; i < n; b[i] /= a[i * n + i], i++)
    for (size_t k = 0; k < i; k++) b[i] -= a[i * n + k] * b[k];
  for (size_t i = n; i-- > 0; b[i] /= a[i * n + i])
    for (size_t k = i + 1; k < n; k++) b[i] -= a[k * n + i] * b[k];
}

/* The rows that something was predicted for, and by how much they deviate from it. */
static void take_rows(correction *c, const clt_row *rows, size_t n_rows) {
  for (size_t i = 0; i < n_rows; i++) {
    size_t place;
    if (rows[i].failed || !clt_search_u64(c->prior->configs, c->prior->n, rows[i].config, &place)) continue;
    c->rows[c->n] = place;
    c->weight[c->n++] = log(rows[i].time_s) - (double)c->prior->log_time[place];
  }
}

static int fit(correction *c, const clt_row *rows, size_t n_rows, clt_error *error) {
  c->rows = clt_new_array(n_rows, sizeof *c->rows);
  c->weight = clt_new_array(n_rows, sizeof *c->weight);
  double *matrix = clt_new_array(n_rows, n_rows * sizeof *matrix);
  int rc = c->rows && c->weight && matrix ? CLT_OK : clt_fail_memory(error);
  if (!rc) take_rows(c, rows, n_rows);
  for (size_t i = 0; !rc && i < c->n; i++)
    for (size_t j = 0; j < c->n; j++)
      matrix[i * c->n + j] =
          covariance(c->prior, c->rows[i], c->rows[j]) + LEVEL * LEVEL + (i == j ? NOISE * NOISE : 0);
  if (!rc) solve(matrix, c->weight, c->n);
  free(matrix);
  return rc;
}

/* Up to a constant. */
static double corrected(const correction *c, size_t place) {
  double sum = (double)c->prior->log_time[place];
  for (size_t i = 0; i < c->n; i++) sum += c->weight[i] * covariance(c->prior, place, c->rows[i]);
  return sum;
}

static clt_config least(const correction *c, const clt_config_set *asked, const float *p_fail) {
  clt_config best = CLT_CONFIG_NONE;
  double least = INFINITY;
  bool best_fails = true;
  for (size_t i = 0; i < c->prior->n; i++) {
    if (clt_config_set_has(asked, c->prior->configs[i])) continue;
    bool fails = p_fail && p_fail[i] > P_FAIL;
    double here = corrected(c, i);
    if (best != CLT_CONFIG_NONE && (fails > best_fails || (fails == best_fails && !(here < least)))) continue;
    best = c->prior->configs[i];
    least = here;
    best_fails = fails;
  }
  return best;
}

int clt_prior_best(clt_config *out, const clt_prior *prior, const clt_row *rows, size_t n_rows,
                   const clt_config_set *asked, const clt_forest *failures, clt_error *error) {
  correction c = {.prior = prior};
  float *p_fail = failures ? clt_new_array(prior->n, sizeof *p_fail) : NULL;
  int rc = failures && p_fail == NULL ? clt_fail_memory(error) : CLT_OK;
  if (!rc && failures) rc = clt_forest_predict(failures, prior->configs, prior->n, p_fail, error);
  if (!rc) rc = fit(&c, rows, n_rows, error);
  if (!rc) *out = least(&c, asked, p_fail);
  free(c.rows);
  free(c.weight);
  free(p_fail);
  return rc;
}
