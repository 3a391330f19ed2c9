/* What is known before the surrogate search begins: prior data, which is an input of the networks and where the search
 * begins; and what a model predicted, corrected by what was measured since. */
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/memory.h"
#include "search/surrogate.h"

#define NEAR 1e-6f    /* squared distances that count as equal */
#define LEAST_FIT 0.5 /* of the best correlation: what fits half as well */

/* Chosen on 210 measured configurations of filterbank at each of 20 sizes, where they made little difference. */
#define NOISE 0.05    /* N, of log cost: of a measurement */
#define DEVIATION 0.1 /* S */
#define LENGTH 1.5    /* over so many parameters from one end to the other a deviation is forgotten to 1/e */
#define LEVEL 2.0     /* L */

/* --- prior data --- */

float clt_least_distance(const float *points, size_t n, size_t n_inputs, const float *x) {
  float least = INFINITY;
  for (size_t i = 0; i < n; i++, points += n_inputs) {
    float sum = 0;
    for (size_t j = 0; j < n_inputs; j++) sum += (x[j] - points[j]) * (x[j] - points[j]);
    least = fminf(least, sum);
  }
  return least;
}

int clt_prior_data_init(clt_prior_data *d, const clt_search_setup *setup, const clt_encoding *encoding,
                        clt_error *error) {
  size_t n_inputs = encoding->n_inputs;
  *d = (clt_prior_data){setup->sources, setup->n_sources < CLT_MOST_SOURCES ? setup->n_sources : CLT_MOST_SOURCES,
                        encoding};
  for (size_t k = 0; k < d->n; k++) d->fits[k] = true;
  d->nearest = clt_space_valid(encoding->space) <= CLT_LAYOUT_MOST;
  for (size_t k = 0; k < d->n; k++) {
    const clt_search_source *source = &d->sources[k];
    float least = INFINITY;
    double sum = 0;
    d->x[k] = clt_new_array(source->n, (n_inputs + 1) * sizeof(float));
    d->speed[k] = clt_new_array(source->n, sizeof(float));
    if (d->x[k] == NULL || d->speed[k] == NULL) return clt_fail_memory(error);
    for (size_t i = 0; i < source->n; i++) least = fminf(least, source->log_costs[i]);
    for (size_t i = 0; i < source->n; i++) {
      clt_encode(encoding, source->configs[i], d->x[k] + i * n_inputs);
      d->speed[k][i] = isnan(source->log_costs[i]) ? 0 : expf(least - source->log_costs[i]);
      sum += d->speed[k][i];
    }
    d->mean[k] = source->n ? (float)(sum / (double)source->n) : 0;
  }
  return CLT_OK;
}

void clt_prior_data_release(clt_prior_data *d) {
  for (size_t k = 0; k < CLT_MOST_SOURCES; k++) {
    free(d->x[k]);
    free(d->speed[k]);
  }
}

static bool find_speed(const clt_prior_data *d, size_t k, clt_config config, float *speed) {
  size_t place;
  if (!clt_search_u64(d->sources[k].configs, d->sources[k].n, config, &place)) return false;
  *speed = d->speed[k][place];
  return true;
}

void clt_prior_data_speeds(const clt_prior_data *d, clt_config config, float *out) {
  size_t n_inputs = d->encoding->n_inputs;
  for (size_t k = 0; k < d->n; k++) {
    float x[CLT_MOST_ENCODED], speed = d->mean[k], least = INFINITY, sum = 0, n = 0;
    bool known = find_speed(d, k, config, &speed);
    if (!known && d->nearest && n_inputs <= CLT_MOST_ENCODED) { /* the mean of the nearest ones */
      clt_encode(d->encoding, config, x);
      for (size_t i = 0; i < d->sources[k].n; i++) {
        float distance = clt_least_distance(d->x[k] + i * n_inputs, 1, n_inputs, x);
        if (distance > least + NEAR) continue;
        if (distance < least - NEAR) sum = n = 0;
        least = fminf(least, distance);
        sum += d->speed[k][i];
        n++;
      }
      if (n > 0) speed = sum / n;
    }
    out[k] = 2 * speed - 1;
  }
}

