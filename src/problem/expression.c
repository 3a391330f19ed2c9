/* Expressions of a problem: adding them to its table, compiling the table for an instance, evaluating. */
#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "device/device.h"
#include "problem/parts.h"

#define MAX_COUNT 0x1p62

/* --- adding --- */

clt_expression_id clt_add_expression_text(clt_problem *problem, const char *text, const clt_node *node) {
  clt_expression expression = {.text = clt_expand_problem_size(problem, text, node), .key = clt_load_key(node)};
  if (clt_node_ok(node) && clt_grow(&problem->expressions, &problem->expressions_capacity, problem->n_expressions + 1,
                                    sizeof *problem->expressions))
    clt_node_fail_as(node, CLT_E_MEMORY, "out of memory");
  if (!clt_node_ok(node)) return CLT_NO_EXPRESSION;
  problem->expressions[problem->n_expressions] = expression;
  return problem->n_expressions++;
}

clt_expression_id clt_add_expression(clt_problem *problem, const clt_node *node) {
  char text[64];
  clt_value value;
  if (node->json == NULL || !clt_node_ok(node)) return CLT_NO_EXPRESSION;
  if (json_is_string(node->json)) return clt_add_expression_text(problem, json_string_value(node->json), node);
  if (!clt_json_to_value(&value, node->json))
    return clt_node_fail(node, "needs a number or an expression in quotes"), CLT_NO_EXPRESSION;
  if (value.type == CLT_BOOL) value.type = CLT_INT;
  clt_value_print(value, text, sizeof text);
  return clt_add_expression_text(problem, text, node);
}

clt_expression_id clt_load_expression(clt_problem *problem, const clt_node *parent, const char *name) {
  clt_node node = clt_node_member(parent, name);
  return clt_add_expression(problem, &node);
}

clt_extent clt_load_extent(clt_problem *problem, const clt_node *parent, const char *name) {
  static const char *const names[] = {"X", "Y", "Z"};
  clt_node node = clt_node_member(parent, name);
  clt_extent extent = CLT_NO_EXTENT;
  bool object = json_is_object(node.json);
  size_t n = object ? 3 : json_is_array(node.json) ? json_array_size(node.json) : node.json != NULL;
  if (object) clt_read_object(&node, CLT_NAMES("X", "Y", "Z"), true);
  if (node.json && (n < 1 || n > 3)) clt_node_fail(&node, "needs one to three sizes, x first");
  for (size_t d = 0; d < n && clt_node_ok(&node); d++) {
    clt_node item = object                     ? clt_node_member(&node, names[d])
                    : json_is_array(node.json) ? clt_node_item(&node, d)
                                               : node;
    if (item.json == NULL && !object) clt_node_fail(&item, "needs a size");
    if (item.json && d > extent.n) clt_node_fail(&node, "needs \"%s\" as well", names[extent.n]);
    if (item.json) extent.id[extent.n++] = clt_add_expression(problem, &item);
  }
  if (object && extent.n == 0) clt_node_fail(&node, "needs \"X\"");
  return clt_node_ok(&node) ? extent : CLT_NO_EXTENT;
}

void *clt_load_list(size_t *n, const clt_node *list, size_t element_bytes) {
  *n = clt_read_list(list);
  return clt_node_new(list, *n, element_bytes);
}

const char *clt_load_key(const clt_node *node) { return clt_node_keep(node, strdup(node->key)); }

const char *clt_load_path(const clt_problem *problem, const clt_node *node, const char *name) {
  return name && clt_node_ok(node) ? clt_node_keep(node, clt_problem_file(problem, name)) : NULL;
}

/* --- replacing names --- */

static bool in_name(char c) { return isalnum((unsigned char)c) || c == '_' || c == '.'; }

static const char *skip_space(const char *text) { return text + strspn(text, " \t"); }

int clt_replace_names(char **out, const char *text, clt_name_replacer replace, const void *user, clt_error *error) {
  clt_text replaced = {0};
  while (*text) {
    const char *end = text, *behind = NULL;
    if (isalpha((unsigned char)*text) || *text == '_') {
      while (in_name(*end)) end++;
      behind = replace(&replaced, user, text, (size_t)(end - text));
    } else if (isdigit((unsigned char)*text)) { /* 0x1f, 1e3 */
      while (in_name(*end)) end++;
    } else if (*text == '\'' || *text == '"') {
      end = strchr(text + 1, *text);
      end = end ? end + 1 : text + strlen(text);
    } else {
      while (*end && !isalnum((unsigned char)*end) && strchr("_'\"", *end) == NULL) end++;
    }
    if (behind == NULL) clt_text_add_bytes(&replaced, text, (size_t)(end - text));
    text = behind ? behind : end;
  }
  return clt_text_take(out, &replaced, error);
}

