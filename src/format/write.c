/* The two writers: common functions, then T4 results, then Kernel Tuner's cache files. */
#include <unistd.h>
#include <zlib.h>

#include "base/base.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "device/device.h"
#include "format/format.h"
#include "measurement/measurement.h"
#include "problem/instance.h"
#include "space/space.h"

#define MS_PER_S 1e3
#define RECORDING_DIGITS 9      /* nanoseconds for times below a second */
#define RECORDING_PHASE_MS 1e-2 /* unit to which phases are rounded */

/* --- a JSON file, written piece by piece --- */

/* json_*_set_new and json_array_append_new accept NULL (out of memory) and return -1. So only the first failure is
 * kept, and later calls do nothing. */
typedef struct writer {
  clt_results from;   /* all members are set */
  clt_objective *own; /* owned: the objective of a recording, if it has more than times */
  size_t digits;      /* JSON_REAL_PRECISION */
  bool spell_keys;    /* in keys of a cache file */
  clt_replacement replacement;
  gzFile file;
  int rc;
  clt_error *error;
} writer;

/* The number of digits for reals: the smallest of 9 (enough for times), 15 (text stays the same if it is read and
 * written again) and 17 that is at least `digits` and preserves all values of the space. */
static size_t digits_of(const clt_space *space, int digits) {
  for (size_t i = 0; i < clt_space_n_parameters(space); i++) {
    const clt_parameter *parameter = clt_space_parameter(space, i);
    for (size_t k = 0; k < parameter->n_values; k++) {
      char text[40];
      if (parameter->values[k].type != CLT_REAL) continue;
      for (; digits < 17; digits = digits < 15 ? 15 : 17) {
        clt_snprintf(text, sizeof text, "%.*g", digits, parameter->values[k].real);
        if (clt_strtod(text, NULL) == parameter->values[k].real) break;
      }
    }
  }
  return JSON_REAL_PRECISION((size_t)digits);
}

/* The caller must call end_file unless this fails. digits: the minimum for reals. */
static int begin_file(writer *w, const char *path, int digits, clt_error *error) {
  int rc = clt_file_replace_open(&w->replacement, path, error);
  if (rc) {
    clt_objective_free(w->own);
    return rc;
  }
  w->error = error;
  w->digits = digits_of(w->from.space, digits);
  w->file = gzdopen(w->replacement.fd, clt_ends_with(path, ".gz") ? "wb9" : "wbT");
  if (w->file == NULL) {
    clt_objective_free(w->own);
    clt_file_replace_abort(&w->replacement);
    return clt_fail_memory(error);
  }
  w->replacement.fd = -1;
  return CLT_OK;
}

static int put_bytes(const char *bytes, size_t n, void *user) {
  return n == 0 || gzwrite(user, bytes, (unsigned)n) == (int)n ? 0 : -1;
}

static void fail_writing(writer *w) { w->rc = clt_fail_errno(w->error, CLT_E_IO, "write", w->replacement.path); }

static void put_text(writer *w, const char *text) {
  if (w->rc == CLT_OK && put_bytes(text, strlen(text), w->file)) fail_writing(w);
}

/* Takes the reference over; json NULL: out of memory. */
static void put_json(writer *w, json_t *json, size_t flags) {
  if (w->rc == CLT_OK && json == NULL) w->rc = clt_fail_memory(w->error);
  if (w->rc == CLT_OK && json_dump_callback(json, put_bytes, w->file, flags | JSON_COMPACT | JSON_ENCODE_ANY))
    fail_writing(w);
  json_decref(json);
}

static void put_member(writer *w, const char *name, json_t *value) {
  if (w->rc == CLT_OK && gzprintf(w->file, "\"%s\": ", name) < 0) fail_writing(w);
  put_json(w, value, w->digits);
  put_text(w, ",\n");
}

/* Replaces the file, or discards the new content if anything failed. */
static int end_file(writer *w) {
  clt_objective_free(w->own);
  if (gzclose(w->file) != Z_OK && w->rc == CLT_OK) fail_writing(w);
  if (w->rc == CLT_OK) return clt_file_replace_commit(&w->replacement, w->error);
  clt_file_replace_abort(&w->replacement);
  return w->rc;
}

/* --- common to both --- */

static json_t *runs_json(const clt_measurement *m) {
  json_t *runs = json_array();
  for (size_t i = 0; i < m->n_runs; i++)
    if (isfinite(m->runs_s[i])) clt_json_append(&runs, json_real(m->runs_s[i] * MS_PER_S));
  return runs;
}

