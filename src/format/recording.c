#include "base/base.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/text.h"
#include "format/format.h"
#include "measurement/measurement.h"
#include "problem/guidance.h"
#include "space/space.h"

#define MAX_FILE_BYTES ((size_t)512 << 20) /* unpacked */
#define MAX_RECORDED (1u << 20)            /* a kilobyte of memory each */
#define MAX_SIZES 256
#define MAX_NAME_BYTES 256 /* of a quantity and its unit */
#define MAX_LEFT_OUT 200   /* bytes of names, about */

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

bool clt_entry_is_field(const char *name) {
  static const char *const fields[] = {"time",           "times",
                                       "compile_time",   "verification_time",
                                       "benchmark_time", "strategy_time",
                                       "framework_time", "__error__",
                                       "reason",         NULL};
  return clt_is_one_of(name, fields);
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

int clt_line_copy(char **out, const char *text, clt_error *error) {
  clt_text line = {0};
  if (text) clt_text_add_shown(&line, text, strnlen(text, MAX_NAME_BYTES), "");
  return clt_text_take(out, &line, error);
}

int clt_recording_set_names(clt_recording *recording, const json_t *kernel, const json_t *device, clt_error *error) {
  int rc = clt_line_copy(&recording->kernel, json_string_value(kernel), error);
  return rc ? rc : clt_line_copy(&recording->device, json_string_value(device), error);
}

/* Adds a name, once, to those of what is left out. */
static int leave_out(clt_recording *r, const char *name, clt_error *error) {
  clt_text all = {0};
  char *quoted = clt_format("'%.64s'", name);
  if (quoted == NULL) return clt_fail_memory(error);
  const char *before = r->left_out ? r->left_out : "";
  const bool known = strstr(before, quoted) || strlen(before) > MAX_LEFT_OUT;
  if (!known) clt_text_printf(&all, "%s%s", before, *before ? ", " : "");
  if (!known) clt_text_add_shown(&all, quoted, strlen(quoted), "");
  free(quoted);
  if (known) return CLT_OK;
  free(r->left_out);
  return clt_text_take(&r->left_out, &all, error);
}

static bool is_plain(const char *text) {
  clt_text shown = {0};
  clt_text_add_shown(&shown, text, strnlen(text, MAX_NAME_BYTES), "");
  const bool same = *text == '\0' || (shown.bytes && strcmp(shown.bytes, text) == 0);
  clt_text_release(&shown);
  return same;
}

static int add_column(clt_recording *r, const char *name, const char *unit, size_t n, clt_error *error) {
  if (r->columns == NULL) r->columns = clt_new_array(CLT_MAX_METRICS, sizeof *r->columns);
  if (r->columns == NULL) return clt_fail_memory(error);
  clt_column *column = &r->columns[r->n_columns++];
  column->values = clt_new_array(n, sizeof *column->values);
  column->metric.expression = column->metric.name = strdup(name);
  column->metric.unit = strdup(is_plain(unit) ? unit : "");
  column->metric.goal = clt_goal_of_words(name, unit);
  if (!(column->metric.name && column->metric.unit && column->values)) return clt_fail_memory(error);
  for (size_t i = 0; i < n; i++) column->values[i] = NAN;
  return CLT_OK;
}

int clt_recording_add_quantity(clt_recording *r, clt_measurement *m, const char *name, const char *unit,
                               const json_t *value, size_t n, clt_error *error) {
  double number;
  size_t i = 0;
  if (json_is_null(value) || (json_is_string(value) && json_string_length(value) == 0)) return CLT_OK; /* as NaN */
  if (!clt_json_read_number(&number, value)) return leave_out(r, name, error);
  if (strcmp(name, "energy") == 0 && !r->by_energy) {
    const double own = clt_unit_amount(unit, true);
    if (number > 0) m->energy_J = number * (own > 0 ? own : 1);
    return CLT_OK;
  }
  while (i < r->n_columns && strcmp(r->columns[i].metric.name, name) != 0) i++;
  if (i == CLT_MAX_METRICS || !is_plain(name)) return leave_out(r, name, error);
  int rc = i == r->n_columns ? add_column(r, name, unit, n, error) : CLT_OK;
  if (rc == CLT_OK) r->columns[i].values[r->n] = number;
  return rc;
}

/* Compares measurements by config, their first member. */
static int by_config(const void *a, const void *b) {
  clt_config x = *(const clt_config *)a, y = *(const clt_config *)b;
  return (x > y) - (x < y);
}

/* Whether b is better by the objective that the file states; without a goal the later one counts. */
static bool is_better(const clt_recording *r, const clt_measurement *b, const clt_measurement *a) {
  if (clt_measurement_correct(a) != clt_measurement_correct(b)) return clt_measurement_correct(b);
  if (r->figure.name && r->figure.goal)
    return clt_goal_cost(r->figure.goal, b->figure) < clt_goal_cost(r->figure.goal, a->figure);
  if (r->by_energy) return b->energy_J < a->energy_J;
  return r->figure.name ? true : b->time_s < a->time_s;
}

/* Merges two measurements of one configuration into *a: the better one counts, as KTT chooses its best, with the runs
 * of both. Returns whether that is b. */
static bool merge_repeated(const clt_recording *r, clt_measurement *a, clt_measurement *b) {
  const bool chosen = is_better(r, b, a);
  if (chosen) {
    const clt_measurement other = *a;
    *a = *b;
    *b = other;
  }
  for (size_t i = 0; clt_measurement_correct(b) && i < b->n_runs && a->n_runs < CLT_MAX_RUNS; i++) {
    a->figures[a->n_runs] = b->figures[i];
    a->runs_s[a->n_runs++] = b->runs_s[i];
  }
  clt_measurement_release(b);
  return chosen;
}

/* Sorts the measurements, with the values of the columns. source[i]: of the i-th in file order. */
static int sort_measurements(clt_recording *r, const size_t *source, clt_error *error) {
  clt_measurement *m = r->measurements;
  clt_config *configs = clt_new_array(r->n, sizeof *configs); /* in file order */
  r->order = clt_new_array(r->n, sizeof *r->order);
  int rc = configs && r->order ? CLT_OK : clt_fail_memory(error);
  for (size_t i = 0; rc == CLT_OK && i < r->n; i++) configs[i] = m[i].config;
  if (rc == CLT_OK) qsort(m, r->n, sizeof *m, by_config);
  r->optimum_s = NAN;
  for (size_t i = 0; rc == CLT_OK && i < r->n; i++) {
    r->order[i] = (size_t)(clt_recording_find(r, configs[i]) - m);
    if (clt_measurement_correct(&m[i])) r->optimum_s = fmin(r->optimum_s, m[i].time_s);
  }
  for (size_t k = 0; rc == CLT_OK && k < r->n_columns; k++) {
    double *values = clt_new_array(r->n, sizeof *values);
    if (values == NULL) rc = clt_fail_memory(error);
    for (size_t i = 0; values && i < r->n; i++) values[r->order[i]] = r->columns[k].values[source[i]];
    free(r->columns[k].values);
    r->columns[k].values = values;
  }
  free(configs);
  return rc;
}

/* Makes the space, merges several measurements of a configuration, whose number goes to *n_repeated, and sorts all. */
static int finish_recording(clt_recording *r, const clt_space_builder *builder, size_t *n_repeated, clt_error *error) {
  clt_measurement *m = r->measurements;
  clt_map seen = {0};
  const size_t n = r->n;
  size_t *source = clt_new_array(n, sizeof *source), at = 0;
  int rc = source ? clt_space_new_explicit(&r->space, builder, r->positions, n, error) : clt_fail_memory(error);
  for (size_t i = 0; rc == CLT_OK && i < n; i++)
    m[i].config = clt_space_from_positions(r->space, r->positions + i * clt_space_n_parameters(r->space));
  free(r->positions);
  r->positions = NULL;
  for (r->n = 0; rc == CLT_OK && at < n; at++) {
    bool is_new = false;
    uint64_t *place = clt_map_add(&seen, m[at].config, &is_new);
    if (place == NULL) {
      rc = clt_fail_memory(error);
      break;
    }
    if (is_new) {
      *place = r->n;
      source[r->n] = at;
      m[r->n++] = m[at];
    } else if (merge_repeated(r, &m[*place], &m[at])) {
      source[*place] = at;
    }
  }
  *n_repeated = at - r->n;
  for (; at < n; at++) clt_measurement_release(&m[at]);
  if (rc == CLT_OK) rc = sort_measurements(r, source, error);
  clt_map_release(&seen);
  free(source);
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

static int add_note(clt_recording *recording, const char *path, bool ends_early, size_t n_lost, size_t n_repeated,
                    clt_error *error) {
  clt_text note = {0};
  if (!ends_early && n_repeated == 0) return CLT_OK;
  clt_text_printf(&note, "'%s'", path);
  if (ends_early) clt_text_printf(&note, " is incomplete: read %zu results", recording->n);
  if (n_lost) clt_text_printf(&note, "; the last %zu bytes, of a result that is cut off, were left out", n_lost);
  if (n_repeated)
    clt_text_printf(&note, "%s has %zu result%s of configurations that have an earlier one; the best of each counts",
                    ends_early ? "; it" : "", n_repeated, CLT_PLURAL(n_repeated));
  return clt_text_take(&recording->note, &note, error);
}

static int parse_json(json_t **out, const clt_text *text, const char *path, clt_error *error) {
  json_error_t cause;
  const json_t *root = *out = json_loadb(text->bytes, text->n, 0, &cause);
  char what[300] = "";
  const char *first = text->bytes ? text->bytes + strspn(text->bytes, " \t\r\n") : "";
  const bool looks = *first == '{' || *first == '[';
  if (root == NULL && cause.text[0])
    return clt_fail_at(error, CLT_E_FORMAT, path, cause.line, NULL, looks ? "not JSON: %s" : "not JSON (%s)" FORMATS,
                       clt_json_mistake(what, text->bytes, text->n, &cause));
  if (root == NULL) return clt_fail_memory(error);
  if (json_object_get(root, "KernelSpecification") || json_object_get(root, "Command"))
    return clt_fail_at(error, CLT_E_FORMAT, path, 0, NULL, "is a problem file, not a recording");
  if (json_object_get(root, "Problems"))
    return clt_fail_at(error, CLT_E_FORMAT, path, 0, NULL,
                       "is a plan, not a recording; 'clatune sweep PLAN --summary' shows its results");
  return CLT_OK;
}

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
  size_t n_lost = 0, n_repeated = 0;
  if (rc == CLT_OK) clt_json_blank_mark(text.bytes, text.n);
  if (rc == CLT_OK) rc = prepare_json(&text, &ends_early, &n_lost, path, error);
  json_t *root = NULL;
  clt_space_builder *builder = NULL;
  clt_error why = {0};
  if (rc == CLT_OK) rc = parse_json(&root, &text, path, error);
  clt_text_release(&text);
  if (rc == CLT_OK) rc = clt_space_builder_new(&builder, error);
  if (rc == CLT_OK && (rc = clt_recording_read(recording, path, root, builder, &why)))
    rc = ends_early ? clt_fail(error, rc, "'%s' is incomplete; %s", path, why.message) : clt_fail_as(error, &why);
  json_decref(root);
  if (rc == CLT_OK) rc = finish_recording(recording, builder, &n_repeated, error);
  clt_space_builder_free(builder);
  if (rc == CLT_OK) rc = add_note(recording, path, ends_early, n_lost, n_repeated, error);
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
  free(recording->left_out);
  for (size_t i = 0; i < recording->n_columns; i++) {
    free((char *)recording->columns[i].metric.name);
    free((char *)recording->columns[i].metric.unit);
    free(recording->columns[i].values);
  }
  free(recording->columns);
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

/* Fails if no correct measurement has the objective, and says which ones there are. */
static int check_values(const clt_recording *r, const clt_objective *o, clt_error *error) {
  clt_text there = {0};
  bool any_correct = false;
  for (size_t i = 0; i < r->n; i++) any_correct |= clt_measurement_correct(&r->measurements[i]);
  if (!any_correct || !isnan(clt_recording_least_cost(r, o))) return CLT_OK;
  for (size_t k = 0, i; k < clt_objective_n_metrics(o); k++) {
    for (i = 0; i < r->n && !isfinite(clt_objective_metric_value(o, k, &r->measurements[i]));) i++;
    if (i < r->n) clt_text_printf(&there, "%s%s", there.n ? ", " : "", clt_objective_metric(o, k).name);
  }
  const int rc = clt_fail(error, CLT_E_NO_VALID, "no result in '%.200s' has '%.200s'; its objectives are %.500s",
                          r->name, clt_objective_name(o), there.bytes ? there.bytes : "none");
  clt_text_release(&there);
  return rc;
}

int clt_recording_objective(clt_objective **out, const clt_recording *recording, const char *text, clt_error *error) {
  const clt_metric *figure = recording->figure.name ? &recording->figure : NULL;
  const clt_columns columns = {recording->measurements, recording->columns, recording->n, recording->n_columns};
  clt_error why = {0};
  if (text == NULL && recording->by_energy) text = "energy";
  int rc =
      clt_objective_new_with(out, recording->space, recording->sizes, recording->n_sizes, figure, columns, text, &why);
  if (rc) return clt_fail(error, rc, "'%.200s': %s", recording->name, why.message);
  rc = check_values(recording, *out, error);
  if (rc == CLT_OK) return CLT_OK;
  clt_objective_free(*out);
  *out = NULL;
  return rc;
}

double clt_recording_least_cost(const clt_recording *recording, const clt_objective *objective) {
  double least = NAN;
  for (size_t i = 0; i < recording->n; i++)
    least = fmin(least, clt_objective_cost(objective, &recording->measurements[i]));
  return least;
}