/* "ProblemSize[1]" */
static const char *replace_problem_size(clt_text *out, const void *user, const char *name, size_t n) {
  const clt_problem *problem = user;
  const char *at = skip_space(name + n);
  char *end;
  if (n != 11 || strncmp(name, "ProblemSize", n) != 0 || *at != '[') return NULL;
  at = skip_space(at + 1);
  size_t index = strtoul(at, &end, 10);
  end = (char *)skip_space(end);
  if (!isdigit((unsigned char)*at) || *end != ']' || index >= problem->problem_size.n) return NULL;
  clt_text_printf(out, "(%s)", problem->expressions[problem->problem_size.id[index]].text);
  return end + 1;
}

const char *clt_expand_problem_size(const clt_problem *problem, const char *text, const clt_node *node) {
  char *expanded = NULL;
  if (!clt_node_ok(node)) return NULL;
  clt_replace_names(&expanded, text, replace_problem_size, problem, node->reading->error);
  return clt_node_keep(node, expanded);
}

/* "max(name)" and "min(name)" of a tuning parameter: the largest and the smallest of its values. */
static const char *replace_value_limit(clt_text *out, const void *user, const char *name, size_t n) {
  const clt_instance *instance = user;
  const clt_problem *problem = instance->problem;
  bool largest = strncmp(name, "max", n) == 0;
  const char *open = skip_space(name + n), *begin = skip_space(open + (*open == '(')), *end = begin;
  while (in_name(*end)) end++;
  const char *close = skip_space(end);
  size_t length = (size_t)(end - begin), p = 0;
  if (n != 3 || !(largest || strncmp(name, "min", n) == 0) || *open != '(' || *close != ')') return NULL;
  while (p < problem->n_parameters &&
         !(strlen(problem->parameters[p].name) == length && strncmp(problem->parameters[p].name, begin, length) == 0))
    p++;
  if (p == problem->n_parameters || instance->values[p][0].type == CLT_STRING) return NULL;
  clt_value best = instance->values[p][0];
  for (size_t i = 1; i < instance->n_values[p]; i++) {
    double difference = clt_value_number(instance->values[p][i]) - clt_value_number(best);
    if (largest ? difference > 0 : difference < 0) best = instance->values[p][i];
  }
  clt_text_add(out, "(");
  clt_text_add_value(out, best);
  clt_text_add(out, ")");
  return close + 1;
}

/* --- compiling --- */

static clt_symbol constant(const char *name, clt_value value) {
  return (clt_symbol){.name = name, .constant = true, .value = value};
}

static clt_symbol variable(const char *name, size_t slot) { return (clt_symbol){.name = name, .slot = (uint32_t)slot}; }

int clt_instance_symbols(const clt_instance *instance, clt_symbol **out, size_t *n_out, clt_error *error) {
  /* Kernel Tuner's default block sizes, for files that state their grid in its way. */
  static const char *const block_sizes[] = {"block_size_x", "block_size_y", "block_size_z"};
  static const int64_t defaults[] = {256, 1, 1};
  const clt_problem *problem = instance->problem;
  size_t n_properties = clt_device_n_properties(), n = 0;
  clt_symbol *symbols = clt_new_array(problem->n_sizes + problem->n_parameters + n_properties + 3, sizeof *symbols);
  if (symbols == NULL) return clt_fail_memory(error);
  for (size_t i = 0; i < n_properties; i++)
    symbols[n++] = instance->has_device
                       ? constant(clt_device_property_name(i), clt_device_property(&instance->device, i))
                       : variable(clt_device_property_name(i), problem->n_parameters + i);
  for (size_t d = 0; problem->problem_size.n > 0 && d < 3; d++)
    if (!clt_is_declared(problem, block_sizes[d]))
      symbols[n++] = constant(block_sizes[d], (clt_value){.type = CLT_INT, .integer = defaults[d]});
  for (size_t i = 0; i < problem->n_sizes; i++)
    symbols[n++] = constant(problem->sizes[i].name, (clt_value){.type = CLT_INT, .integer = instance->sizes[i]});
  for (size_t i = 0; i < problem->n_parameters; i++) symbols[n++] = variable(problem->parameters[i].name, i);
  *out = symbols;
  *n_out = n;
  return CLT_OK;
}

