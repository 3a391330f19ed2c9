#include "cli/figures.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/output.h"

int cli_objective(clt_objective **out, const cli_arguments *arguments, const clt_instance *instance) {
  clt_error error = {0};
  const char *typed = cli_text(arguments, "objective");
  int rc = clt_objective_new(out, instance, typed, &error);
  if (rc == 0) return 0;
  int code = cli_report(&error);
  return typed && rc == CLT_E_EXPRESSION ? CLI_USAGE : code;
}

static const char *goal_name(const clt_objective *objective) {
  return clt_objective_goal(objective) == CLT_MAXIMISE ? "maximise" : "minimise";
}

json_t *cli_json_objective(const clt_objective *o) {
  return json_pack("{s:s, s:s, s:s, s:s}", "name", clt_objective_name(o), "expression", clt_objective_expression(o),
                   "unit", clt_objective_unit(o), "goal", goal_name(o));
}

static bool is_shown(const clt_objective *o, size_t index, double value) {
  return isfinite(value) && strcmp(clt_objective_metric(o, index).name, "time") != 0;
}

json_t *cli_json_metrics(const clt_objective *o, const clt_measurement *m) {
  json_t *out = json_array();
  for (size_t i = 0; i < clt_objective_n_metrics(o); i++) {
    clt_metric metric = clt_objective_metric(o, i);
    double value = clt_objective_metric_value(o, i, m);
    if (is_shown(o, i, value))
      json_array_append_new(out,
                            json_pack("{s:s, s:f, s:s}", "name", metric.name, "value", value, "unit", metric.unit));
  }
  return out;
}

void cli_print_metrics(const clt_objective *o, const clt_measurement *m, int width) {
  for (size_t i = 0; i < clt_objective_n_metrics(o); i++) {
    clt_metric metric = clt_objective_metric(o, i);
    double value = clt_objective_metric_value(o, i, m);
    if (is_shown(o, i, value) && i != clt_objective_chosen(o))
      printf("%-*s %.4g%s%s\n", width - 1, metric.name, value, metric.unit[0] ? " " : "", metric.unit);
  }
}

const char *cli_value(char out[96], const clt_objective *o, double value) {
  const char *unit = clt_objective_unit(o);
  char time[32];
  if (!isfinite(value)) return strcpy(out, "-");
  if (strcmp(unit, "s") == 0) {
    snprintf(out, 96, "%s", cli_time(time, value));
  } else {
    snprintf(out, 96, "%.4g%s%.60s", value, unit[0] ? " " : "", unit);
  }
  return out;
}

const char *cli_objective_text(char out[160], const clt_objective *o) {
  snprintf(out, 160, "%s %.140s", goal_name(o), clt_objective_name(o));
  return out;
}
