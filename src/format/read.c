/* Reads recordings in the formats of several auto-tuners, which docs/reference/file-formats.md describes. */
#include "base/base.h"
#include "base/json.h"
#include "base/text.h"
#include "format/format.h"
#include "measurement/measurement.h"
#include "space/space.h"

#define MAX_LINE_BYTES 256   /* of names and of displayed texts */
#define MAX_TEXT_BYTES 65536 /* of a value */
#define MAX_VALUES 65536     /* of a parameter */
#define SECONDS_PER_MS 1e-3
#define SAME_UNIT 30 /* ratio up to which two times have the same unit; units differ by 1,000 */
#define FAILED_S 1e9 /* longer: a failure. Old versions of Kernel Tuner wrote 1e20 ms, KTT the maximum number of ns */

#define FAIL(key, ...) clt_fail_at(r->error, CLT_E_FORMAT, r->path, 0, key, __VA_ARGS__)

typedef struct recording_reader {
  clt_recording *recording;
  const char *path, *key; /* key: for mistakes in parameters */
  clt_space_builder *builder;
  clt_error *error;
  const char *names[CLT_MAX_PARAMETERS]; /* of the builder's parameters; borrowed from the JSON */
  size_t n;
  double unit_s;        /* the file's unit of time in seconds */
  const char *quantity; /* the objective: name of a T4 measurement, or of a field of an entry */
  size_t n_results;     /* of the file */
} recording_reader;

static bool is_usable_name(const char *name) { return clt_is_name(name) && strlen(name) <= MAX_LINE_BYTES; }

/* Reads a number, a boolean or a text, which is borrowed. It becomes a build option only if a problem lists it, too. */
static bool read_value(clt_value *out, const json_t *json) {
  return clt_json_to_value(out, json) && (out->type != CLT_STRING || strlen(out->text) < MAX_TEXT_BYTES);
}

/* A finite number; NaN for anything else. */
static double read_any_number(const json_t *json) {
  double x;
  return clt_json_read_number(&x, json) ? x : NAN;
}

/* A finite number of at least 0; 0 for anything else. */
static double read_number(const json_t *json) { return fmax(read_any_number(json), 0); /* NaN: 0 */ }

/* A time in seconds; 0: it is not a time, or a failure. */
static double read_time(const json_t *json, double unit_s) {
  double seconds = read_number(json) * unit_s;
  return seconds < FAILED_S ? seconds : 0;
}

/* Fills runs_s from a list of times; skips other items. */
static void read_runs(clt_measurement *m, const json_t *times, double unit_s) {
  for (size_t i = 0; i < json_array_size(times) && m->n_runs < CLT_MAX_RUNS; i++) {
    double seconds = read_time(json_array_get(times, i), unit_s);
    if (seconds > 0) m->runs_s[m->n_runs++] = seconds;
  }
}

static bool is_by_time(const recording_reader *r) {
  return !r->recording->by_energy && r->recording->figure.name == NULL;
}

/* Sets an objective that is not time: energy, or a figure. goal "": derived from the name and unit, as Kernel Tuner
 * does for common ones. */
static int set_quantity(recording_reader *r, const char *name, const char *unit, const char *goal) {
  clt_metric *figure = &r->recording->figure;
  r->quantity = name;
  if (clt_unit_amount(unit, true) > 0 || (*unit == '\0' && clt_ends_with(name, "energy"))) {
    r->recording->by_energy = true;
    return CLT_OK;
  }
  if (strcmp(name, "time") == 0) return FAIL(r->key, "unknown unit '%.64s' of 'time'; use s, ms, us or ns", unit);
  /* In files of clatune from before goals were stated, "time" is the cost of the figure. */
  if (strcmp(name, "figure") == 0 && *goal == '\0') {
    r->quantity = "time";
    return CLT_OK;
  }
  figure->goal = clt_goal_of_words(name, unit);
  if (strcmp(goal, "maximise") == 0) figure->goal = CLT_MAXIMISE;
  if (strcmp(goal, "minimise") == 0) figure->goal = CLT_MINIMISE;
  figure->expression = "figure";
  int rc = clt_line_copy((char **)&figure->name, name, r->error);
  return rc ? rc : clt_line_copy((char **)&figure->unit, unit, r->error);
}

