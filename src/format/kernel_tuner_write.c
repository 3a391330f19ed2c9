#include <clatune/kernel_tuner.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "format/entry.h"
#include "format/json_file.h"
#include "format/recording.h"
#include "format/t4_source.h"
#include "problem/parts.h"

#define MS_PER_S 1e3

/* Every json_*_set_new and json_array_append_new takes NULL (out of memory) and answers -1: `ok` collects. */
typedef struct writer {
  const char *path, *kernel, *device;
  json_t *problem_size; /* owned */
  const clt_space *space;
  size_t digits;
  clt_json_file file;
  bool ok;
} writer;

static void set(writer *w, json_t *object, const char *key, json_t *value) {
  if (json_object_set_new(object, key, value)) w->ok = false;
}

static void append(writer *w, json_t *array, json_t *value) {
  if (json_array_append_new(array, value)) w->ok = false;
}

/* --- an entry's key: the values as Python prints them --- */

/* The shortest digits that read back the same; an exponent below 1e-4 and from 1e16 on. */
static void put_real(FILE *out, double x) {
  char text[64] = "";
  int digits = 0;
  do snprintf(text, sizeof text, "%.*e", digits, x);
  while (strtod(text, NULL) != x && digits++ < 17);
  const char *e = strchr(text, 'e');
  int exponent = e ? (int)strtol(e + 1, NULL, 10) : 0;
  if (exponent >= -4 && exponent < 16)
    snprintf(text, sizeof text, "%.*f", digits > exponent + 1 ? digits - exponent : 1, x);
  char *comma = strchr(text, ','); /* printf follows the host program's locale */
  if (comma) *comma = '.';
  fputs(text, out);
}

static void put_value(FILE *out, clt_value value) {
  switch (value.type) {
    case CLT_BOOL: fputs(value.integer ? "True" : "False", out); break;
    case CLT_STRING: fputs(value.text, out); break;
    case CLT_REAL: put_real(out, value.real); break;
    default: fprintf(out, "%lld", (long long)value.integer);
  }
}

/* malloc'ed; NULL when out of memory. */
static char *key_of(const clt_space *space, clt_config config) {
  char *text = NULL;
  size_t n;
  FILE *out = open_memstream(&text, &n);
  if (out == NULL) return NULL;
  for (size_t i = 0; i < clt_space_n_parameters(space); i++) {
    if (i) fputc(',', out);
    put_value(out, clt_space_value(space, config, i));
  }
  bool failed = ferror(out);
  if (fclose(out) || failed) return free(text), NULL;
  return text;
}

/* --- an entry --- */

static const char *const fields[] = {"time",           "times",         "compile_time",   "verification_time",
                                     "benchmark_time", "strategy_time", "framework_time", "__error__"};

static int check_names(const writer *w, clt_error *error) {
  for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
    if (clt_space_find_parameter(w->space, fields[i]) >= 0)
      return clt_fail(error, CLT_E_ARGUMENT, "a cache file of Kernel Tuner cannot hold a parameter named '%s'",
                      fields[i]);
  return CLT_OK;
}

static void set_ms(writer *w, json_t *entry, const char *key, double seconds) {
  set(w, entry, key, json_real(isfinite(seconds) ? seconds * MS_PER_S : 0));
}

static void set_time(writer *w, json_t *entry, const clt_measurement *m) {
  const char *word = clt_entry_error(m->reason);
  json_t *times = json_array();
  for (size_t i = 0; i < m->n_runs; i++)
    if (isfinite(m->runs_s[i])) append(w, times, json_real(m->runs_s[i] * MS_PER_S));
  set(w, entry, "time", word ? json_string(word) : json_real(m->time_s * MS_PER_S));
  set(w, entry, "times", times);
  if (word) set(w, entry, "__error__", json_string(word));
  if (word && clt_space_find_parameter(w->space, "reason") < 0)
    set(w, entry, "reason", json_string(clt_reason_name(m->reason)));
}

static json_t *entry_json(writer *w, const clt_t4_result *result) {
  const clt_measurement *m = result->measurement;
  json_t *entry = json_object();
  for (size_t i = 0; i < clt_space_n_parameters(w->space); i++)
    set(w, entry, clt_space_parameter(w->space, i)->name, clt_t4_value(clt_space_value(w->space, m->config, i)));
  set_time(w, entry, m);
  set_ms(w, entry, "compile_time", m->phases.build_s);
  set_ms(w, entry, "verification_time", m->phases.verify_s);
  set_ms(w, entry, "benchmark_time", m->phases.runs_s);
  set_ms(w, entry, "strategy_time", 0);
  set_ms(w, entry, "framework_time", m->phases.first_launch_s + m->phases.wait_s);
  if (result->created_s > 0 && clt_space_find_parameter(w->space, "timestamp") < 0)
    set(w, entry, "timestamp", clt_t4_timestamp(result->created_s));
  return entry;
}

static void write_entry(writer *w, const clt_t4_result *result) {
  char *key = key_of(w->space, result->measurement->config);
  json_t *entry = entry_json(w, result);
  json_t *name = key ? json_string(key) : NULL;
  if (!w->ok) {
    json_decref(entry);
    entry = NULL;
  }
  clt_json_file_value(&w->file, name, 0);
  clt_json_file_text(&w->file, ": ");
  clt_json_file_value(&w->file, entry, w->digits);
  free(key);
}

