/* Reads the rows of each tuning from a store or a recording, one per configuration, and writes the page. */
#include "report/report.h"
#include "base/base.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/text.h"
#include "device/device.h"
#include "format/format.h"
#include "measurement/measurement.h"
#include "problem/command.h"
#include "problem/guidance.h"
#include "store/best.h"
#include "store/store.h"

json_t *clt_report_string(const char *text) {
  clt_text clean = {0};
  for (size_t i = clt_text_add_shown(&clean, text, strlen(text), ""); i < strlen(text); i++) clt_text_add(&clean, "?");
  const char *bytes = clean.n ? clean.bytes : "";
  json_t *json = clean.rc ? NULL : json_stringn(bytes, clean.n);
  clt_text_release(&clean);
  return json;
}

json_t *clt_report_config(const clt_space *space, clt_config config) {
  char *text = clt_config_string(space, config);
  json_t *json = text ? clt_report_string(text) : NULL;
  free(text);
  return json;
}

/* --- the rows of a tuning --- */

static void take_final(clt_report_row *row, const clt_report_row *as_finalist) {
  row->final_s = as_finalist->time_s;
  row->final_cost = as_finalist->cost;
  row->final_interval = as_finalist->interval;
  row->final_energy_J = as_finalist->energy_J;
  row->final_figure = as_finalist->figure;
  row->state = as_finalist->state;
}

/* Gives the rows their times as finalists. */
static int join_rows(clt_tuning *t, clt_error *error) {
  clt_map finals = {0}; /* by configuration: an index */
  bool indexed = true;
  for (size_t i = 0; indexed && i < t->finalists.n; i++) {
    uint64_t *index = clt_map_add(&finals, t->finalists.items[i].config, NULL);
    indexed = index != NULL;
    if (indexed) *index = i;
  }
  for (size_t i = 0; indexed && i < t->rows.n; i++) {
    const uint64_t *final = clt_map_find(&finals, t->rows.items[i].config);
    if (final) take_final(&t->rows.items[i], &t->finalists.items[*final]);
  }
  clt_map_release(&finals);
  return indexed ? CLT_OK : clt_fail_memory(error);
}

/* The problem's default configuration; CLT_CONFIG_NONE: not known. */
static clt_config default_of(const clt_tuning *tuning) {
  clt_config config = CLT_CONFIG_NONE;
  if (tuning->instance)
    config = clt_space_canonical(tuning->space, clt_instance_default(tuning->instance));
  else if (tuning->session)
    clt_config_parse(&config, tuning->space, clt_json_string(tuning->session, "default"), NULL);
  return config;
}

static size_t find_row(const clt_tuning *tuning, clt_config config) {
  for (size_t i = 0; config != CLT_CONFIG_NONE && i < tuning->rows.n; i++)
    if (tuning->rows.items[i].config == config) return i;
  return SIZE_MAX;
}

/* Gives a row the figures of a comparison; returns its cost there. */
static int take_compared(double *cost, clt_tuning *t, size_t index, const clt_measurement *m) {
  clt_report_rows row = {0};
  int rc = clt_report_add_row(&row, t->objective, m);
  if (rc == CLT_OK) take_final(&t->rows.items[index], row.items);
  if (rc == CLT_OK) *cost = row.items->cost;
  free(row.items);
  return rc;
}

static bool is_program(const clt_tuning *t) {
  if (t->instance) return clt_problem_is_command(clt_instance_problem(t->instance));
  return t->device_info && clt_device_is_host(t->device_info);
}

