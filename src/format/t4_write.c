#include <clatune/t4.h>
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/memory.h"

#define MS_PER_S 1e3

/* Every json_*_set_new and json_array_append_new takes NULL (out of memory) and answers -1: `ok` collects. */
typedef struct writer {
  const clt_space *space;
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

static json_t *value_json(clt_value value) {
  switch (value.type) {
    case CLT_REAL: return json_real(value.real);
    case CLT_BOOL: return json_boolean(value.integer);
    case CLT_STRING: return json_string(value.text);
    default: return json_integer(value.integer);
  }
}

static json_t *configuration_json(writer *w, clt_config config) {
  json_t *object = json_object();
  for (size_t i = 0; i < clt_space_n_parameters(w->space); i++)
    set(w, object, clt_space_parameter(w->space, i)->name, value_json(clt_space_value(w->space, config, i)));
  return object;
}

static json_t *times_json(writer *w, const clt_measurement *m) {
  json_t *object = json_object(), *runs = json_array();
  for (size_t i = 0; i < m->n_runs; i++)
    if (isfinite(m->runs_s[i])) append(w, runs, json_real(m->runs_s[i] * MS_PER_S));
  set_ms(w, object, "compilation_time", m->phases.build_s);
  set_ms(w, object, "benchmark", m->phases.runs_s);
  set_ms(w, object, "validation", m->phases.verify_s);
  set_ms(w, object, "framework", m->phases.first_launch_s + m->phases.wait_s);
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

static int write_result(FILE *file, const char *path, writer *w, const clt_t4_result *result, clt_error *error) {
  json_t *object = result_json(w, result);
  int rc = CLT_OK;
  if (object == NULL || !w->ok) {
    rc = clt_fail_memory(error);
  } else if (json_dumpf(object, file, JSON_COMPACT)) {
    rc = clt_fail_errno(error, CLT_E_IO, "write", path);
  }
  json_decref(object);
  return rc;
}

static int write_file(FILE *file, const char *path, const clt_space *space, const clt_t4_result *results, size_t n,
                      clt_error *error) {
  writer w = {.space = space, .ok = true};
  int rc = CLT_OK;
  fputs("{\"schema_version\": \"1.0.0\", \"results\": [", file);
  for (size_t i = 0; rc == CLT_OK && i < n; i++) {
    fputs(i ? ",\n" : "\n", file);
    rc = write_result(file, path, &w, &results[i], error);
  }
  fputs("\n]}\n", file);
  if (rc == CLT_OK && ferror(file)) rc = clt_fail_errno(error, CLT_E_IO, "write", path);
  return rc;
}

int clt_t4_write(const char *path, const clt_space *space, const clt_t4_result *results, size_t n, clt_error *error) {
  char *part = clt_format("%s.%ld.part", path, (long)getpid());
  if (part == NULL) return clt_fail_memory(error);
  int rc = CLT_OK;
  FILE *file = fopen(part, "wxe");
  if (file == NULL) {
    rc = clt_fail_errno(error, CLT_E_IO, "create", path);
    goto done;
  }
  rc = write_file(file, path, space, results, n, error);
  if (fclose(file) && rc == CLT_OK) rc = clt_fail_errno(error, CLT_E_IO, "write", path);
  if (rc == CLT_OK && rename(part, path)) rc = clt_fail_errno(error, CLT_E_IO, "replace", path);
  if (rc) unlink(part);
done:
  free(part);
  return rc;
}
