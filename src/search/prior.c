/* Prior data of the surrogate search: sources, which are inputs of the networks and give the first configurations, and
 * the predictions of a model, corrected by the measurements. */
#include <lapacke.h>

#include "base/base.h"
#include "search/surrogate.h"

#define NEAR 1e-6f    /* squared distances that count as equal */
#define LEAST_FIT 0.5 /* of the best correlation: sources below this do not fit */

#define NOISE 0.05 /* N: standard deviation of the log cost of a measurement */
#define LEVEL 2.0  /* L */

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
  *d = (clt_prior_data){.sources = setup->sources,
                        .n = clt_min(setup->n_sources, CLT_MOST_SOURCES),
                        .encoding = encoding,
                        .nearest = clt_space_valid(encoding->space) <= CLT_LAYOUT_MOST};
  for (size_t k = 0; k < d->n; k++) {
    const clt_search_source *source = &d->sources[k];
    float least = INFINITY;
    double sum = 0;
    d->fits[k] = true;
    d->x[k] = clt_arena_array(&d->memory, source->n, (n_inputs + 1) * sizeof(float));
    d->speed[k] = clt_arena_array(&d->memory, source->n, sizeof(float));
    if (d->memory.failed) return clt_fail_memory(error);
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

void clt_prior_data_speeds(const clt_prior_data *d, clt_config config, float *out) {
  size_t n_inputs = d->encoding->n_inputs;
  for (size_t k = 0; k < d->n; k++) {
    float x[CLT_MOST_ENCODED], speed = d->mean[k], least = INFINITY, sum = 0, n = 0;
    size_t index;
    const bool known = clt_search_u64(d->sources[k].configs, d->sources[k].n, config, &index);
    if (known) speed = d->speed[k][index];
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

bool clt_prior_data_judge(clt_prior_data *d, const float *speeds, const clt_result_row *rows, size_t n_rows,
                          bool lenient) {
  double best = 0;
  bool changed = false;
  for (size_t k = 0; k < d->n; k++) {
    double agreement = 0, n_pairs = 0;
    for (size_t i = 1; i < n_rows; i++) {
      for (size_t j = 0; j < i; j++) {
        const double a = rows[i].cost, b = rows[j].cost; /* NaN (failed) is neither less nor greater */
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
  /* The standard error of tau for unrelated data (M. Kendall, "Rank Correlation Methods", 1970). */
  const double n = (double)n_rows, allowance = lenient && n > 1 ? 0.5 * sqrt(2 * (2 * n + 5) / (9 * n * (n - 1))) : 0;
  for (size_t k = 0; k < d->n; k++) {
    const double correlation = d->correlation[k] + allowance;
    bool fits = correlation > 0 && correlation >= LEAST_FIT * best;
    changed = changed || fits != d->fits[k];
    d->fits[k] = fits;
  }
  return changed;
}

/* --- expected costs and their correction ---
 *
 * A Gaussian process on the deviation d = log measured - log expected (Rasmussen and Williams, "Gaussian Processes for
 * Machine Learning", 2006, section 2.2, with the expectation as the mean function, section 2.7). Its covariance is the
 * sum of a level L^2 that all configurations share, because the largest error of an expectation is a common factor, and
 * of S^2 exp(-distance / LENGTH), because similar configurations deviate similarly. With K the covariance matrix of the
 * measured configurations plus the noise N^2 on its diagonal, the mean deviation of a configuration c is k(c)^T K^-1 d,
 * and its variance L^2 + S^2 - k(c)^T K^-1 k(c). The next configuration has the lowest mean - kappa * deviation.
 * Configurations without a result yet count for the variance, which needs no results (Desautels, Krause and Burdick,
 * "Parallelizing Exploration-Exploitation Tradeoffs in Gaussian Process Bandit Optimization", JMLR 15, 2014). */

/* Settings for predictions of a model for these sizes and this device. Chosen on 210 measured configurations of
 * filterbank at each of 20 sizes, where they made little difference. */
static const clt_prior_rules of_predictions = {.deviation = 0.1, .length = 1.5, .kappa = 0, .n_rows = 40};
/* Settings for measurements of other devices. Chosen on the ten recorded spaces with the kernel's other device as
 * source; a deviation of 0.6 to 1.5 and a length of 2 to 8 make little difference. */
static const clt_prior_rules of_sources = {.deviation = 0.6, .length = 4, .kappa = 1, .n_rows = 8};

/* The mean, over the fitting sources that have the configuration, of its log cost relative to the source's least. A
 * failed configuration counts as e times the slowest. NaN: it failed in all sources. */
static float expected_log_cost(const clt_search_source *sources, size_t n, float (*range)[2], const bool *fits,
                               clt_config config) {
  float sum = 0, n_known = 0, n_failed = 0;
  for (size_t k = 0; k < n; k++) {
    size_t index;
    if (!fits[k] || !clt_search_u64(sources[k].configs, sources[k].n, config, &index)) continue;
    const bool failed = isnan(sources[k].log_costs[index]);
    sum += failed ? range[k][1] - range[k][0] + 1 : sources[k].log_costs[index] - range[k][0];
    n_failed += failed;
    n_known++;
  }
  return n_failed < n_known ? sum / n_known : NAN;
}

int clt_prior_init(clt_prior *prior, const clt_search_source *sources, size_t n_sources, const bool *fits,
                   bool predicted, const clt_encoding *encoding, clt_error *error) {
  const clt_space *space = encoding->space;
  float range[CLT_MOST_SOURCES][2];
  size_t n = 0, n_inputs = encoding->n_inputs;
  for (size_t k = 0; k < n_sources; k++) n += fits[k] ? sources[k].n : 0;
  *prior = (clt_prior){.encoding = encoding, .rules = predicted ? of_predictions : of_sources};
  prior->configs = clt_arena_array(&prior->memory, n, sizeof *prior->configs);
  prior->log_cost = clt_arena_array(&prior->memory, n, sizeof *prior->log_cost);
  prior->x = clt_arena_array(&prior->memory, n, (n_inputs + 1) * sizeof *prior->x);
  if (prior->memory.failed) return clt_fail_memory(error);
  n = 0;
  for (size_t k = 0; k < n_sources; k++) {
    range[k][0] = INFINITY, range[k][1] = -INFINITY;
    for (size_t i = 0; i < sources[k].n; i++) {
      range[k][0] = fminf(range[k][0], sources[k].log_costs[i]);
      range[k][1] = fmaxf(range[k][1], sources[k].log_costs[i]);
      if (fits[k]) prior->configs[n++] = sources[k].configs[i];
    }
  }
  clt_sort_u64(prior->configs, n);
  for (size_t i = 0; i < n; i++) {
    const clt_config config = prior->configs[i];
    if ((i && config == prior->configs[i - 1]) || !clt_space_contains(space, config) ||
        clt_space_canonical(space, config) != config)
      continue;
    const float log_cost = expected_log_cost(sources, n_sources, range, fits, config);
    if (isnan(log_cost)) continue;
    prior->configs[prior->n] = config;
    prior->log_cost[prior->n] = log_cost;
    clt_encode(encoding, config, prior->x + prior->n++ * n_inputs);
  }
  return CLT_OK;
}

static double covariance(const clt_prior *prior, size_t a, size_t b) {
  const clt_prior_rules *r = &prior->rules;
  size_t n = prior->encoding->n_inputs;
  const float *x = prior->x + a * n, *y = prior->x + b * n;
  float distance = 0; /* an input spans 2 */
  for (size_t k = 0; k < n; k++) distance += fabsf(x[k] - y[k]) / 2;
  return LEVEL * LEVEL + r->deviation * r->deviation * exp(-(double)distance / r->length);
}

int clt_prior_best(clt_config *out, const clt_prior *prior, const clt_result_row *rows, size_t n_rows, size_t n_known,
                   const clt_map *asked, const clt_forest *failures, clt_error *error) {
  const double kappa = prior->rules.kappa;
  if (!(kappa > 0)) n_known = n_rows; /* without kappa the variance is not used */
  clt_arena scratch = {0};
  float *p_fail = clt_arena_array(&scratch, prior->n, sizeof *p_fail);
  size_t *found = clt_arena_array(&scratch, n_known, sizeof *found), n_measured = 0, n = 0; /* rows with a cost there */
  double *weights = clt_arena_array(&scratch, n_known, 2 * sizeof *weights);
  double *matrix = clt_arena_array(&scratch, n_known, n_known * sizeof *matrix);
  int rc = clt_arena_check(&scratch, error);
  if (rc == CLT_OK && failures) rc = clt_forest_predict(failures, prior->configs, prior->n, p_fail, error);
  for (size_t i = 0; rc == CLT_OK && i < n_known; i++) {
    const bool failed = i < n_rows && isnan(rows[i].cost);
    if (failed || !clt_search_u64(prior->configs, prior->n, rows[i].config, &found[n])) continue;
    if (i < n_rows) weights[n_measured++] = log(rows[i].cost) - (double)prior->log_cost[found[n]];
    n++;
  }
  for (size_t i = 0; rc == CLT_OK && i < n; i++)
    for (size_t j = 0; j < n; j++)
      matrix[i * n + j] = covariance(prior, found[i], found[j]) + (i == j ? NOISE * NOISE : 0);
  /* K = R R'. Of the measured ones, which come first, the first rows of R are the factor: one factorisation gives the
   * weights K^-1 d of the mean and, with v = R^-1 k(c), the v'v by which the variance falls. */
  lapack_int order = (lapack_int)n, measured = (lapack_int)n_measured;
  if (rc == CLT_OK && n > 0 &&
      (LAPACKE_dpotrf(LAPACK_ROW_MAJOR, 'L', order, matrix, order) ||
       (measured && LAPACKE_dpotrs(LAPACK_ROW_MAJOR, 'L', measured, 1, matrix, order, weights, 1))))
    rc = clt_fail(error, CLT_E_MODEL, "the regression on the prior data failed");
  const double variance = LEVEL * LEVEL + prior->rules.deviation * prior->rules.deviation;
  double least = INFINITY, *v = weights + n_known;
  bool best_fails = true;
  *out = CLT_CONFIG_NONE;
  for (size_t i = 0; rc == CLT_OK && i < prior->n; i++) {
    if (clt_map_find(asked, prior->configs[i])) continue;
    bool fails = p_fail[i] > CLT_P_FAIL;
    double here = (double)prior->log_cost[i], left = variance;
    for (size_t k = 0; k < n; k++) {
      v[k] = covariance(prior, i, found[k]);
      if (k < n_measured) here += weights[k] * v[k];
    }
    for (size_t k = 0; kappa > 0 && k < n; k++) {
      for (size_t j = 0; j < k; j++) v[k] -= matrix[k * n + j] * v[j];
      v[k] /= matrix[k * n + k];
      left -= v[k] * v[k];
    }
    if (kappa > 0) here -= kappa * sqrt(fmax(left, 0));
    if (*out != CLT_CONFIG_NONE && (fails > best_fails || (fails == best_fails && !(here < least)))) continue;
    *out = prior->configs[i];
    least = here;
    best_fails = fails;
  }
  clt_arena_release(&scratch);
  return rc;
}