/* --- what stands before the entries --- */

static json_t *values_json(writer *w, const clt_parameter *parameter) {
  json_t *values = json_array();
  for (size_t i = 0; i < parameter->n_values; i++) append(w, values, clt_t4_value(parameter->values[i]));
  return values;
}

static void write_member(writer *w, const char *name, json_t *value) {
  clt_json_file_text(&w->file, "\"");
  clt_json_file_text(&w->file, name);
  clt_json_file_text(&w->file, "\": ");
  clt_json_file_value(&w->file, value, w->digits);
  clt_json_file_text(&w->file, ",\n");
}

static void write_head(writer *w) {
  json_t *keys = json_array(), *parameters = json_object();
  for (size_t i = 0; i < clt_space_n_parameters(w->space); i++) {
    const clt_parameter *parameter = clt_space_parameter(w->space, i);
    append(w, keys, json_string(parameter->name));
    set(w, parameters, parameter->name, values_json(w, parameter));
  }
  clt_json_file_text(&w->file, "{");
  write_member(w, "device_name", json_string(w->device));
  write_member(w, "kernel_name", json_string(w->kernel));
  write_member(w, "problem_size", json_incref(w->problem_size));
  write_member(w, "tune_params_keys", keys);
  write_member(w, "tune_params", parameters);
  write_member(w, "objective", json_pack("[s]", "time"));
}

/* The end is what Kernel Tuner knows a closed file by, to the byte. */
static int write_file(writer *w, const clt_t4_result *results, size_t n, clt_error *error) {
  int rc = check_names(w, error);
  if (rc == CLT_OK && w->problem_size == NULL) rc = clt_fail_memory(error);
  if (rc == CLT_OK) rc = clt_json_file_begin(&w->file, w->path, error);
  if (rc) return rc;
  w->digits = clt_t4_digits(w->space);
  write_head(w);
  clt_json_file_text(&w->file, "\"cache\": {");
  for (size_t i = 0; i < n && w->file.rc == CLT_OK; i++) {
    clt_json_file_text(&w->file, i ? ",\n" : "\n");
    write_entry(w, &results[i]);
  }
  clt_json_file_text(&w->file, "}\n}");
  return clt_json_file_end(&w->file);
}

/* --- where the results come from --- */

static bool is_numbers(const json_t *list) {
  for (size_t i = 0; i < json_array_size(list); i++)
    if (!json_is_integer(json_array_get(list, i))) return false;
  return json_array_size(list) > 0;
}

static json_t *sizes_json(const clt_size *sizes, size_t n) {
  json_t *list = json_array();
  for (size_t i = 0; i < n; i++)
    if (json_array_append_new(list, json_integer(sizes[i].value))) return json_decref(list), NULL;
  if (n == 0 && json_array_append_new(list, json_integer(1))) return json_decref(list), NULL;
  return list;
}

static json_t *problem_size_of(const clt_instance *instance) {
  json_t *stated =
      json_object_get(json_object_get(clt_instance_problem(instance)->root, "KernelSpecification"), "ProblemSize");
  if (json_is_integer(stated) || is_numbers(stated)) return json_incref(stated);
  size_t n = clt_instance_n_sizes(instance);
  clt_size *sizes = clt_new_array(n, sizeof *sizes);
  for (size_t i = 0; sizes && i < n; i++) sizes[i] = clt_instance_size(instance, i);
  json_t *list = sizes ? sizes_json(sizes, n) : NULL;
  free(sizes);
  return list;
}

static const char *kernel_of(const clt_problem *problem) {
  const char *kernel =
      json_string_value(json_object_get(json_object_get(problem->root, "KernelSpecification"), "KernelName"));
  return kernel ? kernel : clt_problem_name(problem);
}

int clt_kernel_tuner_write(const char *path, const clt_instance *instance, const clt_t4_result *results, size_t n,
                           clt_error *error) {
  const clt_device_info *device = clt_instance_device(instance);
  writer w = {.path = path,
              .kernel = kernel_of(clt_instance_problem(instance)),
              .device = device ? device->name : "",
              .problem_size = problem_size_of(instance),
              .space = clt_instance_space(instance),
              .ok = true};
  int rc = write_file(&w, results, n, error);
  json_decref(w.problem_size);
  return rc;
}

int clt_kernel_tuner_copy_recording(const char *path, const clt_recording *recording, clt_error *error) {
  writer w = {.path = path,
              .kernel = recording->kernel,
              .device = recording->device,
              .problem_size = sizes_json(recording->sizes, recording->n_sizes),
              .space = recording->space,
              .ok = true};
  clt_t4_result *results = clt_new_array(recording->n, sizeof *results);
  int rc = results ? CLT_OK : clt_fail_memory(error);
  for (size_t i = 0; rc == CLT_OK && i < recording->n; i++) results[i].measurement = &recording->measurements[i];
  if (rc == CLT_OK) rc = write_file(&w, results, recording->n, error);
  free(results);
  json_decref(w.problem_size);
  return rc;
}
