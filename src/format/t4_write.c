#include <clatune/t4.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "format/entry.h"
#include "format/json_file.h"
#include "format/recording.h"
#include "format/t4_source.h"

#define MS_PER_S 1e3
#define RECORDING_DIGITS 9      /* nanoseconds of times below a second */
#define RECORDING_PHASE_MS 1e-2 /* phases are rounded to this */

/* Every json_*_set_new and json_array_append_new takes NULL (out of memory) and answers -1: `ok` collects. */
typedef struct writer {
  const clt_space *space;
  bool rounded;  /* a recording; otherwise times have all their digits */
  size_t digits; /* JSON_REAL_PRECISION */
  bool ok;
} writer;

static void set(writer *w, json_t *object, const char *key, json_t *value) {
  if (json_object_set_new(object, key, value)) w->ok = false;
}

static void append(writer *w, json_t *array, json_t *value) {
  if (json_array_append_new(array, value)) w->ok = false;
}

/* JSON has neither NaN nor infinity: such a number is left out. */
static void set_ms(writer *w, json_t *object, const char *key, double seconds) {
  if (isfinite(seconds)) set(w, object, key, json_real(seconds * MS_PER_S));
}

static void set_phase(writer *w, json_t *object, const char *key, double seconds) {
  double ms = seconds * MS_PER_S;
  if (w->rounded) ms = round(ms / RECORDING_PHASE_MS) * RECORDING_PHASE_MS;
  set_ms(w, object, key, ms / MS_PER_S);
}

static json_t *configuration_json(writer *w, clt_config config) {
  json_t *object = json_object();
  for (size_t i = 0; i < clt_space_n_parameters(w->space); i++)
    set(w, object, clt_space_parameter(w->space, i)->name, clt_t4_value(clt_space_value(w->space, config, i)));
  return object;
}

static json_t *times_json(writer *w, const clt_measurement *m) {
  json_t *object = json_object(), *runs = json_array();
  for (size_t i = 0; i < m->n_runs; i++)
    if (isfinite(m->runs_s[i])) append(w, runs, json_real(m->runs_s[i] * MS_PER_S));
  set_phase(w, object, "compilation", m->phases.build_s);
  set_phase(w, object, "compilation_time", m->phases.build_s);
  set_phase(w, object, "benchmark", m->phases.runs_s);
  set_phase(w, object, "validation", m->phases.verify_s);
  set_phase(w, object, "framework", m->phases.first_launch_s + m->phases.wait_s);
  set(w, object, "search_algorithm", json_integer(0));
  set(w, object, "runtimes", runs);
  return object;
}

static void append_quantity(writer *w, json_t *list, const char *name, json_t *value, const char *unit) {
  append(w, list, json_pack("{s:s, s:o, s:s}", "name", name, "value", value, "unit", unit));
}

/* A failed configuration has a word of Kernel Tuner's for its time: readers would take the mean of its runs otherwise.
 */
static json_t *time_json(const clt_measurement *m) {
  return clt_measurement_correct(m) ? json_real(m->time_s * MS_PER_S) : json_string(clt_entry_error(m->reason));
}

/* What is computed of it, beside time and energy, which are measured. What failed has the same word for the objective.
 */
static void append_metrics(writer *w, json_t *list, const clt_objective *objective, const clt_measurement *m) {
  if (!clt_measurement_correct(m) && !clt_objective_is_time(objective))
    append_quantity(w, list, clt_objective_name(objective), json_string(clt_entry_error(m->reason)),
                    clt_objective_unit(objective));
  for (size_t i = 0; i < clt_objective_n_metrics(objective); i++) {
    clt_metric metric = clt_objective_metric(objective, i);
    double value = clt_objective_metric_value(objective, i, m);
    if (isfinite(value) && strcmp(metric.name, "time") != 0 && strcmp(metric.name, "energy") != 0)
      append_quantity(w, list, metric.name, json_real(value), metric.unit);
  }
}

