/* Networks and boosted trees together: `average` has half of each, `auto` whichever of networks, trees and their
 * average does best on rows that were left out: errs least, or, of several sizes, chooses best. Both deal the same
 * folds from the same seed. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "model/json.h"

#include <clatune/sys/model.h>

extern const clt_model_type clt_model_ensemble, clt_model_trees, clt_model_average, clt_model_auto;

#define N_PARTS 2
static const clt_model_type *const types[N_PARTS] = {&clt_model_ensemble, &clt_model_trees};

typedef struct mixture {
  void *part[N_PARTS]; /* NULL where its share is 0 */
  double share[N_PARTS];
  float *residuals;
  size_t n_residuals;
} mixture;

typedef struct no_options {
  bool none;
} no_options;

static int fit_part(mixture *m, size_t k, const clt_model_setup *setup, clt_error *error) {
  const clt_model_type *type = types[k];
  void *options = clt_new_array(1, type->options_size);
  m->part[k] = clt_new_array(1, type->state_size);
  int rc = options && m->part[k] ? CLT_OK : clt_fail_memory(error);
  if (!rc) rc = clt_options_parse(options, type->options_size, type->options, type->n_options, NULL, 0, error);
  if (!rc) rc = type->fit(m->part[k], setup, options, error);
  free(options);
  return rc;
}

static int fit_parts(mixture *m, const clt_model_setup *setup, clt_error *error) {
  m->n_residuals = setup->n_rows;
  m->residuals = clt_new_array(setup->n_rows, sizeof *m->residuals);
  int rc = m->residuals ? CLT_OK : clt_fail_memory(error);
  for (size_t k = 0; !rc && k < N_PARTS; k++) rc = fit_part(m, k, setup, error);
  return rc;
}

static void mix_residuals(mixture *m) {
  for (size_t i = 0; i < m->n_residuals; i++) m->residuals[i] = 0;
  for (size_t k = 0; k < N_PARTS; k++) {
    size_t n = 0;
    const float *of_part = m->part[k] ? types[k]->residuals(m->part[k], &n) : NULL;
    for (size_t i = 0; i < n && i < m->n_residuals; i++) m->residuals[i] += (float)m->share[k] * of_part[i];
  }
}

static double squared_error(const mixture *m) {
  double sum = 0;
  for (size_t i = 0; i < m->n_residuals; i++) sum += (double)m->residuals[i] * m->residuals[i];
  return sum;
}

#define FEWEST_SIZES 5 /* that tell anything of how a model chooses */

typedef struct choice {
  double least, predicted, measured; /* the best measured; the least predicted, and what that was */
} choice;

/* How much longer what is predicted to be the best of a size takes than what was the best there, in log time; out has
 * n_instances entries, 0 for sizes without a row. */
static int regrets(double *out, const mixture *m, const clt_model_setup *setup, clt_error *error) {
  choice *choices = clt_new_array(setup->n_instances, sizeof *choices);
  if (choices == NULL) return clt_fail_memory(error);
  for (size_t k = 0; k < setup->n_instances; k++) choices[k] = (choice){INFINITY, INFINITY, INFINITY};
  for (size_t i = 0; i < setup->n_rows; i++) {
    choice *c = &choices[setup->instance_of[i]];
    double measured = setup->log_time[i], predicted = measured + (double)m->residuals[i];
    c->least = fmin(c->least, measured);
    if (predicted < c->predicted) c->predicted = predicted, c->measured = measured;
  }
  for (size_t k = 0; k < setup->n_instances; k++)
    out[k] = isfinite(choices[k].least) ? choices[k].measured - choices[k].least : 0;
  free(choices);
  return CLT_OK;
}

/* Whether the second regrets are less than the first by more than chance makes them: the standard error of the mean
 * difference. */
static bool clearly_less(const double *first, const double *second, size_t n) {
  double sum = 0, squares = 0;
  for (size_t k = 0; k < n; k++) sum += first[k] - second[k];
  double mean = sum / (double)n;
  for (size_t k = 0; k < n; k++) squares += (first[k] - second[k] - mean) * (first[k] - second[k] - mean);
  return mean > sqrt(squares / (double)(n - 1) / (double)n);
}

