/* The problem sizes that a model was fitted at: predictions for others would be those for these. */
#include "base/fail.h"
#include "model/json.h"

static json_t *save(const clt_instance *instance) {
  json_t *out = instance ? json_object() : json_null();
  for (size_t i = 0; out && instance && i < clt_instance_n_sizes(instance); i++) {
    clt_size size = clt_instance_size(instance, i);
    json_object_set_new(out, size.name, json_integer((json_int_t)size.value));
  }
  return out;
}

json_t *clt_sizes_save(const clt_instance *const *instances, size_t n) {
  if (n == 1) return save(instances[0]);
  json_t *out = json_array();
  for (size_t i = 0; out && i < n; i++) {
    if (json_array_append_new(out, save(instances[i])) == 0) continue;
    json_decref(out);
    return NULL;
  }
  return out;
}

int clt_sizes_check(const json_t *sizes, const clt_instance *instance, clt_error *error) {
  if (json_is_array(sizes) && instance == NULL)
    return clt_fail(error, CLT_E_FORMAT, "the model needs a problem file: it was fitted at several sizes");
  if (!json_is_object(sizes) || instance == NULL) return CLT_OK;
  for (size_t i = 0; i < clt_instance_n_sizes(instance); i++) {
    clt_size size = clt_instance_size(instance, i);
    const json_t *fitted = json_object_get(sizes, size.name);
    if (!json_is_integer(fitted) || json_integer_value(fitted) == size.value) continue;
    return clt_fail(error, CLT_E_FORMAT, "the model was fitted at %s=%lld, not at %s=%lld; train one at this size",
                    size.name, (long long)json_integer_value(fitted), size.name, (long long)size.value);
  }
  return CLT_OK;
}