static json_t *values_json(const clt_parameter *parameter) {
  json_t *values = json_array();
  for (size_t i = 0; i < parameter->n_values; i++) clt_json_append(&values, clt_json_value(parameter->values[i]));
  return values;
}

/* The number of the problem's sizes. */
static size_t n_sizes(const writer *w) {
  if (w->from.instance) return clt_instance_n_sizes(w->from.instance);
  return w->from.recording ? w->from.recording->n_sizes : 0;
}

static clt_size size_at(const writer *w, size_t i) {
  return w->from.instance ? clt_instance_size(w->from.instance, i) : w->from.recording->sizes[i];
}

/* Writes the results one by one. */
static void put_results(writer *w, void (*put)(writer *w, const clt_measurement *m, const clt_measurement *as_time)) {
  const clt_objective *o = w->from.objective;
  const bool is_figure = o && strcmp(clt_objective_metric(o, clt_objective_default(o)).name, "figure") == 0;
  for (size_t i = 0; i < w->from.n && w->rc == CLT_OK; i++) {
    const clt_measurement *m = &w->from.measurements[i];
    clt_measurement as_time = *m; /* the figure of a program is written as its cost in place of times */
    if (is_figure) clt_objective_figure_as_time(o, m, &as_time);
    put_text(w, i ? ",\n" : "\n");
    put(w, m, &as_time);
  }
}

static int start_writer(writer *w, const clt_results *results, clt_error *error) {
  const clt_recording *r = results->recording;
  *w = (writer){.from = *results};
  if (results->instance) w->from.space = clt_instance_space(results->instance);
  if (r == NULL) return CLT_OK;
  w->from = (clt_results){.recording = r, .space = r->space, .measurements = r->measurements, .n = r->n};
  const char *name = r->figure.name;
  if (name == NULL && !r->by_energy && r->n_columns == 0) return CLT_OK;
  char *text = name && r->figure.goal == CLT_GOAL_NOT_STATED ? clt_format("minimise %s", name)
                                                             : NULL; /* the goal does not matter here */
  int rc = clt_recording_objective(&w->own, r, text, error);
  w->from.objective = w->own;
  free(text);
  return rc;
}

/* --- T4: the origin of the results --- */

/* Writes name, sizes, device and ConfigurationSpace. For an instance: the parameters with all values in their order,
 * and types, conditions and aliases as in the problem file. For a recording: everything that it has; if only the name
 * of the device is known, the device is {"name": ...}. */
static void put_source(writer *w) {
  const clt_instance *instance = w->from.instance;
  const clt_recording *r = w->from.recording;
  const json_t *stated = instance ? json_object_get(instance->problem->source.root, "ConfigurationSpace") : NULL;
  const char *name = instance ? clt_problem_name(clt_instance_problem(instance)) : r->kernel;
  json_t *sizes = json_array(), *parameters = json_array(), *device = NULL;
  for (size_t i = 0; i < n_sizes(w); i++)
    clt_json_append(&sizes,
                    json_pack("{s:s, s:I}", "Name", size_at(w, i).name, "Value", (json_int_t)size_at(w, i).value));
  for (size_t i = 0; i < clt_space_n_parameters(w->from.space); i++) {
    const clt_parameter *parameter = clt_space_parameter(w->from.space, i);
    const char *type = instance ? instance->problem->parameters[i].type : NULL;
    clt_json_append(&parameters, json_pack("{s:s, s:s*, s:o}", "Name", parameter->name, "Type", type, "Values",
                                           values_json(parameter)));
  }
  if (instance && clt_instance_device(instance))
    device = clt_device_json(clt_instance_device(instance));
  else if (r && r->device_json[0])
    device = json_loads(r->device_json, 0, NULL);
  else
    device = r && r->device[0] ? json_pack("{s:s}", "name", r->device) : json_object();
  put_member(w, "General", json_pack("{s:s}", "BenchmarkName", name));
  put_member(w, "ProblemParameters", sizes);
  put_member(w, "Device", device);
  put_member(w, "ConfigurationSpace",
             json_pack("{s:o, s:O*, s:O*}", "TuningParameters", parameters, "Conditions",
                       json_object_get(stated, "Conditions"), "Aliases", json_object_get(stated, "Aliases")));
}

/* --- T4: a result --- */

