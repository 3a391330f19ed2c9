/* A model of a tuning's rows, judged by rows that it has not seen. */
#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/json.h"
#include "base/memory.h"
#include "model/model.h"
#include "model/rows.h"
#include "report/rows.h"

#define MOST_ROWS                                                                                    \
  2000 /* of more, as many are drawn: so many say what a model errs by, and it is fitted in a second \
        */

/* The rows of a model, the first of a shuffle by the seed where not all are taken. */
static int draw_rows(clt_rows *out, const clt_tuning *t, uint64_t seed, clt_error *error) {
  clt_rng rng;
  size_t n = t->rows.n, most = n < MOST_ROWS ? n : MOST_ROWS;
  size_t *order = clt_new_array(n, sizeof *order);
  int rc = order ? CLT_OK : clt_fail_memory(error);
  clt_rng_init(&rng, seed);
  for (size_t i = 0; !rc && i < n; i++) order[i] = i;
  for (size_t i = 0; !rc && i < most; i++) {
    size_t other = n > most ? i + (size_t)clt_rng_below(&rng, n - i) : i, chosen = order[other];
    order[other] = order[i];
    const clt_report_row *row = &t->rows.items[chosen];
    rc = clt_rows_add(out, row->config, isfinite(row->cost) ? log(row->cost) : NAN, 0, error);
  }
  free(order);
  return rc;
}

static bool can_be_fitted(const clt_rows *rows) {
  size_t n_correct = 0;
  double least = INFINITY, most = -INFINITY;
  for (size_t i = 0; i < rows->n; i++) {
    if (clt_rows_failed(rows, i)) continue;
    n_correct++;
    least = fmin(least, rows->log_cost[i]);
    most = fmax(most, rows->log_cost[i]);
  }
  return n_correct >= CLT_REPORT_LEAST_ROWS && most > least;
}

/* Its accuracy, and the measured and predicted values of at most CLT_REPORT_MOST_POINTS rows. */
static json_t *model_json(const clt_model *model, const clt_tuning *t, const clt_rows *rows) {
  json_t *measured = json_array(), *predicted = json_array();
  clt_model_accuracy accuracy;
  size_t n, taken = 0;
  const float *residuals = clt_model_residuals(model, &n);
  size_t stride = n / CLT_REPORT_MOST_POINTS + 1;
  for (size_t i = 0; i < rows->n && taken < n; i++) {
    if (clt_rows_failed(rows, i)) continue;
    double residual = (double)residuals[taken];
    if (taken++ % stride) continue;
    json_array_append_new(measured, clt_json_real(clt_tuning_value(t, exp(rows->log_cost[i]))));
    json_array_append_new(predicted, clt_json_real(clt_tuning_value(t, exp(rows->log_cost[i] + residual))));
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
  clt_rows rows = {.space = tuning->space};
  int rc = draw_rows(&rows, tuning, options->seed, error);
  json_t *json = NULL;
  if (rc == CLT_OK && can_be_fitted(&rows)) {
    rc = clt_model_fit(&model, "ensemble", NULL, 0, &rows, options->seed, options->threads, &own);
    if (rc == CLT_OK) json = model_json(model, tuning, &rows);
    if (rc == CLT_OK && json == NULL) rc = clt_fail_memory(&own);
    if (rc == CLT_E_MODEL) rc = CLT_OK; /* rows that no model can be made of */
    if (rc) clt_fail(error, rc, "%s", own.message);
  }
  if (rc == CLT_OK) *out = json ? json : json_null();
  clt_model_free(model);
  clt_rows_release(&rows);
  return rc;
}
