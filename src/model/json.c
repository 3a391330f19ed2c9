#include "model/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"

int clt_model_damaged(clt_error *error, const char *what) {
  return clt_fail(error, CLT_E_FORMAT, "the model file's %s cannot be those of this space", what);
}

json_t *clt_json_floats(const float *values, size_t n) {
  json_t *array = json_array();
  for (size_t i = 0; array && i < n; i++) {
    if (json_array_append_new(array, json_real((double)values[i])) == 0) continue;
    json_decref(array);
    return NULL;
  }
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

/* A size is told from a resource, which may have the same name, by its key. */
static const char *key_of(const clt_instance *instance, size_t index) {
  return index < clt_instance_n_resources(instance) ? "name" : "size";
}

static const char *name_of(const clt_instance *instance, size_t index) {
  size_t n = clt_instance_n_resources(instance);
  return index < n ? clt_instance_resource_name(instance, index) : clt_instance_size(instance, index - n).name;
}

json_t *clt_resources_save(const clt_encoding *e) {
  json_t *array = json_array();
  for (size_t r = 0; array && r < e->n_resources; r++) {
    const clt_encoded_resource *c = &e->resources[r];
    json_t *item = json_pack("{s:s, s:b, s:f, s:f}", key_of(e->instance, c->index), name_of(e->instance, c->index),
                             "log2", (int)c->log2, "low", c->low, "high", c->high);
    if (item && json_array_append_new(array, item) == 0) continue;
    json_decref(array);
    return NULL;
  }
  return array;
}

/* The instance's resource or size that an item names; n where there is none. */
static size_t find_number(const clt_instance *instance, const json_t *item, size_t n) {
  size_t index = 0;
  for (; index < n; index++) {
    const char *name = json_string_value(json_object_get(item, key_of(instance, index)));
    if (name && strcmp(name_of(instance, index), name) == 0) break;
  }
  return index;
}

/* The resources must be the instance's by name; their ranges are the file's. */
int clt_resources_load(clt_encoding *e, const clt_instance *instance, const json_t *array, clt_error *error) {
  size_t n = json_array_size(array);
  if (!json_is_array(array) || n > CLT_MAX_RESOURCES) return clt_model_damaged(error, "resources");
  if (n && instance == NULL) return clt_fail(error, CLT_E_FORMAT, "the model needs a problem file: it uses resources");
  clt_encoded_resource *resources = clt_new_array(n, sizeof *resources);
  if (resources == NULL) return clt_fail_memory(error);
  size_t have = instance ? clt_instance_n_resources(instance) + clt_instance_n_sizes(instance) : 0;
  if (have > CLT_MAX_RESOURCES) have = CLT_MAX_RESOURCES;
  for (size_t r = 0; r < n; r++) {
    const json_t *item = json_array_get(array, r), *log2 = json_object_get(item, "log2");
    size_t index = find_number(instance, item, have);
    clt_encoded_resource *to = &resources[r];
    *to = (clt_encoded_resource){index, json_is_true(log2)};
    bool good = index < have && json_is_boolean(log2) && clt_json_read_number(&to->low, json_object_get(item, "low")) &&
                clt_json_read_number(&to->high, json_object_get(item, "high")) && to->high > to->low;
    if (!good) return free(resources), clt_model_damaged(error, "resources");
  }
  clt_encoding_set_resources(e, n ? instance : NULL, resources, n);
  return CLT_OK;
}