/* best NULL: a recording, which has no comparisons. */
static int find_best(clt_tuning *t, const clt_best_known *best) {
  clt_report_ranked fastest = {0};
  double cost;
  t->best = best ? find_row(t, best->measurement.config) : SIZE_MAX;
  t->best_is_finalist = t->best != SIZE_MAX && best->compared;
  t->unchecked = t->best != SIZE_MAX && !best->compared && !is_program(t);
  if (t->best == SIZE_MAX && clt_tuning_fastest(t, &fastest, 1)) t->best = fastest.index;
  t->standard = find_row(t, default_of(t));
  t->default_cost = t->standard != SIZE_MAX && !t->best_is_finalist ? t->rows.items[t->standard].cost : NAN;
  int rc = t->best_is_finalist ? take_compared(&cost, t, t->best, &best->measurement) : CLT_OK;
  if (rc == CLT_OK && t->best_is_finalist && t->standard != SIZE_MAX && best->beside.config != CLT_CONFIG_NONE)
    rc = take_compared(&t->default_cost, t, t->standard, &best->beside);
  return rc;
}

/* Completes the rows; common to all three sources. best: nullable. */
static int finish_tuning(clt_tuning *t, const clt_best_known *best, clt_error *error) {
  if (!t->title || !t->device || !t->sizes) return clt_fail_memory(error);
  int rc = join_rows(t, error);
  if (rc) return rc;
  if (t->rows.n == 0)
    return clt_fail(error, CLT_E_NOT_FOUND, "there are no measurements of '%s'; run 'clatune tune' first", t->title);
  for (size_t i = 0; i < t->rows.n; i++) {
    t->n_correct += t->rows.items[i].reason == CLT_REASON_NONE;
    t->n_abandoned += t->rows.items[i].reason == CLT_REASON_ABANDONED;
  }
  return find_best(t, best) ? clt_fail_memory(error) : CLT_OK;
}

/* A device that cannot be read is one of which no more than the name is known. key: of a store, or NULL. */
static void note_device(clt_tuning *t, const char *json, const clt_store_key *key) {
  t->device_info = json[0] ? calloc(1, sizeof *t->device_info) : NULL;
  if (t->device_info == NULL) return;
  if (key ? clt_store_read_device(t->device_info, json, key)
          : clt_device_from_json(t->device_info, json, NULL) == CLT_OK)
    return;
  free(t->device_info);
  t->device_info = NULL;
}

/* The report of a voice's newest session; NULL: unknown. */
static json_t *session_of(int64_t voice, const clt_store_key *key, const clt_store_description *keys, size_t n) {
  for (const clt_store_description *d = keys; d < keys + n; d++)
    if (clt_store_same_key(&d->key, key) && d->voice == voice) return json_loads(d->tuning_json, 0, NULL);
  return NULL;
}

static int read_best(clt_best_known *best, clt_tuning *t, clt_store *store, const clt_store_key *key,
                     clt_error *error) {
  const clt_best_query query = {.objective = t->objective, .beside = default_of(t)};
  return clt_store_best(best, store, key, t->space, &query, error);
}

/* A store's records of a tuning, and the session of who found the best. keys: its descriptions, n. */
static int read_store(clt_tuning *t, clt_store *store, const clt_store_key *key, const char *problem_path,
                      const clt_store_description *keys, size_t n, clt_error *error) {
  char *standard = NULL;
  t->device = clt_format("%s, driver %s", key->device, key->driver);
  t->problem_path = strdup(problem_path ? problem_path : "");
  t->session = session_of(0, key, keys, n);
  if (t->problem_path == NULL) return clt_fail_memory(error);
  if (clt_store_path(store)[0] && clt_store_place(&standard, NULL, NULL) == CLT_OK &&
      strcmp(standard, clt_store_path(store)) != 0)
    t->store = strdup(clt_store_path(store));
  free(standard);
  int rc = clt_tuning_read_rows(t, store, key, error);
  clt_best_known best;
  if (rc >= 0) rc = read_best(&best, t, store, key, error);
  if (rc >= 0 && t->session == NULL && (t->session = session_of(best.voice, key, keys, n)) && t->instance == NULL)
    rc = read_best(&best, t, store, key, error); /* beside the session's default */
  return rc < 0 ? rc : finish_tuning(t, &best, error);
}