void clt_prior_data_fill(const void *user, clt_config config, float *out) {
  const clt_prior_data *d = user;
  clt_prior_data_speeds(d, config, out);
  for (size_t k = 0; k < d->n; k++)
    if (!d->fits[k]) out[k] = 0;
}

bool clt_prior_data_judge(clt_prior_data *d, const float *speeds, const clt_result_row *rows, size_t n_rows) {
  double best = 0;
  bool changed = false;
  for (size_t k = 0; k < d->n; k++) {
    double agreement = 0, n_pairs = 0;
    for (size_t i = 1; i < n_rows; i++) {
      for (size_t j = 0; j < i; j++) {
        double a = isnan(rows[i].cost) ? INFINITY : rows[i].cost, b = isnan(rows[j].cost) ? INFINITY : rows[j].cost;
        float difference = speeds[i * d->n + k] - speeds[j * d->n + k];
        if (!(a < b || a > b)) continue;
        agreement += ((difference > 0) - (difference < 0)) * (a < b ? 1 : -1);
        n_pairs++;
      }
    }
    if (!(n_pairs > 0)) return false; /* all the same, or all failed */
    d->correlation[k] = agreement / n_pairs;
    best = fmax(best, d->correlation[k]);
  }
  for (size_t k = 0; k < d->n; k++) {
    bool fits = d->correlation[k] > 0 && d->correlation[k] >= LEAST_FIT * best;
    changed = changed || fits != d->fits[k];
    d->fits[k] = fits;
  }
  return changed;
}

clt_config clt_prior_data_best(const clt_prior_data *d, const clt_config *before, size_t n_before,
                               const clt_map *asked) {
  const clt_space *space = d->encoding->space;
  clt_config best = CLT_CONFIG_NONE;
  float most = 0;
  size_t k = 0; /* the one that fits best */
  for (size_t j = 1; j < d->n; j++)
    if (d->correlation[j] > d->correlation[k]) k = j;
  for (size_t i = 0; d->fits[k] && i < d->sources[k].n; i++) {
    clt_config config = d->sources[k].configs[i];
    float sum = 0, n = 0, speed, own = d->speed[k][i];
    if (!(own > 2 * most - 1)) continue; /* the other half is at most 1/2 */
    for (size_t j = 0; j < d->n; j++) {
      if (!d->fits[j] || !find_speed(d, j, config, &speed)) continue;
      sum += speed;
      n++;
    }
    float promise = 0.5f * sum / n + 0.5f * own;
    if (!(promise > most) || !clt_space_contains(space, config) || clt_space_canonical(space, config) != config ||
        clt_map_find(asked, config))
      continue;
    bool near = false;
    for (size_t j = 0; j < n_before && !near; j++) near = clt_space_difference(space, config, before[j]) < 2;
    if (near) continue;
    best = config;
    most = promise;
  }
  return best;
}

/* --- a model's predictions ---
 *
 * A Gaussian process on the deviation d = log measured - log predicted (Rasmussen and Williams, "Gaussian Processes for
 * Machine Learning", 2006, section 2.2, with the prediction as the mean function, section 2.7). Its covariance is the
 * sum of a level L^2 that all configurations have in common, because a model is off by a factor first of all, and of
 * S^2 exp(-distance / LENGTH), because configurations that are alike deviate alike. With K the covariance matrix of the
 * measured ones plus the noise N^2 on its diagonal, the expected deviation of a configuration c is k(c)^T K^-1 d. So
 * the weights w = K^-1 d are solved for once, and the corrected prediction is the prediction plus the sum of w_i (L^2 +
 * S^2 exp(-distance(c, i) / LENGTH)). The term with L^2 is the same for all c and left out, as only the order counts:
 * near what was measured the prediction is shifted as that was, far from it by what all have in common. */

void clt_prior_release(clt_prior *prior) {
  free(prior->configs);
  free(prior->log_cost);
  free(prior->x);
  *prior = (clt_prior){0};
}

