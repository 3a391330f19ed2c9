/* Models: the table of types, fitting and predicting. */
#include <clatune/rng.h>

#include "base/base.h"
#include "base/plugin.h"
#include "base/text.h"
#include "model/model.h"
#include "space/space.h"

clt_plugins clt_models = {"a model",
                          CLT_MODEL_ABI,
                          offsetof(clt_model_type, options),
                          {&clt_model_ensemble, &clt_model_trees, &clt_model_average, &clt_model_auto}};

const clt_model_type *clt_model_type_find(const char *name) { return clt_plugin_find(&clt_models, name); }

int clt_model_register(const clt_model_type *type, clt_error *error) {
  bool whole = type->summary && type->fit && type->predict && type->save && type->load && type->bind && type->fini;
  return clt_plugin_register(&clt_models, type, whole, error);
}

/* --- fitting --- */

#define FEWEST_ROWS 5

static int check_rows(const clt_rows *rows, clt_error *error) {
  size_t n_correct = 0;
  if (rows->n == 0 || rows->space == NULL)
    return clt_fail(error, CLT_E_MODEL, "there are no measurements to fit a model to");
  for (size_t k = 0; k < rows->n_instances; k++)
    if (!clt_space_same_parameters(rows->space, clt_instance_space(rows->instances[k])))
      return clt_fail(error, CLT_E_ARGUMENT, "the rows' instances do not have the same tuning parameters");
  for (size_t i = 0; i < rows->n; i++) {
    if (!clt_space_numbers(rows->space, rows->configs[i]))
      return clt_fail(error, CLT_E_ARGUMENT, "row %zu has a configuration outside of the space", i);
    if (isinf(rows->log_cost[i]))
      return clt_fail(error, CLT_E_ARGUMENT, "row %zu has the log cost %g; a cost must be above 0 and finite", i,
                      rows->log_cost[i]);
    n_correct += !clt_rows_failed(rows, i);
  }
  if (n_correct >= FEWEST_ROWS) return CLT_OK;
  return clt_fail(error, CLT_E_MODEL, "%zu correct measurements are too few for a model; it needs %d", n_correct,
                  FEWEST_ROWS);
}

static int fit_validity(clt_model *model, const clt_rows *rows, uint64_t seed, clt_error *error) {
  int rc = clt_rows_encoding(&model->encoding, rows, true, error);
  if (rc) return rc;
  clt_arena scratch = {0};
  const float *x = clt_rows_encode(&scratch, model->encoding, rows);
  float *failed = clt_arena_array(&scratch, rows->n, sizeof *failed);
  rc = clt_arena_check(&scratch, error);
  for (size_t i = 0; rc == CLT_OK && i < rows->n; i++) failed[i] = clt_rows_failed(rows, i);
  if (rc == CLT_OK) rc = clt_forest_fit(&model->forest, model->encoding, x, failed, rows->n, seed, error);
  clt_arena_release(&scratch);
  return rc;
}

void clt_model_measure_accuracy(clt_model *model) {
  double relative = 0, sum = 0, squares = 0, n = (double)model->n_residuals;
  for (size_t i = 0; i < model->n_residuals; i++) {
    double residual = (double)model->residuals[i];
    relative += fabs(expm1(residual));
    sum += residual;
    squares += residual * residual;
  }
  model->accuracy.mean_relative_error = n > 0 ? relative / n : NAN;
  model->accuracy.log_error_sd = n > 1 ? sqrt(fmax(0, (squares - sum * sum / n) / (n - 1))) : NAN;
}

bool clt_model_useless(const clt_model_accuracy *accuracy) {
  return accuracy->log_cost_sd > 0 && accuracy->log_error_sd >= accuracy->log_cost_sd;
}

/* The mean relative error once each size's mean residual is taken out. */
static int measure_calibrated_error(clt_model *model, const clt_rows *correct, clt_error *error) {
  size_t n_sizes = correct->n_instances > 1 ? correct->n_instances : 1;
  double *sum = clt_new_array(n_sizes, 2 * sizeof *sum), *count = sum + n_sizes, errors = 0;
  if (sum == NULL) return clt_fail_memory(error);
  for (size_t i = 0; i < correct->n; i++) {
    sum[clt_rows_instance_of(correct, i)] += (double)model->residuals[i];
    count[clt_rows_instance_of(correct, i)]++;
  }
  for (size_t i = 0; i < correct->n; i++) {
    size_t k = clt_rows_instance_of(correct, i);
    errors += fabs(expm1((double)model->residuals[i] - sum[k] / count[k]));
  }
  model->accuracy.calibrated_error = errors / (double)correct->n;
  free(sum);
  return CLT_OK;
}