/* NaN and infinity are omitted, because JSON lacks them. */
static void set_phase(const writer *w, json_t **object, const char *key, double seconds) {
  double ms = seconds * MS_PER_S;
  if (w->from.instance) ms = round(ms / RECORDING_PHASE_MS) * RECORDING_PHASE_MS;
  if (isfinite(ms)) clt_json_set(object, key, json_real(ms));
}

static void append_quantity(json_t **list, const char *name, json_t *value, const char *unit) {
  clt_json_append(list, json_pack("{s:s, s:o, s:s}", "name", name, "value", value, "unit", unit));
}

/* T4 has no member for the failure reason, so it is written as a measurement. */
static json_t *measurements_json(const writer *w, const clt_measurement *m, double time_s) {
  const clt_objective *objective = w->from.objective;
  bool correct = clt_measurement_correct(m);
  json_t *list = json_array();
  /* The time of a failed configuration is Kernel Tuner's name of the failure; otherwise readers would use the mean of
   * its runs. */
  if (!correct)
    append_quantity(&list, "time", json_string(clt_entry_error(m->reason)), "ms");
  else if (isfinite(time_s))
    append_quantity(&list, "time", json_real(time_s * MS_PER_S), "ms");
  if (isfinite(m->energy_J)) append_quantity(&list, "energy", json_real(m->energy_J), "J");
  if (objective && !correct && !clt_objective_is_time(objective))
    append_quantity(&list, clt_objective_name(objective), json_string(clt_entry_error(m->reason)),
                    clt_objective_unit(objective));
  for (size_t i = 0; objective && i < clt_objective_n_metrics(objective); i++) {
    clt_metric metric = clt_objective_metric(objective, i);
    double value = clt_objective_metric_value(objective, i, m);
    if (isfinite(value) && strcmp(metric.name, "time") != 0 && strcmp(metric.name, "energy") != 0)
      append_quantity(&list, metric.name, json_real(value), metric.unit);
  }
  if (isfinite(m->max_abs_error)) append_quantity(&list, "max_abs_error", json_real(m->max_abs_error), "");
  append_quantity(&list, "reason", json_string(clt_reason_name(m->reason)), "");
  return list;
}

static void put_result(writer *w, const clt_measurement *m, const clt_measurement *as_time) {
  const clt_objective *objective = w->from.objective;
  const clt_phases *phases = &m->phases;
  json_t *object = json_object(), *times = json_object();
  set_phase(w, &times, "compilation", phases->build_s);
  set_phase(w, &times, "compilation_time", phases->build_s);
  set_phase(w, &times, "benchmark", phases->runs_s);
  set_phase(w, &times, "validation", phases->verify_s);
  set_phase(w, &times, "framework", phases->first_launch_s + phases->wait_s);
  clt_json_set(&times, "search_algorithm", json_integer(0));
  clt_json_set(&times, "runtimes", runs_json(as_time));
  clt_json_set(&object, "configuration", clt_json_configuration(w->from.space, m->config));
  clt_json_set(&object, "times", times);
  clt_json_set(&object, "invalidity", json_string(clt_invalidity_name(clt_reason_invalidity(m->reason))));
  clt_json_set(&object, "correctness", json_integer(clt_measurement_correct(m)));
  clt_json_set(&object, "measurements", measurements_json(w, m, as_time->time_s));
  clt_json_set(&object, "objectives", json_pack("[s]", objective ? clt_objective_name(objective) : "time"));
  put_json(w, object, w->digits);
}

/* The direction of an objective that is not time, if it is known. */
static clt_goal stated_goal(const writer *w) {
  const clt_objective *objective = w->from.objective;
  const clt_recording *r = w->from.recording;
  const bool unknown = r && r->figure.name && r->figure.goal == CLT_GOAL_NOT_STATED;
  if (objective == NULL || clt_objective_is_time(objective) || unknown) return CLT_GOAL_NOT_STATED;
  return clt_objective_goal(objective);
}

int clt_t4_write(const char *path, const clt_results *results, clt_error *error) {
  writer w;
  int rc = start_writer(&w, results, error);
  if (rc == CLT_OK) rc = begin_file(&w, path, results->instance ? RECORDING_DIGITS : 15, error);
  if (rc) return rc;
  const clt_goal goal = stated_goal(&w);
  put_text(&w, "{\"schema_version\": \"1.0.0\", \"metadata\": {\"timeunit\": \"milliseconds\"");
  if (goal) put_text(&w, ", \"goal\": ");
  if (goal) put_json(&w, json_string(clt_goal_name(goal)), 0);
  put_text(&w, "}, ");
  if (results->instance || results->recording) put_source(&w);
  put_text(&w, "\"results\": [");
  put_results(&w, put_result);
  put_text(&w, "\n]}\n");
  return end_file(&w);
}

