/* Model files (docs/model-file.md): one line with magic, version, checksum and length, then JSON. */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"
#include "model/json.h"
#include "model/model.h"

#define MAGIC "clatune-model 1 "
#define HEADER_BYTES 48 /* magic, 16 hex digits, a space, the length in 14 digits, a line end */
#define HEADER_ROOM 64
#define LARGEST_BYTES (256u << 20)
_Static_assert(sizeof MAGIC - 1 + 16 + 1 + 14 + 1 == HEADER_BYTES, "the header's parts");

/* --- saving --- */

static json_t *value_json(clt_value v) {
  switch (v.type) {
    case CLT_INT: return json_integer(v.integer);
    case CLT_REAL: return json_real(v.real);
    case CLT_BOOL: return json_boolean(v.integer != 0);
    case CLT_STRING: return json_string(v.text);
  }
  return NULL;
}

static json_t *values_json(const clt_parameter *p) {
  json_t *array = json_array();
  for (size_t i = 0; array && i < p->n_values; i++) {
    if (json_array_append_new(array, value_json(p->values[i])) == 0) continue;
    json_decref(array);
    return NULL;
  }
  return array;
}

/* [{"name": ..., "values": [...]}, ...] */
static json_t *parameters_json(const clt_space *space) {
  json_t *array = json_array();
  for (size_t i = 0; array && i < clt_space_n_parameters(space); i++) {
    const clt_parameter *p = clt_space_parameter(space, i);
    json_t *item = json_pack("{s:s, s:o}", "name", p->name, "values", values_json(p));
    if (item && json_array_append_new(array, item) == 0) continue;
    json_decref(array);
    return NULL;
  }
  return array;
}

static json_t *validity_json(const clt_model *model) {
  if (model->forest == NULL) return json_null();
  return json_pack("{s:o, s:o}", "resources", clt_resources_save(model->encoding), "trees",
                   clt_forest_save(model->forest));
}

/* null: not known. */
static json_t *error_json(const clt_model *model) {
  double error = model->accuracy.calibrated_error;
  return isfinite(error) ? json_real(error) : json_null();
}

static int to_text(char **out, const clt_model *model, clt_error *error) {
  json_t *state = NULL;
  int rc = model->type->save(model->state, &state, error);
  if (rc) return rc;
  json_t *json = json_pack("{s:s, s:I, s:I, s:f, s:o, s:O?, s:o, s:o, s:o, s:o}", "model", model->type->name, "rows",
                           (json_int_t)model->accuracy.n_rows, "failed", (json_int_t)model->accuracy.n_failed, "fit_s",
                           model->accuracy.fit_s, "calibrated_error", error_json(model), "sizes", model->sizes,
                           "baseline", clt_baseline_save(&model->baseline), "parameters", parameters_json(model->space),
                           "validity", validity_json(model), "state", state);
  *out = json ? json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
  json_decref(json);
  return *out ? CLT_OK : clt_fail_memory(error);
}

static void print_header(char header[HEADER_ROOM], const char *text, size_t n) {
  snprintf(header, HEADER_ROOM, MAGIC "%016" PRIx64 " %014zu\n", clt_hash64(text, n), n);
}

int clt_model_save(const clt_model *model, const char *path, clt_error *error) {
  char header[HEADER_ROOM], *text = NULL, *all = NULL;
  int rc = to_text(&text, model, error);
  if (!rc) {
    print_header(header, text, strlen(text));
    rc = (all = clt_format("%s%s", header, text)) ? CLT_OK : clt_fail_memory(error);
  }
  if (!rc) rc = clt_file_replace(path, all, strlen(all), error);
  free(text);
  free(all);
  return rc;
}

/* --- loading --- */

static int bad_file(clt_error *error, const char *path, const char *why) {
  return clt_fail_at(error, CLT_E_FORMAT, path, 0, NULL, "%s", why);
}

static int read_all(char **out, size_t *n_out, const char *path, clt_error *error) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) return clt_fail_errno(error, CLT_E_IO, "open", path);
  char *bytes = NULL;
  size_t n = 0, capacity = 0, got = 1;
  int rc = CLT_OK;
  while (!rc && got && n <= LARGEST_BYTES) {
    rc = clt_grow(&bytes, &capacity, n + 65536, 1) ? clt_fail_memory(error) : CLT_OK;
    if (!rc) n += got = fread(bytes + n, 1, capacity - n, file);
  }
  if (!rc && ferror(file)) rc = clt_fail_errno(error, CLT_E_IO, "read", path);
  if (!rc && n > LARGEST_BYTES) rc = bad_file(error, path, "too long for a model file");
  fclose(file);
  if (rc) return free(bytes), rc;
  *out = bytes;
  *n_out = n;
  return CLT_OK;
}

