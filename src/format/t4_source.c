#include "format/t4_source.h"

#include <stdlib.h>

#include "problem/parts.h"

json_t *clt_t4_value(clt_value value) {
  switch (value.type) {
    case CLT_REAL: return json_real(value.real);
    case CLT_BOOL: return json_boolean(value.integer);
    case CLT_STRING: return json_string(value.text);
    default: return json_integer(value.integer);
  }
}

static json_t *parameter_json(const clt_parameter *parameter, const char *type) {
  json_t *values = json_array();
  for (size_t i = 0; i < parameter->n_values; i++)
    if (json_array_append_new(values, clt_t4_value(parameter->values[i]))) return json_decref(values), NULL;
  return json_pack("{s:s, s:s*, s:o}", "Name", parameter->name, "Type", type, "Values", values);
}

static json_t *parameters_json(const clt_instance *instance) {
  json_t *list = json_array();
  const clt_space *space = clt_instance_space(instance);
  for (size_t i = 0; i < clt_space_n_parameters(space); i++) {
    const char *type = instance->problem->parameters[i].type;
    if (json_array_append_new(list, parameter_json(clt_space_parameter(space, i), type)))
      return json_decref(list), NULL;
  }
  return list;
}

static json_t *space_json(const clt_instance *instance) {
  const json_t *stated = json_object_get(instance->problem->root, "ConfigurationSpace");
  return json_pack("{s:o, s:O*, s:O*}", "TuningParameters", parameters_json(instance), "Conditions",
                   json_object_get(stated, "Conditions"), "Aliases", json_object_get(stated, "Aliases"));
}

static json_t *sizes_json(const clt_instance *instance) {
  json_t *list = json_array();
  for (size_t i = 0; i < clt_instance_n_sizes(instance); i++) {
    clt_size size = clt_instance_size(instance, i);
    if (json_array_append_new(list, json_pack("{s:s, s:I}", "Name", size.name, "Value", (json_int_t)size.value)))
      return json_decref(list), NULL;
  }
  return list;
}

/* {} where the instance has none. */
static json_t *device_json(const clt_instance *instance) {
  char *text = NULL;
  if (clt_instance_device(instance) == NULL) return json_object();
  if (clt_device_to_json(&text, clt_instance_device(instance), NULL)) return NULL;
  json_t *json = json_loads(text, 0, NULL);
  free(text);
  return json;
}

json_t *clt_t4_source(const clt_instance *instance) {
  return json_pack("{s:{s:s}, s:o, s:o, s:o}", "General", "BenchmarkName",
                   clt_problem_name(clt_instance_problem(instance)), "ProblemParameters", sizes_json(instance),
                   "Device", device_json(instance), "ConfigurationSpace", space_json(instance));
}