/* T4 has no place for the finer reason of a failure: it travels as a measurement. */
static json_t *measurements_json(writer *w, const clt_t4_result *result) {
  const clt_measurement *m = result->measurement;
  json_t *list = json_array();
  if (!clt_measurement_correct(m) || isfinite(m->time_s)) append_quantity(w, list, "time", time_json(m), "ms");
  if (isfinite(m->energy_J)) append_quantity(w, list, "energy", json_real(m->energy_J), "J");
  if (result->objective) append_metrics(w, list, result->objective, m);
  if (isfinite(m->max_abs_error)) append_quantity(w, list, "max_abs_error", json_real(m->max_abs_error), "");
  append_quantity(w, list, "reason", json_string(clt_reason_name(m->reason)), "");
  return list;
}

static json_t *result_json(writer *w, const clt_t4_result *result) {
  const clt_measurement *m = result->measurement;
  json_t *object = json_object();
  if (result->created_s > 0) set(w, object, "timestamp", clt_t4_timestamp(result->created_s));
  set(w, object, "configuration", configuration_json(w, m->config));
  set(w, object, "times", times_json(w, m));
  set(w, object, "invalidity", json_string(clt_invalidity_name(clt_reason_invalidity(m->reason))));
  set(w, object, "correctness", json_integer(clt_measurement_correct(m)));
  set(w, object, "measurements", measurements_json(w, result));
  set(w, object, "objectives", json_pack("[s]", result->objective ? clt_objective_name(result->objective) : "time"));
  return object;
}

/* The members that say where the results come from, each with a comma behind. */
static void write_source(const writer *w, clt_json_file *file, const json_t *source) {
  const char *name;
  json_t *member;
  json_object_foreach((json_t *)source, name, member) {
    clt_json_file_text(file, "\"");
    clt_json_file_text(file, name);
    clt_json_file_text(file, "\": ");
    clt_json_file_value(file, json_incref(member), w->digits);
    clt_json_file_text(file, ",\n");
  }
}

static void write_result(writer *w, clt_json_file *file, const clt_t4_result *result) {
  json_t *json = result_json(w, result);
  if (!w->ok) {
    json_decref(json);
    json = NULL;
  }
  clt_json_file_value(file, json, w->digits);
}

/* source: NULL for results alone. */
static int write_file(writer *w, const char *path, const json_t *source, const clt_t4_result *results, size_t n,
                      clt_error *error) {
  clt_json_file file;
  w->digits = w->rounded ? JSON_REAL_PRECISION(RECORDING_DIGITS) : clt_t4_digits(w->space);
  int rc = clt_json_file_begin(&file, path, error);
  if (rc) return rc;
  clt_json_file_text(&file, "{\"schema_version\": \"1.0.0\", \"metadata\": {\"timeunit\": \"milliseconds\"}, ");
  if (source) write_source(w, &file, source);
  clt_json_file_text(&file, "\"results\": [");
  for (size_t i = 0; i < n && file.rc == CLT_OK; i++) {
    clt_json_file_text(&file, i ? ",\n" : "\n");
    write_result(w, &file, &results[i]);
  }
  clt_json_file_text(&file, "\n]}\n");
  return clt_json_file_end(&file);
}

int clt_t4_write(const char *path, const clt_space *space, const clt_t4_result *results, size_t n, clt_error *error) {
  writer w = {.space = space, .ok = true};
  return write_file(&w, path, NULL, results, n, error);
}

int clt_t4_write_recording(const char *path, const clt_instance *instance, const clt_t4_result *results, size_t n,
                           clt_error *error) {
  writer w = {.space = clt_instance_space(instance), .rounded = true, .ok = true};
  json_t *source = clt_t4_source(instance);
  if (source == NULL) return clt_fail_memory(error);
  int rc = write_file(&w, path, source, results, n, error);
  json_decref(source);
  return rc;
}

int clt_t4_copy_recording(const char *path, const clt_recording *recording, clt_error *error) {
  writer w = {.space = recording->space, .ok = true};
  json_t *source = clt_t4_source_of_recording(recording);
  clt_t4_result *results = clt_new_array(recording->n, sizeof *results);
  int rc = source && results ? CLT_OK : clt_fail_memory(error);
  for (size_t i = 0; rc == CLT_OK && i < recording->n; i++) results[i].measurement = &recording->measurements[i];
  if (rc == CLT_OK) rc = write_file(&w, path, source, results, recording->n, error);
  free(results);
  json_decref(source);
  return rc;
}
