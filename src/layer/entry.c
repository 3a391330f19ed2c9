/* An entry of the instructions. */
#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "layer/apply.h"

static char *copy_text(const json_t *object, const char *key) {
  const char *text = json_string_value(json_object_get(object, key));
  return text ? strcpy(layer_new(strlen(text) + 1, 1), text) : NULL;
}

/* Reads up to three sizes; returns their number, 0 for null. */
static unsigned read_sizes(size_t out[3], const json_t *list) {
  const size_t n = json_array_size(list);
  for (size_t i = 0; i < n && i < 3; i++) out[i] = (size_t)json_integer_value(json_array_get(list, i));
  return n <= 3 ? (unsigned)n : 0;
}

static bool read_argument(apply_argument *out, const json_t *json) {
  const char *hex = json_string_value(json_object_get(json, "number")), *type;
  unsigned byte;
  if (hex) {
    out->bytes = strlen(hex) / 2;
    out->number = layer_new(out->bytes, 1);
    for (size_t i = 0; i < out->bytes; i++) {
      if (sscanf(hex + 2 * i, "%2x", &byte) != 1) return false;
      out->number[i] = (unsigned char)byte;
    }
    return true;
  }
  out->bytes = (size_t)clt_json_count(json, "local");
  out->asked = (size_t)clt_json_count(json, "asked");
  out->is_written = json_is_true(json_object_get(json, "written"));
  type = json_string_value(json_object_get(json, "type"));
  if (type == NULL) return true;
  out->is_compared = true;
  out->compared.bytes = (size_t)clt_json_count(json, "bytes");
  out->compared.absolute_tolerance = json_number_value(json_object_get(json, "absolute"));
  out->compared.relative_tolerance = json_number_value(json_object_get(json, "relative"));
  out->compared.scales_tolerance = json_is_true(json_object_get(json, "scaled"));
  return clt_element_parse(&out->compared.element, type) == 0;
}

bool apply_read_entry(apply_entry *out, const json_t *json) {
  const json_t *arguments = json_object_get(json, "arguments"), *included = json_object_get(json, "included");
  const struct {
    char **to;
    const char *key;
  } texts[] = {{&out->problem, "problem"},   {&out->program, "program"}, {&out->kernel, "kernel"},
               {&out->platform, "platform"}, {&out->device, "device"},   {&out->driver, "driver"},
               {&out->source, "source"},     {&out->options, "options"}};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    if ((*texts[i].to = copy_text(json, texts[i].key)) == NULL) return false;
  out->n_dimensions = read_sizes(out->global, json_object_get(json, "global"));
  out->n_tuned_dimensions = read_sizes(out->tuned_global, json_object_get(json, "tuned_global"));
  read_sizes(out->local, json_object_get(json, "local"));
  read_sizes(out->tuned_local, json_object_get(json, "tuned_local"));
  out->compute_units = (cl_uint)clt_json_count(json, "compute_units");
  out->n_arguments = json_array_size(arguments);
  out->arguments = layer_new(out->n_arguments, sizeof *out->arguments);
  out->n_included = json_array_size(included);
  out->included = layer_new(out->n_included, sizeof *out->included);
  for (size_t i = 0; i < out->n_included; i++) {
    const json_t *file = json_array_get(included, i);
    if ((out->included[i].path = copy_text(file, "path")) == NULL) return false;
    out->included[i].bytes = (size_t)clt_json_count(file, "bytes");
    out->included[i].hash = (uint64_t)clt_json_count(file, "hash");
  }
  pthread_mutex_init(&out->lock, NULL);
  for (size_t i = 0; i < out->n_arguments; i++)
    if (!read_argument(&out->arguments[i], json_array_get(arguments, i))) return false;
  return out->n_dimensions > 0 && out->n_tuned_dimensions > 0;
}

bool apply_includes_same(const apply_entry *entry) {
  bool same = true;
  for (size_t i = 0; same && i < entry->n_included; i++) {
    const apply_included *file = &entry->included[i];
    char *text = NULL;
    size_t n = 0;
    same = clt_file_read(&text, &n, file->path, file->bytes, NULL) == 0 && n == file->bytes &&
           clt_hash64(text, n) == file->hash;
    free(text);
  }
  return same;
}
