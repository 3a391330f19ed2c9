/* Compiling and evaluating a problem's expressions for an instance. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "problem/parts.h"

#define MAX_COUNT 0x1p62

static clt_symbol constant(const char *name, clt_value value) {
  return (clt_symbol){.name = name, .constant = true, .value = value};
}

static clt_symbol variable(const char *name, size_t slot) { return (clt_symbol){.name = name, .slot = (uint32_t)slot}; }

static bool is_declared(const clt_problem *problem, const char *name) {
  for (size_t i = 0; i < problem->n_parameters; i++)
    if (strcmp(problem->parameters[i].name, name) == 0) return true;
  for (size_t i = 0; i < problem->n_sizes; i++)
    if (strcmp(problem->sizes[i].name, name) == 0) return true;
  return false;
}

/* Kernel Tuner's default block sizes, for files that state their grid in its way. */
static size_t add_block_sizes(const clt_problem *problem, clt_symbol *symbols, size_t n) {
  static const char *const names[] = {"block_size_x", "block_size_y", "block_size_z"};
  static const int64_t defaults[] = {256, 1, 1};
  for (size_t d = 0; problem->problem_size.n > 0 && d < 3; d++)
    if (!is_declared(problem, names[d]))
      symbols[n++] = constant(names[d], (clt_value){.type = CLT_INT, .integer = defaults[d]});
  return n;
}

int clt_instance_symbols(const clt_instance *instance, clt_symbol **out, size_t *n_out, clt_error *error) {
  const clt_problem *problem = instance->problem;
  size_t n_properties = clt_device_n_properties(), n = 0;
  clt_symbol *symbols = clt_new_array(problem->n_sizes + problem->n_parameters + n_properties + 3, sizeof *symbols);
  if (symbols == NULL) return clt_fail_memory(error);
  for (size_t i = 0; i < n_properties; i++)
    symbols[n++] = instance->has_device
                       ? constant(clt_device_property_name(i), clt_device_property(&instance->device, i))
                       : variable(clt_device_property_name(i), problem->n_parameters + i);
  n = add_block_sizes(problem, symbols, n);
  for (size_t i = 0; i < problem->n_sizes; i++)
    symbols[n++] = constant(problem->sizes[i].name, (clt_value){.type = CLT_INT, .integer = instance->sizes[i]});
  for (size_t i = 0; i < problem->n_parameters; i++) symbols[n++] = variable(problem->parameters[i].name, i);
  *out = symbols;
  *n_out = n;
  return CLT_OK;
}

/* Moves the constants to the front; returns their number. */
static size_t constants_first(clt_symbol *symbols, size_t n) {
  size_t n_constants = 0;
  for (size_t i = 0; i < n; i++) {
    clt_symbol symbol = symbols[i];
    if (!symbol.constant) continue;
    symbols[i] = symbols[n_constants];
    symbols[n_constants++] = symbol;
  }
  return n_constants;
}

static clt_value value_of_json(const json_t *json) {
  if (json_is_string(json)) return (clt_value){.type = CLT_STRING, .text = json_string_value(json)};
  if (json_is_real(json)) return (clt_value){.type = CLT_REAL, .real = json_real_value(json)};
  if (json_is_boolean(json)) return (clt_value){.type = CLT_BOOL, .integer = json_is_true(json)};
  return (clt_value){.type = CLT_INT, .integer = json_integer_value(json)};
}

static int values_of_list(const clt_tuning_parameter *parameter, clt_value **out, size_t *n, clt_error *error) {
  int rc = CLT_OK;
  clt_value *values = clt_new_array(json_array_size(parameter->list), sizeof *values);
  if (values == NULL) return clt_fail_memory(error);
  *n = json_array_size(parameter->list);
  for (size_t i = 0; rc == CLT_OK && i < *n; i++) {
    const json_t *item = json_array_get(parameter->list, i);
    values[i] = value_of_json(item);
    if (json_is_null(item) || json_is_object(item) || json_is_array(item))
      rc = clt_fail(error, CLT_E_FORMAT, "value %zu is neither a number, a truth value nor a string", i + 1);
    if (rc == CLT_OK) rc = clt_value_fit(&values[i], parameter->type, error);
  }
  if (rc == CLT_OK) {
    *out = values;
  } else {
    free(values);
  }
  return rc;
}

static int read_values(clt_instance *instance, const clt_symbol *constants, size_t n_constants, clt_error *error) {
  const clt_problem *problem = instance->problem;
  int rc = CLT_OK;
  for (size_t i = 0; rc == CLT_OK && i < problem->n_parameters; i++) {
    const clt_tuning_parameter *parameter = &problem->parameters[i];
    clt_error cause = {0};
    char key[300];
    rc = parameter->list ? values_of_list(parameter, &instance->values[i], &instance->n_values[i], &cause)
                         : clt_values_parse(&instance->values[i], &instance->n_values[i], parameter->values,
                                            parameter->type, constants, n_constants, &cause);
    snprintf(key, sizeof key, "%s.Values", parameter->key);
    if (rc) rc = clt_key_wrap(&problem->source, key, rc, error, &cause);
  }
  return rc;
}

static int compile_one(clt_instance *instance, size_t id, const clt_symbol *symbols, size_t n, clt_error *error) {
  const clt_expression *expression = &instance->problem->expressions[id];
  clt_error cause = {0};
  char *text = expression->of_values
                   ? clt_expand_value_limits(instance->problem, expression->text, instance->values, instance->n_values)
                   : strdup(expression->text);
  if (text == NULL) return clt_fail_memory(error);
  int rc = clt_expr_compile(&instance->compiled[id], text, symbols, n, &cause);
  if (rc) rc = clt_key_wrap(&instance->problem->source, expression->key, rc, error, &cause);
  free(text);
  return rc;
}

