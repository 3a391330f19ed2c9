/* What KTT 2 writes as JSON: "Metadata" with the device and the "TimeUnit" of all durations, and "Results", each with
 * "KernelName", "Status", "TotalDuration", overheads, and "Configuration" as a list of {"Name", "ValueType", "Value"}.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "format/columns.h"
#include "format/entry.h"
#include "format/recording.h"

#define FAILED_DURATION_S 1e9 /* KTT writes the largest number of nanoseconds there is, some 1.8e10 s */
#define FAIL(r, key, ...) clt_fail_at(error, CLT_E_FORMAT, (r)->path, 0, key, __VA_ARGS__)

typedef struct reader {
  const char *path;
  clt_recording *recording;
  const json_t *results;
  double seconds_per_unit;
  json_t **configurations; /* n objects {name: value}, owned */
  size_t n;
  clt_columns columns;
} reader;

static const char *kernel_at(const reader *r, size_t i) {
  const char *name = json_string_value(json_object_get(json_array_get(r->results, i), "KernelName"));
  return name ? name : "";
}

/* --- where the results come from --- */

static int check_kernels(const reader *r, clt_error *error) {
  for (size_t i = 1; i < r->n; i++)
    if (strcmp(kernel_at(r, i), kernel_at(r, 0)) != 0)
      return FAIL(r, "Results", "holds results of two kernels, '%.64s' and '%.64s': a recording is of one",
                  kernel_at(r, 0), kernel_at(r, i));
  return CLT_OK;
}

/* Without a unit nobody knows what a duration means. */
static int read_source(reader *r, const json_t *root, clt_error *error) {
  const json_t *metadata = json_object_get(root, "Metadata");
  r->recording->kernel = clt_entry_line(json_object_get(json_array_get(r->results, 0), "KernelName"));
  r->recording->device = clt_entry_line(json_object_get(metadata, "Device"));
  if (r->recording->kernel == NULL || r->recording->device == NULL) return clt_fail_memory(error);
  r->seconds_per_unit = clt_entry_seconds_per(json_object_get(metadata, "TimeUnit"), 0);
  if (r->seconds_per_unit > 0) return CLT_OK;
  return FAIL(r, "Metadata.TimeUnit", "needs Nanoseconds, Microseconds, Milliseconds or Seconds");
}

/* --- configurations --- */

static int read_pairs(const reader *r, size_t index, const json_t *pairs, clt_error *error) {
  json_t *configuration = r->configurations[index];
  for (size_t i = 0; i < json_array_size(pairs); i++) {
    const json_t *pair = json_array_get(pairs, i);
    const char *name = json_string_value(json_object_get(pair, "Name"));
    json_t *value = json_object_get(pair, "Value");
    if (name == NULL || value == NULL)
      return FAIL(r, "Results", "parameter %zu of result %zu needs a \"Name\" and a \"Value\"", i, index);
    if (json_object_get(configuration, name))
      return FAIL(r, "Results", "result %zu has the parameter '%.64s' twice", index, name);
    if (json_object_set(configuration, name, value)) return clt_fail_memory(error);
  }
  return CLT_OK;
}

static int read_configurations(reader *r, clt_error *error) {
  r->configurations = clt_new_array(r->n, sizeof(json_t *));
  if (r->configurations == NULL) return clt_fail_memory(error);
  int rc = CLT_OK;
  for (size_t i = 0; rc == CLT_OK && i < r->n; i++) {
    r->configurations[i] = json_object();
    if (r->configurations[i] == NULL) return clt_fail_memory(error);
    rc = read_pairs(r, i, json_object_get(json_array_get(r->results, i), "Configuration"), error);
  }
  return rc;
}

/* --- results --- */

static clt_reason read_status(const json_t *result) {
  static const struct {
    const char *status;
    clt_reason reason;
  } known[] = {{"Ok", CLT_REASON_NONE},
               {"ComputationFailed", CLT_REASON_RUN_ERROR},
               {"ValidationFailed", CLT_REASON_WRONG_OUTPUT},
               {"CompilationFailed", CLT_REASON_COMPILE_ERROR},
               {"DeviceLimitsExceeded", CLT_REASON_DEVICE_LIMIT}};
  const char *status = json_string_value(json_object_get(result, "Status"));
  for (size_t i = 0; status && i < sizeof known / sizeof *known; i++)
    if (strcmp(known[i].status, status) == 0) return known[i].reason;
  return CLT_REASON_UNKNOWN;
}

static double duration_s(const reader *r, const json_t *result, const char *name) {
  double seconds = clt_entry_number(json_object_get(result, name), 0) * r->seconds_per_unit;
  return seconds < FAILED_DURATION_S ? seconds : 0;
}

/* KTT runs a configuration once. */
static void read_time(const reader *r, clt_measurement *m, const json_t *result) {
  clt_reason reason = read_status(result);
  double time_s = duration_s(r, result, "TotalDuration");
  m->phases.build_s = duration_s(r, result, "CompilationOverhead");
  m->phases.verify_s = duration_s(r, result, "ValidationOverhead");
  if (time_s > 0) m->phases.runs_s = m->runs_s[m->n_runs++] = time_s;
  if (reason == CLT_REASON_NONE && time_s > 0) {
    m->time_s = time_s;
  } else {
    clt_measurement_fail(m, reason == CLT_REASON_NONE ? CLT_REASON_UNKNOWN : reason, NULL);
  }
}

static int read_result(const reader *r, size_t i, clt_error *error) {
  clt_config config;
  int rc = clt_columns_config(&config, &r->columns, r->configurations[i], i, error);
  if (rc) return rc;
  clt_measurement m;
  clt_measurement_init(&m, config);
  read_time(r, &m, json_array_get(r->results, i));
  rc = clt_recording_add(r->recording, &m, error);
  clt_measurement_release(&m);
  return rc;
}

static int read_all(reader *r, const json_t *root, clt_space_builder *builder, clt_error *error) {
  int rc = check_kernels(r, error);
  if (rc == CLT_OK) rc = read_source(r, root, error);
  if (rc == CLT_OK) rc = read_configurations(r, error);
  if (rc == CLT_OK) rc = clt_columns_occurring(&r->columns, r->configurations, r->n, error);
  if (rc == CLT_OK) rc = clt_columns_build(&r->columns, builder, error);
  for (size_t i = 0; rc == CLT_OK && i < r->n; i++) rc = read_result(r, i, error);
  return rc ? rc : clt_recording_finish(r->recording, builder, error);
}

int clt_ktt_read(clt_recording *recording, const char *path, const json_t *root, clt_error *error) {
  reader r = {.path = path,
              .recording = recording,
              .results = json_object_get(root, "Results"),
              .columns = {.path = path, .key = "Results"}};
  clt_space_builder *builder = NULL;
  r.n = json_array_size(r.results);
  if (r.n == 0) return FAIL(&r, "Results", "needs a list of results");
  int rc = clt_space_builder_new(&builder, error);
  if (rc == CLT_OK) rc = read_all(&r, root, builder, error);
  clt_columns_release(&r.columns);
  for (size_t i = 0; r.configurations && i < r.n; i++) json_decref(r.configurations[i]);
  free(r.configurations);
  clt_space_builder_free(builder);
  return rc;
}
