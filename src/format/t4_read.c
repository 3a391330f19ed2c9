/* T4 results: an object with "results", each with its "configuration" by name, "times", "invalidity" and
 * "measurements". Results alone have no lists of values: they are those that occur, in ascending order. A recording has
 * them in its "ConfigurationSpace". */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "format/columns.h"
#include "format/entry.h"
#include "format/recording.h"

#define SPACE "ConfigurationSpace.TuningParameters"
#define SIZES "ProblemParameters"
#define FAIL(r, key, ...) clt_fail_at(error, CLT_E_FORMAT, (r)->path, 0, key, __VA_ARGS__)

typedef struct reader {
  const char *path;
  clt_recording *recording;
  const json_t *results, *stated; /* stated: "TuningParameters", nullable */
  double seconds_per_unit;        /* of "times", and of measurements without a unit */
  clt_columns columns;
} reader;

static json_t *configuration_at(const reader *r, size_t i) {
  return json_object_get(json_array_get(r->results, i), "configuration");
}

/* --- parameters --- */

static int read_stated(reader *r, clt_error *error) {
  size_t n = json_array_size(r->stated);
  if (n < 1 || n > CLT_MAX_PARAMETERS) return FAIL(r, SPACE, "needs a list of 1 to %d parameters", CLT_MAX_PARAMETERS);
  int rc = CLT_OK;
  for (size_t i = 0; rc == CLT_OK && i < n; i++) {
    const json_t *stated = json_array_get(r->stated, i);
    rc = clt_columns_add_listed(&r->columns, SPACE, json_string_value(json_object_get(stated, "Name")),
                                json_object_get(stated, "Values"), error);
  }
  return rc;
}

static int read_occurring(reader *r, clt_error *error) {
  size_t n = json_array_size(r->results);
  json_t **configurations = clt_new_array(n, sizeof(json_t *));
  if (configurations == NULL) return clt_fail_memory(error);
  for (size_t i = 0; i < n; i++) configurations[i] = configuration_at(r, i);
  int rc = clt_columns_occurring(&r->columns, configurations, n, error);
  free(configurations);
  return rc;
}

/* --- results --- */

static const json_t *find_quantity(const json_t *result, const char *name) {
  const json_t *list = json_object_get(result, "measurements");
  for (size_t i = 0; i < json_array_size(list); i++) {
    const json_t *quantity = json_array_get(list, i);
    const char *its_name = json_string_value(json_object_get(quantity, "name"));
    if (its_name && strcmp(its_name, name) == 0) return quantity;
  }
  return NULL;
}

/* The measured "time", else the mean of the runs; 0: neither. */
static double read_time(const reader *r, const json_t *result, const clt_measurement *m) {
  const json_t *quantity = find_quantity(result, "time");
  double time = clt_entry_number(json_object_get(quantity, "value"), 0), sum_s = 0;
  if (time > 0 && time < CLT_FAILED_TIME_MS)
    return time * clt_entry_seconds_per(json_object_get(quantity, "unit"), r->seconds_per_unit);
  for (size_t i = 0; i < m->n_runs; i++) sum_s += m->runs_s[i];
  return m->n_runs ? sum_s / (double)m->n_runs : 0;
}

/* In joules, or mJ; NaN: it was not measured. */
static double read_energy(const json_t *result) {
  const json_t *quantity = find_quantity(result, "energy");
  const char *unit = json_string_value(json_object_get(quantity, "unit"));
  double energy = clt_entry_number(json_object_get(quantity, "value"), 0);
  return energy > 0 && isfinite(energy) ? energy * (unit && strcmp(unit, "mJ") == 0 ? 1e-3 : 1) : NAN;
}

/* The finer reason counts where it fits the invalidity. */
static clt_reason read_reason(const json_t *result) {
  const char *invalidity = json_string_value(json_object_get(result, "invalidity"));
  const char *finer = json_string_value(json_object_get(find_quantity(result, "reason"), "value"));
  clt_reason reason = CLT_REASON_UNKNOWN;
  if (invalidity == NULL) return reason;
  if (strcmp(invalidity, clt_invalidity_name(CLT_CORRECT)) == 0) return CLT_REASON_NONE;
  if (finer && clt_reason_parse(&reason, finer, NULL) == CLT_OK &&
      strcmp(clt_invalidity_name(clt_reason_invalidity(reason)), invalidity) == 0)
    return reason;
  return clt_entry_reason(invalidity);
}