/* Nothing is known of a tuning: at which sizes something is, of the same kernel on its device. */
static int fail_at_sizes(const clt_tuning *t, const clt_store_key *key, const clt_store_description *keys, size_t n,
                         clt_error *error) {
  char kernel[33];
  clt_text known = {0};
  int rc = clt_instance_kernel_key(kernel, t->instance, error);
  for (const clt_store_description *d = keys; rc == CLT_OK && d < keys + n && known.n < 200; d++)
    if (strcmp(d->kernel, kernel) == 0 && strcmp(d->key.problem, key->problem) != 0 &&
        strcmp(d->key.device, key->device) == 0 && strcmp(d->key.driver, key->driver) == 0)
      clt_text_printf(&known, "%s%.100s", known.n ? ", " : "; known: ", d->sizes);
  if (known.n >= 200) clt_text_add(&known, ", ...");
  const char *before = t->sizes[0] ? " at " : "";
  if (rc == CLT_OK)
    rc = clt_fail(error, CLT_E_NOT_FOUND, "there are no measurements of '%s'%s%s%s", t->title, before, t->sizes,
                  known.n ? known.bytes : "");
  clt_text_release(&known);
  return rc;
}

int clt_tuning_of_instance(clt_tuning *out, const char *objective, clt_store *store, const clt_instance *instance,
                           clt_error *error) {
  const clt_problem *problem = clt_instance_problem(instance);
  clt_store_key key;
  clt_store_description *keys = NULL;
  size_t n_keys = 0;
  clt_error why = {0};
  *out = (clt_tuning){.space = clt_instance_space(instance),
                      .instance = instance,
                      .title = strdup(clt_problem_name(problem)),
                      .sizes = clt_instance_sizes_text(instance),
                      .device_info = malloc(sizeof *out->device_info)};
  int rc = out->device_info ? CLT_OK : clt_fail_memory(error);
  if (rc == CLT_OK) *out->device_info = *clt_instance_device(instance);
  if (rc == CLT_OK) rc = clt_objective_new(&out->objective, instance, objective, error);
  if (rc == CLT_OK) rc = clt_store_key_init(&key, instance, error);
  if (rc == CLT_OK) rc = clt_store_keys(&keys, &n_keys, store, false, error);
  if (rc == CLT_OK && (rc = read_store(out, store, &key, clt_problem_path(problem), keys, n_keys, &why)) != CLT_OK) {
    if (rc == CLT_E_NOT_FOUND)
      rc = fail_at_sizes(out, &key, keys, n_keys, error);
    else
      clt_fail(error, rc, "%s", why.message);
  }
  clt_store_keys_free(keys, n_keys);
  return rc;
}

static int tuning_of_key(clt_tuning *out, const char *objective, clt_store *store, const clt_store_description *d,
                         size_t n, clt_error *error) {
  const char *name = d->problem_name;
  *out = (clt_tuning){.title = strdup(name[0] ? name : d->key.problem), .sizes = strdup(d->sizes)};
  int rc = clt_store_space(&out->own_space, store, &d->key, error);
  if (rc) return rc;
  out->space = out->own_space;
  note_device(out, d->device_json, &d->key);
  rc = clt_objective_new_for(&out->objective, out->space, NULL, 0, NULL, objective, error);
  return rc ? rc : read_store(out, store, &d->key, d->problem_path, d, n, error);
}

int clt_tuning_of_recording(clt_tuning *out, const char *objective, const clt_recording *recording, clt_error *error) {
  clt_text sizes = {0};
  *out = (clt_tuning){.space = clt_recording_space(recording),
                      .title = strdup(clt_recording_name(recording)),
                      .device = strdup(recording->device)};
  for (size_t i = 0; i < recording->n_sizes; i++)
    clt_text_printf(&sizes, "%s%s=%lld", i ? " " : "", recording->sizes[i].name, (long long)recording->sizes[i].value);
  int rc = clt_text_take(&out->sizes, &sizes, error);
  if (rc == CLT_OK) rc = clt_recording_objective(&out->objective, recording, objective, error);
  note_device(out, recording->device_json, NULL);
  for (size_t i = 0; rc == CLT_OK && i < recording->n; i++)
    if (clt_report_add_row(&out->rows, out->objective, clt_recording_at(recording, recording->order[i])))
      rc = clt_fail_memory(error);
  return rc ? rc : finish_tuning(out, NULL, error);
}

