/* Model files (src/model/FORMAT.md): one line with magic, version, checksum and length, then JSON. Files are
 * untrusted: every value is checked. */
#include <inttypes.h>
#include <jansson.h>

#include "base/base.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "format/format.h"
#include "model/model.h"

#define MAGIC "clatune-model 1 "
#define HEADER_BYTES 48 /* magic, 16 hex digits, a space, the length in 14 digits, a line end */
#define HEADER_ROOM 64
#define LARGEST_BYTES (256u << 20)
_Static_assert(sizeof MAGIC - 1 + 16 + 1 + 14 + 1 == HEADER_BYTES, "the header's parts");

/* --- saving --- */

static void print_header(char header[HEADER_ROOM], const char *text, size_t n) {
  snprintf(header, HEADER_ROOM, MAGIC "%016" PRIx64 " %014zu\n", clt_hash64(text, n), n);
}

int clt_model_save(const clt_model *model, const char *path, clt_error *error) {
  json_t *state = json_object(), *validity = json_null(), *parameters = json_array();
  int rc = state ? model->type->save(model->state, (clt_model_record *)state, error) : clt_fail_memory(error);
  /* For compatibility the residuals are in the state: each type used to have its own. */
  if (rc == CLT_OK && json_object_set_new(state, "residuals", clt_json_floats(model->residuals, model->n_residuals)))
    rc = clt_fail_memory(error);
  if (rc) {
    json_decref(state);
    json_decref(parameters);
    return rc;
  }
  for (size_t i = 0; i < clt_space_n_parameters(model->space); i++)
    clt_json_append(&parameters, clt_json_parameter(clt_space_parameter(model->space, i)));
  if (model->forest)
    validity = json_pack("{s:o, s:o}", "resources", clt_encoding_save(model->encoding), "trees",
                         clt_forest_save(model->forest));
  double calibrated = model->accuracy.calibrated_error;
  json_t *json =
      json_pack("{s:s, s:I, s:I, s:f, s:o, s:O?, s:o, s:o, s:o, s:o}", "model", model->type->name, "rows",
                (json_int_t)model->accuracy.n_rows, "failed", (json_int_t)model->accuracy.n_failed, "fit_s",
                model->accuracy.fit_s, "calibrated_error", isfinite(calibrated) ? json_real(calibrated) : json_null(),
                "sizes", model->sizes, "baseline", clt_baseline_save(&model->baseline), "parameters", parameters,
                "validity", validity, "state", state);
  char header[HEADER_ROOM], *text = json ? json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
  json_decref(json);
  if (text == NULL) return clt_fail_memory(error);
  print_header(header, text, strlen(text));
  char *file = clt_format("%s%s", header, text);
  rc = file ? clt_file_replace(path, file, strlen(file), error) : clt_fail_memory(error);
  free(file);
  free(text);
  return rc;
}

/* --- loading --- */

static int check_parameters(const json_t *array, const clt_space *space, clt_error *error) {
  size_t n = clt_space_n_parameters(space);
  if (json_array_size(array) != n)
    return clt_fail(error, CLT_E_FORMAT, "the model is for %zu parameters, the space has %zu", json_array_size(array),
                    n);
  for (size_t i = 0; i < n; i++) {
    const clt_parameter *p = clt_space_parameter(space, i);
    json_t *ours = clt_json_parameter(p);
    bool same = json_equal(ours, json_array_get(array, i));
    json_decref(ours);
    if (ours == NULL) return clt_fail_memory(error);
    if (!same)
      return clt_fail(error, CLT_E_FORMAT, "the model is for another space: parameter '%s' or its values differ",
                      p->name);
  }
  return CLT_OK;
}

/* In older files, the residuals of `average` and `auto` are in their parts, each of which has a share. */
static int read_residuals(clt_model *model, const json_t *state, clt_error *error) {
  const json_t *own = json_object_get(state, "residuals"), *parts = json_object_get(state, "parts");
  for (size_t k = 0; k < (own ? 1 : json_array_size(parts)); k++) {
    const json_t *part = json_array_get(parts, k);
    const json_t *array = own ? own : json_object_get(json_object_get(part, "state"), "residuals");
    double share = 1;
    if (!own && (!clt_json_read_number(&share, json_object_get(part, "share")) || share < 0 || share > 1))
      return clt_model_damaged(error, "parts");
    if (!(share > 0)) continue;
    size_t n = json_array_size(array);
    if (!json_is_array(array) || (model->residuals && n != model->n_residuals))
      return clt_model_damaged(error, "residuals");
    float *residuals = clt_new_array(n, sizeof *residuals);
    if (residuals == NULL) return clt_fail_memory(error);
    if (!clt_json_read_floats(residuals, n, array)) {
      free(residuals);
      return clt_model_damaged(error, "residuals");
    }
    for (size_t i = 0; i < n; i++)
      residuals[i] = (model->residuals ? model->residuals[i] : 0) + (float)share * residuals[i];
    free(model->residuals);
    model->residuals = residuals;
    model->n_residuals = n;
  }
  return model->residuals ? CLT_OK : clt_model_damaged(error, "residuals");
}

