/* T4 results: an object with "results", each with its "configuration" by name, "times", "invalidity" and
 * "measurements". Results alone have no lists of values: they are those that occur, in ascending order. A recording has
 * them in its "ConfigurationSpace". */
#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/json.h"
#include "format/recording.h"
#include "measurement/statistics.h"

static const json_t *find_quantity(const json_t *result, const char *name) {
  const json_t *list = json_object_get(result, "measurements");
  for (size_t i = 0; i < json_array_size(list); i++)
    if (strcmp(clt_json_string(json_array_get(list, i), "name"), name) == 0) return json_array_get(list, i);
  return NULL;
}

/* The measured "time", else the mean of the runs; 0: neither. */
static double read_time(const json_t *result, const clt_measurement *m, double seconds_per_unit) {
  const json_t *quantity = find_quantity(result, "time");
  double time = clt_entry_number(json_object_get(quantity, "value"), 0), sum_s = 0;
  if (time > 0 && time < CLT_FAILED_TIME_MS)
    return time * clt_entry_seconds_per(json_object_get(quantity, "unit"), seconds_per_unit);
  for (size_t i = 0; i < m->n_runs; i++) sum_s += m->runs_s[i];
  return m->n_runs ? sum_s / (double)m->n_runs : 0;
}

/* The finer reason counts where it fits the invalidity. */
static clt_reason read_reason(const json_t *result) {
  const char *invalidity = json_string_value(json_object_get(result, "invalidity"));
  clt_reason reason = CLT_REASON_UNKNOWN;
  if (invalidity == NULL) return reason;
  if (strcmp(invalidity, clt_invalidity_name(CLT_CORRECT)) == 0) return CLT_REASON_NONE;
  if (clt_reason_parse(&reason, clt_json_string(find_quantity(result, "reason"), "value"), NULL) == CLT_OK &&
      strcmp(clt_invalidity_name(clt_reason_invalidity(reason)), invalidity) == 0)
    return reason;
  return clt_entry_reason(invalidity);
}

static double phase_s(const json_t *times, const char *name, const char *other_name, double seconds_per_unit) {
  const json_t *said = json_object_get(times, name);
  return clt_entry_number(said ? said : json_object_get(times, other_name), 0) * seconds_per_unit;
}

/* user: seconds per unit of "times", and of measurements without a unit. */
static void read_result(void *user, clt_measurement *m, const json_t *result) {
  double unit_s = *(const double *)user;
  const json_t *times = json_object_get(result, "times"), *quantity = find_quantity(result, "energy");
  clt_entry_runs(m, json_object_get(times, "runtimes"), unit_s);
  m->phases.build_s = phase_s(times, "compilation_time", "compilation", unit_s);
  m->phases.runs_s = phase_s(times, "benchmark", "benchmark_time", unit_s);
  m->phases.verify_s = phase_s(times, "validation", "validation_time", unit_s);
  clt_reason reason = read_reason(result);
  double time_s = read_time(result, m, unit_s);
  if (reason != CLT_REASON_NONE || time_s <= 0) {
    clt_measurement_fail(m, reason == CLT_REASON_NONE ? CLT_REASON_UNKNOWN : reason, NULL);
    return;
  }
  double energy = clt_entry_number(json_object_get(quantity, "value"), 0); /* in joules, or mJ */
  m->time_s = time_s;
  if (energy > 0) m->energy_J = energy * (strcmp(clt_json_string(quantity, "unit"), "mJ") == 0 ? 1e-3 : 1);
}

int clt_t4_read(clt_recording *recording, const char *path, const json_t *root, clt_space_builder *builder,
                clt_error *error) {
  const json_t *device = json_object_get(root, "Device"), *sizes = json_object_get(root, "ProblemParameters");
  const json_t *stated = json_object_get(json_object_get(root, "ConfigurationSpace"), "TuningParameters");
  double seconds_per_unit =
      clt_entry_seconds_per(json_object_get(json_object_get(root, "metadata"), "timeunit"), CLT_SECONDS_PER_MS);
  const clt_result_list list = {.results = json_object_get(root, "results"),
                                .configuration = "configuration",
                                .read = read_result,
                                .user = &seconds_per_unit};
  clt_columns columns = {.path = path, .key = "results"};
  if (json_array_size(list.results) == 0)
    return clt_fail_at(error, CLT_E_FORMAT, path, 0, "results", "needs a list of results");
  /* Members that other writers do not have: what is missing is "", or none. */
  int rc =
      clt_entry_line(&recording->kernel, json_object_get(json_object_get(root, "General"), "BenchmarkName"), error);
  if (rc == CLT_OK) rc = clt_entry_line(&recording->device, json_object_get(device, "name"), error);
  if (json_object_size(device) > 0) recording->device_json = json_dumps(device, JSON_COMPACT);
  for (size_t i = 0; rc == CLT_OK && i < json_array_size(sizes); i++) {
    const json_t *value = json_object_get(json_array_get(sizes, i), "Value");
    const char *name = clt_json_string(json_array_get(sizes, i), "Name");
    rc = clt_entry_name(name) && json_is_integer(value)
             ? clt_recording_add_size(recording, name, json_integer_value(value), error)
             : clt_fail_at(error, CLT_E_FORMAT, path, 0, "ProblemParameters",
                           "item %zu needs a name and a whole number", i);
  }
  if (rc == CLT_OK && stated) {
    size_t n = json_array_size(stated);
    columns.key = "ConfigurationSpace.TuningParameters";
    if (n < 1 || n > CLT_MAX_PARAMETERS)
      rc = clt_fail_at(error, CLT_E_FORMAT, path, 0, columns.key, "needs a list of 1 to %d parameters",
                       CLT_MAX_PARAMETERS);
    for (size_t i = 0; rc == CLT_OK && i < n; i++)
      rc = clt_columns_add(&columns, clt_json_string(json_array_get(stated, i), "Name"),
                           json_object_get(json_array_get(stated, i), "Values"), builder, error);
    columns.key = "results";
  }
  if (rc == CLT_OK) rc = clt_columns_read_results(&columns, recording, &list, builder, error);
  clt_columns_release(&columns);
  return rc;
}