void clt_tuning_release(clt_tuning *tuning) {
  free(tuning->title);
  free(tuning->device);
  free(tuning->sizes);
  free(tuning->problem_path);
  free(tuning->store);
  free(tuning->device_info);
  json_decref(tuning->session);
  free(tuning->rows.items);
  free(tuning->finalists.items);
  clt_objective_free(tuning->objective);
  clt_space_free(tuning->own_space);
  *tuning = (clt_tuning){0};
}

/* --- asking a tuning --- */

double clt_tuning_value(const clt_tuning *tuning, double cost) {
  return clt_objective_value_of(tuning->objective, cost);
}

clt_measurement clt_row_measurement(const clt_report_row *row, bool as_finalist) {
  clt_measurement m;
  clt_measurement_init(&m, row->config);
  m.reason = row->reason;
  m.use = row->use;
  m.time_s = as_finalist ? row->final_s : row->time_s;
  m.energy_J = as_finalist ? row->final_energy_J : row->energy_J;
  m.figure = as_finalist ? row->final_figure : row->figure;
  return m;
}

double clt_row_metric(const clt_tuning *tuning, const clt_report_row *row, size_t metric, bool as_finalist) {
  const clt_measurement m = clt_row_measurement(row, as_finalist);
  return clt_objective_metric_value(tuning->objective, metric, &m);
}

static bool comes_before(const clt_report_ranked *a, const clt_report_ranked *b) {
  return a->key != b->key ? a->key < b->key : a->tie < b->tie;
}

size_t clt_rank(clt_report_ranked *ranked, size_t n, size_t most, clt_report_ranked item) {
  size_t at = n < most ? n++ : most;
  if (at == most && !comes_before(&item, &ranked[--at])) return n;
  for (; at > 0 && comes_before(&item, &ranked[at - 1]); at--) ranked[at] = ranked[at - 1];
  ranked[at] = item;
  return n;
}

size_t clt_tuning_fastest(const clt_tuning *tuning, clt_report_ranked *out, size_t n) {
  size_t n_out = 0;
  for (size_t i = 0; i < tuning->rows.n; i++) {
    const clt_report_row *row = &tuning->rows.items[i];
    if (isfinite(row->cost)) n_out = clt_rank(out, n_out, n, (clt_report_ranked){row->cost, row->config, 0, i});
  }
  return n_out;
}

/* --- reports --- */

struct clt_report {
  const clt_report_options *options;
  json_t *document, *tunings;
  size_t n_tunings;
  clt_text csv;
  char *csv_header;
};

int clt_report_new(clt_report **out, const clt_report_options *options, clt_error *error) {
  clt_report *report = clt_new_array(1, sizeof *report);
  if (report == NULL) return clt_fail_memory(error);
  report->options = options;
  report->tunings = json_array();
  report->document = json_pack("{s:s, s:o, s:I, s:O}", "version", CLT_VERSION, "command",
                               options->command ? clt_report_string(options->command) : json_null(), "seed",
                               (json_int_t)options->seed, "tunings", report->tunings);
  if (report->document) {
    *out = report;
    return CLT_OK;
  }
  clt_report_free(report);
  return clt_fail_memory(error);
}

void clt_report_free(clt_report *report) {
  if (report == NULL) return;
  json_decref(report->tunings);
  json_decref(report->document);
  clt_text_release(&report->csv);
  free(report->csv_header);
  free(report);
}

