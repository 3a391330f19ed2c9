/* The rows of a report. */
#include "report/report.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "store/store.h"

static double spread_of(const clt_measurement *m) {
  return m->n_runs < 2 ? NAN : clt_mad(m->runs_s, m->n_runs) / clt_median(m->runs_s, m->n_runs);
}

/* What a file claims to have taken; nothing where it cannot be. */
static double spent_on(const clt_measurement *m) {
  double sum_s = m->phases.build_s + m->phases.first_launch_s + m->phases.runs_s + m->phases.verify_s;
  return isfinite(sum_s) && sum_s > 0 ? sum_s : 0;
}

static int add_row(clt_report_rows *rows, const clt_measurement *m) {
  if (clt_grow(&rows->items, &rows->capacity, rows->n + 1, sizeof *rows->items)) return CLT_E_MEMORY;
  rows->items[rows->n++] = (clt_report_row){.config = m->config,
                                            .reason = m->reason,
                                            .time_s = clt_measurement_correct(m) ? m->time_s : NAN,
                                            .spread = spread_of(m),
                                            .final_s = NAN,
                                            .spent_s = spent_on(m),
                                            .energy_J = m->energy_J,
                                            .cost = NAN};
  return 0;
}

static int note(void *user, clt_record_kind kind, const clt_measurement *m) {
  clt_report *report = user;
  if (kind == CLT_RECORD_SEARCH) return add_row(&report->rows, m);
  return kind == CLT_RECORD_FINALIST ? add_row(&report->finalists, m) : 0;
}

/* --- of several of one configuration the newest --- */

typedef struct place {
  clt_config config;
  size_t index;
} place;

static int by_config_then_index(const void *a, const void *b) {
  const place *x = a, *y = b;
  if (x->config != y->config) return x->config < y->config ? -1 : 1;
  return (x->index > y->index) - (x->index < y->index);
}

static int keep_newest(clt_report_rows *rows, clt_error *error) {
  place *places = clt_new_array(rows->n, sizeof *places);
  bool *stale = clt_new_array(rows->n, sizeof *stale);
  size_t kept = 0;
  if (places == NULL || stale == NULL) {
    free(places);
    free(stale);
    return clt_fail_memory(error);
  }
  for (size_t i = 0; i < rows->n; i++) places[i] = (place){rows->items[i].config, i};
  if (rows->n) qsort(places, rows->n, sizeof *places, by_config_then_index);
  for (size_t i = 0; i + 1 < rows->n; i++)
    if (places[i].config == places[i + 1].config) stale[places[i].index] = true;
  for (size_t i = 0; i < rows->n; i++)
    if (!stale[i]) rows->items[kept++] = rows->items[i];
  rows->n = kept;
  free(places);
  free(stale);
  return CLT_OK;
}

static int by_config(const void *a, const void *b) {
  const clt_report_row *x = a, *y = b;
  return (x->config > y->config) - (x->config < y->config);
}

static void join_finalists(clt_report *report) {
  const clt_report_rows *f = &report->finalists;
  if (f->n) qsort(f->items, f->n, sizeof *f->items, by_config);
  for (size_t i = 0; f->n && i < report->rows.n; i++) {
    clt_report_row *row = &report->rows.items[i];
    const clt_report_row *found = bsearch(row, f->items, f->n, sizeof *f->items, by_config);
    if (found) row->final_s = found->time_s;
  }
}

int clt_report_set_objective(clt_report *report, const char *text, clt_error *error) {
  clt_objective *objective = NULL;
  int rc = report->instance    ? clt_objective_new(&objective, report->instance, text, error)
           : report->recording ? clt_recording_objective(&objective, report->recording, text, error)
                               : clt_objective_new_for(&objective, report->space, NULL, 0, text, error);
  if (rc) return rc;
  clt_objective_free(report->objective);
  report->objective = objective;
  for (size_t i = 0; i < report->rows.n; i++) {
    clt_report_row *row = &report->rows.items[i];
    bool correct = row->reason == CLT_REASON_NONE;
    row->cost = correct ? clt_objective_cost_of(objective, row->config, row->time_s, row->energy_J) : NAN;
  }
  return CLT_OK;
}

