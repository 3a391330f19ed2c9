/* What other tuners write as a list of results.
 *
 * CLTune's PrintJSON and CLBlast's tuners: an object with descriptions as texts, "device", and "results", each with
 * "kernel", "time" (milliseconds) and "parameters" {name: whole number}. Results that failed are not in it. CLBlast
 * gives its problem sizes as texts "arg_m", "arg_n", ...
 *
 * KTT 2: "Metadata" with the device and the "TimeUnit" of all durations, and "Results", each with "KernelName",
 * "Status", "TotalDuration", overheads, and "Configuration" as a list of {"Name", "ValueType", "Value"}. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "format/recording.h"

#define FAIL(key, ...) clt_fail_at(error, CLT_E_FORMAT, path, 0, key, __VA_ARGS__)

/* A recording is of one space and one kernel, whose name the member has. */
static int read_kernel(clt_recording *recording, const char *path, const char *key, const json_t *results,
                       const char *member, clt_error *error) {
  const char *kernel = clt_json_string(json_array_get(results, 0), member);
  for (size_t i = 1; i < json_array_size(results); i++) {
    const char *other = clt_json_string(json_array_get(results, i), member);
    if (strcmp(other, kernel) != 0)
      return FAIL(key, "holds results of two kernels, '%.64s' and '%.64s': a recording is of one", kernel, other);
  }
  return clt_entry_line(&recording->kernel, json_object_get(json_array_get(results, 0), member), error);
}

/* --- CLTune, CLBlast --- */

#define SIZE_PREFIX "arg_"
#define SCORES_SUFFIX "_kernel_selection"

static void read_cltune_result(void *user, clt_measurement *m, const json_t *result) {
  (void)user;
  double time_ms = clt_entry_number(json_object_get(result, "time"), 0);
  if (time_ms > 0 && time_ms < CLT_FAILED_TIME_MS)
    m->time_s = time_ms * CLT_SECONDS_PER_MS;
  else
    clt_measurement_fail(m, CLT_REASON_UNKNOWN, NULL);
}

static bool read_whole(int64_t *out, const json_t *json) {
  const char *text = json_string_value(json);
  char *end;
  if (json_is_integer(json)) return *out = json_integer_value(json), true;
  if (text == NULL || *text == '\0') return false;
  errno = 0;
  *out = strtoll(text, &end, 10);
  return *end == '\0' && errno == 0;
}

int clt_cltune_read(clt_recording *recording, const char *path, const json_t *root, clt_space_builder *builder,
                    clt_error *error) {
  const clt_result_list list = {
      .results = json_object_get(root, "results"), .configuration = "parameters", .read = read_cltune_result};
  clt_columns columns = {.path = path, .key = "results"};
  const char *key, *kernel = clt_json_string(json_array_get(list.results, 0), "kernel");
  json_t *value;
  int64_t number;
  /* CLBlast's choice between two kernels has the same form, but a score for its time. */
  if (clt_ends_with(kernel, SCORES_SUFFIX))
    return FAIL("results", "'%.64s' has scores of a choice between kernels, not times of configurations", kernel);
  int rc = read_kernel(recording, path, "results", list.results, "kernel", error);
  if (rc == CLT_OK) rc = clt_entry_line(&recording->device, json_object_get(root, "device"), error);
  json_object_foreach((json_t *)root, key, value) { /* jansson's iterators want it so; nothing is changed */
    const char *name = key + strlen(SIZE_PREFIX);
    if (rc == CLT_OK && clt_starts_with(key, SIZE_PREFIX) && clt_entry_name(name) && read_whole(&number, value))
      rc = clt_recording_add_size(recording, name, number, error);
  }
  if (rc == CLT_OK) rc = clt_columns_read_results(&columns, recording, &list, builder, error);
  clt_columns_release(&columns);
  return rc;
}

/* --- KTT --- */

#define FAILED_DURATION_S 1e9 /* KTT writes the largest number of nanoseconds there is, some 1.8e10 s */

