#include "model/model.h"

#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/memory.h"
#include "base/near.h"
#include "model/json.h"

#define FEWEST_ROWS 5

static int find_type(const clt_model_type **out, const char *name, clt_error *error) {
  *out = clt_model_type_find(name);
  if (*out) return CLT_OK;
  const char *names[16];
  size_t n = 0;
  for (; n < clt_n_models() && n < 16; n++) names[n] = clt_model_type_at(n)->name;
  const char *near = clt_nearest_name(name, names, n);
  if (near) return clt_fail(error, CLT_E_NOT_FOUND, "there is no model '%s'; did you mean '%s'?", name, near);
  return clt_fail(error, CLT_E_NOT_FOUND, "there is no model '%s'; the first of %zu is '%s'", name, n, names[0]);
}

int clt_model_new(clt_model **out, const clt_model_type *type, const clt_space *space, clt_error *error) {
  clt_model *model = clt_new_array(1, sizeof *model);
  if (model == NULL) return clt_fail_memory(error);
  model->type = type;
  model->space = space;
  model->state = clt_new_array(1, type->state_size);
  if (model->state == NULL) return clt_model_free(model), clt_fail_memory(error);
  *out = model;
  return CLT_OK;
}

void clt_model_free(clt_model *model) {
  if (model == NULL) return;
  if (model->state) model->type->fini(model->state);
  free(model->state);
  clt_forest_free(model->forest);
  clt_encoding_free(model->encoding);
  json_decref(model->sizes);
  free(model);
}

void clt_model_accuracy_get(const clt_model *model, clt_model_accuracy *out) { *out = model->accuracy; }

const float *clt_model_residuals(const clt_model *model, size_t *n) { return model->type->residuals(model->state, n); }

int clt_model_validity(const clt_model *model, const clt_config *configs, size_t n, clt_prediction *out,
                       clt_error *error) {
  for (size_t i = 0; i < n; i++) out[i].p_valid = 1;
  if (model->forest == NULL) return CLT_OK;
  float *failure = clt_new_array(n, sizeof *failure);
  if (failure == NULL) return clt_fail_memory(error);
  int rc = clt_forest_failures(model->forest, configs, n, failure, error);
  for (size_t i = 0; !rc && i < n; i++) out[i].p_valid = 1 - failure[i];
  free(failure);
  return rc;
}

int clt_model_predict(const clt_model *model, const clt_config *configs, size_t n, clt_prediction *out,
                      clt_error *error) {
  uint64_t cartesian = clt_space_cartesian(model->space);
  for (size_t i = 0; i < n; i++)
    if (configs[i] >= cartesian) return clt_fail(error, CLT_E_ARGUMENT, "a configuration is not in the model's space");
  clt_prediction *found = clt_new_array(n, sizeof *found);
  if (found == NULL) return clt_fail_memory(error);
  int rc = model->type->predict(model->state, configs, n, found, error);
  if (!rc) rc = clt_model_validity(model, configs, n, found, error);
  for (size_t i = 0; !rc && i < n; i++) out[i] = found[i];
  free(found);
  return rc;
}

/* --- fitting --- */

struct correct_rows {
  clt_config *configs;
  double *log_time;
  size_t n;
};

static int check_row(const clt_space *space, const clt_row *row, size_t index, clt_error *error) {
  if (row->config >= clt_space_cartesian(space))
    return clt_fail(error, CLT_E_ARGUMENT, "row %zu has a configuration outside of the space", index);
  if (!row->failed && !(row->time_s > 0 && isfinite(row->time_s)))
    return clt_fail(error, CLT_E_ARGUMENT, "row %zu has the time %g; it must be above 0", index, row->time_s);
  return CLT_OK;
}

