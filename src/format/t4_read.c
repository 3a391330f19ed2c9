/* T4 results: an object with "results", each with its "configuration" by name, "times", "invalidity" and
 * "measurements". Results alone have no lists of values: they are those that occur, in ascending order. A recording has
 * them in its "ConfigurationSpace". */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "format/entry.h"
#include "format/recording.h"
#include "format/value_index.h"

typedef struct parameter {
  const char *name;
  clt_value *values; /* one a result at first, then the different ones in ascending order */
  size_t n_values;
  clt_value_index *index;
} parameter;

typedef struct reader {
  const char *path;
  clt_recording *recording;
  const json_t *results, *stated; /* stated: "TuningParameters", nullable */
  parameter parameters[CLT_MAX_PARAMETERS];
  size_t n_parameters;
} reader;

#define SPACE "ConfigurationSpace.TuningParameters"
#define MAX_VALUES 65536 /* of a parameter */
#define SIZES "ProblemParameters"
#define MAX_SIZES 256
#define FAIL(r, key, ...) clt_fail_at(error, CLT_E_FORMAT, (r)->path, 0, key, __VA_ARGS__)

static const json_t *configuration_at(const reader *r, size_t i) {
  return json_object_get(json_array_get(r->results, i), "configuration");
}

/* --- parameters --- */

static int collect_values(const reader *r, parameter *p, clt_error *error) {
  size_t n = json_array_size(r->results);
  p->values = clt_new_array(n, sizeof *p->values);
  if (p->values == NULL) return clt_fail_memory(error);
  for (size_t i = 0; i < n; i++)
    if (!clt_entry_value(&p->values[i], json_object_get(configuration_at(r, i), p->name)))
      return FAIL(r, "results", "the configuration of result %zu has no usable value of '%s'", i, p->name);
  qsort(p->values, n, sizeof *p->values, clt_value_compare);
  for (size_t i = 0; i < n; i++)
    if (i == 0 || clt_value_compare(&p->values[p->n_values - 1], &p->values[i]))
      p->values[p->n_values++] = p->values[i];
  p->index = clt_value_index_new(p->values, p->n_values);
  return p->index ? CLT_OK : clt_fail_memory(error);
}

static int read_parameter(reader *r, const char *name, clt_error *error) {
  if (!clt_entry_name(name)) return FAIL(r, "results", "a parameter's name must be an identifier");
  if (r->n_parameters == CLT_MAX_PARAMETERS)
    return FAIL(r, "results", "there are more than %d parameters", CLT_MAX_PARAMETERS);
  parameter *p = &r->parameters[r->n_parameters++];
  p->name = name;
  return collect_values(r, p, error);
}

/* --- parameters as the recording states them --- */

static int read_values(const reader *r, parameter *p, const json_t *list, clt_error *error) {
  size_t n = json_array_size(list);
  if (n < 1 || n > MAX_VALUES) return FAIL(r, SPACE, "'%s' needs a list of 1 to %d values", p->name, MAX_VALUES);
  p->values = clt_new_array(n, sizeof *p->values);
  if (p->values == NULL) return clt_fail_memory(error);
  for (; p->n_values < n; p->n_values++)
    if (!clt_entry_value(&p->values[p->n_values], json_array_get(list, p->n_values)))
      return FAIL(r, SPACE, "'%s' has a value that is neither a number, a truth value nor a word", p->name);
  p->index = clt_value_index_new(p->values, n);
  return p->index ? CLT_OK : clt_fail_memory(error);
}

static int check_values(const reader *r, const parameter *p, clt_error *error) {
  clt_value value;
  uint64_t position;
  for (size_t i = 0; i < json_array_size(r->results); i++)
    if (!clt_entry_value(&value, json_object_get(configuration_at(r, i), p->name)) ||
        !clt_value_index_find(p->index, value, &position))
      return FAIL(r, "results", "the configuration of result %zu has a value of '%s' that is not listed", i, p->name);
  return CLT_OK;
}