int clt_model_new(clt_model **out, const char *type_name, const clt_setting *settings, size_t n_settings,
                  const clt_rows *rows, uint64_t seed, unsigned threads, clt_error *error) {
  double start_s = clt_now_s();
  const clt_model_type *type = clt_model_type_find(type_name);
  clt_model *model = NULL;
  clt_rows correct = {0};
  if (type == NULL) {
    const char *names[CLT_MOST_PLUGINS], *near;
    size_t n = clt_plugin_names(names, &clt_models);
    if ((near = clt_nearest_name(type_name, names, n)))
      return clt_fail(error, CLT_E_NOT_FOUND, "there is no model '%s'; did you mean '%s'?", type_name, near);
    return clt_fail(error, CLT_E_NOT_FOUND, "there is no model '%s'; the first of %zu is '%s'", type_name, n, names[0]);
  }
  void *options = clt_new_array(1, type->options_size + 1);
  if (options == NULL) return clt_fail_memory(error);
  int rc = clt_options_parse(options, type->options_size, type->options, type->n_options, settings, n_settings, error);
  if (rc == CLT_OK) rc = check_rows(rows, error);
  if (rc == CLT_OK) rc = clt_model_allocate(&model, type, rows->space, error);
  if (rc) goto done;
  model->threads = threads;
  model->sizes = clt_sizes_save(rows);
  rc = model->sizes ? clt_baseline_fit(&model->baseline, rows, error) : clt_fail_memory(error);
  correct = (clt_rows){.space = rows->space, .instances = rows->instances, .n_instances = rows->n_instances};
  for (size_t i = 0; rc == CLT_OK && i < rows->n;
       i++) { /* the model learns the part that the sizes alone do not explain */
    size_t k = clt_rows_instance_of(rows, i);
    double level = rows->n_instances > 1 ? clt_baseline_at(&model->baseline, rows->instances[k]) : 0;
    if (!clt_rows_failed(rows, i)) rc = clt_rows_add(&correct, rows->configs[i], rows->log_cost[i] - level, k, error);
  }
  if (rc) goto done;
  model->n_residuals = correct.n;
  model->residuals = clt_new_array(correct.n, sizeof *model->residuals);
  rc = model->residuals ? type->fit(model->state, &correct, options, seed, threads, model->residuals, error)
                        : clt_fail_memory(error);
  if (rc == CLT_OK && correct.n < rows->n) rc = fit_validity(model, rows, seed, error);
  if (rc) goto done;
  if (rows->n_instances > 1) model->level = clt_baseline_at(&model->baseline, rows->instances[0]);
  model->accuracy = (clt_model_accuracy){.n_rows = rows->n, .n_failed = rows->n - correct.n};
  clt_model_measure_accuracy(model);
  double sum = 0, squares = 0;
  for (size_t i = 0; i < correct.n; i++) sum += correct.log_cost[i], squares += pow(correct.log_cost[i], 2);
  if (correct.n > 1)
    model->accuracy.log_cost_sd = sqrt(fmax(0, (squares - sum * sum / (double)correct.n) / (double)(correct.n - 1)));
  rc = measure_calibrated_error(model, &correct, error);
  model->accuracy.fit_s = clt_now_s() - start_s;
done:
  correct.instances = NULL; /* they are the other rows' */
  clt_rows_release(&correct);
  free(options);
  if (rc == CLT_OK)
    *out = model;
  else
    clt_model_free(model);
  return rc;
}

/* --- models --- */

int clt_model_allocate(clt_model **out, const clt_model_type *type, const clt_space *space, clt_error *error) {
  clt_model *model = clt_new_array(1, sizeof *model);
  if (model == NULL) return clt_fail_memory(error);
  model->type = type;
  model->space = space;
  model->state = clt_new_array(1, type->state_size);
  if (model->state == NULL) {
    clt_model_free(model);
    return clt_fail_memory(error);
  }
  *out = model;
  return CLT_OK;
}

void clt_model_free(clt_model *model) {
  if (model == NULL) return;
  if (model->state) model->type->fini(model->state);
  free(model->state);
  clt_forest_free(model->forest);
  clt_encoding_free(model->encoding);
  free(model->residuals);
  json_decref(model->sizes);
  free(model);
}

void clt_model_accuracy_get(clt_model_accuracy *out, const clt_model *model) { *out = model->accuracy; }

const float *clt_model_residuals(const clt_model *model, size_t *n) {
  *n = model->n_residuals;
  return model->residuals;
}

