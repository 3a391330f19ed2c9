/* A problem at given sizes on a device: its space, and what is asked of it. (expression.c compiles its expressions.) */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/json.h"
#include "problem/guidance.h"
#include "problem/parts.h"

/* --- the space --- */

static int find_value(const clt_instance *instance, size_t parameter, const json_t *json, size_t *position) {
  clt_value value;
  for (size_t i = 0; clt_json_to_value(&value, json) && i < instance->n_values[parameter]; i++)
    if (clt_value_equal(instance->values[parameter][i], value)) return *position = i, CLT_OK;
  return CLT_E_NOT_FOUND;
}

static int add_alias(const clt_instance *instance, clt_space_builder *builder, const clt_alias *alias,
                     clt_error *error) {
  int parameter = clt_problem_parameter_index(instance->problem, alias->parameter);
  size_t position;
  if (parameter < 0) return clt_fail(error, CLT_E_NOT_FOUND, "there is no tuning parameter \"%s\"", alias->parameter);
  if (find_value(instance, (size_t)parameter, alias->value, &position) != CLT_OK)
    return clt_fail(error, CLT_E_NOT_FOUND, "\"Value\" is not a value of \"%s\"", alias->parameter);
  return clt_space_builder_alias_when(builder, clt_expr_share(instance->compiled[alias->when]), alias->parameter,
                                      instance->values[parameter][position], error);
}

/* Conditions and aliases that speak of a device are left out where there is none. */
static int fill_builder(const clt_instance *instance, clt_space_builder *builder, const char **key, clt_error *error) {
  const clt_problem *problem = instance->problem;
  clt_symbol *symbols = NULL;
  size_t n = 0;
  int rc = clt_instance_symbols(instance, &symbols, &n, error);
  for (size_t i = 0; rc == CLT_OK && i < n; i++)
    if (symbols[i].constant) rc = clt_space_builder_constant(builder, symbols[i].name, symbols[i].value, error);
  free(symbols);
  for (size_t i = 0; rc == CLT_OK && i < problem->n_parameters; i++) {
    *key = problem->parameters[i].key;
    rc = clt_space_builder_parameter(builder, problem->parameters[i].name, instance->values[i], instance->n_values[i],
                                     error);
  }
  for (size_t i = 0; rc == CLT_OK && i < problem->n_conditions; i++) {
    clt_expression_id id = problem->conditions[i];
    if (!clt_needs_device(instance, id))
      rc = clt_space_builder_require(builder, clt_expr_share(instance->compiled[id]), CLT_CONDITION, NULL, error);
  }
  for (size_t i = 0; rc == CLT_OK && i < problem->n_aliases; i++) {
    *key = problem->aliases[i].key;
    if (!clt_needs_device(instance, problem->aliases[i].when))
      rc = add_alias(instance, builder, &problem->aliases[i], error);
  }
  return rc;
}

int clt_instance_new(clt_instance **out, const clt_problem *problem, const clt_size *sizes, size_t n_sizes,
                     const clt_device_info *device, clt_error *error) {
  clt_instance *instance = NULL;
  int rc = clt_instance_new_compiled(&instance, problem, sizes, n_sizes, device, error);
  if (rc) return rc;
  clt_space_builder *builder = NULL;
  clt_error cause = {0};
  const char *key = NULL, *whole = "ConfigurationSpace";
  rc = clt_space_builder_new(&builder, &cause);
  if (rc == CLT_OK) rc = fill_builder(instance, builder, &key, &cause);
  if (rc == CLT_OK) key = NULL;
  if (rc == CLT_OK) rc = clt_add_limits(instance, builder, &cause);
  if (rc == CLT_OK) rc = clt_space_new(&instance->space, builder, &cause);
  clt_space_builder_free(builder);
  if (rc) rc = clt_key_wrap(&problem->source, key ? key : whole, rc, error, &cause);
  if (rc == CLT_OK)
    *out = instance;
  else
    clt_instance_free(instance);
  return rc;
}

void clt_instance_free(clt_instance *instance) {
  if (instance == NULL) return;
  const clt_problem *problem = instance->problem;
  for (size_t i = 0; instance->compiled && i < problem->n_expressions; i++) clt_expr_free(instance->compiled[i]);
  for (size_t i = 0; instance->values && i < problem->n_parameters; i++) free(instance->values[i]);
  free(instance->compiled);
  free(instance->values);
  free(instance->n_values);
  free(instance->sizes);
  clt_space_free(instance->space);
  free(instance);
}