static int read_stated(reader *r, clt_error *error) {
  size_t n = json_array_size(r->stated);
  if (n < 1 || n > CLT_MAX_PARAMETERS) return FAIL(r, SPACE, "needs a list of 1 to %d parameters", CLT_MAX_PARAMETERS);
  for (size_t i = 0; i < n; i++) {
    const json_t *stated = json_array_get(r->stated, i);
    const char *name = json_string_value(json_object_get(stated, "Name"));
    if (name == NULL || !clt_entry_name(name)) return FAIL(r, SPACE, "a parameter's name must be an identifier");
    parameter *p = &r->parameters[r->n_parameters++];
    p->name = name;
    int rc = read_values(r, p, json_object_get(stated, "Values"), error);
    if (rc == CLT_OK) rc = check_values(r, p, error);
    if (rc) return rc;
  }
  return CLT_OK;
}

/* --- parameters as they occur --- */

/* Those of the first result; all must have the same. */
static int read_occurring(reader *r, clt_error *error) {
  json_t *first = json_object_get(json_array_get(r->results, 0), "configuration");
  if (json_object_size(first) == 0) return FAIL(r, "results", "needs a list of results with a configuration each");
  int rc = CLT_OK;
  for (void *i = json_object_iter(first); i && rc == CLT_OK; i = json_object_iter_next(first, i))
    rc = read_parameter(r, json_object_iter_key(i), error);
  return rc;
}

static int build_parameters(const reader *r, clt_space_builder *builder, clt_error *error) {
  uint64_t cartesian = 1;
  int rc = CLT_OK;
  for (size_t i = 0; i < r->n_parameters && rc == CLT_OK; i++) {
    const parameter *p = &r->parameters[i];
    if (__builtin_mul_overflow(cartesian, p->n_values, &cartesian) || cartesian > (uint64_t)1 << 63)
      return clt_fail_at(error, CLT_E_RANGE, r->path, 0, "results", "the space has more than 2^63 configurations");
    rc = clt_space_builder_parameter(builder, p->name, p->values, p->n_values, error);
  }
  return rc;
}

/* --- results --- */

static clt_config read_config(const reader *r, const json_t *configuration) {
  clt_config config = 0;
  for (size_t i = 0; i < r->n_parameters; i++) {
    const parameter *p = &r->parameters[i];
    clt_value value;
    uint64_t position = 0;
    if (clt_entry_value(&value, json_object_get(configuration, p->name)))
      clt_value_index_find(p->index, value, &position);
    config = config * p->n_values + position;
  }
  return config;
}

static const json_t *find_quantity(const json_t *result, const char *name) {
  const json_t *list = json_object_get(result, "measurements");
  for (size_t i = 0; i < json_array_size(list); i++) {
    const json_t *quantity = json_array_get(list, i);
    const char *its_name = json_string_value(json_object_get(quantity, "name"));
    if (its_name && strcmp(its_name, name) == 0) return quantity;
  }
  return NULL;
}

static double seconds_per(const char *unit) {
  static const struct {
    const char *unit;
    double seconds;
  } units[] = {{"s", 1}, {"seconds", 1}, {"us", 1e-6}, {"ns", 1e-9}};
  for (size_t i = 0; unit && i < sizeof units / sizeof *units; i++)
    if (strcmp(units[i].unit, unit) == 0) return units[i].seconds;
  return CLT_SECONDS_PER_MS;
}