/* Makes the document of a tuning that was read, or was not (rc); releases it. */
static int add_tuning(clt_report *report, clt_tuning *tuning, int rc, clt_error *error) {
  json_t *json = NULL;
  if (rc == CLT_OK && report->options->csv)
    rc = clt_tuning_csv(&report->csv, &report->csv_header, tuning, error);
  else if (rc == CLT_OK)
    rc = clt_tuning_document(&json, tuning, report->options, error);
  report->n_tunings += rc == CLT_OK;
  if (rc == CLT_OK && json && json_array_append_new(report->tunings, json)) rc = clt_fail_memory(error);
  clt_tuning_release(tuning);
  return rc;
}

int clt_report_add_instance(clt_report *report, clt_store *store, const clt_instance *instance, clt_error *error) {
  clt_tuning t;
  return add_tuning(report, &t, clt_tuning_of_instance(&t, report->options->objective, store, instance, error), error);
}

int clt_report_add_key(clt_report *report, clt_store *store, const clt_store_description *descriptions, size_t n,
                       clt_error *error) {
  clt_tuning tuning;
  int rc = tuning_of_key(&tuning, report->options->objective, store, descriptions, n, error);
  return add_tuning(report, &tuning, rc, error);
}

int clt_report_add_recording(clt_report *report, const clt_recording *recording, clt_error *error) {
  clt_tuning tuning;
  int rc = clt_tuning_of_recording(&tuning, report->options->objective, recording, error);
  return add_tuning(report, &tuning, rc, error);
}

void clt_report_follow(clt_report *report, json_t *follow) { json_object_set_new(report->document, "follow", follow); }

size_t clt_report_n_tunings(const clt_report *report) { return report->n_tunings; }

const char *clt_report_csv(const clt_report *report) { return report->csv.bytes ? report->csv.bytes : ""; }

const json_t *clt_report_document(const clt_report *report) { return report->document; }

int clt_report_text(char **out, const clt_report *report, int width, clt_error *error) {
  return clt_document_text(out, report->document, width, error);
}

/* --- the page: the template (page.html, page.css, page.js, joined by embed.py) with the document in it as data --- */

/* In the page a text can neither begin a tag nor end an attribute. The beginning of a tag in data is written
 * as JSON's own escape: within a script's data nothing else can end it. */
static void put_escaped(clt_text *out, const char *text, bool is_data) {
  for (size_t n; *text; text += n) {
    n = strcspn(text, is_data ? "<" : "&<>\"'");
    clt_text_add_bytes(out, text, n);
    if (text[n] == '\0') return;
    clt_text_printf(out, is_data ? "\\u%04x" : "&#%d;", text[n++]);
  }
}

int clt_report_page(char **out, const clt_report *report, clt_error *error) {
  static const char *const marks[] = {"@REFRESH@", "@TEXT@", "@DOCUMENT@"};
  const char *rest = clt_page_template;
  const json_t *follow = json_object_get(report->document, "follow");
  const bool refreshes = follow && !json_is_true(json_object_get(follow, "ended"));
  clt_text page = {0};
  char *text = NULL;
  if (clt_report_n_tunings(report) == 0 && follow == NULL)
    return clt_fail(error, CLT_E_ARGUMENT, "there are no measurements to report");
  int rc = clt_document_text(&text, report->document, 100, error);
  if (rc) return rc;
  char *json = json_dumps(report->document, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(8));
  if (json) {
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
      const char *at = strstr(rest, marks[i]);
      clt_text_add_bytes(&page, rest, (size_t)(at - rest));
      rest = at + strlen(marks[i]);
      if (i == 0 && refreshes) clt_text_add(&page, "<meta http-equiv=\"refresh\" content=\"2\">");
      if (i > 0) put_escaped(&page, i == 1 ? text : json, i == 2);
    }
    clt_text_add(&page, rest);
    rc = clt_text_take(out, &page, error);
  } else {
    rc = clt_fail_memory(error);
  }
  free(json);
  free(text);
  return rc;
}
