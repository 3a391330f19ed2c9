#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/fail.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "format/recording.h"

#define MAX_TEXT_BYTES 256
#define MAX_VALUES 65536 /* of a parameter */
#define FAIL(c, ...) clt_fail_at(error, CLT_E_FORMAT, (c)->path, 0, (c)->key, __VA_ARGS__)

/* --- texts, values, times and reasons --- */

bool clt_entry_name(const char *name) { return clt_is_name(name) && strlen(name) <= MAX_TEXT_BYTES; }

bool clt_entry_value(clt_value *out, const json_t *json) {
  if (!clt_json_to_value(out, json)) return false;
  if (out->type != CLT_STRING) return true;
  static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.+-";
  size_t n = strspn(out->text, letters);
  return out->text[n] == '\0' && n <= MAX_TEXT_BYTES;
}

double clt_entry_number(const json_t *json, double otherwise) {
  double x = json_is_number(json) ? json_number_value(json) : otherwise;
  return isfinite(x) && x >= 0 ? x : otherwise;
}

/* "miliseconds" stands in files of the field. */
double clt_entry_seconds_per(const json_t *json, double otherwise) {
  static const struct {
    const char *unit;
    double seconds;
  } units[] = {{"s", 1},     {"seconds", 1},         {"ms", 1e-3}, {"milliseconds", 1e-3}, {"miliseconds", 1e-3},
               {"us", 1e-6}, {"microseconds", 1e-6}, {"ns", 1e-9}, {"nanoseconds", 1e-9}};
  const char *text = json_string_value(json);
  for (size_t i = 0; text && i < sizeof units / sizeof *units; i++)
    if (strcasecmp(units[i].unit, text) == 0) return units[i].seconds;
  return otherwise;
}

void clt_entry_runs(clt_measurement *m, const json_t *times, double seconds_per_unit) {
  size_t n = json_array_size(times);
  for (size_t i = 0; i < n && m->n_runs < CLT_MAX_RUNS; i++) {
    double time = clt_entry_number(json_array_get(times, i), 0);
    if (time > 0 && time < CLT_FAILED_TIME_MS) m->runs_s[m->n_runs++] = time * seconds_per_unit;
  }
}

clt_reason clt_entry_reason(const char *text) {
  static const struct {
    const char *text;
    clt_reason reason;
  } known[] = {
      {"InvalidConfig", CLT_REASON_DEVICE_LIMIT},    {"CompilationFailedConfig", CLT_REASON_COMPILE_ERROR},
      {"RuntimeFailedConfig", CLT_REASON_RUN_ERROR}, {"constraints", CLT_REASON_CONDITION},
      {"compile", CLT_REASON_COMPILE_ERROR},         {"runtime", CLT_REASON_RUN_ERROR},
      {"correctness", CLT_REASON_WRONG_OUTPUT},      {"timeout", CLT_REASON_RUN_TIMEOUT},
  };
  for (size_t i = 0; text && i < sizeof known / sizeof *known; i++)
    if (strcmp(known[i].text, text) == 0) return known[i].reason;
  return CLT_REASON_UNKNOWN;
}

const char *clt_entry_error(clt_reason reason) {
  switch (clt_reason_invalidity(reason)) {
    case CLT_CORRECT: return NULL;
    case CLT_CONSTRAINTS: return "InvalidConfig";
    case CLT_COMPILE: return "CompilationFailedConfig";
    default: return reason == CLT_REASON_COMPILE_TIMEOUT ? "CompilationFailedConfig" : "RuntimeFailedConfig";
  }
}

int clt_entry_line(char **out, const json_t *json, clt_error *error) {
  *out = strndup(json_is_string(json) ? json_string_value(json) : "", MAX_TEXT_BYTES);
  for (char *c = *out; c && *c; c++) /* also 0x80 to 0x9f, which are two bytes in UTF-8 */
    if ((unsigned char)c[0] < 0x20 || c[0] == 0x7f || (c[0] == '\xc2' && (unsigned char)c[1] - 0x80u < 0x20)) *c = '?';
  return *out ? CLT_OK : clt_fail_memory(error);
}

/* --- columns --- */

static int by_value(const void *a, const void *b) {
  return clt_value_compare(((const clt_value_place *)a)->value, ((const clt_value_place *)b)->value);
}

bool clt_column_find(const clt_column *column, clt_value value, uint64_t *position) {
  const clt_value_place wanted = {.value = value};
  const clt_value_place *found = bsearch(&wanted, column->index, column->n_values, sizeof *column->index, by_value);
  if (found == NULL || !clt_value_equal(found->value, value)) return false;
  *position = found->position;
  return true;
}

