#include "format/recording.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "format/entry.h"
#include "format/text.h"

#define MAX_FILE_BYTES ((size_t)1 << 30) /* unpacked */
#define MAX_RECORDED (1u << 21)
#define MAX_SIZES 256

/* --- making --- */

int clt_recording_add(clt_recording *recording, clt_measurement *measurement, clt_error *error) {
  if (recording->n == MAX_RECORDED)
    return clt_fail(error, CLT_E_RANGE, "a recording of more than %u configurations is not supported", MAX_RECORDED);
  if (clt_grow(&recording->measurements, &recording->capacity, recording->n + 1, sizeof *recording->measurements))
    return clt_fail_memory(error);
  recording->measurements[recording->n++] = *measurement;
  measurement->log = NULL;
  return CLT_OK;
}

int clt_recording_add_size(clt_recording *recording, const char *name, int64_t value, clt_error *error) {
  if (recording->n_sizes == MAX_SIZES)
    return clt_fail(error, CLT_E_RANGE, "a recording of more than %d problem parameters is not supported", MAX_SIZES);
  if (recording->sizes == NULL) recording->sizes = clt_new_array(MAX_SIZES, sizeof *recording->sizes);
  char *copy = recording->sizes ? strdup(name) : NULL;
  if (copy == NULL) return clt_fail_memory(error);
  recording->sizes[recording->n_sizes++] = (clt_size){copy, value};
  return CLT_OK;
}

typedef struct place {
  clt_config config;
  size_t index; /* in the order of the file */
} place;

static int by_config_then_index(const void *a, const void *b) {
  const place *x = a, *y = b;
  if (x->config != y->config) return x->config > y->config ? 1 : -1;
  return (x->index > y->index) - (x->index < y->index);
}

#define NOWHERE SIZE_MAX

static void keep_those_that_stay(clt_recording *recording) {
  size_t kept = 0;
  for (size_t i = 0; i < recording->n; i++)
    if (recording->order[i] != NOWHERE) recording->order[kept++] = recording->order[i];
}

/* Moves the measurements into the order of the places; of several of one configuration the last stays. */
static int arrange(clt_recording *recording, const place *places, clt_error *error) {
  clt_measurement *sorted = clt_new_array(recording->n, sizeof *sorted);
  size_t *at = clt_new_array(recording->n, sizeof *at); /* where each of the file's is now; NOWHERE: replaced */
  if (sorted == NULL || at == NULL) {
    free(sorted);
    free(at);
    return clt_fail_memory(error);
  }
  size_t n = 0;
  for (size_t i = 0; i < recording->n; i++) {
    if (n && sorted[n - 1].config == places[i].config) {
      clt_measurement_release(&sorted[--n]);
      at[places[i - 1].index] = NOWHERE;
    }
    at[places[i].index] = n;
    sorted[n++] = recording->measurements[places[i].index];
  }
  free(recording->measurements);
  recording->measurements = sorted;
  recording->order = at;
  keep_those_that_stay(recording);
  recording->n = recording->capacity = n;
  return CLT_OK;
}

static int sort_measurements(clt_recording *recording, clt_error *error) {
  place *places = clt_new_array(recording->n, sizeof *places);
  if (places == NULL) return clt_fail_memory(error);
  for (size_t i = 0; i < recording->n; i++) places[i] = (place){recording->measurements[i].config, i};
  qsort(places, recording->n, sizeof *places, by_config_then_index);
  int rc = arrange(recording, places, error);
  free(places);
  return rc;
}

static double least_time(const clt_recording *recording) {
  double least = NAN;
  for (size_t i = 0; i < recording->n; i++) {
    const clt_measurement *m = &recording->measurements[i];
    if (clt_measurement_correct(m) && !(m->time_s >= least)) least = m->time_s;
  }
  return least;
}

static int make_space(clt_recording *recording, const clt_space_builder *builder, clt_error *error) {
  clt_config *configs = clt_new_array(recording->n, sizeof *configs);
  if (configs == NULL) return clt_fail_memory(error);
  for (size_t i = 0; i < recording->n; i++) configs[i] = recording->measurements[i].config;
  int rc = clt_space_new_explicit(&recording->space, builder, configs, recording->n, error);
  free(configs);
  return rc;
}

int clt_recording_finish(clt_recording *recording, const clt_space_builder *builder, clt_error *error) {
  int rc = sort_measurements(recording, error);
  if (rc == CLT_OK) rc = make_space(recording, builder, error);
  recording->optimum_s = least_time(recording);
  return rc;
}

/* --- loading --- */

