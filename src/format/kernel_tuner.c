/* Kernel Tuner's cache files: an object with "tune_params" {name: [values]}, and "cache" {"1,2,3": entry}. An entry has
 * the parameters by name, "time" (milliseconds, or why there is none), "times", and what the phases took in
 * milliseconds. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "format/entry.h"
#include "format/recording.h"
#include "format/value_index.h"

#define MAX_VALUES 65536 /* of a parameter */

typedef struct parameter {
  const char *name;
  clt_value_index *index;
  uint64_t n_values;
} parameter;

typedef struct reader {
  const char *path;
  clt_recording *recording;
  clt_space_builder *builder;
  parameter parameters[CLT_MAX_PARAMETERS];
  size_t n_parameters;
} reader;

#define FAIL(r, key, ...) clt_fail_at(error, CLT_E_FORMAT, (r)->path, 0, key, __VA_ARGS__)

/* --- tune_params --- */

static int add_parameter(reader *r, const char *name, const clt_value *values, size_t n, clt_error *error) {
  parameter *p = &r->parameters[r->n_parameters];
  p->index = clt_value_index_new(values, n);
  if (p->index == NULL) return clt_fail_memory(error);
  p->name = name;
  p->n_values = n;
  r->n_parameters++;
  clt_error cause = {0};
  int rc = clt_space_builder_parameter(r->builder, name, values, n, &cause);
  if (rc == CLT_OK || rc == CLT_E_MEMORY) return rc ? clt_fail_memory(error) : CLT_OK;
  return FAIL(r, "tune_params", "%s", cause.message);
}

static int read_parameter(reader *r, const char *name, const json_t *list, clt_error *error) {
  size_t n = json_array_size(list);
  if (!clt_entry_name(name)) return FAIL(r, "tune_params", "a parameter's name must be an identifier");
  if (r->n_parameters == CLT_MAX_PARAMETERS)
    return FAIL(r, "tune_params", "there are more than %d parameters", CLT_MAX_PARAMETERS);
  if (n < 1 || n > MAX_VALUES) return FAIL(r, "tune_params", "'%s' needs a list of 1 to %d values", name, MAX_VALUES);
  clt_value *values = clt_new_array(n, sizeof *values);
  if (values == NULL) return clt_fail_memory(error);
  int rc = CLT_OK;
  for (size_t i = 0; rc == CLT_OK && i < n; i++)
    if (!clt_entry_value(&values[i], json_array_get(list, i)))
      rc = FAIL(r, "tune_params", "value %zu of '%s' is neither a number, a truth value nor a word", i, name);
  if (rc == CLT_OK) rc = add_parameter(r, name, values, n, error);
  free(values);
  return rc;
}

/* In the order of "tune_params_keys", which is that of the entries' keys, else of "tune_params" itself. */
static int read_parameters(reader *r, const json_t *root, clt_error *error) {
  json_t *parameters = json_object_get(root, "tune_params"), *keys = json_object_get(root, "tune_params_keys");
  if (!json_is_object(parameters) || json_object_size(parameters) == 0)
    return FAIL(r, "tune_params", "needs an object with the parameters' values");
  int rc = CLT_OK;
  if (!json_is_array(keys)) {
    for (void *i = json_object_iter(parameters); i && rc == CLT_OK; i = json_object_iter_next(parameters, i))
      rc = read_parameter(r, json_object_iter_key(i), json_object_iter_value(i), error);
    return rc;
  }
  if (json_array_size(keys) != json_object_size(parameters))
    return FAIL(r, "tune_params_keys", "does not name the parameters of 'tune_params'");
  for (size_t i = 0; i < json_array_size(keys) && rc == CLT_OK; i++) {
    const char *name = json_string_value(json_array_get(keys, i));
    if (name == NULL) return FAIL(r, "tune_params_keys", "needs a list of names");
    rc = read_parameter(r, name, json_object_get(parameters, name), error);
  }
  return rc;
}

/* --- which configuration an entry belongs to --- */

/* A value as Python prints it. Texts are borrowed. */
static clt_value read_token(const char *token) {
  char *end;
  long long whole = strtoll(token, &end, 10);
  if (*token && *end == 0) return (clt_value){CLT_INT, .integer = whole};
  if (strcmp(token, "True") == 0 || strcmp(token, "False") == 0)
    return (clt_value){CLT_BOOL, .integer = token[0] == 'T'};
  json_t *real = json_loads(token, JSON_DECODE_ANY, NULL); /* whatever the locale */
  clt_value value = {CLT_STRING, .text = token};
  if (json_is_real(real)) value = (clt_value){CLT_REAL, .real = json_real_value(real)};
  json_decref(real);
  return value;
}

/* The values in an entry's key "16,1,2" (tokens, cut at the commas), or false where their number is another. */
static bool split_key(char *key, const char **tokens, size_t n) {
  for (size_t i = 0; i < n; i++) {
    tokens[i] = key;
    char *comma = strchr(key, ',');
    if ((comma != NULL) != (i + 1 < n)) return false;
    if (comma) *comma = 0;
    key = comma ? comma + 1 : key;
  }
  return true;
}

static int read_position(const reader *r, const char *key, size_t i, const json_t *json, const char *token,
                         uint64_t *position, clt_error *error) {
  const parameter *p = &r->parameters[i];
  clt_value value;
  if (json ? !clt_entry_value(&value, json) : token == NULL)
    return FAIL(r, "cache", "the entry '%.64s' has no usable value of '%s'", key, p->name);
  if (json == NULL) value = read_token(token);
  if (!clt_value_index_find(p->index, value, position))
    return FAIL(r, "cache", "the entry '%.64s' has a value of '%s' that 'tune_params' does not list", key, p->name);
  return CLT_OK;
}