const clt_objective *clt_report_objective(const clt_report *report) { return report->objective; }

static int finish(clt_report **out, clt_report *report, int rc, clt_error *error) {
  if (rc == CLT_OK && (!report->title || !report->device || !report->sizes)) rc = clt_fail_memory(error);
  if (rc == CLT_OK) rc = keep_newest(&report->rows, error);
  if (rc == CLT_OK) rc = keep_newest(&report->finalists, error);
  if (rc == CLT_OK) join_finalists(report);
  if (rc == CLT_OK) rc = clt_report_set_objective(report, NULL, error);
  for (size_t i = 0; rc == CLT_OK && i < report->rows.n; i++)
    report->n_correct += isfinite(report->rows.items[i].time_s);
  if (rc) {
    clt_report_free(report);
    return rc;
  }
  *out = report;
  return CLT_OK;
}

/* --- sources --- */

/* Nothing in it that a terminal would obey. */
static char *plain(char *text) {
  for (char *c = text; c && *c; c++)
    if ((unsigned char)*c < ' ' || *c == 127) *c = '?';
  return text;
}

/* A device that cannot be read is one of which no more than the name is known. */
static void note_device(clt_report *report, const char *json) {
  clt_device_info *info = json[0] ? calloc(1, sizeof *info) : NULL;
  if (info && clt_device_from_json(info, json, NULL) == CLT_OK) {
    char *const texts[] = {info->name,           info->vendor,         info->platform_name,   info->platform_version,
                           info->device_version, info->driver_version, info->opencl_c_version};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) plain(texts[i]);
    report->device_info = info;
  } else {
    free(info);
  }
}

static char *sizes_text(clt_size (*at)(const void *source, size_t index), const void *source, size_t n) {
  char *text = NULL;
  size_t bytes;
  FILE *file = open_memstream(&text, &bytes);
  if (file == NULL) return NULL;
  for (size_t i = 0; i < n; i++) {
    clt_size size = at(source, i);
    fprintf(file, "%s%s=%lld", i ? " " : "", size.name, (long long)size.value);
  }
  bool failed = ferror(file) != 0;
  if (fclose(file) == 0 && !failed) return text;
  free(text);
  return NULL;
}

static clt_size size_of_instance(const void *instance, size_t index) { return clt_instance_size(instance, index); }
static clt_size size_of_recording(const void *recording, size_t index) {
  return clt_recording_problem_size(recording, index);
}

static char *device_text(const clt_store_key *key) {
  return plain(clt_format("%s, driver %s", key->device, key->driver));
}

int clt_report_from_store(clt_report **out, clt_store *store, const clt_instance *instance, clt_error *error) {
  clt_report *report = calloc(1, sizeof *report);
  clt_store_key key;
  char *json = NULL;
  if (report == NULL) return clt_fail_memory(error);
  report->instance = instance;
  report->space = clt_instance_space(instance);
  report->title = strdup(clt_problem_name(clt_instance_problem(instance)));
  report->sizes = sizes_text(size_of_instance, instance, clt_instance_n_sizes(instance));
  int rc = clt_store_key_init(&key, instance, error);
  if (rc == CLT_OK) report->device = device_text(&key);
  if (rc == CLT_OK) rc = clt_device_to_json(&json, clt_instance_device(instance), error);
  if (rc == CLT_OK) note_device(report, json);
  if (rc == CLT_OK) rc = clt_store_each(store, &key, report->space, note, report, NULL, error);
  free(json);
  return finish(out, report, rc, error);
}

