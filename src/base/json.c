#include "base/json.h"
#include "base/text.h"

/* --- values --- */

double clt_value_number(clt_value v) {
  switch (v.type) {
    case CLT_REAL: return v.real;
    case CLT_STRING: return NAN;
    default: return (double)v.integer;
  }
}

bool clt_value_equal(clt_value a, clt_value b) {
  if (a.type == CLT_STRING || b.type == CLT_STRING) return a.type == b.type && strcmp(a.text, b.text) == 0;
  if (a.type == CLT_REAL || b.type == CLT_REAL) return clt_value_number(a) == clt_value_number(b);
  return a.integer == b.integer;
}

int clt_value_compare(clt_value a, clt_value b) {
  if ((a.type == CLT_STRING) != (b.type == CLT_STRING)) return a.type == CLT_STRING ? 1 : -1;
  if (a.type == CLT_STRING) return strcmp(a.text, b.text);
  if (a.type != CLT_REAL && b.type != CLT_REAL) return (a.integer > b.integer) - (a.integer < b.integer);
  double x = clt_value_number(a), y = clt_value_number(b);
  return (x > y) - (x < y);
}

static int compare_elements(const void *a, const void *b) {
  return clt_value_compare(*(const clt_value *)a, *(const clt_value *)b);
}

size_t clt_values_sort(clt_value *values, size_t n) {
  size_t n_left = 0;
  qsort(values, n, sizeof *values, compare_elements);
  for (size_t i = 0; i < n; i++)
    if (n_left == 0 || clt_value_compare(values[n_left - 1], values[i])) values[n_left++] = values[i];
  return n_left;
}

static int print_real(double x, char *out, size_t capacity) {
  char text[40];
  for (int digits = 1; digits <= 17; digits++) {
    clt_snprintf(text, sizeof text, "%.*g", digits, x);
    if (clt_strtod(text, NULL) == x) break;
  }
  const char *point = strpbrk(text, ".en") ? "" : ".0";
  return snprintf(out, capacity, "%s%s", text, point);
}

int clt_value_print(char *out, size_t capacity, clt_value v) {
  switch (v.type) {
    case CLT_REAL: return print_real(v.real, out, capacity);
    case CLT_STRING: return snprintf(out, capacity, "%s", v.text);
    default: return snprintf(out, capacity, "%lld", (long long)v.integer);
  }
}

void clt_text_add_value(clt_text *text, clt_value value) {
  char number[64];
  if (value.type != CLT_STRING) clt_value_print(number, sizeof number, value);
  clt_text_add(text, value.type == CLT_STRING ? value.text : number);
}

/* --- as JSON --- */
json_t *clt_json_real(double x) { return isfinite(x) ? json_real(x) : json_null(); }

json_t *clt_json_text(const char *text) {
  json_t *out = text ? json_string(text) : json_null();
  if (out) return out;
  char *plain = strdup(text);
  if (plain == NULL) return NULL;
  for (char *c = plain; *c; c++)
    if ((unsigned char)*c >= 0x80) *c = '?';
  out = json_string(plain);
  free(plain);
  return out;
}

void clt_json_append(json_t **list, json_t *item) {
  if (json_array_append_new(*list, item) == 0) return;
  json_decref(*list);
  *list = NULL;
}

void clt_json_set(json_t **object, const char *key, json_t *value) {
  if (json_object_set_new(*object, key, value) == 0) return;
  json_decref(*object);
  *object = NULL;
}

json_t *clt_json_reals(const double *values, size_t n) {
  json_t *list = json_array();
  for (size_t i = 0; i < n; i++) clt_json_append(&list, clt_json_real(values[i]));
  return list;
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

int64_t clt_json_count(const json_t *object, const char *key) {
  return json_integer_value(json_object_get(object, key));
}

double clt_json_number(const json_t *object, const char *key) {
  const json_t *member = json_object_get(object, key);
  return json_is_number(member) ? json_number_value(member) : NAN;
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