static bool ends_with(const char *text, size_t n, const char *end) {
  size_t n_end = strlen(end);
  return n >= n_end && memcmp(text + n - n_end, end, n_end) == 0;
}

static char *name_of(const char *path) {
  const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
  size_t n = strlen(name);
  if (ends_with(name, n, ".gz")) n -= 3;
  if (ends_with(name, n, ".json")) n -= 5;
  return strndup(name, n);
}

/* What a list of results holds shows in its first one. */
static bool results_have(const json_t *results, const char *member) {
  return json_object_get(json_array_get(results, 0), member) != NULL;
}

/* The form is told by the content, whatever the file is called. */
static int read_root(clt_recording *recording, const char *path, const json_t *root, clt_error *error) {
  const json_t *results = json_object_get(root, "results");
  if (json_object_get(root, "cache")) return clt_kernel_tuner_read(recording, path, root, error);
  if (json_object_get(root, "Results")) return clt_ktt_read(recording, path, root, error);
  if (results_have(results, "parameters")) return clt_cltune_read(recording, path, root, error);
  if (results) return clt_t4_read(recording, path, root, error);
  return clt_fail_at(
      error, CLT_E_FORMAT, path, 0, NULL,
      "needs an object with \"cache\" (a cache file of Kernel Tuner), \"results\" (T4, CLTune, CLBlast) or "
      "\"Results\" (KTT)");
}

static int read_json(clt_recording *recording, const char *path, const clt_text *text, clt_error *error) {
  json_error_t cause;
  json_t *root = json_loadb(text->bytes, text->n, 0, &cause);
  if (root == NULL && cause.text[0] == '\0') return clt_fail_memory(error);
  if (root == NULL) return clt_fail_at(error, CLT_E_FORMAT, path, cause.line, NULL, "not JSON: %s", cause.text);
  int rc = read_root(recording, path, root, error);
  json_decref(root);
  return rc;
}

int clt_recording_load(clt_recording **out, const char *path, clt_error *error) {
  clt_text text = {0};
  clt_recording *recording = calloc(1, sizeof *recording);
  if (recording) recording->name = name_of(path);
  if (recording == NULL || recording->name == NULL) {
    clt_recording_free(recording);
    return clt_fail_memory(error);
  }
  int rc = clt_file_read_packed(&text, path, MAX_FILE_BYTES, error);
  if (rc == CLT_OK) rc = clt_text_prepare_json(&text, path, error);
  if (rc == CLT_OK) rc = read_json(recording, path, &text, error);
  free(text.bytes);
  if (rc) {
    clt_recording_free(recording);
  } else {
    *out = recording;
  }
  return rc;
}

void clt_recording_free(clt_recording *recording) {
  if (recording == NULL) return;
  for (size_t i = 0; i < recording->n; i++) clt_measurement_release(&recording->measurements[i]);
  free(recording->measurements);
  free(recording->order);
  clt_space_free(recording->space);
  free(recording->name);
  free(recording->kernel);
  free(recording->device);
  free(recording->device_json);
  for (size_t i = 0; i < recording->n_sizes; i++) free((char *)recording->sizes[i].name);
  free(recording->sizes);
  free(recording);
}

/* --- asking --- */

const char *clt_recording_name(const clt_recording *recording) { return recording->name; }

const char *clt_recording_kernel(const clt_recording *recording) { return recording->kernel; }

const char *clt_recording_device(const clt_recording *recording) { return recording->device; }

size_t clt_recording_n_sizes(const clt_recording *recording) { return recording->n_sizes; }

clt_size clt_recording_problem_size(const clt_recording *recording, size_t index) { return recording->sizes[index]; }

const char *clt_recording_device_json(const clt_recording *recording) {
  return recording->device_json ? recording->device_json : "";
}

const clt_space *clt_recording_space(const clt_recording *recording) { return recording->space; }

size_t clt_recording_size(const clt_recording *recording) { return recording->n; }

static int find_config(const void *key, const void *element) {
  clt_config config = *(const clt_config *)key, other = ((const clt_measurement *)element)->config;
  return (config > other) - (config < other);
}

const clt_measurement *clt_recording_find(const clt_recording *recording, clt_config config) {
  return bsearch(&config, recording->measurements, recording->n, sizeof *recording->measurements, find_config);
}

const clt_measurement *clt_recording_at(const clt_recording *recording, size_t index) {
  return &recording->measurements[index];
}

size_t clt_recording_in_file(const clt_recording *recording, size_t position) { return recording->order[position]; }

double clt_recording_optimum_s(const clt_recording *recording) { return recording->optimum_s; }