/* Whether a result has this value of the objective; times and energies are above 0. */
static bool has_value(const recording_reader *r, double value) {
  return r->recording->figure.name ? isfinite(value) : value > 0;
}

/* Sets the result of a measurement, or its failure. value: of the objective, in seconds or joules if it is a time or
 * energy; judged: the same in the file. Below 0 it is a score or some tool's mark of failures; 0 is a failure. */
static int set_outcome(const recording_reader *r, clt_measurement *m, clt_reason reason, double time_s,
                       const json_t *judged, double value) {
  if (reason == CLT_REASON_NONE && r->recording->figure.name == NULL && read_any_number(judged) < 0)
    return FAIL(r->key,
                "a result has the %s %g, which is below 0; if it is a score, give it another name and state that as "
                "the objective; if it marks a failure, write the failure in its place",
                r->recording->by_energy ? "energy" : "time", json_number_value(judged));
  if (reason != CLT_REASON_NONE || !has_value(r, value)) {
    clt_measurement_fail(m, reason == CLT_REASON_NONE ? CLT_REASON_UNKNOWN : reason, NULL);
    return CLT_OK;
  }
  if (time_s > 0) m->time_s = time_s;
  if (r->recording->by_energy) m->energy_J = value;
  if (r->recording->figure.name) m->figure = value;
  /* "figure" is clatune's name for the figure of a program; its costs are stored in place of times. */
  const clt_metric *figure = &r->recording->figure;
  const bool are_costs = figure->name && strcmp(figure->name, "figure") == 0;
  if (are_costs) m->time_s = NAN;
  for (size_t i = 0; figure->name && i < m->n_runs; i++) {
    m->figures[i] = are_costs ? clt_goal_value(figure->goal, m->runs_s[i]) : NAN;
    if (are_costs) m->runs_s[i] = NAN;
  }
  return CLT_OK;
}

/* Notes a further quantity of the measurement that is added next. */
static int note_quantity(const recording_reader *r, clt_measurement *m, const char *name, const char *unit,
                         const json_t *value) {
  static const char *const others[] = {"", "max_abs_error", NULL};
  if (!clt_measurement_correct(m) || clt_entry_is_field(name) || clt_is_one_of(name, others)) return CLT_OK;
  if (r->quantity && strcmp(name, r->quantity) == 0) return CLT_OK;
  return clt_recording_add_quantity(r->recording, m, name, unit, value, r->n_results, r->error);
}

/* --- parameters --- */

/* Adds a parameter. Its values are those of the list, in that order. If results is not NULL, they are those that occur
 * in the configurations of the results, in ascending order. */
static int add_parameter(recording_reader *r, const char *name, const json_t *list, const json_t *results,
                         const char *member) {
  bool listed = results == NULL;
  size_t n = json_array_size(listed ? list : results);
  clt_error why = {0};
  int rc = CLT_OK;
  if (r->n == CLT_MAX_PARAMETERS) return FAIL(r->key, "more than %d parameters are not supported", CLT_MAX_PARAMETERS);
  if (!is_usable_name(name)) return FAIL(r->key, "'%.64s' is not a valid name; use letters, digits and '_'", name);
  if (n < 1 || (listed && n > MAX_VALUES)) return FAIL(r->key, "'%s' needs a list of 1 to %d values", name, MAX_VALUES);
  clt_value *values = clt_new_array(n, sizeof *values);
  if (values == NULL) return clt_fail_memory(r->error);
  for (size_t i = 0; rc == CLT_OK && i < n; i++) {
    if (listed && !read_value(&values[i], json_array_get(list, i)))
      rc = FAIL(r->key, "value %zu of '%s' must be a number, true, false or a string", i, name);
    if (!listed && !read_value(&values[i], json_object_get(json_object_get(json_array_get(results, i), member), name)))
      rc = FAIL(r->key, "the configuration of result %zu needs a number, true, false or a string for '%s'", i, name);
  }
  if (rc == CLT_OK && !listed) n = clt_values_sort(values, n);
  if (rc == CLT_OK && n > MAX_VALUES) rc = FAIL(r->key, "'%s' has more than %d values", name, MAX_VALUES);
  if (rc == CLT_OK) {
    rc = clt_space_builder_parameter(r->builder, name, values, n, &why);
    if (rc) rc = rc == CLT_E_MEMORY ? clt_fail_memory(r->error) : FAIL(r->key, "%s", why.message);
    r->names[r->n++] = name;
  }
  free(values);
  return rc;
}