int clt_prior_init(clt_prior *prior, const clt_search_source *predictions, const clt_encoding *encoding,
                   clt_error *error) {
  const clt_space *space = encoding->space;
  size_t n = predictions->n, n_inputs = encoding->n_inputs;
  *prior = (clt_prior){encoding, clt_new_array(n, sizeof *prior->configs), clt_new_array(n, sizeof *prior->log_cost),
                       clt_new_array(n, (n_inputs + 1) * sizeof *prior->x), 0};
  if (!prior->configs || !prior->log_cost || !prior->x) return clt_fail_memory(error);
  for (size_t i = 0; i < n; i++) {
    clt_config config = predictions->configs[i];
    if (isnan(predictions->log_costs[i]) || !clt_space_contains(space, config) ||
        clt_space_canonical(space, config) != config)
      continue;
    prior->configs[prior->n] = config;
    prior->log_cost[prior->n] = predictions->log_costs[i];
    clt_encode(encoding, config, prior->x + prior->n++ * n_inputs);
  }
  return CLT_OK;
}

static double covariance(const clt_prior *prior, size_t a, size_t b) {
  size_t n = prior->encoding->n_inputs;
  const float *x = prior->x + a * n, *y = prior->x + b * n;
  float distance = 0; /* an input spans 2 */
  for (size_t k = 0; k < n; k++) distance += fabsf(x[k] - y[k]) / 2;
  return DEVIATION * DEVIATION * exp(-(double)distance / LENGTH);
}

int clt_prior_best(clt_config *out, const clt_prior *prior, const clt_result_row *rows, size_t n_rows,
                   const clt_map *asked, const clt_forest *failures, clt_error *error) {
  float *p_fail = clt_new_array(prior->n, sizeof *p_fail);
  size_t *places = clt_new_array(n_rows, sizeof *places), n = 0; /* of the rows that something was predicted for */
  double *weights = clt_new_array(n_rows, sizeof *weights), *matrix = clt_new_array(n_rows, n_rows * sizeof *matrix);
  int rc = p_fail && places && weights && matrix ? CLT_OK : clt_fail_memory(error);
  if (rc == CLT_OK && failures) rc = clt_forest_predict(failures, prior->configs, prior->n, p_fail, error);
  for (size_t i = 0; rc == CLT_OK && i < n_rows; i++) {
    size_t place;
    if (isnan(rows[i].cost) || !clt_search_u64(prior->configs, prior->n, rows[i].config, &place)) continue;
    places[n] = place;
    weights[n++] = log(rows[i].cost) - (double)prior->log_cost[place];
  }
  for (size_t i = 0; rc == CLT_OK && i < n; i++)
    for (size_t j = 0; j < n; j++)
      matrix[i * n + j] = covariance(prior, places[i], places[j]) + LEVEL * LEVEL + (i == j ? NOISE * NOISE : 0);
  lapack_int order = (lapack_int)n;
  if (rc == CLT_OK && n > 0 && LAPACKE_dposv(LAPACK_ROW_MAJOR, 'L', order, 1, matrix, order, weights, 1))
    rc = clt_fail(error, CLT_E_MODEL, "the corrections of a model's predictions cannot be solved for");
  double least = INFINITY;
  bool best_fails = true;
  *out = CLT_CONFIG_NONE;
  for (size_t i = 0; rc == CLT_OK && i < prior->n; i++) {
    if (clt_map_find(asked, prior->configs[i])) continue;
    bool fails = p_fail[i] > CLT_P_FAIL;
    double here = (double)prior->log_cost[i];
    for (size_t k = 0; k < n; k++) here += weights[k] * covariance(prior, i, places[k]);
    if (*out != CLT_CONFIG_NONE && (fails > best_fails || (fails == best_fails && !(here < least)))) continue;
    *out = prior->configs[i];
    least = here;
    best_fails = fails;
  }
  free(p_fail);
  free(places);
  free(weights);
  free(matrix);
  return rc;
}
