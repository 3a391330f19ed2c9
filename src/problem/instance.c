#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "base/text.h"
#include "problem/parts.h"

#define MAX_NAMES 64

static int no_such_size(const clt_problem *problem, const char *name, clt_error *error) {
  const char *names[MAX_NAMES];
  size_t n = clt_problem_n_sizes(problem) < MAX_NAMES ? clt_problem_n_sizes(problem) : MAX_NAMES;
  if (n == 0)
    return clt_fail(error, CLT_E_NOT_FOUND, "the problem has no size '%s': it has no problem parameters", name);
  for (size_t i = 0; i < n; i++) names[i] = problem->sizes[i].name;
  const char *near = clt_nearest_name(name, names, n);
  return clt_fail(error, CLT_E_NOT_FOUND, "the problem has no size '%s'; did you mean '%s'?", name,
                  near ? near : names[0]);
}

static int set_size(clt_instance *instance, clt_size size, clt_error *error) {
  const clt_problem *problem = instance->problem;
  for (size_t i = 0; i < clt_problem_n_sizes(problem); i++) {
    const clt_problem_parameter *parameter = &problem->sizes[i];
    if (strcmp(parameter->name, size.name) != 0) continue;
    if (size.value < parameter->min)
      return clt_fail(error, CLT_E_RANGE, "size '%s' must be at least %lld", size.name, (long long)parameter->min);
    if (size.value > parameter->max)
      return clt_fail(error, CLT_E_RANGE, "size '%s' must be at most %lld", size.name, (long long)parameter->max);
    instance->sizes[i] = size.value;
    return CLT_OK;
  }
  return no_such_size(problem, size.name, error);
}

static int set_sizes(clt_instance *instance, const clt_size *sizes, size_t n, clt_error *error) {
  const clt_problem *problem = instance->problem;
  int rc = CLT_OK;
  instance->sizes = clt_new_array(problem->n_sizes, sizeof *instance->sizes);
  if (instance->sizes == NULL) return clt_fail_memory(error);
  for (size_t i = 0; i < problem->n_sizes; i++) instance->sizes[i] = problem->sizes[i].standard;
  for (size_t i = 0; rc == CLT_OK && i < n; i++) rc = set_size(instance, sizes[i], error);
  return rc;
}

static int add_constants(const clt_instance *instance, clt_space_builder *builder, clt_error *error) {
  clt_symbol *symbols = NULL;
  size_t n = 0;
  int rc = clt_instance_symbols(instance, &symbols, &n, error);
  for (size_t i = 0; rc == CLT_OK && i < n; i++)
    if (symbols[i].constant) rc = clt_space_builder_constant(builder, symbols[i].name, symbols[i].value, error);
  free(symbols);
  return rc;
}

static int add_parameters(const clt_instance *instance, clt_space_builder *builder, clt_error *error) {
  const clt_problem *problem = instance->problem;
  for (size_t i = 0; i < problem->n_parameters; i++) {
    clt_error cause = {0};
    char key[300];
    int rc = clt_space_builder_parameter(builder, problem->parameters[i].name, instance->values[i],
                                         instance->n_values[i], &cause);
    snprintf(key, sizeof key, "%s.Values", problem->parameters[i].key);
    if (rc) return clt_key_wrap(&problem->source, key, rc, error, &cause);
  }
  return CLT_OK;
}

/* Conditions that speak of a device are left out where there is none. */
static int add_conditions(const clt_instance *instance, clt_space_builder *builder, clt_error *error) {
  const clt_problem *problem = instance->problem;
  for (size_t i = 0; i < problem->n_conditions; i++) {
    clt_expression_id id = problem->conditions[i];
    clt_error cause = {0};
    if (clt_needs_device(instance, id)) continue;
    int rc = clt_space_builder_constraint(builder, problem->expressions[id].text, CLT_CONDITION, NULL, &cause);
    if (rc) return clt_key_wrap(&problem->source, problem->expressions[id].key, rc, error, &cause);
  }
  return CLT_OK;
}