static int take_correct(struct correct_rows *out, const clt_space *space, const clt_row *rows, size_t n_rows,
                        clt_error *error) {
  out->configs = clt_new_array(n_rows, sizeof *out->configs);
  out->log_time = clt_new_array(n_rows, sizeof *out->log_time);
  if (!out->configs || !out->log_time) return clt_fail_memory(error);
  for (size_t i = 0; i < n_rows; i++) {
    int rc = check_row(space, &rows[i], i, error);
    if (rc) return rc;
    if (rows[i].failed) continue;
    out->configs[out->n] = rows[i].config;
    out->log_time[out->n++] = log(rows[i].time_s);
  }
  if (out->n >= FEWEST_ROWS) return CLT_OK;
  return clt_fail(error, CLT_E_MODEL, "%zu correct measurements are too few for a model; it needs %d", out->n,
                  FEWEST_ROWS);
}

static int fit_validity(clt_model *model, const clt_instance *instance, const clt_row *rows, size_t n_rows,
                        uint64_t seed, clt_error *error) {
  int rc = clt_encoding_new(&model->encoding, model->space, instance, error);
  if (rc) return rc;
  size_t n_inputs = model->encoding->n_inputs;
  float *x = clt_new_array(n_rows, n_inputs * sizeof *x);
  bool *failed = clt_new_array(n_rows, sizeof *failed);
  rc = x && failed ? CLT_OK : clt_fail_memory(error);
  for (size_t i = 0; !rc && i < n_rows; i++) {
    clt_encode(model->encoding, rows[i].config, x + i * n_inputs);
    failed[i] = rows[i].failed;
  }
  if (!rc) rc = clt_forest_fit(&model->forest, model->encoding, x, failed, n_rows, seed, error);
  free(x);
  free(failed);
  return rc;
}

void clt_model_measure_accuracy(clt_model *model) {
  size_t n;
  const float *residuals = clt_model_residuals(model, &n);
  double relative = 0, sum = 0, squares = 0;
  for (size_t i = 0; i < n; i++) {
    relative += fabs(expm1((double)residuals[i]));
    sum += residuals[i];
    squares += (double)residuals[i] * residuals[i];
  }
  double mean = sum / (double)n;
  model->accuracy.mean_relative_error = n ? relative / (double)n : NAN;
  model->accuracy.log_error_sd = n > 1 ? sqrt(fmax(0, (squares - sum * mean) / (double)(n - 1))) : NAN;
}

static int fit(clt_model *model, const void *options, const clt_instance *instance, const struct correct_rows *correct,
               const clt_row *rows, size_t n_rows, uint64_t seed, clt_error *error) {
  double start_s = clt_now_s();
  clt_model_setup setup = {model->space, instance, correct->configs, correct->log_time,
                           correct->n,   seed,     model->threads};
  int rc = model->type->fit(model->state, &setup, options, error);
  if (!rc && correct->n < n_rows) rc = fit_validity(model, instance, rows, n_rows, seed, error);
  if (rc) return rc;
  model->accuracy.n_rows = n_rows;
  model->accuracy.n_failed = n_rows - correct->n;
  clt_model_measure_accuracy(model);
  model->accuracy.fit_s = clt_now_s() - start_s;
  return CLT_OK;
}

int clt_model_fit(clt_model **out, const char *type_name, const clt_setting *settings, size_t n_settings,
                  const clt_space *space, const clt_instance *instance, const clt_row *rows, size_t n_rows,
                  uint64_t seed, unsigned threads, clt_error *error) {
  const clt_model_type *type;
  clt_model *model = NULL;
  struct correct_rows correct = {0};
  int rc = find_type(&type, type_name, error);
  if (rc) return rc;
  void *options = clt_new_array(1, type->options_size);
  rc = options
           ? clt_options_parse(options, type->options_size, type->options, type->n_options, settings, n_settings, error)
           : clt_fail_memory(error);
  if (!rc) rc = take_correct(&correct, space, rows, n_rows, error);
  if (!rc) rc = clt_model_new(&model, type, space, error);
  if (rc) goto done;
  model->threads = threads;
  model->sizes = clt_sizes_save(instance);
  rc = model->sizes ? CLT_OK : clt_fail_memory(error);
  if (!rc) rc = fit(model, options, instance, &correct, rows, n_rows, seed, error);
  if (rc) goto done;
  *out = model;
  model = NULL;
done:
  clt_model_free(model);
  free(correct.configs);
  free(correct.log_time);
  free(options);
  return rc;
}
