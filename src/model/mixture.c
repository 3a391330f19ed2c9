/* Networks and boosted trees together: `average` has half of each, `auto` whichever of networks, trees and their
 * average does best on rows that were left out: errs least, or, of several sizes, chooses best. Both deal the same
 * folds from the same seed. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "base/plugin.h"
#include "model/model.h"

#define N_PARTS 2
static const clt_model_type *const types[N_PARTS] = {&clt_model_ensemble, &clt_model_trees};

#define FEWEST_SIZES 5 /* that tell anything of how a model chooses */

typedef struct mixture {
  void *part[N_PARTS]; /* NULL where its share is 0 */
  double share[N_PARTS];
} mixture;

/* Sets the shares and mixes the parts' residuals. */
static void set_shares(mixture *m, double trees, float *const of_part[N_PARTS], size_t n, float *residuals) {
  m->share[0] = 1 - trees;
  m->share[1] = trees;
  for (size_t i = 0; i < n; i++) residuals[i] = (float)m->share[0] * of_part[0][i] + (float)m->share[1] * of_part[1][i];
}

/* How much more what is predicted to be the best of a size costs than what was the best there, in log cost: out has
 * n_instances entries, 0 for sizes without a row. */
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

/* Whether the second regrets are less than the first by more than chance makes them. Both are of the same sizes, so the
 * differences d are paired: their mean is compared with its standard error, sd(d) / sqrt(n), with sd taken over n - 1.
 * Were the two models equally good, the mean would exceed it about once in six times (a normal deviate above 1): a
 * weak test, meant to break ties in favour of the model tried first, not to prove anything. */
static bool clearly_less(const double *first, const double *second, size_t n) {
  double sum = 0, squares = 0;
  for (size_t k = 0; k < n; k++) sum += first[k] - second[k];
  double mean = sum / (double)n;
  for (size_t k = 0; k < n; k++) squares += (first[k] - second[k] - mean) * (first[k] - second[k] - mean);
  return mean > sqrt(squares / (double)(n - 1) / (double)n);
}

/* Half and half, or where it may choose: of several sizes the share whose choices are best; a later one only where it
 * is clearly better. Of one size, or few, the share that errs least on rows left out. */
static int fit_mixture(mixture *m, bool choose, const clt_rows *rows, uint64_t seed, unsigned threads, float *residuals,
                       clt_error *error) {
  static const double shares[] = {1, 0.5, 0}; /* of trees, whose choices at new sizes are the steadiest, first */
  float *of_part[N_PARTS] = {NULL};
  double best = 0.5, least_error = INFINITY;
  size_t n = rows->n_instances;
  double *least = clt_new_array(n, sizeof *least), *here = clt_new_array(n, sizeof *here);
  int rc = least && here ? CLT_OK : clt_fail_memory(error);
  for (size_t k = 0; !rc && k < N_PARTS; k++) {
    const clt_model_type *type = types[k];
    void *part_options = clt_new_array(1, type->options_size);
    m->part[k] = clt_new_array(1, type->state_size);
    of_part[k] = clt_new_array(rows->n, sizeof *of_part[k]);
    rc = part_options && m->part[k] && of_part[k] ? CLT_OK : clt_fail_memory(error);
    if (!rc) rc = clt_options_parse(part_options, type->options_size, type->options, type->n_options, NULL, 0, error);
    if (!rc) rc = type->fit(m->part[k], rows, part_options, seed, threads, of_part[k], error);
    free(part_options);
  }
  for (size_t i = 0; !rc && choose && i < sizeof shares / sizeof *shares; i++) {
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
  if (!rc) set_shares(m, best, of_part, rows->n, residuals);
  for (size_t k = 0; k < N_PARTS; k++) {
    free(of_part[k]);
    if (rc || m->share[k] > 0) continue;
    types[k]->fini(m->part[k]);
    free(m->part[k]);
    m->part[k] = NULL;
  }
  free(least);
  free(here);
  return rc;
}

static int fit_average(void *state, const clt_rows *rows, const void *options, uint64_t seed, unsigned threads,
                       float *residuals, clt_error *error) {
  (void)options;
  return fit_mixture(state, false, rows, seed, threads, residuals, error);
}

static int fit_auto(void *state, const clt_rows *rows, const void *options, uint64_t seed, unsigned threads,
                    float *residuals, clt_error *error) {
  (void)options;
  return fit_mixture(state, true, rows, seed, threads, residuals, error);
}

/* The spread is that of both, and of their disagreement. */
static int mixture_predict(const void *state, const clt_config *configs, size_t n, bool fast, clt_prediction *out,
                           clt_error *error) {
  const mixture *m = state;
  clt_prediction *of_part = clt_new_array(n, sizeof *of_part);
  int rc = of_part ? CLT_OK : clt_fail_memory(error);
  for (size_t i = 0; i < n; i++) out[i] = (clt_prediction){0};
  for (size_t k = 0; !rc && k < N_PARTS; k++) {
    if (m->part[k] == NULL) continue;
    float share = (float)m->share[k];
    rc = types[k]->predict(m->part[k], configs, n, fast, of_part, error);
    for (size_t i = 0; !rc && i < n; i++) {
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
  int rc = parts ? CLT_OK : clt_fail_memory(error);
  for (size_t k = 0; !rc && k < N_PARTS; k++) {
    json_t *of_part = m->part[k] ? json_object() : json_null();
    if (m->part[k])
      rc = of_part ? types[k]->save(m->part[k], (clt_model_record *)of_part, error) : clt_fail_memory(error);
    if (json_array_append_new(parts, json_pack("{s:f, s:o}", "share", m->share[k], "state", of_part)) && !rc)
      rc = clt_fail_memory(error);
  }
  if (json_object_set_new(clt_record_json(out), "parts", parts) && !rc) rc = clt_fail_memory(error);
  return rc;
}

static int mixture_load(void *state, const clt_space *space, const clt_instance *instance,
                        const clt_model_record *record, clt_error *error) {
  mixture *m = state;
  const json_t *parts = json_object_get(clt_record_json(record), "parts");
  int rc = json_array_size(parts) == N_PARTS ? CLT_OK : clt_model_damaged(error, "parts");
  for (size_t k = 0; !rc && k < N_PARTS; k++) {
    const json_t *part = json_array_get(parts, k), *of_part = json_object_get(part, "state");
    if (!clt_json_read_number(&m->share[k], json_object_get(part, "share")) || m->share[k] < 0 || m->share[k] > 1)
      return clt_model_damaged(error, "parts");
    if (!(m->share[k] > 0)) continue;
    m->part[k] = clt_new_array(1, types[k]->state_size);
    rc = m->part[k] ? types[k]->load(m->part[k], space, instance, (const clt_model_record *)of_part, error)
                    : clt_fail_memory(error);
  }
  if (!rc && m->part[0] == NULL && m->part[1] == NULL) rc = clt_model_damaged(error, "parts");
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

const clt_model_type clt_model_average = MIXTURE("average", "networks and boosted trees, half and half", fit_average);
const clt_model_type clt_model_auto =
    MIXTURE("auto", "networks, boosted trees or their average: what does best on rows left out", fit_auto);
