#include "base/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

json_t *clt_json_real(double x) { return isfinite(x) ? json_real(x) : json_null(); }

json_t *clt_json_text(const char *text) {
  json_t *out = json_string(text);
  if (out) return out;
  char *plain = strdup(text);
  if (plain == NULL) return NULL;
  for (char *c = plain; *c; c++)
    if ((unsigned char)*c >= 0x80) *c = '?';
  out = json_string(plain);
  free(plain);
  return out;
}

json_t *clt_json_value(clt_value value) {
  switch (value.type) {
    case CLT_REAL: return clt_json_real(value.real);
    case CLT_BOOL: return json_boolean(value.integer);
    case CLT_STRING: return clt_json_text(value.text);
    default: return json_integer(value.integer);
  }
}

bool clt_json_to_value(clt_value *out, const json_t *json) {
  if (json == NULL) return false;
  switch (json_typeof(json)) {
    case JSON_INTEGER: *out = (clt_value){CLT_INT, .integer = json_integer_value(json)}; return true;
    case JSON_REAL: *out = (clt_value){CLT_REAL, .real = json_real_value(json)}; return true;
    case JSON_TRUE: *out = (clt_value){CLT_BOOL, .integer = 1}; return true;
    case JSON_FALSE: *out = (clt_value){CLT_BOOL, .integer = 0}; return true;
    case JSON_STRING: *out = (clt_value){CLT_STRING, .text = json_string_value(json)}; return true;
    default: return false;
  }
}

const char *clt_json_string(const json_t *object, const char *key) {
  const char *text = json_string_value(json_object_get(object, key));
  return text ? text : "";
}

bool clt_json_read_number(double *out, const json_t *json) {
  if (!json_is_number(json)) return false;
  *out = json_number_value(json);
  return isfinite(*out);
}

bool clt_json_read_size(size_t *out, const json_t *json, size_t min, size_t max) {
  if (!json_is_integer(json)) return false;
  json_int_t n = json_integer_value(json);
  if (n < (json_int_t)min || n > (json_int_t)max) return false;
  *out = (size_t)n;
  return true;
}