/* Reads a list of results, each with its configuration as an object {name: value}. Adds the parameters if there are
 * none yet. read_outcome reads everything except the configuration. */
static int read_results(recording_reader *r, const json_t *results, const char *member,
                        int (*read_outcome)(const recording_reader *r, clt_measurement *m, const json_t *result)) {
  json_t *first = json_object_get(json_array_get(results, 0), member);
  int rc = CLT_OK;
  if (r->n == 0 && json_object_size(first) == 0)
    return FAIL(r->key, "needs a list of results with a configuration each");
  for (void *i = r->n ? NULL : json_object_iter(first); rc == CLT_OK && i; i = json_object_iter_next(first, i))
    rc = add_parameter(r, json_object_iter_key(i), NULL, results, member);
  for (size_t i = 0; rc == CLT_OK && i < json_array_size(results); i++) {
    const json_t *result = json_array_get(results, i), *configuration = json_object_get(result, member);
    uint32_t positions[CLT_MAX_PARAMETERS];
    clt_measurement m;
    for (size_t k = 0; k < r->n; k++) {
      clt_value value;
      if (!read_value(&value, json_object_get(configuration, r->names[k])) ||
          !clt_space_builder_position(&positions[k], r->builder, k, value))
        return FAIL(r->key, "the configuration of result %zu has an unlisted value of '%s'", i, r->names[k]);
    }
    if (json_object_size(configuration) != r->n)
      return FAIL(r->key, "all results must have the same %zu parameters; result %zu has %zu", r->n, i,
                  json_object_size(configuration));
    clt_measurement_init(&m, CLT_CONFIG_NONE);
    rc = read_outcome(r, &m, result);
    if (rc == CLT_OK) rc = clt_recording_add(r->recording, &m, positions, r->n, r->error);
  }
  return rc;
}

/* --- Kernel Tuner --- */

static int note_fields(const recording_reader *r, clt_measurement *m, const json_t *entry) {
  int rc = CLT_OK;
  for (void *at = json_object_iter((json_t *)entry); at && rc == CLT_OK;
       at = json_object_iter_next((json_t *)entry, at)) {
    const char *name = json_object_iter_key(at);
    bool known = false;
    for (size_t i = 0; i < r->n && !known; i++) known = strcmp(r->names[i], name) == 0;
    if (!known) rc = note_quantity(r, m, name, "", json_object_iter_value(at));
  }
  return rc;
}

static int read_cache_entry(recording_reader *r, const char *key, const json_t *entry) {
  uint32_t positions[CLT_MAX_PARAMETERS];
  clt_measurement m;
  if (!json_is_object(entry)) return FAIL("cache", "the entry '%.64s' is not an object", key);
  bool has_reason = true;             /* "reason" is clatune's member, not a parameter */
  for (size_t i = 0; i < r->n; i++) { /* from the fields; a missing one comes from the key */
    const char *name = r->names[i];
    has_reason = has_reason && strcmp(name, "reason") != 0;
    const json_t *field = json_object_get(entry, name);
    char token[MAX_TEXT_BYTES];
    clt_value value, of_key;
    uint32_t other;
    if (!(field ? read_value(&value, field) : clt_entry_key_value(&value, token, sizeof token, key, i, r->n)))
      return FAIL("cache", "the entry '%.64s' needs a number, true, false or a string for '%s'", key, name);
    if (!clt_space_builder_position(&positions[i], r->builder, i, value))
      return FAIL("cache", "the entry '%.64s' has a value of '%s' that is not listed in 'tune_params'", key, name);
    if (clt_entry_key_value(&of_key, token, sizeof token, key, i, r->n) &&
        clt_space_builder_position(&other, r->builder, i, of_key) && other != positions[i])
      return FAIL("cache", "the entry '%.64s' has another '%s' in its fields; correct or remove the entry", key, name);
  }
  clt_measurement_init(&m, CLT_CONFIG_NONE);
  read_runs(&m, json_object_get(entry, "times"), SECONDS_PER_MS);
  const json_t *time = json_object_get(entry, "time"), *failure = json_object_get(entry, "__error__");
  double time_s = read_time(time, SECONDS_PER_MS);
  const json_t *judged = is_by_time(r) ? time : json_object_get(entry, r->quantity);
  double value = is_by_time(r) ? time_s : read_any_number(judged);
  int rc = CLT_OK;
  if (failure == NULL && (has_value(r, value) || read_any_number(judged) < 0)) {
    rc = set_outcome(r, &m, CLT_REASON_NONE, time_s, judged, value);
  } else { /* the kind of failure is in place of the time, in an object there, or in "__error__" */
    const json_t *said = json_is_object(time) ? json_object_get(time, "__error__") : failure;
    const char *text = json_string_value(said ? said : time);
    const char *name = has_reason ? clt_json_string(entry, "reason") : ""; /* used if it is consistent */
    clt_reason reason = clt_entry_reason(text), finer;
    const char *log = reason == CLT_REASON_UNKNOWN ? text : NULL;
    if (text && clt_reason_parse(&finer, name, NULL) == CLT_OK && clt_entry_error(finer) &&
        strcmp(clt_entry_error(finer), text) == 0)
      reason = finer;
    clt_measurement_fail(&m, reason, log);
  }
  if (rc == CLT_OK) rc = note_fields(r, &m, entry);
  m.phases.build_s = read_number(json_object_get(entry, "compile_time")) * SECONDS_PER_MS;
  m.phases.runs_s = read_number(json_object_get(entry, "benchmark_time")) * SECONDS_PER_MS;
  m.phases.verify_s = read_number(json_object_get(entry, "verification_time")) * SECONDS_PER_MS;
  return rc ? rc : clt_recording_add(r->recording, &m, positions, r->n, r->error);
}

