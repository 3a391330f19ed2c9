/* A model of a tuning's rows, judged by rows that it has not seen. */
#include <math.h>
#include <stdlib.h>

#include <clatune/model.h>

#include "base/fail.h"
#include "base/json.h"
#include "base/memory.h"
#include "report/rows.h"

#define MOST_ROWS                                                                                    \
  2000 /* of more, as many are drawn: so many say what a model errs by, and it is fitted in a second \
        */

/* The rows of a model, shuffled by the seed where not all are taken. */
static clt_row *draw_rows(size_t *n, const clt_tuning *t, uint64_t seed) {
  clt_row *rows = clt_new_array(t->rows.n, sizeof *rows);
  clt_rng rng;
  for (size_t i = 0; rows && i < t->rows.n; i++) {
    const clt_report_row *row = &t->rows.items[i];
    rows[i] = (clt_row){row->config, row->cost, !isfinite(row->cost)};
  }
  *n = t->rows.n < MOST_ROWS ? t->rows.n : MOST_ROWS;
  clt_rng_init(&rng, seed);
  for (size_t i = 0; rows && t->rows.n > MOST_ROWS && i < MOST_ROWS; i++) {
    size_t other = i + (size_t)clt_rng_below(&rng, t->rows.n - i);
    clt_row row = rows[i];
    rows[i] = rows[other];
    rows[other] = row;
  }
  return rows;
}

static bool can_be_fitted(const clt_row *rows, size_t n) {
  size_t n_correct = 0;
  double least = INFINITY, most = 0;
  for (size_t i = 0; i < n; i++) {
    if (rows[i].failed) continue;
    n_correct++;
    least = fmin(least, rows[i].time_s);
    most = fmax(most, rows[i].time_s);
  }
  return n_correct >= CLT_REPORT_LEAST_ROWS && most > least;
}

/* Its accuracy, and the measured and predicted values of at most CLT_REPORT_MOST_POINTS rows. */
static json_t *model_json(const clt_model *model, const clt_tuning *t, const clt_row *rows, size_t n_rows) {
  json_t *measured = json_array(), *predicted = json_array();
  clt_model_accuracy accuracy;
  size_t n, taken = 0;
  const float *residuals = clt_model_residuals(model, &n);
  size_t stride = n / CLT_REPORT_MOST_POINTS + 1;
  for (size_t i = 0; i < n_rows && taken < n; i++) {
    if (rows[i].failed) continue;
    double residual = (double)residuals[taken];
    if (taken++ % stride) continue;
    json_array_append_new(measured, clt_json_real(clt_tuning_value(t, rows[i].time_s)));
    json_array_append_new(predicted, clt_json_real(clt_tuning_value(t, rows[i].time_s * exp(residual))));
  }
  clt_model_accuracy_get(model, &accuracy);
  return json_pack("{s:I, s:I, s:I, s:o, s:o, s:{s:o, s:o}}", "rows", (json_int_t)accuracy.n_rows, "failed_rows",
                   (json_int_t)accuracy.n_failed, "predicted_rows", (json_int_t)taken, "mean_relative_error",
                   clt_json_real(accuracy.mean_relative_error), "log_error_sd", clt_json_real(accuracy.log_error_sd),
                   "points", "measured", measured, "predicted", predicted);
}

int clt_report_fit(json_t **out, const clt_tuning *tuning, const clt_report_options *options, clt_error *error) {
  clt_model *model = NULL;
  clt_error own = {0};
  size_t n = 0;
  clt_row *rows = draw_rows(&n, tuning, options->seed);
  int rc = rows ? CLT_OK : clt_fail_memory(error);
  json_t *json = NULL;
  if (rc == CLT_OK && can_be_fitted(rows, n)) {
    rc =
        clt_model_fit(&model, "ensemble", NULL, 0, tuning->space, NULL, rows, n, options->seed, options->threads, &own);
    if (rc == CLT_OK) json = model_json(model, tuning, rows, n);
    if (rc == CLT_OK && json == NULL) rc = clt_fail_memory(&own);
    if (rc == CLT_E_MODEL) rc = CLT_OK; /* rows that no model can be made of */
    if (rc) clt_fail(error, rc, "%s", own.message);
  }
  if (rc == CLT_OK) *out = json ? json : json_null();
  clt_model_free(model);
  free(rows);
  return rc;
}
