/* Measurements as CSV (RFC 4180): a line for each configuration, a column for each parameter. */
#include "base/base.h"
#include "base/json.h"
#include "report/report.h"

static void add_number(clt_text *out, double x, char end) {
  if (isfinite(x)) clt_text_printf(out, "%.9g", x);
  clt_text_printf(out, "%c", end);
}

static void add_shown(clt_text *out, const char *text) {
  json_t *clean = clt_report_string(text);
  clt_text_add_csv(out, json_string_value(clean) ? json_string_value(clean) : "?");
  clt_text_add(out, ",");
  json_decref(clean);
}

int clt_tuning_csv(clt_text *out, char **header, const clt_tuning *t, clt_error *error) {
  const clt_objective *o = t->objective;
  size_t n_parameters = clt_space_n_parameters(t->space), n_metrics = clt_objective_n_metrics(o);
  clt_text names = {0};
  char *line = NULL;
  clt_text_add(&names, "problem,sizes,device,evaluation,");
  for (size_t i = 0; i < n_parameters; i++) add_shown(&names, clt_space_parameter(t->space, i)->name);
  clt_text_add(&names, "reason,");
  for (size_t i = 0; i < n_metrics; i++) { /* time is one of them: it has its unit in its name */
    clt_metric metric = clt_objective_metric(o, i);
    add_shown(&names, strcmp(metric.name, "time") == 0 ? "time_s" : metric.name);
  }
  clt_text_add(&names, "spread,finalist_s,spent_s\n");
  int rc = clt_text_take(&line, &names, error);
  if (rc) return rc;
  if (*header == NULL)
    clt_text_add(out, line);
  else if (strcmp(*header, line) != 0)
    rc = clt_fail(error, CLT_E_ARGUMENT,
                  "'%s' has other parameters or metrics than the tuning before it, so one table cannot hold both; "
                  "choose one with --problem",
                  t->title);
  free(*header);
  *header = line;
  for (size_t i = 0; rc == CLT_OK && i < t->rows.n; i++) {
    const clt_report_row *row = &t->rows.items[i];
    add_shown(out, t->title);
    add_shown(out, t->sizes);
    add_shown(out, t->device);
    clt_text_printf(out, "%zu,", i + 1);
    for (size_t k = 0; k < n_parameters; k++) {
      clt_value value = clt_space_value(t->space, row->config, k);
      json_t *json = value.type == CLT_STRING ? NULL : clt_json_value(value);
      char *text = json ? json_dumps(json, JSON_ENCODE_ANY | JSON_REAL_PRECISION(15)) : NULL;
      if (text)
        clt_text_printf(out, "%s,", text);
      else
        add_shown(out, value.type == CLT_STRING ? value.text : "?");
      free(text);
      json_decref(json);
    }
    clt_text_printf(out, "%s,", clt_reason_name(row->reason));
    for (size_t k = 0; k < n_metrics; k++) add_number(out, clt_row_metric(t, row, k, false), ',');
    add_number(out, row->spread, ',');
    add_number(out, row->final_s, ',');
    add_number(out, row->spent_s, '\n');
  }
  return rc == CLT_OK && out->rc ? clt_fail_memory(error) : rc;
}
