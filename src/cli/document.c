/* Answers as JSON, and their text, which is drawn from the JSON (report/draw.h). */
#include "cli/cli.h"
#include "device/device.h"
#include "measurement/measurement.h"
#include "problem/command.h"

/* --- answers --- */

int cli_print_json(json_t *json) {
  if (json == NULL) cli_failure("out of memory");
  int rc = json_dumpf(json, stdout, JSON_INDENT(2) | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(12));
  json_decref(json);
  putchar('\n');
  if (rc && !ferror(stdout)) cli_failure("out of memory");
  return rc ? CLI_FAILURE : 0; /* main prints the reason */
}

void cli_draw(const json_t *document, const clt_text_layout *layout) {
  clt_text text = {0};
  clt_draw_layout(&text, document, layout);
  if (document == NULL || text.rc) cli_failure("out of memory");
  if (text.n) fputs(text.bytes, stdout);
  clt_text_release(&text);
}

int cli_answer(const cli_arguments *arguments, json_t *document, const clt_text_layout *layout) {
  if (cli_given(arguments, "json")) return cli_print_json(document);
  cli_draw(document, layout);
  json_decref(document);
  return CLI_FOUND;
}

int cli_answer_line(const cli_arguments *arguments, json_t *document, const char *form) {
  const clt_line line = {.form = form};
  return cli_answer(arguments, document, &(clt_text_layout){.n = 1, .lines = &line});
}

void cli_add_json(clt_text *out, json_t *json, int indent) {
  const char *name;
  json_t *item;
  size_t n = 0, index;
  bool is_object = json_is_object(json), nested = is_object;
  json_array_foreach(json, index, item) nested |= json_is_object(item) || json_is_array(item);
  if (!nested || (is_object && json_object_size(json) == 0)) {
    char *text = json_dumps(json, JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
    clt_text_add(out, text ? text : "null");
    free(text);
    return;
  }
  json_object_foreach(json, name, item) {
    json_t *key = json_string(name);
    clt_text_printf(out, "%s\n%*s", n++ ? "," : "{", indent + 2, "");
    cli_add_json(out, key, 0);
    clt_text_add(out, ": ");
    cli_add_json(out, item, indent + 2);
    json_decref(key);
  }
  json_array_foreach(json, index, item) {
    clt_text_printf(out, "%s\n%*s", index ? "," : "[", indent + 2, "");
    cli_add_json(out, item, indent + 2);
  }
  clt_text_printf(out, "\n%*s%s", indent, "", is_object ? "}" : "]");
}

/* --- configurations, sizes, devices, launches --- */

json_t *cli_json_configuration_text(const clt_instance *instance, const char *text) {
  const clt_space *space = clt_instance_space(instance);
  clt_config config;
  return clt_config_parse(&config, space, text, NULL) ? json_null() : clt_json_configuration(space, config);
}

json_t *cli_json_config_text(const clt_space *space, clt_config config) {
  char *text = clt_config_string(space, config);
  json_t *out = clt_json_text(text ? text : "?");
  free(text);
  return out;
}

json_t *cli_json_device(const clt_device_info *device) {
  json_t *out = device ? clt_device_json(device) : NULL;
  return out ? out : json_null();
}

json_t *cli_json_places(const cli_subject *subject) {
  json_t *out = json_array();
  for (const clt_device_info *d = subject->device; d < subject->device + subject->n_devices; d++)
    json_array_append_new(out, json_sprintf("%d:%d", d->platform_index, d->device_index));
  return out;
}

json_t *cli_json_quality(const clt_problem *problem, double value) {
  const char *name = clt_problem_quality_name(problem);
  if (name == NULL) return json_null();
  return json_pack("{s:s, s:s, s:o}", "name", name, "unit", clt_problem_quality_unit(problem), "value",
                   clt_json_real(value));
}

/* --- objectives and measurements --- */

static void free_objective(void *objective) { clt_objective_free(objective); }

clt_objective *cli_objective(const cli_arguments *arguments, const clt_instance *instance) {
  clt_objective *out;
  const char *typed = cli_text(arguments, "objective");
  int rc = clt_objective_new(&out, instance, typed, &cli_error);
  if (typed && rc == CLT_E_EXPRESSION) cli_check_typed(rc);
  cli_check(rc);
  return cli_keep(out, free_objective);
}

json_t *cli_json_session(const clt_instance *instance, const clt_device_info *device, const clt_tune_settings *settings,
                         const clt_objective *objective) {
  const clt_space *space = clt_instance_space(instance);
  return json_pack("{s:s, s:o, s:o, s:s, s:I, s:o, s:{s:I, s:I}}", "problem",
                   clt_problem_name(clt_instance_problem(instance)), "sizes", clt_json_sizes(instance), "device",
                   cli_json_device(device), "searcher", settings->searcher, "seed", (json_int_t)settings->seed,
                   "objective", clt_json_objective(objective), "space", "cartesian",
                   (json_int_t)clt_space_cartesian(space), "valid", (json_int_t)clt_space_valid(space));
}

json_t *cli_json_metrics(const clt_objective *o, const clt_measurement *m) {
  json_t *out = json_array();
  for (size_t i = 0; i < clt_objective_n_metrics(o); i++) {
    clt_metric metric = clt_objective_metric(o, i);
    double value = clt_objective_metric_value(o, i, m);
    if (isfinite(value) && i != clt_objective_default(o) && strcmp(metric.name, "time") != 0)
      json_array_append_new(out,
                            json_pack("{s:s, s:f, s:s}", "name", metric.name, "value", value, "unit", metric.unit));
  }
  return out;
}

json_t *cli_json_figure(const clt_objective *o, const clt_measurement *m) {
  const size_t standard = clt_objective_default(o);
  const clt_metric metric = clt_objective_metric(o, standard);
  if (strcmp(metric.name, "time") == 0) return json_null();
  return json_pack("{s:o, s:s}", "value", clt_json_real(clt_objective_metric_value(o, standard, m)), "unit",
                   metric.unit);
}

json_t *cli_json_measurement(const clt_instance *instance, const clt_objective *objective, const clt_measurement *m,
                             bool is_median) {
  const clt_interval none = {NAN, NAN, 0}, interval = is_median ? clt_measurement_interval(m) : none;
  const double error = clt_interval_error(&interval, isnan(m->figure) ? m->time_s : m->figure);
  json_t *runs = json_array();
  for (size_t i = 0; i < m->n_runs; i++) json_array_append_new(runs, clt_json_real(m->runs_s[i]));
  clt_launch_sizes *launches = NULL;
  size_t n_launches = 0;
  clt_instance_launches(&launches, &n_launches, instance, m->config, NULL); /* none if an expression gives no size */
  const char *clock = m->clock == CLT_CLOCK_DEVICE ? "device" : "host";
  json_t *how = clt_json_launches(launches, n_launches);
  free(launches);
  return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "configuration",
                   clt_json_configuration(clt_instance_space(instance), m->config), "text",
                   cli_json_config_text(clt_instance_space(instance), m->config), "options",
                   clt_json_options(instance, m->config), "launches", how, "time_s", clt_json_real(m->time_s), "figure",
                   cli_json_figure(objective, m), "metrics", cli_json_metrics(objective, m), "reason",
                   clt_reason_name(m->reason), "clock", clock, "runs_s", runs, "interval", clt_json_real(error),
                   "interval_low", clt_json_real(interval.low), "interval_high", clt_json_real(interval.high),
                   "interval_confidence", clt_json_real(isfinite(error) ? interval.confidence : NAN), "state",
                   clt_json_state(&m->state, clt_launch_share(&m->state, m->time_s, instance, m->config)));
}
