/* The rows of a report. */
#include "report/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"

static double spread_of(const clt_measurement *m) {
  return m->n_runs < 2 ? NAN : clt_mad(m->runs_s, m->n_runs) / clt_median(m->runs_s, m->n_runs);
}

static int add_row(clt_report *report, const clt_measurement *m) {
  if (clt_grow(&report->rows, &report->capacity, report->n + 1, sizeof *report->rows)) return CLT_E_MEMORY;
  bool correct = clt_measurement_correct(m);
  report->rows[report->n++] = (clt_report_row){m->config, m->reason, correct ? m->time_s : NAN, spread_of(m)};
  return 0;
}

static int note(void *user, clt_record_kind kind, const clt_measurement *m) {
  return kind == CLT_RECORD_SEARCH ? add_row(user, m) : 0;
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

static int keep_newest(clt_report *report, clt_error *error) {
  place *places = clt_new_array(report->n, sizeof *places);
  bool *stale = clt_new_array(report->n, sizeof *stale);
  size_t kept = 0;
  if (places == NULL || stale == NULL) {
    free(places);
    free(stale);
    return clt_fail_memory(error);
  }
  for (size_t i = 0; i < report->n; i++) places[i] = (place){report->rows[i].config, i};
  if (report->n) qsort(places, report->n, sizeof *places, by_config_then_index);
  for (size_t i = 0; i + 1 < report->n; i++)
    if (places[i].config == places[i + 1].config) stale[places[i].index] = true;
  for (size_t i = 0; i < report->n; i++)
    if (!stale[i]) report->rows[kept++] = report->rows[i];
  report->n = kept;
  free(places);
  free(stale);
  return CLT_OK;
}

static int finish(clt_report **out, clt_report *report, int rc, clt_error *error) {
  if (rc == CLT_OK && (report->title == NULL || report->device == NULL)) rc = clt_fail_memory(error);
  if (rc == CLT_OK) rc = keep_newest(report, error);
  for (size_t i = 0; rc == CLT_OK && i < report->n; i++) report->n_correct += isfinite(report->rows[i].time_s);
  if (rc) {
    clt_report_free(report);
    return rc;
  }
  *out = report;
  return CLT_OK;
}

int clt_report_from_store(clt_report **out, clt_store *store, const clt_instance *instance, clt_error *error) {
  clt_report *report = calloc(1, sizeof *report);
  clt_store_key key;
  if (report == NULL) return clt_fail_memory(error);
  report->space = clt_instance_space(instance);
  report->title = strdup(clt_problem_name(clt_instance_problem(instance)));
  int rc = clt_store_key_init(&key, instance, error);
  if (rc == CLT_OK) report->device = clt_format("%s, driver %s", key.device, key.driver);
  if (rc == CLT_OK) rc = clt_store_each(store, &key, report->space, note, report, NULL, error);
  return finish(out, report, rc, error);
}

int clt_report_from_recording(clt_report **out, const clt_recording *recording, clt_error *error) {
  clt_report *report = calloc(1, sizeof *report);
  if (report == NULL) return clt_fail_memory(error);
  report->space = clt_recording_space(recording);
  report->title = strdup(clt_recording_name(recording));
  report->device = strdup(clt_recording_device(recording));
  int rc = CLT_OK;
  for (size_t i = 0; rc == CLT_OK && i < clt_recording_size(recording); i++)
    rc = add_row(report, clt_recording_at(recording, i)) ? clt_fail_memory(error) : CLT_OK;
  return finish(out, report, rc, error);
}

void clt_report_free(clt_report *report) {
  if (report == NULL) return;
  free(report->title);
  free(report->device);
  free(report->rows);
  free(report);
}

/* --- asking --- */

const clt_space *clt_report_space(const clt_report *report) { return report->space; }
const char *clt_report_title(const clt_report *report) { return report->title; }
const char *clt_report_device(const clt_report *report) { return report->device; }
size_t clt_report_n_rows(const clt_report *report) { return report->n; }
const clt_report_row *clt_report_row_at(const clt_report *report, size_t index) { return &report->rows[index]; }
size_t clt_report_n_correct(const clt_report *report) { return report->n_correct; }

static bool faster(const clt_report *report, size_t a, size_t b) {
  const clt_report_row *x = &report->rows[a], *y = &report->rows[b];
  return x->time_s != y->time_s ? x->time_s < y->time_s : x->config < y->config;
}

/* By insertion: n is small beside the rows. */
size_t clt_report_fastest(const clt_report *report, size_t *out, size_t n) {
  size_t found = 0;
  for (size_t i = 0; i < report->n; i++) {
    if (!isfinite(report->rows[i].time_s)) continue;
    size_t at = found < n ? found++ : n;
    if (at == n && (n == 0 || !faster(report, i, out[n - 1]))) continue;
    if (at == n) at--;
    for (; at > 0 && faster(report, i, out[at - 1]); at--) out[at] = out[at - 1];
    out[at] = i;
  }
  return found;
}