static int compile_expression(clt_instance *instance, size_t id, const clt_symbol *symbols, size_t n,
                              clt_error *error) {
  const clt_expression *expression = &instance->problem->expressions[id];
  const clt_place place = {&instance->problem->source, expression->key};
  char *expanded = NULL;
  int rc = CLT_OK;
  if (expression->of_values) rc = clt_replace_names(&expanded, expression->text, replace_value_limit, instance, error);
  if (rc == CLT_OK)
    rc =
        clt_expr_compile_at(&instance->compiled[id], expanded ? expanded : expression->text, &place, symbols, n, error);
  free(expanded);
  return rc;
}

static int compile_instance(clt_instance *instance, clt_error *error) {
  const clt_problem *problem = instance->problem;
  clt_symbol *symbols = NULL;
  size_t n = 0, n_constants = 0;
  instance->compiled = clt_new_array(problem->n_expressions, sizeof *instance->compiled);
  instance->values = clt_new_array(problem->n_parameters, sizeof *instance->values);
  instance->n_values = clt_new_array(problem->n_parameters, sizeof *instance->n_values);
  if (!instance->compiled || !instance->values || !instance->n_values) return clt_fail_memory(error);
  int rc = clt_instance_symbols(instance, &symbols, &n, error);
  for (size_t i = 0; rc == CLT_OK && i < n; i++) { /* constants first */
    clt_symbol symbol = symbols[i];
    if (!symbol.constant) continue;
    symbols[i] = symbols[n_constants];
    symbols[n_constants++] = symbol;
  }
  for (size_t i = 0; rc == CLT_OK && i < problem->n_parameters; i++) {
    const clt_tuning_parameter *parameter = &problem->parameters[i];
    clt_error cause = {0};
    clt_value **values = &instance->values[i];
    const size_t n_listed = instance->n_values[i] = json_array_size(parameter->list);
    if (parameter->list == NULL)
      rc = clt_values_parse(values, &instance->n_values[i], parameter->values, parameter->type, symbols, n_constants,
                            &cause);
    else if ((*values = clt_new_array(n_listed, sizeof **values)) == NULL)
      rc = clt_fail_memory(&cause);
    for (size_t v = 0; rc == CLT_OK && v < n_listed; v++) {
      if (!clt_json_to_value(&(*values)[v], json_array_get(parameter->list, v)))
        rc = clt_fail(&cause, CLT_E_FORMAT, "value %zu is neither a number, a truth value nor a string", v + 1);
      if (rc == CLT_OK) rc = clt_value_fit(&(*values)[v], parameter->type, &cause);
    }
    if (rc) rc = clt_key_wrap(&problem->source, parameter->key, rc, error, &cause);
  }
  for (size_t id = 0; rc == CLT_OK && id < problem->n_expressions; id++)
    if (!problem->expressions[id].of_index) rc = compile_expression(instance, id, symbols, n, error);
  if (rc == CLT_OK) symbols[n_constants] = variable("i", 0); /* there is a variable: at least one parameter */
  for (size_t id = 0; rc == CLT_OK && id < problem->n_expressions; id++)
    if (problem->expressions[id].of_index) rc = compile_expression(instance, id, symbols, n_constants + 1, error);
  free(symbols);
  return rc;
}

static int set_size(clt_instance *instance, clt_size size, clt_error *error) {
  enum { MAX_NAMES = 64 };
  const clt_problem *problem = instance->problem;
  const char *names[MAX_NAMES];
  size_t n = problem->n_passed < MAX_NAMES ? problem->n_passed : MAX_NAMES;
  for (size_t i = 0; i < problem->n_passed; i++) {
    const clt_problem_parameter *parameter = &problem->sizes[i];
    if (strcmp(parameter->name, size.name) != 0) continue;
    if (size.value < parameter->min)
      return clt_fail(error, CLT_E_RANGE, "size '%s' must be at least %lld", size.name, (long long)parameter->min);
    if (size.value > parameter->max)
      return clt_fail(error, CLT_E_RANGE, "size '%s' must be at most %lld", size.name, (long long)parameter->max);
    instance->sizes[i] = size.value;
    return CLT_OK;
  }
  if (n == 0)
    return clt_fail(error, CLT_E_NOT_FOUND, "the problem has no size '%s': it has no problem parameters", size.name);
  for (size_t i = 0; i < n; i++) names[i] = problem->sizes[i].name;
  const char *near = clt_nearest_name(size.name, names, n);
  return clt_fail(error, CLT_E_NOT_FOUND, "the problem has no size '%s'; did you mean '%s'?", size.name,
                  near ? near : names[0]);
}

