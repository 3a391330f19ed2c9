/* The parts of model files: lists of numbers. Files are untrusted: every value is checked. */
#include <math.h>
#include <stdlib.h>

#include "base/base.h"
#include "model/model.h"

int clt_model_damaged(clt_error *error, const char *what) {
  return clt_fail(error, CLT_E_FORMAT, "the model file is damaged or for another space (%s); train the model again",
                  what);
}

json_t *clt_json_floats(const float *values, size_t n) {
  json_t *array = json_array();
  for (size_t i = 0; i < n; i++) clt_json_append(&array, json_real((double)values[i]));
  return array;
}

bool clt_json_read_floats(float *out, size_t n, const json_t *array) {
  if (json_array_size(array) != n) return false;
  for (size_t i = 0; i < n; i++) {
    double number;
    if (!clt_json_read_number(&number, json_array_get(array, i)) || !isfinite((float)number)) return false;
    out[i] = (float)number;
  }
  return true;
}

bool clt_json_read_doubles(double *out, size_t n, const json_t *array) {
  bool good = json_array_size(array) == n;
  for (size_t i = 0; good && i < n; i++) good = clt_json_read_number(&out[i], json_array_get(array, i));
  return good;
}

int clt_model_record_put(clt_model_record *record, const char *name, const double *values, size_t n, clt_error *error) {
  json_t *array = clt_json_reals(values, n);
  return json_object_set_new(clt_record_json(record), name, array) ? clt_fail_memory(error) : CLT_OK;
}

int clt_model_record_get(double **values, size_t *n, const clt_model_record *record, const char *name,
                         clt_error *error) {
  const json_t *array = json_object_get(clt_record_json(record), name);
  if (!json_is_array(array)) return clt_model_damaged(error, name);
  *n = json_array_size(array);
  *values = clt_new_array(*n, sizeof **values);
  if (*values == NULL) return clt_fail_memory(error);
  if (!clt_json_read_doubles(*values, *n, array)) {
    free(*values);
    return clt_model_damaged(error, name);
  }
  return CLT_OK;
}