static int model_from_json(clt_model **out, const json_t *json, const clt_space *space, const clt_instance *instance,
                           clt_error *error) {
  const char *name = json_string_value(json_object_get(json, "model"));
  const clt_model_type *type = name ? clt_model_type_find(name) : NULL;
  if (type == NULL)
    return clt_fail(error, CLT_E_FORMAT, "the model file names an unknown type of model, '%s'", name ? name : "");
  const json_t *validity = json_object_get(json, "validity"), *state = json_object_get(json, "state");
  clt_model *model = NULL;
  int rc = check_parameters(json_object_get(json, "parameters"), space, error);
  if (rc == CLT_OK) rc = clt_sizes_check(json_object_get(json, "sizes"), instance, error);
  if (rc == CLT_OK) rc = clt_model_allocate(&model, type, space, error);
  if (rc) return rc;
  clt_model_accuracy *a = &model->accuracy;
  model->sizes = json_deep_copy(json_object_get(json, "sizes"));
  bool good = clt_json_read_size(&a->n_rows, json_object_get(json, "rows"), 0, LARGEST_BYTES) &&
              clt_json_read_size(&a->n_failed, json_object_get(json, "failed"), 0, a->n_rows) &&
              clt_json_read_number(&a->fit_s, json_object_get(json, "fit_s"));
  if (!clt_json_read_number(&a->calibrated_error, json_object_get(json, "calibrated_error"))) a->calibrated_error = NAN;
  rc = good ? clt_baseline_load(&model->baseline, instance, json_object_get(json, "baseline"), error)
            : clt_model_damaged(error, "row counts");
  if (rc == CLT_OK && instance) model->level = clt_baseline_at(&model->baseline, instance);
  if (rc == CLT_OK && !json_is_null(validity)) {
    rc = clt_encoding_load(&model->encoding, space, instance, json_object_get(validity, "resources"), error);
    if (rc == CLT_OK) rc = clt_forest_load(&model->forest, model->encoding, json_object_get(validity, "trees"), error);
  }
  if (rc == CLT_OK) rc = read_residuals(model, state, error);
  if (rc == CLT_OK) rc = type->load(model->state, space, instance, (const clt_model_record *)state, error);
  if (rc) {
    clt_model_free(model);
    return rc;
  }
  clt_model_measure_accuracy(model);
  *out = model;
  return CLT_OK;
}

/* The header must be identical to the one that save writes for this text. */
int clt_model_new_saved(clt_model **out, const clt_space *space, const clt_instance *instance, const char *path,
                        clt_error *error) {
  const size_t magic = sizeof MAGIC - 1;
  char header[HEADER_ROOM], *bytes = NULL;
  size_t n = 0;
  int rc = clt_file_read(&bytes, &n, path, LARGEST_BYTES, error);
  if (rc) return rc;
  const char *wrong = NULL;
  json_t *json = NULL;
  if (n >= HEADER_BYTES) print_header(header, bytes + HEADER_BYTES, n - HEADER_BYTES);
  if (n < magic || memcmp(bytes, MAGIC, magic - 2) != 0)
    wrong = "not a model file of clatune; 'clatune train' writes one";
  else if (memcmp(bytes, MAGIC, magic) != 0)
    wrong = "a model file of another version of clatune; train the model again";
  else if (n < HEADER_BYTES)
    wrong = "the model file is incomplete; train the model again";
  else if (memcmp(header, bytes, HEADER_BYTES) != 0)
    wrong = "the model file is damaged (its checksum does not match); train the model again";
  else if ((json = json_loadb(bytes + HEADER_BYTES, n - HEADER_BYTES, JSON_REJECT_DUPLICATES, NULL)) == NULL)
    wrong = "the model file is not JSON; train the model again";
  rc = wrong ? clt_fail_at(error, CLT_E_FORMAT, path, 0, NULL, "%s", wrong)
             : model_from_json(out, json, space, instance, error);
  json_decref(json);
  free(bytes);
  return rc;
}

/* --- lists of numbers --- */

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