static int find_value(const clt_instance *instance, size_t parameter, const json_t *json, size_t *position) {
  clt_value value = {.type = CLT_INT, .integer = json_integer_value(json)};
  if (json_is_real(json)) value = (clt_value){.type = CLT_REAL, .real = json_real_value(json)};
  if (json_is_string(json)) value = (clt_value){.type = CLT_STRING, .text = json_string_value(json)};
  if (json_is_boolean(json)) value = (clt_value){.type = CLT_BOOL, .integer = json_is_true(json)};
  for (size_t i = 0; i < instance->n_values[parameter]; i++)
    if (clt_value_equal(instance->values[parameter][i], value)) return *position = i, CLT_OK;
  return CLT_E_NOT_FOUND;
}

static int add_alias(const clt_instance *instance, clt_space_builder *builder, const clt_alias *alias,
                     clt_error *error) {
  const clt_problem *problem = instance->problem;
  size_t parameter = 0, position;
  while (parameter < problem->n_parameters && strcmp(problem->parameters[parameter].name, alias->parameter) != 0)
    parameter++;
  if (parameter == problem->n_parameters)
    return clt_fail(error, CLT_E_NOT_FOUND, "there is no tuning parameter \"%s\"", alias->parameter);
  if (find_value(instance, parameter, alias->value, &position) != CLT_OK)
    return clt_fail(error, CLT_E_NOT_FOUND, "\"Value\" is not a value of \"%s\"", alias->parameter);
  return clt_space_builder_alias(builder, problem->expressions[alias->when].text, alias->parameter,
                                 instance->values[parameter][position], error);
}

static int add_aliases(const clt_instance *instance, clt_space_builder *builder, clt_error *error) {
  const clt_problem *problem = instance->problem;
  for (size_t i = 0; i < problem->n_aliases; i++) {
    clt_error cause = {0};
    if (clt_needs_device(instance, problem->aliases[i].when)) continue;
    int rc = add_alias(instance, builder, &problem->aliases[i], &cause);
    if (rc) return clt_key_wrap(&problem->source, problem->aliases[i].key, rc, error, &cause);
  }
  return CLT_OK;
}

/* The key of the condition that a message quotes first ("cannot evaluate '...'"): the space knows texts only. */
static const char *key_of_failure(const clt_problem *problem, const clt_error *cause) {
  const char *quoted = strchr(cause->message, '\'');
  if (cause->code != CLT_E_EXPRESSION) return "ConfigurationSpace";
  for (size_t i = 0; quoted && i < problem->n_conditions; i++) {
    const clt_expression *condition = &problem->expressions[problem->conditions[i]];
    size_t length = strlen(condition->text);
    if (strncmp(quoted + 1, condition->text, length) == 0 && quoted[1 + length] == '\'') return condition->key;
  }
  return "ConfigurationSpace";
}

static int build_space(clt_instance *instance, clt_error *error) {
  clt_space_builder *builder = NULL;
  clt_error cause = {0};
  int rc = clt_space_builder_new(&builder, error);
  if (rc == CLT_OK) rc = add_constants(instance, builder, error);
  if (rc == CLT_OK) rc = add_parameters(instance, builder, error);
  if (rc == CLT_OK) rc = add_conditions(instance, builder, error);
  if (rc == CLT_OK) rc = add_aliases(instance, builder, error);
  if (rc == CLT_OK) rc = clt_add_limits(instance, builder, error);
  if (rc == CLT_OK && (rc = clt_space_new(&instance->space, builder, &cause)) != CLT_OK)
    clt_key_wrap(&instance->problem->source, key_of_failure(instance->problem, &cause), rc, error, &cause);
  clt_space_builder_free(builder);
  return rc;
}