static double duration_s(const json_t *result, const char *name, double seconds_per_unit) {
  double seconds = clt_entry_number(json_object_get(result, name), 0) * seconds_per_unit;
  return seconds < FAILED_DURATION_S ? seconds : 0;
}

/* KTT runs a configuration once. user: seconds per unit. */
static void read_ktt_result(void *user, clt_measurement *m, const json_t *result) {
  static const struct {
    const char *status;
    clt_reason reason;
  } known[] = {{"Ok", CLT_REASON_NONE},
               {"ComputationFailed", CLT_REASON_RUN_ERROR},
               {"ValidationFailed", CLT_REASON_WRONG_OUTPUT},
               {"CompilationFailed", CLT_REASON_COMPILE_ERROR},
               {"DeviceLimitsExceeded", CLT_REASON_DEVICE_LIMIT}};
  const char *status = clt_json_string(result, "Status");
  clt_reason reason = CLT_REASON_UNKNOWN;
  double unit_s = *(const double *)user, time_s = duration_s(result, "TotalDuration", unit_s);
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (strcmp(known[i].status, status) == 0) reason = known[i].reason;
  m->phases.build_s = duration_s(result, "CompilationOverhead", unit_s);
  m->phases.verify_s = duration_s(result, "ValidationOverhead", unit_s);
  if (time_s > 0) m->phases.runs_s = m->runs_s[m->n_runs++] = time_s;
  if (reason == CLT_REASON_NONE && time_s > 0)
    m->time_s = time_s;
  else
    clt_measurement_fail(m, reason == CLT_REASON_NONE ? CLT_REASON_UNKNOWN : reason, NULL);
}

int clt_ktt_read(clt_recording *recording, const char *path, const json_t *root, clt_space_builder *builder,
                 clt_error *error) {
  const json_t *metadata = json_object_get(root, "Metadata"), *results = json_object_get(root, "Results");
  size_t n = json_array_size(results);
  double seconds_per_unit = clt_entry_seconds_per(json_object_get(metadata, "TimeUnit"), 0);
  clt_columns columns = {.path = path, .key = "Results"};
  if (n == 0) return FAIL("Results", "needs a list of results");
  json_t **configurations = clt_new_array(n, sizeof *configurations);
  int rc =
      configurations ? read_kernel(recording, path, "Results", results, "KernelName", error) : clt_fail_memory(error);
  if (rc == CLT_OK) rc = clt_entry_line(&recording->device, json_object_get(metadata, "Device"), error);
  if (rc == CLT_OK && seconds_per_unit <= 0) /* without a unit nobody knows what a duration means */
    rc = FAIL("Metadata.TimeUnit", "needs Nanoseconds, Microseconds, Milliseconds or Seconds");
  for (size_t i = 0; rc == CLT_OK && i < n; i++) {
    const json_t *pairs = json_object_get(json_array_get(results, i), "Configuration");
    if ((configurations[i] = json_object()) == NULL) rc = clt_fail_memory(error);
    for (size_t k = 0; rc == CLT_OK && k < json_array_size(pairs); k++) { /* the pairs become one object */
      const char *name = json_string_value(json_object_get(json_array_get(pairs, k), "Name"));
      json_t *value = json_object_get(json_array_get(pairs, k), "Value");
      if (name == NULL || value == NULL)
        rc = FAIL("Results", "parameter %zu of result %zu needs a \"Name\" and a \"Value\"", k, i);
      else if (json_object_get(configurations[i], name))
        rc = FAIL("Results", "result %zu has the parameter '%.64s' twice", i, name);
      else if (json_object_set(configurations[i], name, value))
        rc = clt_fail_memory(error);
    }
  }
  const clt_result_list list = {
      .results = results, .configurations = configurations, .read = read_ktt_result, .user = &seconds_per_unit};
  if (rc == CLT_OK) rc = clt_columns_read_results(&columns, recording, &list, builder, error);
  clt_columns_release(&columns);
  for (size_t i = 0; configurations && i < n; i++) json_decref(configurations[i]);
  free(configurations);
  return rc;
}
