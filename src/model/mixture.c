/* Networks and boosted trees together. `average` is the mean of both. `auto` takes networks, trees or their mean,
 * whichever is best on rows left out: with the smallest error, or, for several sizes, with the best choices. Both use
 * the same folds for the same seed. */
#include "base/base.h"
#include "base/plugin.h"
#include "model/model.h"

#define N_PARTS 2
static const clt_model_type *const types[N_PARTS] = {&clt_model_ensemble, &clt_model_trees};

#define FEWEST_SIZES 5 /* needed to compare models by their choices */

typedef struct mixture {
  void *part[N_PARTS]; /* NULL if its share is 0 */
  double share[N_PARTS];
} mixture;

/* Sets the shares and mixes the parts' residuals. */
static void set_shares(mixture *m, double trees, float *const of_part[N_PARTS], size_t n, float *residuals) {
  m->share[0] = 1 - trees;
  m->share[1] = trees;
  for (size_t i = 0; i < n; i++) residuals[i] = (float)m->share[0] * of_part[0][i] + (float)m->share[1] * of_part[1][i];
}

/* The regret per size, in log cost: the cost of the row that is predicted to be the best, relative to the best row.
 * out[n_instances], 0 for sizes without a row. */
static int find_regrets(double *out, const clt_rows *rows, const float *residuals, clt_error *error) {
  size_t n = rows->n_instances;
  double *least = clt_new_array(n, 2 * sizeof *least), *predicted = least + n;
  if (least == NULL) return clt_fail_memory(error);
  for (size_t k = 0; k < n; k++) least[k] = predicted[k] = INFINITY, out[k] = 0;
  for (size_t i = 0; i < rows->n; i++) {
    size_t k = clt_rows_instance_of(rows, i);
    double measured = rows->log_cost[i], here = measured + (double)residuals[i];
    least[k] = fmin(least[k], measured);
    if (here < predicted[k]) predicted[k] = here, out[k] = measured;
  }
  for (size_t k = 0; k < n; k++)
    if (isfinite(least[k])) out[k] -= least[k];
  free(least);
  return CLT_OK;
}

/* Whether the second regrets are significantly lower than the first. Both are for the same sizes, so that the
 * differences d are paired: their mean is compared with its standard error, sd(d) / sqrt(n), with sd over n - 1. For
 * equally good models the mean exceeds it in about one of six cases (a normal deviate above 1). This weak test only
 * breaks ties in favour of the first model. */
static bool clearly_less(const double *first, const double *second, size_t n) {
  double sum = 0, squares = 0;
  for (size_t k = 0; k < n; k++) sum += first[k] - second[k];
  double mean = sum / (double)n;
  for (size_t k = 0; k < n; k++) squares += (first[k] - second[k] - mean) * (first[k] - second[k] - mean);
  return mean > sqrt(squares / (double)(n - 1) / (double)n);
}

/* Sets the share: half, or, for `auto` with several sizes, the share with the best choices; a later one only if it is
 * clearly better. With few sizes, the share with the smallest error on rows left out. */
static int fit_mixture(mixture *m, bool choose, const clt_rows *rows, uint64_t seed, unsigned threads, float *residuals,
                       clt_error *error) {
  static const double shares[] = {1, 0.5, 0}; /* of trees, whose choices at new sizes are the steadiest, first */
  float *of_part[N_PARTS];
  double best = 0.5, least_error = INFINITY;
  size_t n = rows->n_instances;
  clt_arena scratch = {0};
  double *least = clt_arena_array(&scratch, n, sizeof *least), *here = clt_arena_array(&scratch, n, sizeof *here);
  int rc = clt_arena_check(&scratch, error);
  for (size_t k = 0; rc == CLT_OK && k < N_PARTS; k++) {
    const clt_model_type *type = types[k];
    void *part_options = clt_arena_array(&scratch, 1, type->options_size);
    m->part[k] = clt_new_array(1, type->state_size);
    of_part[k] = clt_arena_array(&scratch, rows->n, sizeof *of_part[k]);
    rc = m->part[k] ? clt_arena_check(&scratch, error) : clt_fail_memory(error);
    if (rc == CLT_OK)
      rc = clt_options_parse(part_options, type->options_size, type->options, type->n_options, NULL, 0, error);
    if (rc == CLT_OK) rc = type->fit(m->part[k], rows, part_options, seed, threads, of_part[k], error);
  }
  for (size_t i = 0; rc == CLT_OK && choose && i < sizeof shares / sizeof *shares; i++) {
    bool better = i == 0;
    set_shares(m, shares[i], of_part, rows->n, residuals);
    if (n >= FEWEST_SIZES) {
      rc = find_regrets(here, rows, residuals, error);
      better = better || clearly_less(least, here, n);
      if (better) memcpy(least, here, n * sizeof *least);
    } else {
      double squares = 0;
      for (size_t r = 0; r < rows->n; r++) squares += (double)residuals[r] * residuals[r];
      better = squares < least_error;
      if (better) least_error = squares;
    }
    if (better) best = shares[i];
  }
  if (rc == CLT_OK) set_shares(m, best, of_part, rows->n, residuals);
  for (size_t k = 0; k < N_PARTS; k++) {
    if (rc || m->share[k] > 0) continue;
    types[k]->fini(m->part[k]);
    free(m->part[k]);
    m->part[k] = NULL;
  }
  clt_arena_release(&scratch);
  return rc;
}