/* --- Kernel Tuner --- */

/* Writes a value as Python prints it: reals with the shortest digits that read back the same, and large ones with an
 * exponent only from 1e16 on. */
static void add_python(clt_text *out, clt_value value) {
  char text[64];
  const double size = value.type == CLT_REAL ? fabs(value.real) : 0;
  clt_value_print(text, sizeof text, value.type == CLT_STRING ? (clt_value){0} : value);
  if (size >= 1 && size < 1e16 && size == floor(size)) clt_snprintf(text, sizeof text, "%.1f", value.real);
  if (size >= 1e16 && strchr(text, '.') && strchr(text, 'e') == NULL)
    clt_snprintf(text, sizeof text, "%.16e", value.real); /* all 17 digits are needed */
  if (value.type == CLT_BOOL)
    clt_text_add(out, value.integer ? "True" : "False");
  else
    clt_text_add(out, value.type == CLT_STRING ? value.text : text);
}

/* A key is the values joined by commas, as in Kernel Tuner. Two configurations could have the same key if several
 * parameters have texts with commas, or if a parameter has both a number and the same number as a text. Then texts are
 * written as clt_value_spell does; Kernel Tuner does not recognise these keys and measures such configurations again.
 */
static bool keys_may_collide(const clt_space *space) {
  size_t n_with_commas = 0;
  for (size_t i = 0; i < clt_space_n_parameters(space); i++) {
    const clt_parameter *parameter = clt_space_parameter(space, i);
    bool comma = false;
    for (size_t k = 0; k < parameter->n_values; k++) {
      if (parameter->values[k].type != CLT_STRING) continue;
      if (clt_value_looks_listed(parameter, parameter->values[k].text)) return true;
      comma = comma || strchr(parameter->values[k].text, ',');
    }
    n_with_commas += comma;
  }
  return n_with_commas > 1;
}

static void add_key(clt_text *out, const writer *w, clt_config config) {
  uint32_t positions[CLT_MAX_PARAMETERS];
  clt_space_positions(positions, w->from.space, config);
  for (size_t i = 0; i < clt_space_n_parameters(w->from.space); i++) {
    const clt_parameter *parameter = clt_space_parameter(w->from.space, i);
    clt_value value = parameter->values[positions[i]];
    if (i) clt_text_add(out, ",");
    if (w->spell_keys && value.type == CLT_STRING)
      clt_value_spell(out, parameter, positions[i]);
    else
      add_python(out, value);
  }
}

static void put_entry(writer *w, const clt_measurement *m, const clt_measurement *as_time) {
  const char *word = clt_entry_error(m->reason);
  const clt_objective *o = w->from.objective;
  json_t *entry = clt_json_configuration(w->from.space, m->config);
  clt_text key = {0};
  add_key(&key, w, m->config);
  if (word || isfinite(as_time->time_s))
    clt_json_set(&entry, "time", word ? json_string(word) : json_real(as_time->time_s * MS_PER_S));
  if (isfinite(m->energy_J)) clt_json_set(&entry, "energy", json_real(m->energy_J));
  for (size_t i = 1; o && i < clt_objective_n_metrics(o); i++) { /* all but time */
    const char *own = clt_objective_metric(o, i).name;
    const double value = clt_objective_metric_value(o, i, m);
    if (isfinite(value) && !json_object_get(entry, own)) clt_json_set(&entry, own, json_real(value));
  }
  clt_json_set(&entry, "times", runs_json(as_time));
  if (word) clt_json_set(&entry, "__error__", json_string(word));
  if (word && clt_space_find_parameter(w->from.space, "reason") < 0)
    clt_json_set(&entry, "reason", json_string(clt_reason_name(m->reason)));
  const struct {
    const char *name;
    double seconds;
  } phases[] = {{"compile_time", m->phases.build_s},
                {"verification_time", m->phases.verify_s},
                {"benchmark_time", m->phases.runs_s},
                {"strategy_time", 0},
                {"framework_time", m->phases.first_launch_s + m->phases.wait_s}};
  for (size_t i = 0; i < sizeof phases / sizeof *phases; i++)
    clt_json_set(&entry, phases[i].name, json_real(isfinite(phases[i].seconds) ? phases[i].seconds * MS_PER_S : 0));
  char *name = NULL;
  clt_text_take(&name, &key, NULL);
  put_json(w, name ? json_string(name) : NULL, 0);
  put_text(w, ": ");
  put_json(w, entry, w->digits);
  free(name);
}

