/* What CLTune's PrintJSON and CLBlast's tuners write: an object with descriptions as texts, "device", and "results",
 * each with "kernel", "time" (milliseconds) and "parameters" {name: whole number}. Results that failed are not in it.
 * CLBlast gives its problem sizes as texts "arg_m", "arg_n", ... */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "format/columns.h"
#include "format/entry.h"
#include "format/recording.h"

#define SIZE_PREFIX "arg_"
#define SCORES_SUFFIX "_kernel_selection"
#define FAIL(r, key, ...) clt_fail_at(error, CLT_E_FORMAT, (r)->path, 0, key, __VA_ARGS__)

typedef struct reader {
  const char *path;
  clt_recording *recording;
  const json_t *results;
  clt_columns columns;
} reader;

static const json_t *result_at(const reader *r, size_t i) { return json_array_get(r->results, i); }

static const char *kernel_at(const reader *r, size_t i) {
  const char *kernel = json_string_value(json_object_get(result_at(r, i), "kernel"));
  return kernel ? kernel : "";
}

/* --- where the results come from --- */

static bool ends_with(const char *text, const char *end) {
  size_t n = strlen(text), n_end = strlen(end);
  return n >= n_end && strcmp(text + n - n_end, end) == 0;
}

/* One space, one kernel. CLBlast's choice between two kernels has the same form, but a score for its time. */
static int check_kernels(const reader *r, clt_error *error) {
  const char *kernel = kernel_at(r, 0);
  if (ends_with(kernel, SCORES_SUFFIX))
    return FAIL(r, "results", "'%.64s' has scores of a choice between kernels, not times of configurations", kernel);
  for (size_t i = 1; i < json_array_size(r->results); i++)
    if (strcmp(kernel_at(r, i), kernel) != 0)
      return FAIL(r, "results", "holds results of two kernels, '%.64s' and '%.64s': a recording is of one", kernel,
                  kernel_at(r, i));
  return CLT_OK;
}

static bool whole_number(int64_t *out, const json_t *json) {
  const char *text = json_string_value(json);
  char *end;
  if (json_is_integer(json)) return *out = json_integer_value(json), true;
  if (text == NULL || *text == '\0') return false;
  errno = 0;
  *out = strtoll(text, &end, 10);
  return *end == '\0' && errno == 0;
}

static int read_sizes(const reader *r, json_t *root, clt_error *error) {
  const char *key;
  json_t *value;
  int64_t number;
  int rc = CLT_OK;
  json_object_foreach(root, key, value) {
    bool is_size = strncmp(key, SIZE_PREFIX, strlen(SIZE_PREFIX)) == 0 && clt_entry_name(key + strlen(SIZE_PREFIX));
    if (rc == CLT_OK && is_size && whole_number(&number, value))
      rc = clt_recording_add_size(r->recording, key + strlen(SIZE_PREFIX), number, error);
  }
  return rc;
}

static int read_source(const reader *r, const json_t *root, clt_error *error) {
  r->recording->kernel = clt_entry_line(json_object_get(result_at(r, 0), "kernel"));
  r->recording->device = clt_entry_line(json_object_get(root, "device"));
  if (r->recording->kernel == NULL || r->recording->device == NULL) return clt_fail_memory(error);
  return read_sizes(r, (json_t *)root, error); /* jansson's iterators want it so; nothing is changed */
}

/* --- results --- */

static int read_parameters(reader *r, clt_space_builder *builder, clt_error *error) {
  size_t n = json_array_size(r->results);
  json_t **configurations = clt_new_array(n, sizeof(json_t *));
  if (configurations == NULL) return clt_fail_memory(error);
  for (size_t i = 0; i < n; i++) configurations[i] = json_object_get(result_at(r, i), "parameters");
  int rc = clt_columns_occurring(&r->columns, configurations, n, error);
  free(configurations);
  return rc ? rc : clt_columns_build(&r->columns, builder, error);
}

static int read_result(const reader *r, size_t i, clt_error *error) {
  const json_t *result = result_at(r, i);
  clt_config config;
  int rc = clt_columns_config(&config, &r->columns, json_object_get(result, "parameters"), i, error);
  if (rc) return rc;
  clt_measurement m;
  clt_measurement_init(&m, config);
  double time_ms = clt_entry_number(json_object_get(result, "time"), 0);
  if (time_ms > 0 && time_ms < CLT_FAILED_TIME_MS) {
    m.time_s = time_ms * CLT_SECONDS_PER_MS;
  } else {
    clt_measurement_fail(&m, CLT_REASON_UNKNOWN, NULL);
  }
  rc = clt_recording_add(r->recording, &m, error);
  clt_measurement_release(&m);
  return rc;
}

static int read_all(reader *r, const json_t *root, clt_space_builder *builder, clt_error *error) {
  int rc = check_kernels(r, error);
  if (rc == CLT_OK) rc = read_source(r, root, error);
  if (rc == CLT_OK) rc = read_parameters(r, builder, error);
  for (size_t i = 0; rc == CLT_OK && i < json_array_size(r->results); i++) rc = read_result(r, i, error);
  return rc ? rc : clt_recording_finish(r->recording, builder, error);
}

int clt_cltune_read(clt_recording *recording, const char *path, const json_t *root, clt_error *error) {
  reader r = {.path = path,
              .recording = recording,
              .results = json_object_get(root, "results"),
              .columns = {.path = path, .key = "results"}};
  clt_space_builder *builder = NULL;
  int rc = clt_space_builder_new(&builder, error);
  if (rc == CLT_OK) rc = read_all(&r, root, builder, error);
  clt_columns_release(&r.columns);
  clt_space_builder_free(builder);
  return rc;
}