int clt_report_from_key(clt_report **out, clt_store *store, const clt_store_description *description,
                        clt_error *error) {
  clt_report *report = calloc(1, sizeof *report);
  if (report == NULL) return clt_fail_memory(error);
  int rc = clt_store_space(&report->own_space, store, &description->key, error);
  report->space = report->own_space;
  report->title = plain(strdup(description->problem_name[0] ? description->problem_name : description->key.problem));
  report->sizes = plain(strdup(description->sizes));
  report->device = device_text(&description->key);
  note_device(report, description->device_json);
  if (rc == CLT_OK) rc = clt_store_each(store, &description->key, report->space, note, report, NULL, error);
  return finish(out, report, rc, error);
}

int clt_report_from_recording(clt_report **out, const clt_recording *recording, clt_error *error) {
  clt_report *report = calloc(1, sizeof *report);
  if (report == NULL) return clt_fail_memory(error);
  report->recording = recording;
  report->space = clt_recording_space(recording);
  report->title = strdup(clt_recording_name(recording));
  report->device = strdup(clt_recording_device(recording));
  report->sizes = sizes_text(size_of_recording, recording, clt_recording_n_sizes(recording));
  note_device(report, clt_recording_device_json(recording));
  int rc = CLT_OK;
  for (size_t i = 0; rc == CLT_OK && i < clt_recording_size(recording); i++) {
    size_t index = clt_recording_in_file(recording, i);
    rc = add_row(&report->rows, clt_recording_at(recording, index)) ? clt_fail_memory(error) : CLT_OK;
  }
  return finish(out, report, rc, error);
}

void clt_report_free(clt_report *report) {
  if (report == NULL) return;
  free(report->title);
  free(report->device);
  free(report->sizes);
  free(report->device_info);
  free(report->rows.items);
  free(report->finalists.items);
  clt_objective_free(report->objective);
  clt_space_free(report->own_space);
  free(report);
}

/* --- asking --- */

const clt_space *clt_report_space(const clt_report *report) { return report->space; }
const char *clt_report_title(const clt_report *report) { return report->title; }
const char *clt_report_device(const clt_report *report) { return report->device; }
const char *clt_report_sizes(const clt_report *report) { return report->sizes; }
const clt_device_info *clt_report_device_info(const clt_report *report) { return report->device_info; }
size_t clt_report_n_rows(const clt_report *report) { return report->rows.n; }
const clt_report_row *clt_report_row_at(const clt_report *report, size_t index) { return &report->rows.items[index]; }
size_t clt_report_n_correct(const clt_report *report) { return report->n_correct; }

static bool better(const clt_report *report, size_t a, size_t b) {
  const clt_report_row *x = &report->rows.items[a], *y = &report->rows.items[b];
  return x->cost != y->cost ? x->cost < y->cost : x->config < y->config;
}

/* By insertion: n is small beside the rows. */
size_t clt_report_fastest(const clt_report *report, size_t *out, size_t n) {
  size_t found = 0;
  for (size_t i = 0; i < report->rows.n; i++) {
    if (!isfinite(report->rows.items[i].cost)) continue;
    size_t at = found < n ? found++ : n;
    if (at == n && (n == 0 || !better(report, i, out[n - 1]))) continue;
    if (at == n) at--;
    for (; at > 0 && better(report, i, out[at - 1]); at--) out[at] = out[at - 1];
    out[at] = i;
  }
  return found;
}

size_t clt_report_best(const clt_report *report) {
  size_t best = SIZE_MAX;
  bool finalists_count = clt_objective_ranks_by_time(report->objective);
  for (size_t i = 0; finalists_count && i < report->rows.n; i++)
    if (!(report->rows.items[i].final_s >= (best == SIZE_MAX ? INFINITY : report->rows.items[best].final_s)) &&
        isfinite(report->rows.items[i].final_s))
      best = i;
  if (best == SIZE_MAX) clt_report_fastest(report, &best, 1);
  return best;
}