int clt_instance_new(clt_instance **out, const clt_problem *problem, const clt_size *sizes, size_t n_sizes,
                     const clt_device_info *device, clt_error *error) {
  clt_instance *instance = calloc(1, sizeof *instance);
  if (instance == NULL) return clt_fail_memory(error);
  instance->problem = problem;
  instance->has_device = device != NULL;
  if (device) instance->device = *device;
  int rc = set_sizes(instance, sizes, n_sizes, error);
  if (rc == CLT_OK) rc = clt_instance_compile(instance, error);
  if (rc == CLT_OK) rc = build_space(instance, error);
  if (rc == CLT_OK) {
    *out = instance;
  } else {
    clt_instance_free(instance);
  }
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

const clt_problem *clt_instance_problem(const clt_instance *instance) { return instance->problem; }

const clt_space *clt_instance_space(const clt_instance *instance) { return instance->space; }

const clt_device_info *clt_instance_device(const clt_instance *instance) {
  return instance->has_device ? &instance->device : NULL;
}

size_t clt_instance_n_sizes(const clt_instance *instance) { return clt_problem_n_sizes(instance->problem); }

clt_size clt_instance_size(const clt_instance *instance, size_t index) {
  return (clt_size){instance->problem->sizes[index].name, instance->sizes[index]};
}

char *clt_instance_sizes_text(const clt_instance *instance) {
  char *text = NULL;
  size_t length;
  FILE *out = open_memstream(&text, &length);
  if (out == NULL) return NULL;
  for (size_t i = 0; i < clt_instance_n_sizes(instance); i++) {
    clt_size size = clt_instance_size(instance, i);
    fprintf(out, "%s%s=%lld", i ? " " : "", size.name, (long long)size.value);
  }
  return fclose(out) ? free(text), NULL : text;
}

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

void clt_instance_slots(const clt_instance *instance, clt_config config, clt_value *slots) {
  uint32_t positions[CLT_MAX_PARAMETERS];
  clt_space_positions(instance->space, config, positions);
  for (size_t i = 0; i < instance->problem->n_parameters; i++)
    slots[i] = clt_space_parameter(instance->space, i)->values[positions[i]];
}

size_t clt_instance_n_resources(const clt_instance *instance) { return instance->problem->n_resources; }

const char *clt_instance_resource_name(const clt_instance *instance, size_t index) {
  return instance->problem->resources[index].name;
}

void clt_instance_resources(const clt_instance *instance, clt_config config, double *out) {
  clt_value slots[CLT_MAX_PARAMETERS], value;
  clt_instance_slots(instance, config, slots);
  for (size_t i = 0; i < instance->problem->n_resources; i++) {
    clt_expression_id id = instance->problem->resources[i].value;
    bool known =
        !clt_needs_device(instance, id) && clt_expr_eval(instance->compiled[id], slots, &value, NULL) == CLT_OK;
    out[i] = known ? clt_value_number(value) : NAN;
  }
}

bool clt_instance_resource_uses(const clt_instance *instance, size_t resource, size_t parameter) {
  clt_expression_id id = instance->problem->resources[resource].value;
  if (clt_needs_device(instance, id)) return false;
  const clt_expr *expr = instance->compiled[id];
  for (size_t i = 0; i < clt_expr_n_slots(expr); i++)
    if (clt_expr_slot(expr, i) == parameter) return true;
  return false;
}

bool clt_instance_has_desirability(const clt_instance *instance) {
  clt_expression_id id = instance->problem->desirability;
  return id != CLT_NO_EXPRESSION && !clt_needs_device(instance, id);
}

double clt_instance_desirability(const clt_instance *instance, clt_config config) {
  clt_value slots[CLT_MAX_PARAMETERS], value;
  if (!clt_instance_has_desirability(instance)) return NAN;
  clt_instance_slots(instance, config, slots);
  int rc = clt_expr_eval(instance->compiled[instance->problem->desirability], slots, &value, NULL);
  return rc ? NAN : clt_value_number(value);
}

clt_config clt_instance_reference_configuration(const clt_instance *instance) {
  clt_config standard = clt_instance_default(instance);
  bool usable = clt_space_contains(instance->space, standard) || clt_space_valid(instance->space) == 0;
  return usable ? standard : clt_space_at(instance->space, 0);
}

clt_reference_kind clt_instance_reference_kind(const clt_instance *instance) {
  return instance->problem->reference.kind;
}
