#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "device/field.h"

/* Strings from drivers need not be UTF-8: what is not is replaced, so that a device can always be written. */
static json_t *text_to_json(const char *text) {
  json_t *json = json_string(text);
  if (json) return json;
  char *copy = strdup(text);
  if (copy == NULL) return NULL;
  for (char *c = copy; *c; c++)
    if ((unsigned char)*c > 126) *c = '?';
  json = json_string(copy);
  free(copy);
  return json;
}

static json_t *field_to_json(const clt_device_info *device, size_t index) {
  clt_value value = clt_device_property(device, index);
  switch (value.type) {
    case CLT_INT: return json_integer(value.integer);
    case CLT_REAL: return json_real(value.real);
    case CLT_BOOL: return json_boolean(value.integer);
    case CLT_STRING: return text_to_json(value.text);
  }
  return NULL;
}

int clt_device_to_json(char **out, const clt_device_info *device, clt_error *error) {
  json_t *object = json_object();
  char *text = NULL;
  int rc = object ? CLT_OK : clt_fail_memory(error);
  for (size_t i = 0; rc == CLT_OK && i < clt_device_n_fields; i++)
    if (json_object_set_new(object, clt_field_json_key(&clt_device_fields[i]), field_to_json(device, i)) != 0)
      rc = clt_fail_memory(error);
  if (rc == CLT_OK && (text = json_dumps(object, JSON_COMPACT)) == NULL) rc = clt_fail_memory(error);
  if (rc == CLT_OK) *out = text;
  json_decref(object);
  return rc;
}

static int misfit(const clt_field *field, const char *what, clt_error *error) {
  return clt_fail_at(error, CLT_E_FORMAT, NULL, 0, clt_field_json_key(field), "needs %s", what);
}

static int read_text(char *at, const clt_field *field, const json_t *json, clt_error *error) {
  if (!json_is_string(json)) return misfit(field, "a string", error);
  if (json_string_length(json) >= field->capacity) return misfit(field, "a shorter string", error);
  memcpy(at, json_string_value(json), json_string_length(json) + 1);
  return CLT_OK;
}

static int read_integer(void *at, const clt_field *field, const json_t *json, clt_error *error) {
  json_int_t limit = field->kind == CLT_FIELD_INT ? INT_MAX : field->kind == CLT_FIELD_U32 ? UINT32_MAX : INT64_MAX;
  json_int_t x = json_integer_value(json);
  if (!json_is_integer(json) || x < 0 || x > limit) return misfit(field, "a whole number in range", error);
  switch (field->kind) {
    case CLT_FIELD_INT: *(int *)at = (int)x; break;
    case CLT_FIELD_U32: *(uint32_t *)at = (uint32_t)x; break;
    default: *(uint64_t *)at = (uint64_t)x;
  }
  return CLT_OK;
}

static int read_type(clt_device_type *at, const clt_field *field, const json_t *json, clt_error *error) {
  const char *name = json_string_value(json);
  for (clt_device_type type = CLT_DEVICE_CPU; name && type <= CLT_DEVICE_OTHER; type++)
    if (strcmp(name, clt_device_type_name(type)) == 0) return *at = type, CLT_OK;
  return misfit(field, "\"cpu\", \"gpu\", \"accelerator\" or \"other\"", error);
}

static int read_field(clt_device_info *device, const clt_field *field, const json_t *json, clt_error *error) {
  void *at = (char *)device + field->offset;
  switch (field->kind) {
    case CLT_FIELD_TEXT: return read_text(at, field, json, error);
    case CLT_FIELD_TYPE: return read_type(at, field, json, error);
    case CLT_FIELD_BOOL:
      if (!json_is_boolean(json)) return misfit(field, "true or false", error);
      *(bool *)at = json_is_true(json);
      return CLT_OK;
    case CLT_FIELD_REAL:
      if (!json_is_number(json)) return misfit(field, "a number", error);
      *(double *)at = json_number_value(json);
      return CLT_OK;
    default: return read_integer(at, field, json, error);
  }
}

int clt_device_from_json(clt_device_info *out, const char *json, clt_error *error) {
  json_error_t mistake;
  clt_device_info device = {.type = CLT_DEVICE_OTHER};
  json_t *object = json_loads(json, JSON_REJECT_DUPLICATES, &mistake);
  int rc = CLT_OK;
  if (object == NULL) return clt_fail_at(error, CLT_E_FORMAT, NULL, mistake.line, NULL, "%s", mistake.text);
  if (!json_is_object(object)) rc = clt_fail(error, CLT_E_FORMAT, "a device needs to be a JSON object");
  for (size_t i = 0; rc == CLT_OK && i < clt_device_n_fields; i++) {
    const json_t *member = json_object_get(object, clt_field_json_key(&clt_device_fields[i]));
    if (member) rc = read_field(&device, &clt_device_fields[i], member, error);
  }
  if (rc == CLT_OK) *out = device;
  json_decref(object);
  return rc;
}
