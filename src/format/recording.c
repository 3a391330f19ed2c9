#include "format/recording.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/reader.h"
#include "base/text.h"
#include "measurement/objective.h"
#include "space/space.h"

#define MAX_FILE_BYTES ((size_t)512 << 20) /* unpacked */
#define MAX_RECORDED (1u << 20)            /* a kilobyte of memory each */
#define MAX_SIZES 256

/* --- failure reasons in other tools' formats --- */

const char *clt_entry_error(clt_reason reason) {
  switch (clt_reason_invalidity(reason)) {
    case CLT_CORRECT: return NULL;
    case CLT_CONSTRAINTS: return "InvalidConfig";
    case CLT_COMPILE: return "CompilationFailedConfig";
    default: return reason == CLT_REASON_COMPILE_TIMEOUT ? "CompilationFailedConfig" : "RuntimeFailedConfig";
  }
}

clt_reason clt_entry_reason(const char *text) {
  static const struct {
    const char *text;
    clt_reason reason;
  } known[] = {{"InvalidConfig", CLT_REASON_DEVICE_LIMIT},      {"CompilationFailedConfig", CLT_REASON_COMPILE_ERROR},
               {"RuntimeFailedConfig", CLT_REASON_RUN_ERROR},   {"constraints", CLT_REASON_CONDITION},
               {"compile", CLT_REASON_COMPILE_ERROR},           {"runtime", CLT_REASON_RUN_ERROR},
               {"correctness", CLT_REASON_WRONG_OUTPUT},        {"timeout", CLT_REASON_RUN_TIMEOUT},
               {"ComputationFailed", CLT_REASON_RUN_ERROR},     {"ValidationFailed", CLT_REASON_WRONG_OUTPUT},
               {"CompilationFailed", CLT_REASON_COMPILE_ERROR}, {"DeviceLimitsExceeded", CLT_REASON_DEVICE_LIMIT}};
  for (size_t i = 0; text && i < sizeof known / sizeof *known; i++)
    if (strcmp(known[i].text, text) == 0) return known[i].reason;
  return CLT_REASON_UNKNOWN;
}

/* --- construction --- */

