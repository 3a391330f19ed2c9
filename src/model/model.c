#include "model/model.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/memory.h"
#include "model/json.h"

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

int clt_model_times(const clt_model *model, const clt_config *configs, size_t n, bool screen, clt_prediction *out,
                    clt_error *error) {
  const clt_model_type *type = model->type;
  int rc = (screen ? type->screen : type->predict)(model->state, configs, n, out, error);
  for (size_t i = 0; !rc && i < n; i++) out[i].log_time += (float)model->level;
  return rc;
}

int clt_model_bind(clt_model *model, const clt_instance *instance, clt_error *error) {
  if (!clt_space_same_parameters(model->space, clt_instance_space(instance)))
    return clt_fail(error, CLT_E_ARGUMENT, "the model is for other tuning parameters, or other values of them");
  int rc = clt_sizes_check(model->sizes, instance, error);
  if (rc) return rc;
  model->space = clt_instance_space(instance);
  model->level = clt_baseline_at(&model->baseline, instance);
  if (model->encoding) clt_encoding_bind(model->encoding, instance);
  model->type->bind(model->state, instance);
  return CLT_OK;
}

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
  int rc = clt_model_times(model, configs, n, false, found, error);
  if (!rc) rc = clt_model_validity(model, configs, n, found, error);
  for (size_t i = 0; !rc && i < n; i++) out[i] = found[i];
  free(found);
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
