/* Summaries of the rows of a tuning: groups of them (one value of a parameter, or one pair of values of two), and a
 * model judged by rows that it has not seen. */
#include "base/base.h"
#include "base/json.h"
#include "format/format.h"
#include "model/model.h"
#include "model/rows.h"
#include "report/report.h"

/* Of more rows as many are drawn: enough to say what a model errs by, and it is fitted in a second. */
#define MOST_ROWS 2000

/* --- groups --- */

typedef struct member {
  size_t group, row;
  double cost; /* NaN: failed; infinite: slow (CLT_REASON_ABANDONED) */
} member;

static int by_group_then_cost(const void *a, const void *b) {
  const member *x = a, *y = b;
  if (x->group != y->group) return x->group < y->group ? -1 : 1;
  if (isnan(x->cost) || isnan(y->cost)) return isnan(x->cost) - isnan(y->cost);
  return x->cost != y->cost ? (x->cost > y->cost) - (x->cost < y->cost) : (x->row > y->row) - (x->row < y->row);
}

/* Of costs in ascending order, between two of them if the share falls there. */
static double quantile(const member *members, size_t n, double share) {
  double at = share * (double)(n - 1);
  size_t below = (size_t)at, above = below + (below + 1 < n);
  return members[below].cost + (at - (double)below) * (members[above].cost - members[below].cost);
}

/* One group, its costs in ascending order with the failures behind. */
static clt_effect sum_up(const member *members, size_t n) {
  clt_effect effect = {.n = n, .least = NAN, .lower_quartile = NAN, .median = NAN, .upper_quartile = NAN};
  size_t n_correct = 0;
  while (n_correct < n && isfinite(members[n_correct].cost)) n_correct++;
  for (size_t i = n_correct; i < n; i++) effect.n_failed += isnan(members[i].cost) != 0;
  if (n_correct == 0) return effect;
  effect.least = members[0].cost;
  effect.best_row = members[0].row;
  effect.lower_quartile = quantile(members, n_correct, 0.25);
  effect.median = quantile(members, n_correct, 0.5);
  effect.upper_quartile = quantile(members, n_correct, 0.75);
  return effect;
}

int clt_effects_new(clt_effect **out, double *importance, size_t n_groups, const clt_tuning *tuning,
                    const size_t *groups, clt_error *error) {
  size_t n = tuning->rows.n, n_correct = 0;
  double mean = 0, all = 0, between = 0; /* of the log cost: its mean, its variance, and that between groups */
  member *members = clt_new_array(n, sizeof *members);
  clt_effect *effects = clt_new_array(n_groups, sizeof *effects);
  if (members == NULL || effects == NULL) {
    free(members);
    free(effects);
    return clt_fail_memory(error);
  }
  for (size_t i = 0; i < n; i++) {
    const clt_report_row *row = &tuning->rows.items[i];
    members[i] = (member){groups[i], i, row->reason == CLT_REASON_ABANDONED ? INFINITY : row->cost};
    if (!isfinite(members[i].cost)) continue;
    mean += log(row->cost);
    n_correct++;
  }
  mean /= (double)n_correct;
  if (n) qsort(members, n, sizeof *members, by_group_then_cost);
  for (size_t g = 0; g < n_groups; g++) effects[g] = sum_up(NULL, 0);
  for (size_t first = 0, end; first < n; first = end) {
    double sum = 0, n_summed = 0;
    for (end = first; end < n && members[end].group == members[first].group; end++) {
      if (!isfinite(members[end].cost)) continue;
      sum += log(members[end].cost) - mean;
      all += pow(log(members[end].cost) - mean, 2);
      n_summed++;
    }
    if (n_summed > 0) between += sum * sum / n_summed;
    effects[members[first].group] = sum_up(&members[first], end - first);
  }
  free(members);
  if (importance) *importance = all > 0 ? between / all : 0;
  if (importance && n_correct < 2) *importance = NAN;
  *out = effects;
  return CLT_OK;
}

/* --- the model --- */

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
  json_t *measured = json_array(), *predicted = json_array(), *texts = json_array();
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
    json_array_append_new(texts, clt_report_config(t->space, rows->configs[i]));
  }
  clt_model_accuracy_get(&accuracy, model);
  return json_pack("{s:b, s:I, s:I, s:I, s:o, s:o, s:o, s:{s:o, s:o, s:o}}", "useless", clt_model_useless(&accuracy),
                   "rows", (json_int_t)accuracy.n_rows, "failed_rows", (json_int_t)accuracy.n_failed, "predicted_rows",
                   (json_int_t)taken, "mean_relative_error", clt_json_real(accuracy.mean_relative_error),
                   "log_error_sd", clt_json_real(accuracy.log_error_sd), "error_factor",
                   clt_json_real(exp(accuracy.log_error_sd)), "points", "measured", measured, "predicted", predicted,
                   "text", texts);
}

int clt_report_fit(json_t **out, const clt_tuning *tuning, const clt_report_options *options, clt_error *error) {
  clt_model *model = NULL;
  clt_error own = {0};
  clt_rows rows = {.space = tuning->space};
  int rc = draw_rows(&rows, tuning, options->seed, error);
  json_t *json = NULL;
  if (rc == CLT_OK && can_be_fitted(&rows)) {
    rc = clt_model_new(&model, "ensemble", NULL, 0, &rows, options->seed, options->threads, &own);
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

/* --- the front of several objectives --- */

json_t *clt_report_front(const clt_tuning *t) {
  const clt_report_rows *rows = &t->rows;
  const clt_objective *o = t->objective;
  const size_t n = clt_objective_n(o), stride = rows->n / CLT_REPORT_MOST_POINTS + 1;
  double *costs = n > 1 ? clt_new_array(rows->n, n * sizeof *costs) : NULL;
  clt_report_ranked *front = costs ? clt_new_array(rows->n, sizeof *front) : NULL;
  size_t n_front = 0;
  json_t *points = json_array(), *members = json_array();
  for (size_t i = 0; front && i < rows->n; i++) {
    const clt_measurement m = clt_row_measurement(&rows->items[i], false);
    clt_objective_costs(o, &m, costs + n * i);
  }
  for (size_t i = 0; front && i < rows->n; i++) {
    const double *own = costs + n * i;
    bool is_member = isfinite(rows->items[i].cost);
    if (!is_member) continue;
    const clt_measurement m = clt_row_measurement(&rows->items[i], false);
    for (size_t k = 0; is_member && k < rows->n; k++) is_member = !clt_costs_dominate(costs + n * k, own, n);
    if (is_member) n_front = clt_rank(front, n_front, rows->n, (clt_report_ranked){own[0], i, 0, i});
    if (i % stride) continue;
    json_t *point = json_array();
    for (size_t k = 0; k < n; k++) clt_json_append(&point, clt_json_real(clt_objective_nth_value(o, k, &m)));
    clt_json_append(&points, point);
  }
  for (size_t i = 0; i < n_front; i++) {
    const clt_report_row *row = &rows->items[front[i].index];
    const clt_measurement m = clt_row_measurement(row, false);
    json_t *one = clt_json_values(o, &m);
    clt_json_set(&one, "text", clt_report_config(t->space, row->config));
    clt_json_append(&members, one);
  }
  free(costs);
  free(front);
  return json_pack("{s:o, s:o}", "members", members, "points", points);
}