static void set_shares(mixture *m, double trees) {
  m->share[0] = 1 - trees;
  m->share[1] = trees;
  mix_residuals(m);
}

static void drop_idle_parts(mixture *m) {
  for (size_t k = 0; k < N_PARTS; k++) {
    if (m->part[k] == NULL || m->share[k] > 0) continue;
    types[k]->fini(m->part[k]);
    free(m->part[k]);
    m->part[k] = NULL;
  }
}

static int fit_average(void *state, const clt_model_setup *setup, const void *options, clt_error *error) {
  (void)options;
  int rc = fit_parts(state, setup, error);
  if (!rc) set_shares(state, 0.5);
  return rc;
}

static const double shares[] = {1, 0.5, 0}; /* of trees, whose choices at new sizes are the steadiest, first */
#define N_SHARES (sizeof shares / sizeof *shares)

/* Of several sizes: the share whose choices are best; a later one only where it is clearly better. */
static int share_by_choices(double *best, mixture *m, const clt_model_setup *setup, clt_error *error) {
  size_t n = setup->n_instances;
  double *least = clt_new_array(n, sizeof *least), *here = clt_new_array(n, sizeof *here);
  int rc = least && here ? CLT_OK : clt_fail_memory(error);
  for (size_t i = 0; !rc && i < N_SHARES; i++) {
    set_shares(m, shares[i]);
    rc = regrets(here, m, setup, error);
    if (rc || (i > 0 && !clearly_less(least, here, n))) continue;
    memcpy(least, here, n * sizeof *least);
    *best = shares[i];
  }
  free(least);
  free(here);
  return rc;
}

/* Of one size, or few: the share that errs least. */
static void share_by_errors(double *best, mixture *m) {
  double least = INFINITY;
  for (size_t i = 0; i < N_SHARES; i++) {
    set_shares(m, shares[i]);
    double error = squared_error(m);
    if (error < least) least = error, *best = shares[i];
  }
}

static int fit_auto(void *state, const clt_model_setup *setup, const void *options, clt_error *error) {
  (void)options;
  mixture *m = state;
  double best = 0.5;
  int rc = fit_parts(m, setup, error);
  if (rc) return rc;
  if (setup->n_instances >= FEWEST_SIZES)
    rc = share_by_choices(&best, m, setup, error);
  else
    share_by_errors(&best, m);
  set_shares(m, best);
  drop_idle_parts(m);
  return rc;
}

/* The spread is that of both, and of their disagreement. */
static void add_part(const mixture *m, size_t k, const clt_prediction *of_part, size_t n, clt_prediction *out) {
  float share = (float)m->share[k];
  for (size_t i = 0; i < n; i++) {
    out[i].log_time += share * of_part[i].log_time;
    out[i].spread += share * (of_part[i].spread * of_part[i].spread + of_part[i].log_time * of_part[i].log_time);
  }
}

static int predict_with(const mixture *m, bool screened, const clt_config *configs, size_t n, clt_prediction *out,
                        clt_error *error) {
  clt_prediction *of_part = clt_new_array(n, sizeof *of_part);
  int rc = of_part ? CLT_OK : clt_fail_memory(error);
  for (size_t i = 0; i < n; i++) out[i] = (clt_prediction){0};
  for (size_t k = 0; !rc && k < N_PARTS; k++) {
    if (m->part[k] == NULL) continue;
    bool screens = screened && types[k]->screens && types[k]->screens(m->part[k]);
    rc = (screens ? types[k]->screen : types[k]->predict)(m->part[k], configs, n, of_part, error);
    if (!rc) add_part(m, k, of_part, n, out);
  }
  for (size_t i = 0; i < n; i++) out[i].spread = sqrtf(fmaxf(0, out[i].spread - out[i].log_time * out[i].log_time));
  free(of_part);
  return rc;
}

static int predict(const void *state, const clt_config *configs, size_t n, clt_prediction *out, clt_error *error) {
  return predict_with(state, false, configs, n, out, error);
}

