/* The bagged ensemble of FANN networks (Falch and Elster 2015, section 4). */
#include "model/ensemble.h"

#include <stdlib.h>

#include "base/fail.h"
#include "base/memory.h"

#define OPTION(name, type, standard, min, max, field, help) \
  { name, type, standard, min, max, offsetof(clt_ensemble_options, field), help }

static const clt_option options[] = {
    OPTION("members", CLT_OPTION_INT, "11", 2, CLT_MAX_MEMBERS, members,
           "networks in the ensemble, each without one part of the rows"),
    OPTION("hidden", CLT_OPTION_INT, "30", 1, CLT_MAX_HIDDEN, hidden, "sigmoid units of a network"),
    OPTION("hidden2", CLT_OPTION_INT, "15", 0, CLT_MAX_HIDDEN, hidden2, "units of a second hidden layer; 0: none"),
    OPTION("trainer", CLT_OPTION_TEXT, "lbfgs", 0, 0, trainer, "lbfgs, or rprop for FANN's own"),
    OPTION("iterations", CLT_OPTION_INT, "2000", 1, 1e6, iterations, "most iterations of the trainer, or epochs"),
    OPTION("patience", CLT_OPTION_INT, "300", 1, 1e6, patience,
           "iterations without a smaller error on the part left out after which to stop"),
    OPTION("decay", CLT_OPTION_REAL, "0.005", 0, 1e6, decay, "weight decay of lbfgs, divided by the number of rows"),
    OPTION("trees", CLT_OPTION_REAL, "0", 0, 1, trees,
           "share of boosted trees in the prediction, the rest is the networks'; 0: none"),
    OPTION("resources", CLT_OPTION_BOOL, "yes", 0, 0, resources,
           "whether the problem's resources are inputs, where it states some"),
};

int clt_ensemble_allocate(clt_ensemble *e, size_t n_members, clt_error *error) {
  e->members = clt_new_array(n_members, sizeof(clt_network *));
  if (e->members == NULL) return clt_fail_memory(error);
  e->n_members = n_members;
  int rc = CLT_OK;
  for (size_t i = 0; !rc && i < n_members; i++) rc = clt_network_new(&e->members[i], &e->shape, error);
  return rc;
}

clt_shape clt_ensemble_shape(const clt_encoding *encoding, size_t hidden, size_t hidden2) {
  if (hidden2) return (clt_shape){encoding->n_inputs, 3, {hidden, hidden2, 1}};
  return (clt_shape){encoding->n_inputs, 2, {hidden, 1}};
}

int clt_ensemble_ready(clt_ensemble *e, clt_error *error) {
  size_t n = clt_shape_n_weights(&e->shape);
  float *weights = clt_new_array(e->n_members, n * sizeof *weights);
  const float *member[CLT_MAX_MEMBERS];
  if (weights == NULL) return clt_fail_memory(error);
  for (size_t i = 0; i < e->n_members; i++) {
    clt_network_get_weights(e->members[i], weights + i * n);
    member[i] = weights + i * n;
  }
  int rc = clt_tables_new(&e->tables, e->encoding, &e->shape, member, e->n_members, error);
  free(weights);
  return rc;
}

int clt_ensemble_add_trees(const clt_ensemble *e, const clt_config *configs, size_t n, float *outputs,
                           clt_error *error) {
  if (e->boosted == NULL) return CLT_OK;
  float *sums = clt_new_array(n, sizeof *sums), weight = (float)(e->share / (double)e->n_members);
  int rc = sums ? CLT_OK : clt_fail_memory(error);
  for (size_t i = 0; !rc && i < n; i++) outputs[i] *= (float)(1 - e->share);
  for (size_t m = 0; !rc && m < e->n_members; m++) {
    rc = clt_forest_sums(e->boosted[m], configs, n, sums, error);
    for (size_t i = 0; !rc && i < n; i++) outputs[i] += weight * sums[i];
  }
  free(sums);
  return rc;
}

static int predict_with(const clt_ensemble *e, bool trees, const clt_config *configs, size_t n, clt_prediction *out,
                        clt_error *error) {
  float *mean = clt_new_array(n, sizeof *mean), *spread = clt_new_array(n, sizeof *spread);
  int rc = mean && spread ? CLT_OK : clt_fail_memory(error);
  if (!rc) rc = clt_tables_predict(e->tables, configs, n, mean, spread, error);
  if (!rc && trees) rc = clt_ensemble_add_trees(e, configs, n, mean, error);
  for (size_t i = 0; !rc && i < n; i++) {
    out[i].log_time = (float)(e->centre + e->scale * mean[i]);
    out[i].spread = (float)(e->scale * spread[i]);
  }
  free(mean);
  free(spread);
  return rc;
}

static int predict(const void *state, const clt_config *configs, size_t n, clt_prediction *out, clt_error *error) {
  return predict_with(state, true, configs, n, out, error);
}

/* The networks alone: a forest a member takes several times as long as they do. */
static int screen(const void *state, const clt_config *configs, size_t n, clt_prediction *out, clt_error *error) {
  return predict_with(state, false, configs, n, out, error);
}

static bool screens(const void *state) { return ((const clt_ensemble *)state)->boosted != NULL; }

static const float *residuals(const void *state, size_t *n) {
  const clt_ensemble *e = state;
  *n = e->n_residuals;
  return e->residuals;
}

static void bind(void *state, const clt_instance *instance) {
  clt_encoding_bind(((clt_ensemble *)state)->encoding, instance);
}

static void fini(void *state) {
  clt_ensemble *e = state;
  clt_tables_free(e->tables);
  for (size_t i = 0; i < e->n_members; i++) clt_network_free(e->members[i]);
  for (size_t i = 0; e->boosted && i < e->n_members; i++) clt_forest_free(e->boosted[i]);
  free(e->boosted);
  free(e->members);
  free(e->residuals);
  clt_encoding_free(e->encoding);
}

extern const clt_model_type clt_model_ensemble;
const clt_model_type clt_model_ensemble = {
    .name = "ensemble",
    .summary = "bagged FANN networks and boosted trees on log run time",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .options_size = sizeof(clt_ensemble_options),
    .state_size = sizeof(clt_ensemble),
    .fit = clt_ensemble_fit,
    .predict = predict,
    .screens = screens,
    .screen = screen,
    .residuals = residuals,
    .save = clt_ensemble_save,
    .load = clt_ensemble_load,
    .bind = bind,
    .fini = fini,
};