/* --- what it is --- */

const clt_problem *clt_instance_problem(const clt_instance *instance) { return instance->problem; }

const clt_space *clt_instance_space(const clt_instance *instance) { return instance->space; }

const clt_device_info *clt_instance_device(const clt_instance *instance) {
  return instance->has_device ? &instance->device : NULL;
}

size_t clt_instance_n_sizes(const clt_instance *instance) { return instance->problem->n_passed; }

clt_size clt_instance_size(const clt_instance *instance, size_t index) {
  return (clt_size){instance->problem->sizes[index].name, instance->sizes[index]};
}

char *clt_instance_sizes_text(const clt_instance *instance) {
  clt_text text = {0};
  char *taken = NULL;
  for (size_t i = 0; i < clt_instance_n_sizes(instance); i++) {
    clt_size size = clt_instance_size(instance, i);
    clt_text_printf(&text, "%s%s=%lld", i ? " " : "", size.name, (long long)size.value);
  }
  clt_text_take(&taken, &text, NULL);
  return taken;
}

/* --- configurations --- */

/* T1 files in the wild have defaults that are not among the values: the first value stands in for those. */
clt_config clt_instance_default(const clt_instance *instance) {
  uint32_t positions[CLT_MAX_PARAMETERS] = {0};
  size_t position;
  for (size_t i = 0; i < instance->problem->n_parameters; i++) {
    const json_t *standard = instance->problem->parameters[i].standard;
    if (standard && find_value(instance, i, standard, &position) == CLT_OK) positions[i] = (uint32_t)position;
  }
  return clt_space_from_positions(instance->space, positions);
}

clt_config clt_instance_reference_configuration(const clt_instance *instance) {
  clt_config standard = clt_instance_default(instance);
  bool usable = clt_space_contains(instance->space, standard) || clt_space_valid(instance->space) == 0;
  return usable ? standard : clt_space_at(instance->space, 0);
}

clt_reference_kind clt_instance_reference_kind(const clt_instance *instance) {
  return instance->problem->reference.kind;
}

void clt_instance_slots(const clt_instance *instance, clt_config config, clt_value *slots) {
  uint32_t positions[CLT_MAX_PARAMETERS];
  clt_space_positions(instance->space, config, positions);
  for (size_t i = 0; i < instance->problem->n_parameters; i++)
    slots[i] = clt_space_parameter(instance->space, i)->values[positions[i]];
}

/* NaN where an expression cannot be evaluated. */
static double number_or_nan(const clt_instance *instance, clt_expression_id id, const clt_value *slots) {
  clt_value value;
  bool known = id != CLT_NO_EXPRESSION && !clt_needs_device(instance, id) &&
               clt_expr_eval(instance->compiled[id], slots, &value, NULL) == CLT_OK;
  return known ? clt_value_number(value) : NAN;
}

size_t clt_instance_n_resources(const clt_instance *instance) { return instance->problem->n_resources; }

const char *clt_instance_resource_name(const clt_instance *instance, size_t index) {
  return instance->problem->resources[index].name;
}

void clt_instance_resources(const clt_instance *instance, clt_config config, double *out) {
  clt_value slots[CLT_MAX_PARAMETERS];
  clt_instance_slots(instance, config, slots);
  for (size_t i = 0; i < instance->problem->n_resources; i++)
    out[i] = number_or_nan(instance, instance->problem->resources[i].value, slots);
}

bool clt_instance_resource_uses(const clt_instance *instance, size_t resource, size_t parameter) {
  clt_expression_id id = instance->problem->resources[resource].value;
  const clt_expr *expr = instance->compiled[id];
  for (size_t i = 0; !clt_needs_device(instance, id) && i < clt_expr_n_slots(expr); i++)
    if (clt_expr_slot(expr, i) == parameter) return true;
  return false;
}

bool clt_instance_has_desirability(const clt_instance *instance) {
  clt_expression_id id = instance->problem->desirability;
  return id != CLT_NO_EXPRESSION && !clt_needs_device(instance, id);
}

double clt_instance_desirability(const clt_instance *instance, clt_config config) {
  clt_value slots[CLT_MAX_PARAMETERS];
  clt_instance_slots(instance, config, slots);
  return number_or_nan(instance, instance->problem->desirability, slots);
}
