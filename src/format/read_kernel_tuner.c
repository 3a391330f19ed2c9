/* Kernel Tuner's cache files: an object with "tune_params" {name: [values]}, and "cache" {"1,2,3": entry}. An entry has
 * the parameters by name, "time" (milliseconds, or why there is none), "times", and what the phases took in
 * milliseconds. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "format/recording.h"
#include "measurement/statistics.h"

#define FAIL(key, ...) clt_fail_at(error, CLT_E_FORMAT, c->path, 0, key, __VA_ARGS__)

/* In the order of "tune_params_keys", which is that of the entries' keys, else of "tune_params" itself. */
static int read_parameters(clt_columns *c, const json_t *root, clt_space_builder *builder, clt_error *error) {
  json_t *parameters = json_object_get(root, "tune_params"), *keys = json_object_get(root, "tune_params_keys");
  if (!json_is_object(parameters) || json_object_size(parameters) == 0)
    return FAIL("tune_params", "needs an object with the parameters' values");
  int rc = CLT_OK;
  if (!json_is_array(keys)) {
    for (void *i = json_object_iter(parameters); i && rc == CLT_OK; i = json_object_iter_next(parameters, i))
      rc = clt_columns_add(c, json_object_iter_key(i), json_object_iter_value(i), builder, error);
    return rc;
  }
  if (json_array_size(keys) != json_object_size(parameters))
    return FAIL("tune_params_keys", "does not name the parameters of 'tune_params'");
  for (size_t i = 0; i < json_array_size(keys) && rc == CLT_OK; i++) {
    const char *name = json_string_value(json_array_get(keys, i));
    if (name == NULL) return FAIL("tune_params_keys", "needs a list of names");
    rc = clt_columns_add(c, name, json_object_get(parameters, name), builder, error);
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

/* By the fields' names; what is not there comes from the key. */
static int read_config(clt_config *out, const clt_columns *c, const char *key, const json_t *entry, clt_error *error) {
  const char *tokens[CLT_MAX_PARAMETERS] = {NULL};
  char *cut = NULL;
  int rc = CLT_OK;
  *out = 0;
  for (size_t i = 0; i < c->n && rc == CLT_OK; i++) {
    const clt_column *column = &c->column[i];
    const json_t *field = json_object_get(entry, column->name);
    uint64_t position = 0;
    clt_value value;
    if (field == NULL && cut == NULL) {
      cut = strdup(key);
      if (cut == NULL) return clt_fail_memory(error);
      char *rest = cut; /* "16,1,2"; nothing is taken from a key with another number of values */
      size_t n = 0;
      for (char *token = strsep(&rest, ","); token; token = strsep(&rest, ","), n++)
        if (n < c->n) tokens[n] = token;
      if (n != c->n) memset(tokens, 0, sizeof tokens);
    }
    if (field == NULL && tokens[i]) value = read_token(tokens[i]);
    if (field == NULL ? tokens[i] == NULL : !clt_entry_value(&value, field))
      rc = FAIL("cache", "the entry '%.64s' has no usable value of '%s'", key, column->name);
    else if (!clt_column_find(column, value, &position))
      rc = FAIL("cache", "the entry '%.64s' has a value of '%s' that 'tune_params' does not list", key, column->name);
    *out = *out * column->n_values + position;
  }
  free(cut);
  return rc;
}

/* --- what was measured --- */

static int read_entry(clt_recording *recording, const clt_columns *c, const char *key, const json_t *entry,
                      clt_error *error) {
  clt_config config = 0;
  clt_measurement m;
  if (!json_is_object(entry)) return FAIL("cache", "the entry '%.64s' is not an object", key);
  int rc = read_config(&config, c, key, entry, error);
  if (rc) return rc;
  clt_measurement_init(&m, config);
  clt_entry_runs(&m, json_object_get(entry, "times"), CLT_SECONDS_PER_MS);
  const json_t *time = json_object_get(entry, "time"), *failure = json_object_get(entry, "__error__");
  double time_ms = clt_entry_number(time, 0);
  if (time_ms > 0 && time_ms < CLT_FAILED_TIME_MS && failure == NULL) {
    m.time_s = time_ms * CLT_SECONDS_PER_MS;
  } else { /* the text of the failure stands in the place of the time, in it, or beside it */
    const json_t *said = json_is_object(time) ? json_object_get(time, "__error__") : failure;
    const char *text = json_string_value(said ? said : time);
    const char *name = json_string_value(json_object_get(entry, "reason")); /* clatune's, counts where it fits */
    clt_reason reason = clt_entry_reason(text), finer;
    const char *log = reason == CLT_REASON_UNKNOWN ? text : NULL;
    if (name && text && clt_reason_parse(&finer, name, NULL) == CLT_OK && clt_entry_error(finer) &&
        strcmp(clt_entry_error(finer), text) == 0)
      reason = finer;
    clt_measurement_fail(&m, reason, log);
  }
  m.phases.build_s = clt_entry_number(json_object_get(entry, "compile_time"), 0) * CLT_SECONDS_PER_MS;
  m.phases.runs_s = clt_entry_number(json_object_get(entry, "benchmark_time"), 0) * CLT_SECONDS_PER_MS;
  m.phases.verify_s = clt_entry_number(json_object_get(entry, "verification_time"), 0) * CLT_SECONDS_PER_MS;
  return clt_recording_add(recording, &m, error);
}

int clt_kernel_tuner_read(clt_recording *recording, const char *path, const json_t *root, clt_space_builder *builder,
                          clt_error *error) {
  clt_columns columns = {.path = path, .key = "tune_params"}, *c = &columns;
  json_t *cache = json_object_get(root, "cache");
  int rc = clt_entry_line(&recording->kernel, json_object_get(root, "kernel_name"), error);
  if (rc == CLT_OK) rc = clt_entry_line(&recording->device, json_object_get(root, "device_name"), error);
  if (rc == CLT_OK) rc = read_parameters(c, root, builder, error);
  if (rc == CLT_OK && !json_is_object(cache)) rc = FAIL("cache", "needs an object with the recorded configurations");
  if (rc == CLT_OK && json_object_size(cache) == 0) rc = FAIL("cache", "holds no configurations");
  for (void *i = json_object_iter(cache); i && rc == CLT_OK; i = json_object_iter_next(cache, i))
    rc = read_entry(recording, c, json_object_iter_key(i), json_object_iter_value(i), error);
  clt_columns_release(c);
  return rc;
}