int clt_recording_add(clt_recording *recording, clt_measurement *measurement, const uint32_t *positions,
                      size_t n_parameters, clt_error *error) {
  const size_t row_bytes = n_parameters * sizeof *positions;
  int rc = CLT_OK;
  if (recording->n == MAX_RECORDED)
    rc = clt_fail(error, CLT_E_RANGE, "a recording of more than %u configurations is not supported", MAX_RECORDED);
  else if (clt_grow(&recording->measurements, &recording->capacity, recording->n + 1,
                    sizeof *recording->measurements) ||
           clt_grow(&recording->positions, &recording->rows_capacity, recording->n + 1, row_bytes))
    rc = clt_fail_memory(error);
  if (rc) {
    clt_measurement_release(measurement);
    return rc;
  }
  memcpy(recording->positions + recording->n * n_parameters, positions, row_bytes);
  recording->measurements[recording->n++] = *measurement;
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

/* Compares measurements by config, their first member. */
static int by_config(const void *a, const void *b) {
  clt_config x = *(const clt_config *)a, y = *(const clt_config *)b;
  return (x > y) - (x < y);
}

/* Makes the space, keeps the last of several measurements of a configuration, sorts them and finds the optimum. */
static int finish_recording(clt_recording *r, const clt_space_builder *builder, clt_error *error) {
  clt_measurement *m = r->measurements;
  clt_map seen = {0};
  size_t left = r->n, kept = r->n; /* from the end on */
  int rc = clt_space_new_explicit(&r->space, builder, r->positions, r->n, error);
  for (size_t i = 0; rc == CLT_OK && i < r->n; i++)
    m[i].config = clt_space_from_positions(r->space, r->positions + i * clt_space_n_parameters(r->space));
  free(r->positions);
  r->positions = NULL;
  if (rc) return rc;
  while (left > 0 && rc == CLT_OK) {
    bool is_new = false;
    if (clt_map_add(&seen, m[left - 1].config, &is_new) == NULL)
      rc = clt_fail_memory(error);
    else if (is_new)
      m[--kept] = m[--left];
    else
      clt_measurement_release(&m[--left]);
  }
  clt_map_release(&seen);
  memmove(&m[left], &m[kept], (r->n - kept) * sizeof *m);
  r->n -= kept - left;
  clt_config *configs = clt_new_array(r->n, sizeof *configs); /* in file order */
  r->order = clt_new_array(r->n, sizeof *r->order);
  if (rc == CLT_OK && !(configs && r->order)) rc = clt_fail_memory(error);
  if (rc == CLT_OK) {
    for (size_t i = 0; i < r->n; i++) configs[i] = m[i].config;
    qsort(m, r->n, sizeof *m, by_config);
    r->optimum_s = NAN;
    for (size_t i = 0; i < r->n; i++) {
      r->order[i] = (size_t)(clt_recording_find(r, configs[i]) - m);
      if (clt_measurement_correct(&m[i])) r->optimum_s = fmin(r->optimum_s, m[i].time_s);
    }
  }
  free(configs);
  return rc;
}

/* --- preparing JSON text for the parser --- */

#define MAX_DEPTH 64
#define ENTRY_DEPTH 2 /* depth inside of {"cache": { */

/* Memory of the parser's tree, measured with jansson. For a recording it is 4 to 6 times the size of the text, for a
 * text of empty objects 100 times. */
#define OBJECT_BYTES 300
#define ARRAY_BYTES 130
#define MEMBER_BYTES 100
#define ITEM_BYTES 40
#define MAX_TREE_BYTES ((size_t)3 << 29)
#define MAX_TREE_RATIO 32
#define SMALL_TREE_BYTES ((size_t)64 << 20)

/* Scans JSON text once before it is parsed. Refuses text that is nested too deeply or would need too much memory.
 * Replaces NaN, Infinity and -Infinity, which Python writes but JSON lacks, by empty strings. If the text is
 * incomplete, as after an interrupted run, cuts it after the last complete entry of a member of the root object, and
 * closes it; *ends_early then says so, and *n_lost how many bytes were left out. Other mistakes are left to the parser,
 * which reports their line. */
static int prepare_json(clt_text *json, bool *ends_early, size_t *n_lost, const char *path, clt_error *error) {
  char *text = json->bytes, open[MAX_DEPTH];
  size_t n = json->n, at = 0, depth = 0, bytes = 0;
  const size_t most_bytes =
      n < MAX_TREE_BYTES / MAX_TREE_RATIO ? SMALL_TREE_BYTES + n * MAX_TREE_RATIO : MAX_TREE_BYTES;
  size_t whole = 0; /* length of the longest prefix that is valid JSON if closed ENTRY_DEPTH times; 0: none */
  bool broken = false;
  for (; at < n && !broken; at++) {
    const char *word = text[at] == 'N' ? "NaN" : "Infinity";
    switch (text[at]) {
      case '"':
        for (at++; at < n && text[at] != '"'; at++)
          if (text[at] == '\\') at++;
        break;
      case '{':
      case '[':
        if (depth == MAX_DEPTH)
          return clt_fail(error, CLT_E_FORMAT,
                          "'%s' has objects or lists nested more than %d deep; that is not supported", path, MAX_DEPTH);
        open[depth++] = text[at];
        bytes += text[at] == '{' ? OBJECT_BYTES : ARRAY_BYTES;
        if (depth == ENTRY_DEPTH && open[0] == '{' && open[1] == '{') whole = at + 1;
        break;
      case '}':
      case ']':
        broken = depth == 0 || open[depth - 1] != (text[at] == '}' ? '{' : '[');
        depth -= !broken;
        if (!broken && depth == ENTRY_DEPTH && open[0] == '{' && open[1] == '{') whole = at + 1;
        break;
      case ',': bytes += ITEM_BYTES; break;
      case ':': bytes += MEMBER_BYTES; break;
      case 'N':
      case 'I':
        if (n - at < strlen(word) || memcmp(text + at, word, strlen(word)) != 0) break;
        if (at > 0 && text[at - 1] == '-') text[at - 1] = ' ';
        memset(text + at, ' ', strlen(word));
        memset(text + at, '"', 2);
        at += strlen(word) - 1;
        break;
      default: break;
    }
    if (bytes > most_bytes)
      return clt_fail(error, CLT_E_RANGE, "reading '%s' would need more than %zu MB of memory; split the file", path,
                      most_bytes >> 20);
  }
  *ends_early = (depth > 0 || at > n) && !broken && whole;
  if (*ends_early) {
    const size_t n_between = strspn(text + whole, ", \t\r\n}]");
    *n_lost = n - clt_min(n, whole + n_between);
    json->n = whole;
    for (int i = 0; i < ENTRY_DEPTH; i++) text[json->n++] = '}'; /* fits into clt_text's spare bytes */
  }
  return CLT_OK;
}

bool clt_entry_key_value(clt_value *out, char *token, size_t capacity, const char *key, size_t i, size_t n) {
  const char *begin = key;
  size_t n_commas = 0;
  for (const char *c = key; *c; c++)
    if (*c == ',' && ++n_commas == i) begin = c + 1;
  size_t length = strcspn(begin, ",");
  if (n_commas + 1 != n || length >= capacity) return false;
  memcpy(token, begin, length);
  token[length] = '\0';
  char *end;
  long long integer = strtoll(token, &end, 10);
  bool is_true = strcmp(token, "True") == 0, is_false = strcmp(token, "False") == 0;
  json_t *real = json_loads(token, JSON_DECODE_ANY, NULL); /* jansson does not depend on the locale */
  *out = (clt_value){CLT_STRING, .text = token};
  if (json_is_real(real)) *out = (clt_value){CLT_REAL, .real = json_real_value(real)};
  if (is_true || is_false) *out = (clt_value){CLT_BOOL, .integer = is_true};
  if (length && *end == '\0') *out = (clt_value){CLT_INT, .integer = integer};
  json_decref(real);
  return true;
}

/* --- loading --- */

#define FORMATS "; recordings are T4 results, cache files of Kernel Tuner, and JSON of CLTune, CLBlast's tuners and KTT"

int clt_recording_new(clt_recording **out, const char *path, clt_error *error) {
  const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
  size_t n = strlen(name);
  clt_text text = {0};
  if (clt_ends_with(name, ".gz")) n -= 3;
  if (n >= 5 && memcmp(name + n - 5, ".json", 5) == 0) n -= 5;
  clt_recording *recording = calloc(1, sizeof *recording);
  if (recording) recording->name = strndup(name, n);
  if (recording) recording->device_json = strdup("");
  int rc = recording && recording->name && recording->device_json ? CLT_OK : clt_fail_memory(error);
  if (rc == CLT_OK) rc = clt_file_read_packed(&text, path, MAX_FILE_BYTES, error);
  bool ends_early = false;
  size_t n_lost = 0;
  if (rc == CLT_OK) rc = prepare_json(&text, &ends_early, &n_lost, path, error);
  if (rc == CLT_OK) {
    json_error_t cause;
    clt_space_builder *builder = NULL;
    json_t *root = json_loadb(text.bytes, text.n, 0, &cause);
    char what[300] = "";
    const char *first = text.bytes ? text.bytes + strspn(text.bytes, " \t\r\n") : "";
    const bool looks = *first == '{' || *first == '[';
    if (root == NULL && cause.text[0])
      rc = clt_fail_at(error, CLT_E_FORMAT, path, cause.line, NULL, looks ? "not JSON: %s" : "not JSON (%s)" FORMATS,
                       clt_json_mistake(what, text.bytes, text.n, &cause));
    else if (root == NULL)
      rc = clt_fail_memory(error);
    clt_text_release(&text);
    if (rc == CLT_OK && json_object_get(root, "Problems"))
      rc = clt_fail_at(error, CLT_E_FORMAT, path, 0, NULL,
                       "is a plan, not a recording; 'clatune sweep PLAN --summary' shows its results");
    if (rc == CLT_OK) rc = clt_space_builder_new(&builder, error);
    if (rc == CLT_OK) rc = clt_recording_read(recording, path, root, builder, error);
    json_decref(root);
    if (rc == CLT_OK) rc = finish_recording(recording, builder, error);
    clt_space_builder_free(builder);
  }
  if (rc == CLT_OK && ends_early) {
    char lost[100] = "";
    if (n_lost)
      clt_snprintf(lost, sizeof lost, "; the last %zu bytes, of a result that is cut off, were left out", n_lost);
    recording->note = clt_format("'%s' is incomplete: read %zu results%s", path, recording->n, lost);
    if (recording->note == NULL) rc = clt_fail_memory(error);
  }
  clt_text_release(&text);
  if (rc == CLT_OK)
    *out = recording;
  else
    clt_recording_free(recording);
  return rc;
}

void clt_recording_free(clt_recording *recording) {
  if (recording == NULL) return;
  for (size_t i = 0; i < recording->n; i++) clt_measurement_release(&recording->measurements[i]);
  free(recording->measurements);
  free(recording->order);
  free(recording->positions);
  clt_space_free(recording->space);
  free(recording->name);
  free(recording->kernel);
  free(recording->device);
  free(recording->device_json);
  free(recording->note);
  free((char *)recording->figure.name);
  free((char *)recording->figure.unit);
  for (size_t i = 0; i < recording->n_sizes; i++) free((char *)recording->sizes[i].name);
  free(recording->sizes);
  free(recording);
}

/* --- properties --- */

const char *clt_recording_name(const clt_recording *recording) { return recording->name; }
const clt_space *clt_recording_space(const clt_recording *recording) { return recording->space; }

const clt_measurement *clt_recording_find(const clt_recording *recording, clt_config config) {
  return bsearch(&config, recording->measurements, recording->n, sizeof *recording->measurements, by_config);
}

const clt_measurement *clt_recording_at(const clt_recording *recording, size_t index) {
  return &recording->measurements[index];
}

int clt_recording_objective(clt_objective **out, const clt_recording *recording, const char *text, clt_error *error) {
  const clt_metric *figure = recording->figure.name ? &recording->figure : NULL;
  clt_error why = {0};
  if (text == NULL && recording->by_energy) text = "energy";
  int rc = clt_objective_new_for(out, recording->space, recording->sizes, recording->n_sizes, figure, text, &why);
  return rc ? clt_fail(error, rc, "'%.200s': %s", recording->name, why.message) : CLT_OK;
}

double clt_recording_least_cost(const clt_recording *recording, const clt_objective *objective) {
  double least = NAN;
  for (size_t i = 0; i < recording->n; i++)
    least = fmin(least, clt_objective_cost(objective, &recording->measurements[i]));
  return least;
}