static int read_kernel_tuner(recording_reader *r, const json_t *root) {
  json_t *cache = json_object_get(root, "cache");
  json_t *parameters = json_object_get(root, "tune_params"), *keys = json_object_get(root, "tune_params_keys");
  void *member = json_object_iter(parameters);
  r->key = "tune_params";
  int rc = clt_recording_set_names(r->recording, json_object_get(root, "kernel_name"),
                                   json_object_get(root, "device_name"), r->error);
  if (rc) return rc;
  if (member == NULL) return FAIL(r->key, "needs an object with the parameters' values");
  if (json_is_array(keys) && json_array_size(keys) != json_object_size(parameters))
    return FAIL("tune_params_keys", "must list the names of the parameters in 'tune_params', each once");
  /* In the order of "tune_params_keys", as in the entries' keys; without it, in that of "tune_params". */
  for (size_t i = 0; i < json_object_size(parameters); i++, member = json_object_iter_next(parameters, member)) {
    const char *name = json_is_array(keys) ? json_string_value(json_array_get(keys, i)) : json_object_iter_key(member);
    if (name == NULL) return FAIL("tune_params_keys", "needs a list of names");
    rc = add_parameter(r, name, json_object_get(parameters, name), NULL, NULL);
    if (rc) return rc;
  }
  if (!json_is_object(cache)) return FAIL("cache", "needs an object with the recorded configurations");
  if (json_object_size(cache) == 0) return FAIL("cache", "contains no configurations");
  /* Use the stated objective if any entry has it. */
  const json_t *stated = json_object_get(root, "objective");
  const char *objective = json_string_value(json_is_array(stated) ? json_array_get(stated, 0) : stated);
  bool is_there = false;
  for (void *i = json_object_iter(cache); objective && i && !is_there; i = json_object_iter_next(cache, i))
    is_there = json_is_number(json_object_get(json_object_iter_value(i), objective));
  if (is_there && strcmp(objective, "time") != 0) /* "goal": in files of clatune */
    rc = set_quantity(r, objective, "", clt_json_string(root, "goal"));
  r->key = "cache";
  r->n_results = json_object_size(cache);
  for (void *i = json_object_iter(cache); i && rc == CLT_OK; i = json_object_iter_next(cache, i))
    rc = read_cache_entry(r, json_object_iter_key(i), json_object_iter_value(i));
  return rc;
}

/* --- T4 --- */

static const json_t *find_quantity(const json_t *result, const char *name) {
  const json_t *list = json_object_get(result, "measurements");
  for (size_t i = 0; i < json_array_size(list); i++)
    if (strcmp(clt_json_string(json_array_get(list, i), "name"), name) == 0) return json_array_get(list, i);
  return NULL;
}

