#include "report/view.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/memory.h"
#include "report/report.h"

#define LEAST_FAILED_ROWS 3 /* of a value, before its share of failures means anything */

/* --- texts --- */

clt_report_view_unit clt_report_view_unit_of(double time_s) {
  static const clt_report_view_unit units[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}};
  size_t u = 0;
  while (u < 3 && time_s < units[u].seconds) u++;
  return units[u];
}

const char *clt_report_view_value(clt_value value, char *out, size_t capacity) {
  switch (value.type) {
    case CLT_STRING: snprintf(out, capacity, "%s", value.text); break;
    case CLT_REAL: snprintf(out, capacity, "%.6g", value.real); break;
    case CLT_BOOL: snprintf(out, capacity, "%s", value.integer ? "true" : "false"); break;
    default: snprintf(out, capacity, "%lld", (long long)value.integer);
  }
  return out;
}

/* --- parameters --- */

/* Whether value v comes before w where not all can be shown: the best configuration's before all others. */
static bool better(const clt_report_view_parameter *p, size_t v, size_t w) {
  const clt_effect *e = &p->effect;
  if (v == p->best || w == p->best) return v == p->best;
  double s = e->values[v].least_s, t = e->values[w].least_s;
  if (isnan(s) || isnan(t)) return isnan(t) && !isnan(s);
  return s < t;
}

