/* The front of several objectives, for the document. */
#include <math.h>
#include <stdlib.h>

#include "base/base.h"
#include "base/json.h"
#include "format/format.h"
#include "report/report.h"

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
    json_t *member = clt_json_values(o, &m);
    clt_json_set(&member, "text", clt_report_config(t->space, row->config));
    clt_json_append(&members, member);
  }
  free(costs);
  free(front);
  return json_pack("{s:o, s:o}", "members", members, "points", points);
}
