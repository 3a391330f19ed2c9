/* Common parts of answers in JSON. */
#include "base/json.h"
#include "format/format.h"

json_t *clt_json_configuration(const clt_space *space, clt_config config) {
  json_t *out = json_object();
  for (size_t i = 0; i < clt_space_n_parameters(space); i++)
    clt_json_set(&out, clt_space_parameter(space, i)->name, clt_json_value(clt_space_value(space, config, i)));
  return out;
}

json_t *clt_json_parameter(const clt_parameter *parameter) {
  json_t *values = json_array();
  for (size_t i = 0; i < parameter->n_values; i++) clt_json_append(&values, clt_json_value(parameter->values[i]));
  return json_pack("{s:s, s:o}", "name", parameter->name, "values", values);
}

json_t *clt_json_sizes(const clt_instance *instance) {
  json_t *out = json_object();
  for (size_t i = 0; i < clt_instance_n_sizes(instance); i++) {
    const clt_size size = clt_instance_size(instance, i);
    clt_json_set(&out, size.name, json_integer(size.value));
  }
  return out;
}

json_t *clt_json_options(const clt_instance *instance, clt_config config) {
  char *options = NULL;
  if (clt_instance_options(&options, instance, config, NULL)) return json_null();
  json_t *out = json_string(options);
  free(options);
  return out;
}

static json_t *json_extent(const size_t *extent, unsigned n) {
  json_t *list = json_array();
  for (unsigned d = 0; d < n; d++) json_array_append_new(list, json_integer((json_int_t)extent[d]));
  return list;
}

json_t *clt_json_launches(const clt_launch_sizes *launches, size_t n) {
  json_t *list = json_array();
  for (const clt_launch_sizes *l = launches; l < launches + n; l++)
    json_array_append_new(list, json_pack("{s:s, s:o, s:o, s:I, s:I}", "kernel", l->kernel, "global",
                                          json_extent(l->global, l->n_dimensions), "local",
                                          l->local[0] ? json_extent(l->local, l->n_dimensions) : json_null(), "repeat",
                                          (json_int_t)l->repeat, "group", (json_int_t)l->group));
  return list;
}

json_t *clt_json_objective(const clt_objective *o) {
  return json_pack("{s:s, s:s, s:s, s:s, s:b}", "name", clt_objective_name(o), "expression",
                   clt_objective_expression(o), "unit", clt_objective_unit(o), "goal",
                   clt_goal_name(clt_objective_goal(o)), "is_default", clt_objective_is_default(o));
}

json_t *clt_json_values(const clt_objective *o, const clt_measurement *m) {
  clt_text summary = {0};
  json_t *values = json_array();
  for (size_t i = 0; i < clt_objective_n(o); i++) {
    const clt_metric metric = clt_objective_nth(o, i);
    const double value = clt_objective_nth_value(o, i, m);
    char text[96];
    clt_metric_value_text(text, &metric, value);
    clt_text_printf(&summary, "%s%s %s", i ? ", " : "", metric.name, text);
    clt_json_append(&values, json_pack("{s:s, s:s, s:s, s:o}", "name", metric.name, "unit", metric.unit, "goal",
                                       clt_goal_name(metric.goal), "value", clt_json_real(value)));
  }
  json_t *out = json_pack("{s:o, s:s}", "values", values, "summary", summary.bytes ? summary.bytes : "");
  clt_text_release(&summary);
  return out;
}

double clt_launch_share(const clt_device_state *state, double time_s, const clt_instance *instance, clt_config config) {
  clt_launch_sizes *launches = NULL;
  size_t n = 0;
  double n_launches = instance ? 0 : 1;
  if (instance) clt_instance_launches(&launches, &n, instance, config, NULL);
  for (size_t i = 0; i < n; i++) n_launches += launches[i].repeat;
  free(launches);
  return n_launches > 0 ? n_launches * state->launch_s / time_s : NAN;
}

json_t *clt_json_state(const clt_device_state *s, double launch_share) {
  return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "launch_s", clt_json_real(s->launch_s), "launch_share",
                   clt_json_real(launch_share), "clock_mhz", clt_json_real(s->clock_mhz), "clock_share",
                   clt_json_real(s->usual_step_s / s->step_s), "throttled",
                   isnan(s->throttled) ? json_null() : json_boolean(s->throttled > 0), "busy_share",
                   clt_json_real(s->busy_share));
}
