#include "format/t4_source.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "problem/parts.h"

json_t *clt_t4_value(clt_value value) {
  switch (value.type) {
    case CLT_REAL: return json_real(value.real);
    case CLT_BOOL: return json_boolean(value.integer);
    case CLT_STRING: return json_string(value.text);
    default: return json_integer(value.integer);
  }
}

static bool needs_17_digits(clt_value value) {
  char text[40];
  if (value.type != CLT_REAL) return false;
  snprintf(text, sizeof text, "%.15g", value.real);
  return strtod(text, NULL) != value.real;
}

size_t clt_t4_digits(const clt_space *space) {
  for (size_t i = 0; i < clt_space_n_parameters(space); i++) {
    const clt_parameter *parameter = clt_space_parameter(space, i);
    for (size_t k = 0; k < parameter->n_values; k++)
      if (needs_17_digits(parameter->values[k])) return JSON_REAL_PRECISION(17);
  }
  return JSON_REAL_PRECISION(15);
}

json_t *clt_t4_timestamp(int64_t created_s) {
  char text[64] = "";
  time_t moment = (time_t)created_s;
  struct tm parts;
  if (gmtime_r(&moment, &parts)) strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S+00:00", &parts);
  return json_string(text);
}

static json_t *parameter_json(const clt_parameter *parameter, const char *type) {
  json_t *values = json_array();
  for (size_t i = 0; i < parameter->n_values; i++)
    if (json_array_append_new(values, clt_t4_value(parameter->values[i]))) return json_decref(values), NULL;
  return json_pack("{s:s, s:s*, s:o}", "Name", parameter->name, "Type", type, "Values", values);
}

/* problem nullable: the parameters' types as it states them. */
static json_t *parameters_json(const clt_space *space, const clt_problem *problem) {
  json_t *list = json_array();
  for (size_t i = 0; i < clt_space_n_parameters(space); i++) {
    const char *type = problem ? problem->parameters[i].type : NULL;
    if (json_array_append_new(list, parameter_json(clt_space_parameter(space, i), type)))
      return json_decref(list), NULL;
  }
  return list;
}

static json_t *space_json(const clt_instance *instance) {
  const json_t *stated = json_object_get(instance->problem->root, "ConfigurationSpace");
  return json_pack("{s:o, s:O*, s:O*}", "TuningParameters",
                   parameters_json(clt_instance_space(instance), instance->problem), "Conditions",
                   json_object_get(stated, "Conditions"), "Aliases", json_object_get(stated, "Aliases"));
}

static bool append_size(json_t *list, clt_size size) {
  return json_array_append_new(list, json_pack("{s:s, s:I}", "Name", size.name, "Value", (json_int_t)size.value)) == 0;
}

static json_t *sizes_json(const clt_instance *instance) {
  json_t *list = json_array();
  for (size_t i = 0; i < clt_instance_n_sizes(instance); i++)
    if (!append_size(list, clt_instance_size(instance, i))) return json_decref(list), NULL;
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

/* --- of a recording --- */

static json_t *recorded_sizes(const clt_recording *recording) {
  json_t *list = json_array();
  for (size_t i = 0; i < clt_recording_n_sizes(recording); i++)
    if (!append_size(list, clt_recording_problem_size(recording, i))) return json_decref(list), NULL;
  return list;
}

static json_t *recorded_device(const clt_recording *recording) {
  const char *text = clt_recording_device_json(recording), *name = clt_recording_device(recording);
  if (text[0]) return json_loads(text, 0, NULL);
  return name[0] ? json_pack("{s:s}", "name", name) : json_object();
}

json_t *clt_t4_source_of_recording(const clt_recording *recording) {
  return json_pack("{s:{s:s}, s:o, s:o, s:{s:o}}", "General", "BenchmarkName", clt_recording_kernel(recording),
                   "ProblemParameters", recorded_sizes(recording), "Device", recorded_device(recording),
                   "ConfigurationSpace", "TuningParameters", parameters_json(clt_recording_space(recording), NULL));
}