int clt_instance_new_compiled(clt_instance **out, const clt_problem *problem, const clt_size *sizes, size_t n_sizes,
                              const clt_device_info *device, clt_error *error) {
  clt_instance *instance = clt_new_array(1, sizeof *instance);
  if (instance == NULL) return clt_fail_memory(error);
  instance->problem = problem;
  instance->has_device = device != NULL;
  if (device) instance->device = *device;
  instance->sizes = clt_new_array(problem->n_sizes, sizeof *instance->sizes);
  int rc = instance->sizes ? CLT_OK : clt_fail_memory(error);
  for (size_t i = 0; rc == CLT_OK && i < problem->n_sizes; i++) instance->sizes[i] = problem->sizes[i].standard;
  for (size_t i = 0; rc == CLT_OK && i < n_sizes; i++) rc = set_size(instance, sizes[i], error);
  if (rc == CLT_OK) rc = compile_instance(instance, error);
  if (rc == CLT_OK)
    *out = instance;
  else
    clt_instance_free(instance);
  return rc;
}

/* --- evaluating --- */

bool clt_needs_device(const clt_instance *instance, clt_expression_id id) {
  if (id == CLT_NO_EXPRESSION || instance->problem->expressions[id].of_index) return false;
  const clt_expr *compiled = instance->compiled[id];
  size_t n = clt_expr_n_slots(compiled);
  return n > 0 && clt_expr_slot(compiled, n - 1) >= instance->problem->n_parameters;
}

void clt_calculation_fail(clt_calculation *c, clt_expression_id id, int code, const char *format, ...) {
  const clt_expression *expression = &c->instance->problem->expressions[id];
  char message[200];
  va_list arguments;
  if (c->rc) return;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  c->rc =
      clt_key_fail(&c->instance->problem->source, expression->key, code, c->error, "%s: %s", message, expression->text);
}

clt_value clt_evaluate(clt_calculation *c, clt_expression_id id) {
  const clt_instance *instance = c->instance;
  clt_value value = {CLT_INT, .integer = 0};
  if (c->rc) return value;
  if (clt_needs_device(instance, id)) {
    clt_calculation_fail(c, id, CLT_E_DEVICE, "needs a device to be chosen");
  } else if (c->slots == NULL && clt_expr_n_slots(instance->compiled[id]) > 0) {
    clt_calculation_fail(c, id, CLT_E_EXPRESSION, "must not depend on the configuration");
  } else {
    c->rc = clt_expr_eval(instance->compiled[id], c->slots, &value, c->error);
  }
  return c->rc ? (clt_value){CLT_INT, .integer = 0} : value;
}

double clt_evaluate_number(clt_calculation *c, clt_expression_id id) {
  clt_value value = clt_evaluate(c, id);
  if (value.type == CLT_STRING) clt_calculation_fail(c, id, CLT_E_EXPRESSION, "needs a number");
  return c->rc ? 0 : clt_value_number(value);
}

size_t clt_evaluate_count(clt_calculation *c, clt_expression_id id, size_t min) {
  double number = clt_evaluate_number(c, id);
  if (!(number >= (double)min && number <= MAX_COUNT && number == floor(number)))
    clt_calculation_fail(c, id, CLT_E_RANGE, "needs a whole number of at least %zu and gives %.10g", min, number);
  return c->rc ? 0 : (size_t)number;
}

bool clt_evaluate_when(clt_calculation *c, clt_expression_id id) {
  return id == CLT_NO_EXPRESSION ? c->rc == CLT_OK : clt_value_truthy(clt_evaluate(c, id));
}

void clt_evaluate_extent(clt_calculation *c, const clt_extent *extent, size_t min, size_t unused, size_t out[3]) {
  for (size_t d = 0; d < 3; d++) out[d] = d < extent->n ? clt_evaluate_count(c, extent->id[d], min) : unused;
}