/* A new column with n values, in their order: gives it its index, and it to the builder. */
static int add_column(clt_columns *c, const char *name, const clt_value *values, size_t n, clt_space_builder *builder,
                      clt_error *error) {
  clt_error why = {0};
  if (c->n == CLT_MAX_PARAMETERS) return FAIL(c, "there are more than %d parameters", CLT_MAX_PARAMETERS);
  if (c->cartesian == 0) c->cartesian = 1;
  if (__builtin_mul_overflow(c->cartesian, n, &c->cartesian) || c->cartesian > (uint64_t)1 << 63)
    return clt_fail_at(error, CLT_E_RANGE, c->path, 0, c->key, "the space has more than 2^63 configurations");
  clt_column *column = &c->column[c->n];
  column->index = clt_new_array(n, sizeof *column->index);
  if (column->index == NULL) return clt_fail_memory(error);
  c->n++;
  column->name = name;
  column->n_values = n;
  for (size_t i = 0; i < n; i++) column->index[i] = (clt_value_place){values[i], i};
  qsort(column->index, n, sizeof *column->index, by_value);
  int rc = clt_space_builder_parameter(builder, name, values, n, &why);
  if (rc == CLT_E_MEMORY) return clt_fail_memory(error);
  return rc ? FAIL(c, "%s", why.message) : CLT_OK;
}

int clt_columns_add(clt_columns *columns, const char *name, const json_t *values, clt_space_builder *builder,
                    clt_error *error) {
  size_t n = json_array_size(values);
  if (name == NULL || !clt_entry_name(name)) return FAIL(columns, "a parameter's name must be an identifier");
  if (n < 1 || n > MAX_VALUES) return FAIL(columns, "'%s' needs a list of 1 to %d values", name, MAX_VALUES);
  clt_value *list = clt_new_array(n, sizeof *list);
  int rc = list ? CLT_OK : clt_fail_memory(error);
  for (size_t i = 0; rc == CLT_OK && i < n; i++)
    if (!clt_entry_value(&list[i], json_array_get(values, i)))
      rc = FAIL(columns, "value %zu of '%s' is neither a number, a truth value nor a word", i, name);
  if (rc == CLT_OK) rc = add_column(columns, name, list, n, builder, error);
  free(list);
  return rc;
}

static int compare_occurring(const void *a, const void *b) {
  return clt_value_compare(*(const clt_value *)a, *(const clt_value *)b);
}

/* One column for each parameter of the first configuration. */
static int add_occurring(clt_columns *c, json_t *const *configurations, size_t n, clt_space_builder *builder,
                         clt_error *error) {
  json_t *first = n ? configurations[0] : NULL;
  clt_value *values = clt_new_array(n, sizeof *values);
  int rc = values ? CLT_OK : clt_fail_memory(error);
  if (rc == CLT_OK && json_object_size(first) == 0) rc = FAIL(c, "needs a list of results with a configuration each");
  for (void *i = json_object_iter(first); rc == CLT_OK && i; i = json_object_iter_next(first, i)) {
    const char *name = json_object_iter_key(i);
    size_t n_values = 0;
    if (!clt_entry_name(name)) rc = FAIL(c, "a parameter's name must be an identifier");
    for (size_t k = 0; rc == CLT_OK && k < n; k++)
      if (!clt_entry_value(&values[k], json_object_get(configurations[k], name)))
        rc = FAIL(c, "the configuration of result %zu has no usable value of '%s'", k, name);
    if (rc) break;
    qsort(values, n, sizeof *values, compare_occurring);
    for (size_t k = 0; k < n; k++)
      if (k == 0 || clt_value_compare(values[n_values - 1], values[k])) values[n_values++] = values[k];
    rc = n_values > MAX_VALUES ? FAIL(c, "'%s' has more than %d values", name, MAX_VALUES)
                               : add_column(c, name, values, n_values, builder, error);
  }
  free(values);
  return rc;
}

int clt_columns_read_results(clt_columns *columns, clt_recording *recording, const clt_result_list *list,
                             clt_space_builder *builder, clt_error *error) {
  size_t n = json_array_size(list->results);
  json_t **configurations = list->configurations ? list->configurations : clt_new_array(n, sizeof *configurations);
  int rc = configurations ? CLT_OK : clt_fail_memory(error);
  for (size_t i = 0; rc == CLT_OK && !list->configurations && i < n; i++)
    configurations[i] = json_object_get(json_array_get(list->results, i), list->configuration);
  if (rc == CLT_OK && columns->n == 0) rc = add_occurring(columns, configurations, n, builder, error);
  for (size_t i = 0; rc == CLT_OK && i < n; i++) {
    clt_config config = 0;
    clt_measurement m;
    for (size_t k = 0; rc == CLT_OK && k < columns->n; k++) {
      const clt_column *column = &columns->column[k];
      clt_value value;
      uint64_t position = 0;
      if (!clt_entry_value(&value, json_object_get(configurations[i], column->name)) ||
          !clt_column_find(column, value, &position))
        rc = FAIL(columns, "the configuration of result %zu has a value of '%s' that is not listed", i, column->name);
      config = config * column->n_values + position;
    }
    if (rc == CLT_OK && json_object_size(configurations[i]) != columns->n)
      rc = FAIL(columns, "all results need the same %zu parameters: result %zu has %zu", columns->n, i,
                json_object_size(configurations[i]));
    if (rc) break;
    clt_measurement_init(&m, config);
    list->read(list->user, &m, json_array_get(list->results, i));
    rc = clt_recording_add(recording, &m, error);
  }
  if (configurations != list->configurations) free(configurations);
  return rc;
}

void clt_columns_release(clt_columns *columns) {
  for (size_t i = 0; i < columns->n; i++) free(columns->column[i].index);
  columns->n = 0;
}