/* The header must be to the byte the one that save writes for this text. */
static int check_header(const char *bytes, size_t n, const char *path, clt_error *error) {
  const size_t magic = sizeof MAGIC - 1;
  if (n < magic || memcmp(bytes, MAGIC, magic - 2) != 0) return bad_file(error, path, "not a clatune model file");
  if (bytes[magic - 2] != MAGIC[magic - 2] || bytes[magic - 1] != ' ')
    return bad_file(error, path, "a model file of another version; train it anew");
  if (n < HEADER_BYTES) return bad_file(error, path, "the model file is cut short; train it anew");
  char header[HEADER_ROOM];
  print_header(header, bytes + HEADER_BYTES, n - HEADER_BYTES);
  if (memcmp(header, bytes, HEADER_BYTES) == 0) return CLT_OK;
  return bad_file(error, path, "the model file is damaged (its checksum does not fit); train it anew");
}

static bool same_value(const json_t *json, clt_value v) {
  switch (v.type) {
    case CLT_INT: return json_is_integer(json) && json_integer_value(json) == v.integer;
    case CLT_REAL: return json_is_real(json) && json_real_value(json) == v.real;
    case CLT_BOOL: return json_is_boolean(json) && json_is_true(json) == (v.integer != 0);
    case CLT_STRING: return json_is_string(json) && strcmp(json_string_value(json), v.text) == 0;
  }
  return false;
}

static bool same_parameter(const json_t *json, const clt_parameter *p) {
  const char *name = json_string_value(json_object_get(json, "name"));
  const json_t *values = json_object_get(json, "values");
  if (name == NULL || strcmp(name, p->name) != 0 || json_array_size(values) != p->n_values) return false;
  for (size_t i = 0; i < p->n_values; i++)
    if (!same_value(json_array_get(values, i), p->values[i])) return false;
  return true;
}

static int check_parameters(const json_t *array, const clt_space *space, clt_error *error) {
  size_t n = clt_space_n_parameters(space);
  if (json_array_size(array) != n)
    return clt_fail(error, CLT_E_FORMAT, "the model is for %zu parameters, the space has %zu", json_array_size(array),
                    n);
  for (size_t i = 0; i < n; i++) {
    const clt_parameter *p = clt_space_parameter(space, i);
    if (!same_parameter(json_array_get(array, i), p))
      return clt_fail(error, CLT_E_FORMAT, "the model is for another space: parameter '%s' or its values differ",
                      p->name);
  }
  return CLT_OK;
}

static int load_validity(clt_model *model, const clt_instance *instance, const json_t *json, clt_error *error) {
  if (json_is_null(json)) return CLT_OK;
  int rc = clt_encoding_new(&model->encoding, model->space, NULL, error);
  if (!rc) rc = clt_resources_load(model->encoding, instance, json_object_get(json, "resources"), error);
  return rc ? rc : clt_forest_load(&model->forest, model->encoding, json_object_get(json, "trees"), error);
}

static int load_figures(clt_model *model, const json_t *json, clt_error *error) {
  clt_model_accuracy *a = &model->accuracy;
  bool good = clt_json_read_size(&a->n_rows, json_object_get(json, "rows"), 0, LARGEST_BYTES) &&
              clt_json_read_size(&a->n_failed, json_object_get(json, "failed"), 0, a->n_rows) &&
              clt_json_read_number(&a->fit_s, json_object_get(json, "fit_s"));
  if (!clt_json_read_number(&a->calibrated_error, json_object_get(json, "calibrated_error"))) a->calibrated_error = NAN;
  return good ? CLT_OK : clt_model_damaged(error, "row counts");
}

static int from_json(clt_model **out, const json_t *json, const clt_space *space, const clt_instance *instance,
                     clt_error *error) {
  const char *name = json_string_value(json_object_get(json, "model"));
  const clt_model_type *type = name ? clt_model_type_find(name) : NULL;
  if (type == NULL) return clt_fail(error, CLT_E_FORMAT, "there is no model '%s'", name ? name : "");
  clt_model *model = NULL;
  int rc = check_parameters(json_object_get(json, "parameters"), space, error);
  if (!rc) rc = clt_sizes_check(json_object_get(json, "sizes"), instance, error);
  if (!rc) rc = clt_model_new(&model, type, space, error);
  if (!rc) model->sizes = json_deep_copy(json_object_get(json, "sizes"));
  if (!rc) rc = load_figures(model, json, error);
  if (!rc) rc = clt_baseline_load(&model->baseline, instance, json_object_get(json, "baseline"), error);
  if (!rc && instance) model->level = clt_baseline_at(&model->baseline, instance);
  if (!rc) rc = load_validity(model, instance, json_object_get(json, "validity"), error);
  if (!rc) rc = type->load(model->state, space, instance, json_object_get(json, "state"), error);
  if (rc) return clt_model_free(model), rc;
  clt_model_measure_accuracy(model);
  *out = model;
  return CLT_OK;
}

int clt_model_load(clt_model **out, const clt_space *space, const clt_instance *instance, const char *path,
                   clt_error *error) {
  char *bytes = NULL;
  size_t n = 0;
  json_t *json = NULL;
  int rc = read_all(&bytes, &n, path, error);
  if (!rc) rc = check_header(bytes, n, path, error);
  if (rc) goto done;
  json = json_loadb(bytes + HEADER_BYTES, n - HEADER_BYTES, JSON_REJECT_DUPLICATES, NULL);
  rc = json ? from_json(out, json, space, instance, error) : bad_file(error, path, "the model file is not JSON");
done:
  json_decref(json);
  free(bytes);
  return rc;
}