static int fit_average(void *state, const clt_rows *rows, const void *options, uint64_t seed, unsigned threads,
                       float *residuals, clt_error *error) {
  return fit_mixture(state, false, rows, seed, threads, residuals, error);
}

static int fit_auto(void *state, const clt_rows *rows, const void *options, uint64_t seed, unsigned threads,
                    float *residuals, clt_error *error) {
  return fit_mixture(state, true, rows, seed, threads, residuals, error);
}

/* The spread is that of both, and of their disagreement. */
static int mixture_predict(const void *state, const clt_config *configs, size_t n, bool fast, clt_prediction *out,
                           clt_error *error) {
  const mixture *m = state;
  clt_prediction *of_part = clt_new_array(n, sizeof *of_part);
  int rc = of_part ? CLT_OK : clt_fail_memory(error);
  for (size_t i = 0; i < n; i++) out[i] = (clt_prediction){0};
  for (size_t k = 0; rc == CLT_OK && k < N_PARTS; k++) {
    if (m->part[k] == NULL) continue;
    float share = (float)m->share[k];
    rc = types[k]->predict(m->part[k], configs, n, fast, of_part, error);
    for (size_t i = 0; rc == CLT_OK && i < n; i++) {
      out[i].log_cost += share * of_part[i].log_cost;
      out[i].spread += share * (of_part[i].spread * of_part[i].spread + of_part[i].log_cost * of_part[i].log_cost);
    }
  }
  for (size_t i = 0; i < n; i++) out[i].spread = sqrtf(fmaxf(0, out[i].spread - out[i].log_cost * out[i].log_cost));
  free(of_part);
  return rc;
}

static int mixture_save(const void *state, clt_model_record *out, clt_error *error) {
  const mixture *m = state;
  json_t *parts = json_array();
  int rc = CLT_OK;
  for (size_t k = 0; rc == CLT_OK && k < N_PARTS; k++) {
    json_t *of_part = m->part[k] ? json_object() : json_null();
    if (of_part && m->part[k]) rc = types[k]->save(m->part[k], (clt_model_record *)of_part, error);
    clt_json_append(&parts, json_pack("{s:f, s:o}", "share", m->share[k], "state", of_part));
  }
  if (json_object_set_new(clt_record_json(out), "parts", parts) && rc == CLT_OK) rc = clt_fail_memory(error);
  return rc;
}

static int mixture_load(void *state, const clt_space *space, const clt_instance *instance,
                        const clt_model_record *record, clt_error *error) {
  mixture *m = state;
  const json_t *parts = json_object_get(clt_record_json(record), "parts");
  int rc = json_array_size(parts) == N_PARTS ? CLT_OK : clt_model_damaged(error, "parts");
  for (size_t k = 0; rc == CLT_OK && k < N_PARTS; k++) {
    const json_t *part = json_array_get(parts, k), *of_part = json_object_get(part, "state");
    if (!clt_json_read_number(&m->share[k], json_object_get(part, "share")) || m->share[k] < 0 || m->share[k] > 1)
      return clt_model_damaged(error, "parts");
    if (!(m->share[k] > 0)) continue;
    m->part[k] = clt_new_array(1, types[k]->state_size);
    rc = m->part[k] ? types[k]->load(m->part[k], space, instance, (const clt_model_record *)of_part, error)
                    : clt_fail_memory(error);
  }
  if (rc == CLT_OK && m->part[0] == NULL && m->part[1] == NULL) rc = clt_model_damaged(error, "parts");
  return rc;
}

static void mixture_bind(void *state, const clt_instance *instance) {
  mixture *m = state;
  for (size_t k = 0; k < N_PARTS; k++)
    if (m->part[k]) types[k]->bind(m->part[k], instance);
}

static void mixture_fini(void *state) {
  mixture *m = state;
  for (size_t k = 0; k < N_PARTS; k++) {
    if (m->part[k]) types[k]->fini(m->part[k]);
    free(m->part[k]);
  }
}

#define MIXTURE(its_name, its_summary, its_fit)                                                                      \
  {                                                                                                                  \
    .abi = CLT_MODEL_ABI, .name = its_name, .summary = its_summary, .state_size = sizeof(mixture), .has_fast = true, \
    .fit = its_fit, .predict = mixture_predict, .save = mixture_save, .load = mixture_load, .bind = mixture_bind,    \
    .fini = mixture_fini                                                                                             \
  }

const clt_model_type clt_model_average = MIXTURE("average", "the mean of networks and boosted trees", fit_average);
const clt_model_type clt_model_auto =
    MIXTURE("auto", "networks, boosted trees or their mean, whichever predicts rows left out best", fit_auto);