/* symbols: n_constants constants, then the variables, and room for one more. */
static int compile_all(clt_instance *instance, clt_symbol *symbols, size_t n, size_t n_constants, clt_error *error) {
  int rc = CLT_OK;
  for (size_t id = 0; rc == CLT_OK && id < instance->problem->n_expressions; id++)
    if (!instance->problem->expressions[id].of_index) rc = compile_one(instance, id, symbols, n, error);
  symbols[n_constants] = variable("i", 0);
  for (size_t id = 0; rc == CLT_OK && id < instance->problem->n_expressions; id++)
    if (instance->problem->expressions[id].of_index) rc = compile_one(instance, id, symbols, n_constants + 1, error);
  return rc;
}

int clt_instance_compile(clt_instance *instance, clt_error *error) {
  const clt_problem *problem = instance->problem;
  clt_symbol *symbols = NULL;
  size_t n = 0, n_constants = 0;
  instance->compiled = clt_new_array(problem->n_expressions, sizeof *instance->compiled);
  instance->values = clt_new_array(problem->n_parameters, sizeof *instance->values);
  instance->n_values = clt_new_array(problem->n_parameters, sizeof *instance->n_values);
  if (!instance->compiled || !instance->values || !instance->n_values) return clt_fail_memory(error);
  int rc = clt_instance_symbols(instance, &symbols, &n, error);
  if (rc == CLT_OK) n_constants = constants_first(symbols, n);
  if (rc == CLT_OK) rc = read_values(instance, symbols, n_constants, error);
  if (rc == CLT_OK) rc = compile_all(instance, symbols, n, n_constants, error);
  free(symbols);
  return rc;
}

bool clt_depends(const clt_instance *instance, clt_expression_id id) {
  return id != CLT_NO_EXPRESSION && clt_expr_n_slots(instance->compiled[id]) > 0;
}

bool clt_needs_device(const clt_instance *instance, clt_expression_id id) {
  if (id == CLT_NO_EXPRESSION) return false;
  size_t n = clt_expr_n_slots(instance->compiled[id]);
  return n > 0 && clt_expr_slot(instance->compiled[id], n - 1) >= instance->problem->n_parameters;
}

static int fail_at(const clt_instance *instance, clt_expression_id id, int code, clt_error *error, const char *what) {
  const clt_expression *expression = &instance->problem->expressions[id];
  return clt_key_fail(&instance->problem->source, expression->key, code, error, "%s: %s", what, expression->text);
}

int clt_evaluate(const clt_instance *instance, clt_expression_id id, const clt_value *slots, clt_value *out,
                 clt_error *error) {
  const clt_expression *expression = &instance->problem->expressions[id];
  clt_error cause = {0};
  if (clt_needs_device(instance, id) && !expression->of_index)
    return fail_at(instance, id, CLT_E_DEVICE, error, "needs a device to be chosen");
  if (slots == NULL && clt_depends(instance, id))
    return fail_at(instance, id, CLT_E_EXPRESSION, error, "must not depend on the configuration");
  int rc = clt_expr_eval(instance->compiled[id], slots, out, &cause);
  return rc ? clt_key_wrap(&instance->problem->source, expression->key, rc, error, &cause) : CLT_OK;
}

int clt_evaluate_number(const clt_instance *instance, clt_expression_id id, const clt_value *slots, double *out,
                        clt_error *error) {
  clt_value value = {CLT_INT, .integer = 0};
  int rc = clt_evaluate(instance, id, slots, &value, error);
  if (rc) return rc;
  if (value.type == CLT_STRING) return fail_at(instance, id, CLT_E_EXPRESSION, error, "needs a number");
  *out = clt_value_number(value);
  return CLT_OK;
}

int clt_evaluate_count(const clt_instance *instance, clt_expression_id id, const clt_value *slots, size_t min,
                       size_t *out, clt_error *error) {
  double number = 0;
  char what[100];
  int rc = clt_evaluate_number(instance, id, slots, &number, error);
  if (rc) return rc;
  if (!(number >= (double)min && number <= MAX_COUNT && number == floor(number))) {
    snprintf(what, sizeof what, "needs a whole number of at least %zu and gives %.10g", min, number);
    return fail_at(instance, id, CLT_E_RANGE, error, what);
  }
  *out = (size_t)number;
  return CLT_OK;
}

int clt_evaluate_when(const clt_instance *instance, clt_expression_id id, const clt_value *slots, bool *out,
                      clt_error *error) {
  clt_value value = {CLT_INT, .integer = 0};
  if (id == CLT_NO_EXPRESSION) return *out = true, CLT_OK;
  int rc = clt_evaluate(instance, id, slots, &value, error);
  if (rc == CLT_OK) *out = clt_value_truthy(value);
  return rc;
}

int clt_evaluate_extent(const clt_instance *instance, const clt_extent *extent, const clt_value *slots, size_t min,
                        size_t unused, size_t out[3], clt_error *error) {
  size_t values[3] = {unused, unused, unused};
  int rc = CLT_OK;
  for (size_t d = 0; rc == CLT_OK && d < extent->n; d++)
    rc = clt_evaluate_count(instance, extent->id[d], slots, min, &values[d], error);
  if (rc == CLT_OK) memcpy(out, values, sizeof values);
  return rc;
}