/* A measured value, in seconds or joules if it is a time or energy. unit: the default unit. */
static double read_measured(const json_t *result, const char *name, bool of_energy, double unit) {
  const json_t *quantity = find_quantity(result, name);
  double own = clt_unit_amount(clt_json_string(quantity, "unit"), of_energy);
  return read_number(json_object_get(quantity, "value")) * (own > 0 ? own : unit);
}

static int read_t4_outcome(const recording_reader *r, clt_measurement *m, const json_t *result) {
  const json_t *times = json_object_get(result, "times");
  read_runs(m, json_object_get(times, "runtimes"), r->unit_s);
  const json_t *build = json_object_get(times, "compilation_time"), *runs = json_object_get(times, "benchmark");
  const json_t *verify = json_object_get(times, "validation");
  m->phases.build_s = read_number(build ? build : json_object_get(times, "compilation")) * r->unit_s;
  m->phases.runs_s = read_number(runs ? runs : json_object_get(times, "benchmark_time")) * r->unit_s;
  m->phases.verify_s = read_number(verify ? verify : json_object_get(times, "validation_time")) * r->unit_s;
  /* The time is the measured one, else the mean of the runs. */
  double time_s = read_measured(result, is_by_time(r) ? r->quantity : "time", false, r->unit_s), sum_s = 0;
  for (size_t i = 0; i < m->n_runs; i++) sum_s += m->runs_s[i];
  if (!(time_s > 0 && time_s < FAILED_S)) time_s = m->n_runs ? sum_s / (double)m->n_runs : 0;
  /* The finer reason is used if it is consistent with the invalidity. */
  const char *invalidity = clt_json_string(result, "invalidity");
  clt_reason reason = clt_entry_reason(invalidity), finer;
  if (strcmp(invalidity, clt_invalidity_name(CLT_CORRECT)) == 0)
    reason = CLT_REASON_NONE;
  else if (clt_reason_parse(&finer, clt_json_string(find_quantity(result, "reason"), "value"), NULL) == CLT_OK &&
           strcmp(clt_invalidity_name(clt_reason_invalidity(finer)), invalidity) == 0)
    reason = finer;
  const bool by_energy = r->recording->by_energy;
  double value = by_energy ? read_measured(result, r->quantity, true, 1) : time_s;
  if (!by_energy && r->recording->figure.name)
    value = read_any_number(json_object_get(find_quantity(result, r->quantity), "value"));
  const json_t *judged = json_object_get(find_quantity(result, r->quantity), "value");
  int rc = set_outcome(r, m, reason, time_s, judged, value);
  const json_t *list = json_object_get(result, "measurements");
  for (size_t i = 0; rc == CLT_OK && i < json_array_size(list); i++) {
    const json_t *one = json_array_get(list, i);
    rc = note_quantity(r, m, clt_json_string(one, "name"), clt_json_string(one, "unit"), json_object_get(one, "value"));
  }
  return rc;
}

/* Chooses the measurement that is the objective, and the unit of "times" if the file does not state it: the unit of the
 * measured time if its numbers are of the same magnitude as the runs, else milliseconds. */
static int choose_t4_quantity(recording_reader *r, const json_t *metadata, const json_t *results) {
  const char *names[] = {NULL, "time", "TotalDuration"}; /* the name in files of KTT's converter */
  const char *stated = clt_json_string(metadata, "timeunit"), *unit = NULL;
  const size_t n = json_array_size(results);
  double most = 0, of_times = clt_unit_amount(stated, false);
  for (size_t i = 0; names[0] == NULL && i < n; i++)
    names[0] = json_string_value(json_array_get(json_object_get(json_array_get(results, i), "objectives"), 0));
  r->quantity = "time";
  for (size_t k = 0; k < 3 && unit == NULL; k++)
    for (size_t i = 0; names[k] && most == 0 && i < n; i++) {
      const json_t *result = json_array_get(results, i), *quantity = find_quantity(result, names[k]);
      const json_t *runs = json_object_get(json_object_get(result, "times"), "runtimes");
      if (quantity == NULL) continue;
      r->quantity = names[k];
      unit = clt_json_string(quantity, "unit");
      double value = read_number(json_object_get(quantity, "value")), run = read_number(json_array_get(runs, 0));
      if (value > 0 && run > 0) most = fmax(value / run, run / value);
    }
  if (unit == NULL) unit = "";
  const double own = clt_unit_amount(unit, false);
  if (*stated && of_times <= 0)
    return FAIL("metadata.timeunit", "unknown unit of time '%.64s'; use s, ms, us or ns", stated);
  if (of_times <= 0 && own > 0 && most > 0 && most < SAME_UNIT) of_times = own;
  r->unit_s = of_times > 0 ? of_times : SECONDS_PER_MS;
  if (own > 0 || (*unit == '\0' && (clt_starts_with(r->quantity, "time") || strcmp(r->quantity, names[2]) == 0)))
    return CLT_OK;
  return set_quantity(r, r->quantity, unit, clt_json_string(metadata, "goal"));
}