static int by_position(const void *a, const void *b) {
  const size_t *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

static void choose_values(clt_report_view_parameter *p) {
  for (size_t v = 0; v < p->effect.n_values; v++) {
    if (p->effect.values[v].n == 0) continue;
    size_t at = p->n_shown < CLT_REPORT_VIEW_VALUES ? p->n_shown++ : CLT_REPORT_VIEW_VALUES;
    if (at == CLT_REPORT_VIEW_VALUES && !better(p, v, p->shown[--at])) continue;
    for (; at > 0 && better(p, v, p->shown[at - 1]); at--) p->shown[at] = p->shown[at - 1];
    p->shown[at] = v;
  }
  if (p->n_shown) qsort(p->shown, p->n_shown, sizeof *p->shown, by_position);
}

static int by_importance(const void *a, const void *b) {
  const clt_report_view_parameter *x = a, *y = b;
  double p = isnan(x->effect.importance) ? -1 : x->effect.importance;
  double q = isnan(y->effect.importance) ? -1 : y->effect.importance;
  if (p != q) return p > q ? -1 : 1;
  return (x->index > y->index) - (x->index < y->index);
}

static size_t position_of(const clt_report *report, size_t row, size_t parameter) {
  uint32_t positions[CLT_MAX_PARAMETERS];
  clt_space_positions(report->space, report->rows.items[row].config, positions);
  return positions[parameter];
}

static int add_parameter(clt_report_view *view, size_t index, clt_error *error) {
  clt_report_view_parameter *p = &view->parameters[view->n_parameters];
  *p = (clt_report_view_parameter){
      .index = index, .parameter = clt_space_parameter(view->report->space, index), .best = SIZE_MAX};
  int rc = clt_report_effect(&p->effect, view->report, index, error);
  if (rc) return rc;
  if (view->best != SIZE_MAX) p->best = position_of(view->report, view->best, index);
  choose_values(p);
  if (p->n_shown < 2) {
    clt_effect_release(&p->effect);
    return CLT_OK;
  }
  view->n_parameters++;
  return CLT_OK;
}

static int add_parameters(clt_report_view *view, clt_error *error) {
  size_t n = clt_space_n_parameters(view->report->space);
  view->parameters = clt_new_array(n, sizeof *view->parameters);
  int rc = view->parameters ? CLT_OK : clt_fail_memory(error);
  for (size_t i = 0; rc == CLT_OK && i < n; i++) rc = add_parameter(view, i, error);
  if (rc == CLT_OK) qsort(view->parameters, view->n_parameters, sizeof *view->parameters, by_importance);
  return rc;
}

static int add_pairs(clt_report_view *view, clt_error *error) {
  if (view->n_parameters < 2) return CLT_OK;
  clt_error own = {0};
  int rc = clt_report_pairs(&view->pairs, view->report, view->parameters[0].index, view->parameters[1].index, &own);
  if (rc == CLT_E_RANGE) return CLT_OK;
  if (rc) clt_fail(error, rc, "%s", own.message);
  return rc;
}

const clt_effect_value *clt_report_view_pair(const clt_report_view *view, size_t a, size_t b) {
  const clt_report_view_parameter *p = view->parameters;
  return &view->pairs[p[0].shown[a] * p[1].effect.n_values + p[1].shown[b]];
}

/* --- failures --- */

static double share(const clt_report_view_failing *f) { return (double)f->n_failed / (double)f->n; }

static void add_failing(clt_report_view *view, clt_report_view_failing f) {
  size_t at = view->n_failing;
  while (at > 0 && share(&f) > share(&view->failing[at - 1])) at--;
  if (at == CLT_REPORT_VIEW_FAILING) return;
  if (view->n_failing < CLT_REPORT_VIEW_FAILING) view->n_failing++;
  for (size_t i = view->n_failing - 1; i > at; i--) view->failing[i] = view->failing[i - 1];
  view->failing[at] = f;
}

static void find_failing(clt_report_view *view) {
  size_t n = view->report->rows.n, n_failed = n - view->report->n_correct;
  for (size_t i = 0; i < view->n_parameters; i++) {
    const clt_report_view_parameter *p = &view->parameters[i];
    for (size_t v = 0; v < p->effect.n_values; v++) {
      clt_report_view_failing f = {p, v, p->effect.values[v].n, p->effect.values[v].n_failed};
      if (f.n_failed >= LEAST_FAILED_ROWS && share(&f) * (double)n > (double)n_failed) add_failing(view, f);
    }
  }
}

/* --- rows --- */

static int add_steps(clt_report_view *view, clt_error *error) {
  double best_s = INFINITY;
  size_t capacity = 0;
  for (size_t i = 0; i < view->report->rows.n; i++) {
    const clt_report_row *row = &view->report->rows.items[i];
    view->spent_s += row->spent_s;
    if (!(row->cost < best_s)) continue;
    best_s = row->cost;
    if (clt_grow(&view->steps, &capacity, view->n_steps + 1, sizeof *view->steps)) return clt_fail_memory(error);
    view->steps[view->n_steps++] = (clt_report_view_step){i + 1, best_s, view->spent_s};
  }
  return CLT_OK;
}

static int find_median(clt_report_view *view, clt_error *error) {
  double *times_s = clt_new_array(view->report->rows.n, sizeof *times_s);
  if (times_s == NULL) return clt_fail_memory(error);
  for (size_t i = 0; i < view->report->rows.n; i++) times_s[i] = view->report->rows.items[i].cost;
  view->median_s = clt_median(times_s, view->report->rows.n);
  free(times_s);
  return CLT_OK;
}

static bool is_in_order(const clt_report_rows *rows) {
  for (size_t i = 1; i < rows->n; i++)
    if (rows->items[i - 1].config > rows->items[i].config) return false;
  return rows->n > 2;
}

double clt_report_view_best_s(const clt_report_view *view) {
  if (view->best == SIZE_MAX) return NAN;
  const clt_report_row *row = &view->report->rows.items[view->best];
  const clt_objective *objective = view->report->objective;
  if (!isfinite(row->final_s) || !clt_objective_ranks_by_time(objective)) return row->cost;
  return clt_objective_cost_of(objective, row->config, row->final_s, row->energy_J);
}

int clt_report_view_init(clt_report_view *out, const clt_report *report, const clt_report_options *options,
                         clt_error *error) {
  clt_report_view view = {.report = report, .best = clt_report_best(report), .in_order = is_in_order(&report->rows)};
  view.n_fastest = clt_report_fastest(report, view.fastest, CLT_REPORT_VIEW_FASTEST);
  int rc = add_parameters(&view, error);
  if (rc == CLT_OK) rc = add_pairs(&view, error);
  if (rc == CLT_OK) rc = add_steps(&view, error);
  if (rc == CLT_OK) rc = find_median(&view, error);
  if (rc == CLT_OK) rc = clt_report_fit_init(&view.fit, report, options->seed, options->threads, error);
  if (rc == CLT_OK) find_failing(&view);
  if (rc) {
    clt_report_view_release(&view);
  } else {
    *out = view;
  }
  return rc;
}

void clt_report_view_release(clt_report_view *view) {
  for (size_t i = 0; view->parameters && i < view->n_parameters; i++) clt_effect_release(&view->parameters[i].effect);
  free(view->parameters);
  free(view->steps);
  free(view->pairs);
  clt_report_fit_release(&view->fit);
  *view = (clt_report_view){0};
}