static int screen(const void *state, const clt_config *configs, size_t n, clt_prediction *out, clt_error *error) {
  return predict_with(state, true, configs, n, out, error);
}

static bool screens(const void *state) {
  const mixture *m = state;
  for (size_t k = 0; k < N_PARTS; k++)
    if (m->part[k] && types[k]->screens && types[k]->screens(m->part[k])) return true;
  return false;
}

static const float *residuals(const void *state, size_t *n) {
  const mixture *m = state;
  *n = m->n_residuals;
  return m->residuals;
}

static int save(const void *state, json_t **out, clt_error *error) {
  const mixture *m = state;
  json_t *parts = json_array();
  int rc = parts ? CLT_OK : clt_fail_memory(error);
  for (size_t k = 0; !rc && k < N_PARTS; k++) {
    json_t *of_part = json_null();
    if (m->part[k]) rc = types[k]->save(m->part[k], &of_part, error);
    if (!rc) json_array_append_new(parts, json_pack("{s:f, s:o}", "share", m->share[k], "state", of_part));
  }
  *out = rc ? NULL : json_pack("{s:o}", "parts", parts);
  if (rc) json_decref(parts);
  return rc || *out ? rc : clt_fail_memory(error);
}

static int load_part(mixture *m, size_t k, const clt_space *space, const clt_instance *instance, const json_t *json,
                     clt_error *error) {
  bool good =
      clt_json_read_number(&m->share[k], json_object_get(json, "share")) && m->share[k] >= 0 && m->share[k] <= 1;
  if (!good) return clt_model_damaged(error, "parts");
  if (!(m->share[k] > 0)) return CLT_OK;
  m->part[k] = clt_new_array(1, types[k]->state_size);
  if (m->part[k] == NULL) return clt_fail_memory(error);
  int rc = types[k]->load(m->part[k], space, instance, json_object_get(json, "state"), error);
  size_t n = 0;
  if (!rc) types[k]->residuals(m->part[k], &n);
  if (!rc && m->n_residuals && n != m->n_residuals) return clt_model_damaged(error, "parts");
  m->n_residuals = n;
  return rc;
}

static int load(void *state, const clt_space *space, const clt_instance *instance, const json_t *json,
                clt_error *error) {
  mixture *m = state;
  const json_t *parts = json_object_get(json, "parts");
  if (json_array_size(parts) != N_PARTS) return clt_model_damaged(error, "parts");
  int rc = CLT_OK;
  for (size_t k = 0; !rc && k < N_PARTS; k++) rc = load_part(m, k, space, instance, json_array_get(parts, k), error);
  if (rc) return rc;
  if (m->part[0] == NULL && m->part[1] == NULL) return clt_model_damaged(error, "parts");
  m->residuals = clt_new_array(m->n_residuals, sizeof *m->residuals);
  if (m->residuals == NULL) return clt_fail_memory(error);
  mix_residuals(m);
  return CLT_OK;
}

static void bind(void *state, const clt_instance *instance) {
  mixture *m = state;
  for (size_t k = 0; k < N_PARTS; k++)
    if (m->part[k]) types[k]->bind(m->part[k], instance);
}

static void fini(void *state) {
  mixture *m = state;
  for (size_t k = 0; k < N_PARTS; k++) {
    if (m->part[k] == NULL) continue;
    types[k]->fini(m->part[k]);
    free(m->part[k]);
  }
  free(m->residuals);
}

#define MIXTURE(its_name, its_summary, its_fit)                                                                     \
  {                                                                                                                 \
    .name = its_name, .summary = its_summary, .options_size = sizeof(no_options), .state_size = sizeof(mixture),    \
    .fit = its_fit, .predict = predict, .screens = screens, .screen = screen, .residuals = residuals, .save = save, \
    .load = load, .bind = bind, .fini = fini                                                                        \
  }

const clt_model_type clt_model_average = MIXTURE("average", "networks and boosted trees, half and half", fit_average);
const clt_model_type clt_model_auto =
    MIXTURE("auto", "networks, boosted trees or their average: what does best on rows left out", fit_auto);