static int read_t4(recording_reader *r, const json_t *root) {
  const json_t *device = json_object_get(root, "Device"), *sizes = json_object_get(root, "ProblemParameters");
  const json_t *stated = json_object_get(json_object_get(root, "ConfigurationSpace"), "TuningParameters");
  const json_t *results = json_object_get(root, "results");
  if (json_array_size(results) == 0) return FAIL("results", "needs a list of results");
  /* Members that only clatune writes; missing ones are "" or absent. */
  int rc = clt_recording_set_names(r->recording, json_object_get(json_object_get(root, "General"), "BenchmarkName"),
                                   json_object_get(device, "name"), r->error);
  char *device_json = json_object_size(device) > 0 ? json_dumps(device, JSON_COMPACT) : strdup("");
  free(r->recording->device_json);
  if ((r->recording->device_json = device_json) == NULL) rc = clt_fail_memory(r->error);
  for (size_t i = 0; rc == CLT_OK && i < json_array_size(sizes); i++) {
    const json_t *value = json_object_get(json_array_get(sizes, i), "Value");
    const char *name = clt_json_string(json_array_get(sizes, i), "Name");
    rc = is_usable_name(name) && json_is_integer(value)
             ? clt_recording_add_size(r->recording, name, json_integer_value(value), r->error)
             : FAIL("ProblemParameters", "item %zu needs a name and a whole number", i);
  }
  if (rc == CLT_OK && stated) {
    size_t n = json_array_size(stated);
    r->key = "ConfigurationSpace.TuningParameters";
    if (n < 1 || n > CLT_MAX_PARAMETERS) rc = FAIL(r->key, "needs a list of 1 to %d parameters", CLT_MAX_PARAMETERS);
    for (size_t i = 0; rc == CLT_OK && i < n; i++)
      rc = add_parameter(r, clt_json_string(json_array_get(stated, i), "Name"),
                         json_object_get(json_array_get(stated, i), "Values"), NULL, NULL);
  }
  r->key = "results";
  r->n_results = json_array_size(results);
  if (rc == CLT_OK) rc = choose_t4_quantity(r, json_object_get(root, "metadata"), results);
  return rc ? rc : read_results(r, results, "configuration", read_t4_outcome);
}

/* --- CLTune, CLBlast --- */

#define SIZE_PREFIX "arg_"
#define SCORES_SUFFIX "_kernel_selection"

/* Checks that all results are of one kernel, whose name is in `member`. */
static int read_kernel_of_all(recording_reader *r, const json_t *results, const char *member, const json_t *device) {
  const char *kernel = clt_json_string(json_array_get(results, 0), member);
  for (size_t i = 1; i < json_array_size(results); i++) {
    const char *other = clt_json_string(json_array_get(results, i), member);
    if (strcmp(other, kernel) != 0)
      return FAIL(r->key, "has results of two kernels, '%.64s' and '%.64s'; split it", kernel, other);
  }
  return clt_recording_set_names(r->recording, json_object_get(json_array_get(results, 0), member), device, r->error);
}

static int read_cltune_outcome(const recording_reader *r, clt_measurement *m, const json_t *result) {
  const json_t *time = json_object_get(result, "time");
  return set_outcome(r, m, CLT_REASON_NONE, read_time(time, r->unit_s), time, read_time(time, r->unit_s));
}