/* The measured "time", else the mean of the runs; 0: neither. */
static double read_time(const json_t *result, const clt_measurement *m) {
  const json_t *quantity = find_quantity(result, "time");
  double time = clt_entry_number(json_object_get(quantity, "value"), 0), sum_s = 0;
  if (time > 0 && time < CLT_FAILED_TIME_MS)
    return time * seconds_per(json_string_value(json_object_get(quantity, "unit")));
  for (size_t i = 0; i < m->n_runs; i++) sum_s += m->runs_s[i];
  return m->n_runs ? sum_s / (double)m->n_runs : 0;
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

static double phase_s(const json_t *times, const char *name, const char *other_name) {
  const json_t *said = json_object_get(times, name);
  return clt_entry_number(said ? said : json_object_get(times, other_name), 0) * CLT_SECONDS_PER_MS;
}

static int read_result(const reader *r, const json_t *result, clt_error *error) {
  const json_t *times = json_object_get(result, "times"), *configuration = json_object_get(result, "configuration");
  if (json_object_size(configuration) != r->n_parameters)
    return FAIL(r, "results", "all results need the same %zu parameters", r->n_parameters);
  clt_measurement m;
  clt_measurement_init(&m, read_config(r, configuration));
  clt_entry_runs(&m, json_object_get(times, "runtimes"), CLT_SECONDS_PER_MS);
  m.phases.build_s = phase_s(times, "compilation_time", "compilation");
  m.phases.runs_s = phase_s(times, "benchmark", "benchmark_time");
  m.phases.verify_s = phase_s(times, "validation", "validation_time");
  clt_reason reason = read_reason(result);
  double time_s = read_time(result, &m);
  if (reason == CLT_REASON_NONE && time_s > 0) {
    m.time_s = time_s;
  } else {
    clt_measurement_fail(&m, reason == CLT_REASON_NONE ? CLT_REASON_UNKNOWN : reason, NULL);
  }
  int rc = clt_recording_add(r->recording, &m, error);
  clt_measurement_release(&m);
  return rc;
}

static int read_results(reader *r, clt_space_builder *builder, clt_error *error) {
  int rc = r->stated ? read_stated(r, error) : read_occurring(r, error);
  if (rc == CLT_OK) rc = build_parameters(r, builder, error);
  for (size_t i = 0; rc == CLT_OK && i < json_array_size(r->results); i++)
    rc = read_result(r, json_array_get(r->results, i), error);
  return rc ? rc : clt_recording_finish(r->recording, builder, error);
}

/* --- where they come from --- */

static int read_sizes(clt_recording *recording, const char *path, const json_t *list, clt_error *error) {
  size_t n = json_array_size(list);
  if (n > MAX_SIZES) return clt_fail_at(error, CLT_E_FORMAT, path, 0, SIZES, "there are more than %d", MAX_SIZES);
  recording->sizes = clt_new_array(n, sizeof *recording->sizes);
  if (recording->sizes == NULL) return clt_fail_memory(error);
  for (size_t i = 0; i < n; i++) {
    const json_t *size = json_array_get(list, i), *value = json_object_get(size, "Value");
    const char *name = json_string_value(json_object_get(size, "Name"));
    if (name == NULL || !clt_entry_name(name) || !json_is_integer(value))
      return clt_fail_at(error, CLT_E_FORMAT, path, 0, SIZES, "item %zu needs a name and a whole number", i);
    recording->sizes[i] = (clt_size){strdup(name), json_integer_value(value)};
    if (recording->sizes[i].name == NULL) return clt_fail_memory(error);
    recording->n_sizes++;
  }
  return CLT_OK;
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
              .stated = json_object_get(json_object_get(root, "ConfigurationSpace"), "TuningParameters")};
  clt_space_builder *builder = NULL;
  if (json_array_size(r.results) == 0) return FAIL(&r, "results", "needs a list of results");
  int rc = read_source(recording, path, root, error);
  if (rc == CLT_OK) rc = clt_space_builder_new(&builder, error);
  if (rc == CLT_OK) rc = read_results(&r, builder, error);
  for (size_t i = 0; i < r.n_parameters; i++) {
    clt_value_index_free(r.parameters[i].index);
    free(r.parameters[i].values);
  }
  clt_space_builder_free(builder);
  return rc;
}
