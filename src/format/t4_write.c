#include <clatune/t4.h>
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include "base/fail.h"
#include "base/memory.h"
#include "base/replace.h"
#include "format/t4_source.h"

#define MS_PER_S 1e3
#define RECORDING_DIGITS 9      /* nanoseconds of times below a second */
#define RECORDING_PHASE_MS 1e-2 /* phases are rounded to this */

/* Every json_*_set_new and json_array_append_new takes NULL (out of memory) and answers -1: `ok` collects. */
typedef struct writer {
  const clt_space *space;
  const clt_instance *instance; /* NULL: results alone, with all their digits */
  gzFile file;                  /* compressed or plain */
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
  if (w->instance) ms = round(ms / RECORDING_PHASE_MS) * RECORDING_PHASE_MS;
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
  set_phase(w, object, "compilation_time", m->phases.build_s);
  set_phase(w, object, "benchmark", m->phases.runs_s);
  set_phase(w, object, "validation", m->phases.verify_s);
  set_phase(w, object, "framework", m->phases.first_launch_s + m->phases.wait_s);
  set(w, object, "runtimes", runs);
  return object;
}

static void append_quantity(writer *w, json_t *list, const char *name, json_t *value, const char *unit) {
  append(w, list, json_pack("{s:s, s:o, s:s}", "name", name, "value", value, "unit", unit));
}

/* T4 has no place for the finer reason of a failure: it travels as a measurement. */
static json_t *measurements_json(writer *w, const clt_measurement *m) {
  json_t *list = json_array();
  if (isfinite(m->time_s)) append_quantity(w, list, "time", json_real(m->time_s * MS_PER_S), "ms");
  if (isfinite(m->max_abs_error)) append_quantity(w, list, "max_abs_error", json_real(m->max_abs_error), "");
  append_quantity(w, list, "reason", json_string(clt_reason_name(m->reason)), "");
  return list;
}

static void set_timestamp(writer *w, json_t *object, int64_t created_s) {
  char text[64];
  time_t moment = (time_t)created_s;
  struct tm parts;
  if (created_s <= 0 || gmtime_r(&moment, &parts) == NULL) return;
  if (strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S+00:00", &parts)) set(w, object, "timestamp", json_string(text));
}

static json_t *result_json(writer *w, const clt_t4_result *result) {
  const clt_measurement *m = result->measurement;
  json_t *object = json_object();
  set_timestamp(w, object, result->created_s);
  set(w, object, "configuration", configuration_json(w, m->config));
  set(w, object, "times", times_json(w, m));
  set(w, object, "invalidity", json_string(clt_invalidity_name(clt_reason_invalidity(m->reason))));
  set(w, object, "correctness", json_integer(clt_measurement_correct(m)));
  set(w, object, "measurements", measurements_json(w, m));
  set(w, object, "objectives", json_pack("[s]", "time"));
  return object;
}

static int put(const char *bytes, size_t n, void *user) {
  gzFile file = user;
  return n == 0 || gzwrite(file, bytes, (unsigned)n) == (int)n ? 0 : -1;
}

static int put_text(writer *w, const char *text) { return put(text, strlen(text), w->file); }

/* Steals the reference; NULL is out of memory. */
static int write_json(writer *w, const char *path, json_t *json, clt_error *error) {
  size_t flags = JSON_COMPACT | (w->instance ? JSON_REAL_PRECISION(RECORDING_DIGITS) : 0);
  int rc = CLT_OK;
  if (json == NULL || !w->ok) {
    rc = clt_fail_memory(error);
  } else if (json_dump_callback(json, put, w->file, flags)) {
    rc = clt_fail_errno(error, CLT_E_IO, "write", path);
  }
  json_decref(json);
  return rc;
}

/* The members that say where the results come from, each with a comma behind. */
static int write_source(writer *w, const char *path, clt_error *error) {
  json_t *source = clt_t4_source(w->instance);
  const char *name;
  json_t *member;
  int rc = source ? CLT_OK : clt_fail_memory(error);
  json_object_foreach(source, name, member) {
    if (rc == CLT_OK && (put_text(w, "\"") || put_text(w, name) || put_text(w, "\": ")))
      rc = clt_fail_errno(error, CLT_E_IO, "write", path);
    if (rc == CLT_OK) rc = write_json(w, path, json_incref(member), error);
    if (rc == CLT_OK && put_text(w, ",\n")) rc = clt_fail_errno(error, CLT_E_IO, "write", path);
  }
  json_decref(source);
  return rc;
}

static int write_all(writer *w, const char *path, const clt_t4_result *results, size_t n, clt_error *error) {
  int failed = put_text(w, "{\"schema_version\": \"1.0.0\", ");
  int rc = w->instance ? write_source(w, path, error) : CLT_OK;
  failed |= put_text(w, "\"results\": [");
  for (size_t i = 0; rc == CLT_OK && i < n; i++) {
    failed |= put_text(w, i ? ",\n" : "\n");
    rc = write_json(w, path, result_json(w, &results[i]), error);
  }
  failed |= put_text(w, "\n]}\n");
  return rc == CLT_OK && failed ? clt_fail_errno(error, CLT_E_IO, "write", path) : rc;
}

static bool is_compressed(const char *path) {
  size_t n = strlen(path);
  return n > 3 && strcmp(path + n - 3, ".gz") == 0;
}

static int write_file(writer *w, const char *path, const clt_t4_result *results, size_t n, clt_error *error) {
  char *beside;
  int fd, rc = clt_replace_begin(&beside, &fd, path, error);
  if (rc) return rc;
  w->file = gzdopen(fd, is_compressed(path) ? "wb9" : "wbT");
  if (w->file == NULL) {
    close(fd);
    clt_replace_abandon(beside);
    return clt_fail_memory(error);
  }
  rc = write_all(w, path, results, n, error);
  if (gzclose(w->file) && rc == CLT_OK) rc = clt_fail_errno(error, CLT_E_IO, "write", path);
  if (rc == CLT_OK) return clt_replace_end(beside, path, error);
  clt_replace_abandon(beside);
  return rc;
}

int clt_t4_write(const char *path, const clt_space *space, const clt_t4_result *results, size_t n, clt_error *error) {
  writer w = {.space = space, .ok = true};
  return write_file(&w, path, results, n, error);
}

int clt_t4_write_recording(const char *path, const clt_instance *instance, const clt_t4_result *results, size_t n,
                           clt_error *error) {
  writer w = {.space = clt_instance_space(instance), .instance = instance, .ok = true};
  return write_file(&w, path, results, n, error);
}