static int read_cltune(recording_reader *r, json_t *root) {
  const json_t *results = json_object_get(root, "results");
  const char *key, *kernel = clt_json_string(json_array_get(results, 0), "kernel");
  json_t *value;
  r->key = "results";
  r->unit_s = SECONDS_PER_MS;
  /* CLBlast's files about the choice between two kernels have the same form, but a score instead of a time. */
  if (clt_ends_with(kernel, SCORES_SUFFIX))
    return FAIL(r->key, "'%.64s' compares kernels by a score; a recording needs the times of configurations", kernel);
  int rc = read_kernel_of_all(r, results, "kernel", json_object_get(root, "device"));
  json_object_foreach(root, key, value) {
    const char *name = key + strlen(SIZE_PREFIX);
    if (rc || !clt_starts_with(key, SIZE_PREFIX) || !is_usable_name(name)) continue;
    json_t *size = json_is_string(value) ? json_loads(json_string_value(value), JSON_DECODE_ANY, NULL) : NULL;
    const json_t *number = size ? size : value;
    if (json_is_integer(number)) rc = clt_recording_add_size(r->recording, name, json_integer_value(number), r->error);
    json_decref(size);
  }
  return rc ? rc : read_results(r, results, "parameters", read_cltune_outcome);
}

/* --- KTT --- */

static int read_ktt_outcome(const recording_reader *r, clt_measurement *m, const json_t *result) {
  const char *status = clt_json_string(result, "Status");
  const json_t *total = json_object_get(result, "TotalDuration");
  double time_s = read_time(total, r->unit_s);
  m->phases.build_s = read_time(json_object_get(result, "CompilationOverhead"), r->unit_s);
  m->phases.verify_s = read_time(json_object_get(result, "ValidationOverhead"), r->unit_s);
  if (time_s > 0) m->phases.runs_s = m->runs_s[m->n_runs++] = time_s;
  clt_reason reason = strcmp(status, "Ok") == 0 ? CLT_REASON_NONE : clt_entry_reason(status);
  return set_outcome(r, m, reason, time_s, total, time_s);
}

static int read_ktt(recording_reader *r, const json_t *root) {
  const json_t *metadata = json_object_get(root, "Metadata"), *results = json_object_get(root, "Results");
  r->key = "Results";
  r->unit_s = clt_unit_amount(clt_json_string(metadata, "TimeUnit"), false);
  if (json_array_size(results) == 0) return FAIL(r->key, "needs a list of results");
  int rc = read_kernel_of_all(r, results, "KernelName", json_object_get(metadata, "Device"));
  if (rc == CLT_OK && r->unit_s <= 0) /* durations are meaningless without a unit */
    rc = FAIL("Metadata.TimeUnit", "needs Nanoseconds, Microseconds, Milliseconds or Seconds");
  /* Pairs become an object, as in the other formats. */
  for (size_t i = 0; rc == CLT_OK && i < json_array_size(results); i++) {
    json_t *result = json_array_get(results, i), *pairs = json_object_get(result, "Configuration");
    json_t *configuration = json_object();
    for (size_t k = 0; rc == CLT_OK && k < json_array_size(pairs); k++) {
      const char *name = json_string_value(json_object_get(json_array_get(pairs, k), "Name"));
      json_t *value = json_object_get(json_array_get(pairs, k), "Value");
      if (name == NULL || value == NULL)
        rc = FAIL(r->key, "parameter %zu of result %zu needs a \"Name\" and a \"Value\"", k, i);
      else if (json_object_get(configuration, name))
        rc = FAIL(r->key, "result %zu has the parameter '%.64s' twice", i, name);
      else if (json_object_set(configuration, name, value))
        rc = clt_fail_memory(r->error);
    }
    if (rc == CLT_OK && json_is_object(result) && json_object_set(result, "Configuration", configuration))
      rc = clt_fail_memory(r->error);
    json_decref(configuration);
  }
  return rc ? rc : read_results(r, results, "Configuration", read_ktt_outcome);
}

int clt_recording_read(clt_recording *recording, const char *path, json_t *root, clt_space_builder *builder,
                       clt_error *error) {
  recording_reader state = {.recording = recording, .path = path, .builder = builder, .error = error}, *r = &state;
  const json_t *results = json_object_get(root, "results");
  /* The format depends on the content, not on the file name. */
  if (json_object_get(root, "cache")) return read_kernel_tuner(r, root);
  if (json_object_get(root, "Results")) return read_ktt(r, root);
  if (json_object_get(json_array_get(results, 0), "parameters")) return read_cltune(r, root);
  if (results) return read_t4(r, root);
  return FAIL(NULL,
              "needs an object with \"cache\" (a cache file of Kernel Tuner), \"results\" (T4, CLTune, CLBlast) or "
              "\"Results\" (KTT)");
}