int clt_model_bind(clt_model *model, const clt_instance *instance, clt_error *error) {
  if (!clt_space_same_parameters(model->space, clt_instance_space(instance)))
    return clt_fail(error, CLT_E_ARGUMENT,
                    "the model is for other tuning parameters or other values; train one for this problem");
  int rc = clt_sizes_check(model->sizes, instance, error);
  if (rc) return rc;
  model->space = clt_instance_space(instance);
  model->level = clt_baseline_at(&model->baseline, instance);
  if (model->encoding) clt_encoding_bind(model->encoding, instance);
  model->type->bind(model->state, instance);
  return CLT_OK;
}

int clt_model_predict_costs(const clt_model *model, const clt_config *configs, size_t n, bool fast, clt_prediction *out,
                            clt_error *error) {
  int rc = model->type->predict(model->state, configs, n, fast, out, error);
  for (size_t i = 0; rc == CLT_OK && i < n; i++) out[i].log_cost += (float)model->level;
  return rc;
}

int clt_model_predict_validity(const clt_model *model, const clt_config *configs, size_t n, clt_prediction *out,
                               clt_error *error) {
  for (size_t i = 0; i < n; i++) out[i].p_valid = 1;
  if (model->forest == NULL) return CLT_OK;
  float *failure = clt_new_array(n, sizeof *failure);
  if (failure == NULL) return clt_fail_memory(error);
  int rc = clt_forest_predict(model->forest, configs, n, failure, error);
  for (size_t i = 0; rc == CLT_OK && i < n; i++) out[i].p_valid = 1 - failure[i];
  free(failure);
  return rc;
}

int clt_model_predict(clt_prediction *out, const clt_model *model, const clt_config *configs, size_t n,
                      clt_error *error) {
  for (size_t i = 0; i < n; i++)
    if (!clt_space_numbers(model->space, configs[i]))
      return clt_fail(error, CLT_E_ARGUMENT, "a configuration is outside of the model's space");
  int rc = clt_model_predict_costs(model, configs, n, false, out, error);
  return rc ? rc : clt_model_predict_validity(model, configs, n, out, error);
}

/* --- importance of parameters --- */

#define N_SAMPLES 2048

/* The configuration with one parameter drawn again from the values that the others allow. */
static clt_config redraw(const clt_space *space, clt_config config, size_t parameter, uint32_t *positions,
                         clt_rng *rng) {
  clt_config chosen = config;
  uint64_t n_valid = 0;
  for (size_t v = 0; v < clt_space_parameter(space, parameter)->n_values; v++) {
    clt_space_positions(positions, space, config);
    clt_space_move(space, positions, parameter, (uint32_t)v, false);
    clt_config candidate = clt_space_from_positions(space, positions);
    if (clt_space_contains(space, candidate) && clt_rng_below(rng, ++n_valid) == 0) chosen = candidate;
  }
  return chosen;
}

int clt_model_importance(const clt_model *model, double *out, clt_error *error) {
  const clt_space *space = model->space;
  size_t n_parameters = clt_space_n_parameters(space);
  uint32_t positions[CLT_MAX_PARAMETERS];
  clt_arena scratch = {0};
  clt_config *configs = clt_arena_array(&scratch, N_SAMPLES, sizeof *configs);
  clt_config *redrawn = clt_arena_array(&scratch, N_SAMPLES, sizeof *redrawn);
  clt_prediction *here = clt_arena_array(&scratch, N_SAMPLES, sizeof *here);
  clt_prediction *there = clt_arena_array(&scratch, N_SAMPLES, sizeof *there);
  clt_rng rng;
  clt_rng_init(&rng, 1);
  int64_t n = clt_arena_check(&scratch, error);
  if (n == CLT_OK) n = clt_space_sample(configs, space, &rng, N_SAMPLES, error);
  int rc = n < 0 ? (int)n : clt_model_predict_costs(model, configs, (size_t)n, false, here, error);
  double mean = 0, variance = 0;
  for (int64_t i = 0; rc == CLT_OK && i < n; i++) mean += here[i].log_cost / (double)n;
  for (int64_t i = 0; rc == CLT_OK && i < n; i++)
    variance += (here[i].log_cost - mean) * (here[i].log_cost - mean) / (double)n;
  for (size_t p = 0; rc == CLT_OK && p < n_parameters; p++) {
    double squares = 0;
    for (int64_t i = 0; i < n; i++) redrawn[i] = redraw(space, configs[i], p, positions, &rng);
    rc = clt_model_predict_costs(model, redrawn, (size_t)n, false, there, error);
    for (int64_t i = 0; rc == CLT_OK && i < n; i++)
      squares += pow((double)here[i].log_cost - (double)there[i].log_cost, 2);
    out[p] = variance > 0 ? squares / (2 * (double)n) / variance : 0; /* Jansen's estimator */
  }
  clt_arena_release(&scratch);
  return rc;
}