/* The problem file's ProblemSize if it consists of numbers, else the sizes; [1] if there are none. */
static json_t *problem_size_json(const writer *w) {
  json_t *list = json_array();
  if (w->from.instance) {
    const json_t *root = clt_instance_problem(w->from.instance)->source.root;
    json_t *stated = json_object_get(json_object_get(root, "KernelSpecification"), "ProblemSize");
    bool usable = json_is_integer(stated) || json_array_size(stated) > 0;
    for (size_t i = 0; i < json_array_size(stated); i++) usable &= json_is_integer(json_array_get(stated, i));
    if (usable) {
      json_decref(list);
      return json_incref(stated);
    }
  }
  for (size_t i = 0; i < n_sizes(w); i++) clt_json_append(&list, json_integer(size_at(w, i).value));
  if (n_sizes(w) == 0) clt_json_append(&list, json_integer(1));
  return list;
}

int clt_kernel_tuner_write(const char *path, const clt_results *results, clt_error *error) {
  writer w;
  int rc = start_writer(&w, results, error);
  if (rc) return rc;
  const clt_space *space = w.from.space;
  const char *kernel = "", *device = "";
  if (results->recording) {
    kernel = results->recording->kernel;
    device = results->recording->device;
  }
  if (results->instance) {
    const clt_problem *problem = clt_instance_problem(results->instance);
    const clt_device_info *info = clt_instance_device(results->instance);
    kernel = clt_json_string(json_object_get(problem->source.root, "KernelSpecification"), "KernelName");
    if (*kernel == '\0') kernel = clt_problem_name(problem);
    if (info) device = info->name;
  }
  for (size_t i = 0; i < clt_space_n_parameters(space); i++) {
    const char *name = clt_space_parameter(space, i)->name;
    if (!clt_entry_is_field(name) || strcmp(name, "reason") == 0) continue;
    clt_objective_free(w.own);
    return clt_fail(error, CLT_E_ARGUMENT,
                    "a cache file of Kernel Tuner cannot have a parameter named '%s'; rename it, or write T4 results",
                    name);
  }
  w.spell_keys = keys_may_collide(space);
  rc = begin_file(&w, path, 15, error);
  if (rc) return rc;
  json_t *keys = json_array(), *parameters = json_object();
  for (size_t i = 0; i < clt_space_n_parameters(space); i++) {
    const clt_parameter *parameter = clt_space_parameter(space, i);
    clt_json_append(&keys, json_string(parameter->name));
    clt_json_set(&parameters, parameter->name, values_json(parameter));
  }
  put_text(&w, "{");
  put_member(&w, "device_name", json_string(device));
  put_member(&w, "kernel_name", json_string(kernel));
  put_member(&w, "problem_size", problem_size_json(&w));
  put_member(&w, "tune_params_keys", keys);
  put_member(&w, "tune_params", parameters);
  put_member(&w, "objective", json_pack("[s]", w.from.objective ? clt_objective_name(w.from.objective) : "time"));
  if (stated_goal(&w)) /* of which Kernel Tuner has only an option */
    put_member(&w, "goal", json_string(clt_goal_name(stated_goal(&w))));
  put_text(&w, "\"cache\": {");
  put_results(&w, put_entry);
  put_text(&w, "}\n}"); /* exactly these bytes: Kernel Tuner recognises a complete file by them */
  return end_file(&w);
}

/* --- what is lost --- */

static void add_unit(clt_text *line, const clt_metric *metric) {
  if (metric->name && metric->unit[0])
    clt_text_printf(line, "%s%s in %s", line->n ? ", " : "the units: ", metric->name, metric->unit);
}

int clt_recording_loss(char **out, const clt_recording *r, bool as_t4, clt_error *error) {
  clt_text line = {0};
  if (!as_t4) add_unit(&line, &r->figure);
  for (size_t i = 0; !as_t4 && i < r->n_columns; i++) add_unit(&line, &r->columns[i].metric);
  if (r->left_out) clt_text_printf(&line, "%s%s", line.n ? "; " : "", r->left_out);
  return clt_text_take(out, &line, error);
}