/* By the fields' names; what is not there comes from the key. */
static int read_config(const reader *r, const char *key, const json_t *entry, clt_config *out, clt_error *error) {
  const char *tokens[CLT_MAX_PARAMETERS] = {NULL};
  char *cut = NULL;
  clt_config config = 0;
  int rc = CLT_OK;
  for (size_t i = 0; i < r->n_parameters && rc == CLT_OK; i++) {
    const json_t *field = json_object_get(entry, r->parameters[i].name);
    uint64_t position = 0;
    if (field == NULL && cut == NULL) {
      cut = strdup(key);
      if (cut == NULL) return clt_fail_memory(error);
      if (!split_key(cut, tokens, r->n_parameters)) memset(tokens, 0, sizeof tokens);
    }
    rc = read_position(r, key, i, field, tokens[i], &position, error);
    config = config * r->parameters[i].n_values + position;
  }
  free(cut);
  if (rc == CLT_OK) *out = config;
  return rc;
}

/* --- what was measured --- */

/* The text that stands in the place of a time, or NULL. */
static const char *failure_text(const json_t *entry, const json_t *time) {
  const json_t *said = json_object_get(json_is_object(time) ? time : entry, "__error__");
  return json_string_value(said ? said : time);
}

/* What clatune wrote beside the word: it counts where it fits. */
static clt_reason finer_reason(const json_t *entry, const char *text) {
  const char *name = json_string_value(json_object_get(entry, "reason"));
  clt_reason reason, coarse = clt_entry_reason(text);
  if (name == NULL || text == NULL || clt_reason_parse(&reason, name, NULL)) return coarse;
  const char *word = clt_entry_error(reason);
  return word && strcmp(word, text) == 0 ? reason : coarse;
}

static void read_time(clt_measurement *m, const json_t *entry) {
  const json_t *time = json_object_get(entry, "time");
  double time_ms = clt_entry_number(time, 0);
  if (time_ms > 0 && time_ms < CLT_FAILED_TIME_MS && json_object_get(entry, "__error__") == NULL) {
    m->time_s = time_ms * CLT_SECONDS_PER_MS;
    return;
  }
  const char *text = failure_text(entry, time);
  clt_measurement_fail(m, finer_reason(entry, text), clt_entry_reason(text) == CLT_REASON_UNKNOWN ? text : NULL);
}

static int read_entry(reader *r, const char *key, const json_t *entry, clt_error *error) {
  if (!json_is_object(entry)) return FAIL(r, "cache", "the entry '%.64s' is not an object", key);
  clt_config config = 0;
  int rc = read_config(r, key, entry, &config, error);
  if (rc) return rc;
  clt_measurement m;
  clt_measurement_init(&m, config);
  clt_entry_runs(&m, json_object_get(entry, "times"), CLT_SECONDS_PER_MS);
  read_time(&m, entry);
  m.phases.build_s = clt_entry_number(json_object_get(entry, "compile_time"), 0) * CLT_SECONDS_PER_MS;
  m.phases.runs_s = clt_entry_number(json_object_get(entry, "benchmark_time"), 0) * CLT_SECONDS_PER_MS;
  m.phases.verify_s = clt_entry_number(json_object_get(entry, "verification_time"), 0) * CLT_SECONDS_PER_MS;
  rc = clt_recording_add(r->recording, &m, error);
  clt_measurement_release(&m);
  return rc;
}

/* --- the file --- */

static int read_entries(reader *r, const json_t *root, clt_error *error) {
  json_t *cache = json_object_get(root, "cache");
  if (!json_is_object(cache)) return FAIL(r, "cache", "needs an object with the recorded configurations");
  if (json_object_size(cache) == 0) return FAIL(r, "cache", "holds no configurations");
  int rc = CLT_OK;
  for (void *i = json_object_iter(cache); i && rc == CLT_OK; i = json_object_iter_next(cache, i))
    rc = read_entry(r, json_object_iter_key(i), json_object_iter_value(i), error);
  return rc;
}

static int check_cartesian(const reader *r, clt_error *error) {
  uint64_t cartesian = 1;
  for (size_t i = 0; i < r->n_parameters; i++)
    if (__builtin_mul_overflow(cartesian, r->parameters[i].n_values, &cartesian) || cartesian > (uint64_t)1 << 63)
      return clt_fail_at(error, CLT_E_RANGE, r->path, 0, "tune_params", "the space has more than 2^63 configurations");
  return CLT_OK;
}

static int read_root(reader *r, const json_t *root, clt_error *error) {
  r->recording->kernel = clt_entry_line(json_object_get(root, "kernel_name"));
  r->recording->device = clt_entry_line(json_object_get(root, "device_name"));
  if (r->recording->kernel == NULL || r->recording->device == NULL) return clt_fail_memory(error);
  int rc = read_parameters(r, root, error);
  if (rc == CLT_OK) rc = check_cartesian(r, error);
  if (rc == CLT_OK) rc = read_entries(r, root, error);
  return rc ? rc : clt_recording_finish(r->recording, r->builder, error);
}

int clt_kernel_tuner_read(clt_recording *recording, const char *path, const json_t *root, clt_error *error) {
  reader r = {.path = path, .recording = recording};
  int rc = clt_space_builder_new(&r.builder, error);
  if (rc == CLT_OK) rc = read_root(&r, root, error);
  for (size_t i = 0; i < r.n_parameters; i++) clt_value_index_free(r.parameters[i].index);
  clt_space_builder_free(r.builder);
  return rc;
}