static double phase_s(const reader *r, const json_t *times, const char *name, const char *other_name) {
  const json_t *said = json_object_get(times, name);
  return clt_entry_number(said ? said : json_object_get(times, other_name), 0) * r->seconds_per_unit;
}

static int read_result(const reader *r, size_t index, clt_error *error) {
  const json_t *result = json_array_get(r->results, index), *times = json_object_get(result, "times");
  clt_config config;
  int rc = clt_columns_config(&config, &r->columns, configuration_at(r, index), index, error);
  if (rc) return rc;
  clt_measurement m;
  clt_measurement_init(&m, config);
  clt_entry_runs(&m, json_object_get(times, "runtimes"), r->seconds_per_unit);
  m.phases.build_s = phase_s(r, times, "compilation_time", "compilation");
  m.phases.runs_s = phase_s(r, times, "benchmark", "benchmark_time");
  m.phases.verify_s = phase_s(r, times, "validation", "validation_time");
  clt_reason reason = read_reason(result);
  double time_s = read_time(r, result, &m);
  if (reason == CLT_REASON_NONE && time_s > 0) {
    m.time_s = time_s;
    m.energy_J = read_energy(result);
  } else {
    clt_measurement_fail(&m, reason == CLT_REASON_NONE ? CLT_REASON_UNKNOWN : reason, NULL);
  }
  rc = clt_recording_add(r->recording, &m, error);
  clt_measurement_release(&m);
  return rc;
}

static int read_results(reader *r, clt_space_builder *builder, clt_error *error) {
  int rc = r->stated ? read_stated(r, error) : read_occurring(r, error);
  if (rc == CLT_OK) rc = clt_columns_build(&r->columns, builder, error);
  for (size_t i = 0; rc == CLT_OK && i < json_array_size(r->results); i++) rc = read_result(r, i, error);
  return rc ? rc : clt_recording_finish(r->recording, builder, error);
}

/* --- where they come from --- */

static int read_sizes(clt_recording *recording, const char *path, const json_t *list, clt_error *error) {
  int rc = CLT_OK;
  for (size_t i = 0; rc == CLT_OK && i < json_array_size(list); i++) {
    const json_t *size = json_array_get(list, i), *value = json_object_get(size, "Value");
    const char *name = json_string_value(json_object_get(size, "Name"));
    if (name == NULL || !clt_entry_name(name) || !json_is_integer(value))
      return clt_fail_at(error, CLT_E_FORMAT, path, 0, SIZES, "item %zu needs a name and a whole number", i);
    rc = clt_recording_add_size(recording, name, json_integer_value(value), error);
  }
  return rc;
}

/* Members that other writers do not have: what is missing is "", or none. */
static int read_source(clt_recording *recording, const char *path, const json_t *root, clt_error *error) {
  const json_t *device = json_object_get(root, "Device");
  recording->kernel = clt_entry_line(json_object_get(json_object_get(root, "General"), "BenchmarkName"));
  recording->device = clt_entry_line(json_object_get(device, "name"));
  if (recording->kernel == NULL || recording->device == NULL) return clt_fail_memory(error);
  if (json_object_size(device) > 0) recording->device_json = json_dumps(device, JSON_COMPACT);
  return read_sizes(recording, path, json_object_get(root, SIZES), error);
}

int clt_t4_read(clt_recording *recording, const char *path, const json_t *root, clt_error *error) {
  reader r = {.path = path,
              .recording = recording,
              .results = json_object_get(root, "results"),
              .stated = json_object_get(json_object_get(root, "ConfigurationSpace"), "TuningParameters"),
              .columns = {.path = path, .key = "results"}};
  r.seconds_per_unit =
      clt_entry_seconds_per(json_object_get(json_object_get(root, "metadata"), "timeunit"), CLT_SECONDS_PER_MS);
  clt_space_builder *builder = NULL;
  if (json_array_size(r.results) == 0) return FAIL(&r, "results", "needs a list of results");
  int rc = read_source(recording, path, root, error);
  if (rc == CLT_OK) rc = clt_space_builder_new(&builder, error);
  if (rc == CLT_OK) rc = read_results(&r, builder, error);
  clt_columns_release(&r.columns);
  clt_space_builder_free(builder);
  return rc;
}
