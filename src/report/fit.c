/* A model of a report's rows, judged by rows that it has not seen. */
#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/memory.h"
#include "report/report.h"

void clt_report_fit_release(clt_report_fit *fit) {
  free(fit->measured_s);
  free(fit->predicted_s);
  *fit = (clt_report_fit){0};
}

/* The first n of a shuffle of all. */
static void draw(clt_row *rows, size_t n_rows, size_t n, uint64_t seed) {
  clt_rng rng;
  clt_rng_init(&rng, seed);
  for (size_t i = 0; i < n; i++) {
    size_t other = i + (size_t)clt_rng_below(&rng, n_rows - i);
    clt_row row = rows[i];
    rows[i] = rows[other];
    rows[other] = row;
  }
}

static int make_rows(clt_row **out, size_t *n, const clt_report *report, uint64_t seed, clt_error *error) {
  clt_row *rows = clt_new_array(report->rows.n, sizeof *rows);
  if (rows == NULL) return clt_fail_memory(error);
  for (size_t i = 0; i < report->rows.n; i++) {
    const clt_report_row *row = &report->rows.items[i];
    rows[i] = (clt_row){row->config, row->cost, !isfinite(row->cost)};
  }
  *n = report->rows.n;
  if (*n > CLT_REPORT_MOST_ROWS) {
    draw(rows, *n, CLT_REPORT_MOST_ROWS, seed);
    *n = CLT_REPORT_MOST_ROWS;
  }
  *out = rows;
  return CLT_OK;
}

/* Enough correct ones, and not all the same. */
static bool worth_a_model(const clt_row *rows, size_t n) {
  size_t n_correct = 0;
  double least_s = INFINITY, most_s = 0;
  for (size_t i = 0; i < n; i++) {
    if (rows[i].failed) continue;
    n_correct++;
    least_s = fmin(least_s, rows[i].time_s);
    most_s = fmax(most_s, rows[i].time_s);
  }
  return n_correct >= CLT_REPORT_LEAST_ROWS && most_s > least_s;
}

static int take_predictions(clt_report_fit *out, const clt_model *model, const clt_row *rows, size_t n_rows,
                            clt_error *error) {
  size_t n, taken = 0;
  const float *residuals = clt_model_residuals(model, &n);
  clt_report_fit fit = {.measured_s = clt_new_array(n, sizeof *fit.measured_s),
                        .predicted_s = clt_new_array(n, sizeof *fit.predicted_s)};
  if (fit.measured_s == NULL || fit.predicted_s == NULL) {
    clt_report_fit_release(&fit);
    return clt_fail_memory(error);
  }
  for (size_t i = 0; i < n_rows && taken < n; i++) {
    if (rows[i].failed) continue;
    fit.measured_s[taken] = rows[i].time_s;
    fit.predicted_s[taken] = rows[i].time_s * exp((double)residuals[taken]);
    taken++;
  }
  fit.n = taken;
  clt_model_accuracy_get(model, &fit.accuracy);
  *out = fit;
  return CLT_OK;
}

int clt_report_fit_init(clt_report_fit *out, const clt_report *report, uint64_t seed, unsigned threads,
                        clt_error *error) {
  clt_row *rows = NULL;
  clt_model *model = NULL;
  clt_report_fit fit = {0};
  clt_error own = {0};
  size_t n = 0;
  int rc = make_rows(&rows, &n, report, seed, error);
  if (rc == CLT_OK && worth_a_model(rows, n)) {
    rc = clt_model_fit(&model, "ensemble", NULL, 0, report->space, NULL, rows, n, seed, threads, &own);
    if (rc == CLT_OK) rc = take_predictions(&fit, model, rows, n, &own);
    if (rc == CLT_E_MODEL) rc = CLT_OK; /* rows that no model can be made of */
    if (rc) clt_fail(error, rc, "%s", own.message);
  }
  if (rc == CLT_OK) *out = fit;
  clt_model_free(model);
  free(rows);
  return rc;
}
