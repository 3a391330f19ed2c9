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
#include "problem/parts.h"

#define MAX_COUNT 0x1p62

/* --- adding --- */

clt_expression_id clt_add_expression_text(clt_problem *problem, const char *text, const clt_node *node) {
  clt_expression expression = {.text = clt_expand_problem_size(problem, text, node),
                               .key = clt_node_keep(node, strdup(node->key))};
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

clt_extent clt_add_extent(clt_problem *problem, const clt_node *node) {
  static const char *const names[] = {"X", "Y", "Z"};
  clt_extent extent = CLT_NO_EXTENT;
  if (json_is_object(node->json)) {
    clt_read_object(node, CLT_NAMES("X", "Y", "Z"), true);
    for (size_t d = 0; d < 3 && clt_node_ok(node); d++) {
      clt_node member = clt_node_member(node, names[d]);
      if (member.json == NULL) continue;
      if (d > extent.n) clt_node_fail(node, "needs \"%s\" as well", names[extent.n]);
      extent.id[extent.n++] = clt_add_expression(problem, &member);
    }
    if (extent.n == 0) clt_node_fail(node, "needs \"X\"");
  } else if (json_is_array(node->json)) {
    size_t n = json_array_size(node->json);
    if (n < 1 || n > 3) clt_node_fail(node, "needs one to three sizes, x first");
    for (; extent.n < n && clt_node_ok(node); extent.n++) {
      clt_node item = clt_node_item(node, extent.n);
      if (item.json == NULL) clt_node_fail(&item, "needs a size");
      extent.id[extent.n] = clt_add_expression(problem, &item);
    }
  } else if (node->json) {
    extent.id[extent.n++] = clt_add_expression(problem, node);
  }
  return clt_node_ok(node) ? extent : CLT_NO_EXTENT;
}

/* --- replacing what only problem files know --- */

static bool in_name(char c) { return isalnum((unsigned char)c) || c == '_' || c == '.'; }

/* Copies text to out up to the next name outside of a string literal; returns where that begins, or the end, and *end
 * where it ends. */
static const char *copy_to_name(clt_text *out, const char *text, const char **end) {
  const char *at = text;
  while (*at && !isalpha((unsigned char)*at) && *at != '_') {
    char first = *at++;
    if (isdigit((unsigned char)first)) /* 0x1f, 1e3 */
      while (in_name(*at)) at++;
    if (first == '\'' || first == '"')
      while (*at && *at != first) at++;
  }
  clt_text_add_bytes(out, text, (size_t)(at - text));
  for (*end = at; in_name(**end);) ++*end;
  return at;
}

static const char *skip_space(const char *text) { return text + strspn(text, " \t"); }

/* Behind "[digits]", with the number; NULL where that does not stand there. */
static const char *index_end(const char *text, size_t *index) {
  char *end;
  text = skip_space(text);
  if (*text != '[') return NULL;
  text = skip_space(text + 1);
  if (!isdigit((unsigned char)*text)) return NULL;
  *index = strtoul(text, &end, 10);
  text = skip_space(end);
  return *text == ']' ? text + 1 : NULL;
}

const char *clt_expand_problem_size(const clt_problem *problem, const char *text, const clt_node *node) {
  clt_text out = {0};
  char *expanded = NULL;
  const char *end;
  size_t index = 0;
  if (!clt_node_ok(node)) return NULL;
  for (text = copy_to_name(&out, text, &end); *text; text = copy_to_name(&out, text, &end)) {
    const char *behind = NULL;
    if (end == text + 11 && strncmp(text, "ProblemSize", 11) == 0) behind = index_end(end, &index);
    if (behind && index < problem->problem_size.n) {
      clt_text_printf(&out, "(%s)", problem->expressions[problem->problem_size.id[index]].text);
      text = behind;
    } else {
      clt_text_add_bytes(&out, text, (size_t)(end - text));
      text = end;
    }
  }
  clt_text_take(&expanded, &out, node->reading->error);
  return clt_node_keep(node, expanded);
}

/* The parameter in "(name)", and what stands behind that. */
static const char *single_parameter(const clt_problem *problem, const char *text, size_t *parameter) {
  text = skip_space(text);
  if (*text != '(') return NULL;
  const char *name = skip_space(text + 1), *end = name;
  while (in_name(*end)) end++;
  const char *close = skip_space(end);
  if (*close != ')') return NULL;
  for (size_t i = 0; i < problem->n_parameters; i++) {
    const char *known = problem->parameters[i].name;
    if (strlen(known) == (size_t)(end - name) && strncmp(known, name, (size_t)(end - name)) == 0)
      return *parameter = i, close + 1;
  }
  return NULL;
}

/* "max(name)" and "min(name)" of a tuning parameter become the largest and the smallest of its values. malloc'ed. */
static int expand_value_limits(char **expanded, const clt_instance *instance, const char *text, clt_error *error) {
  clt_text out = {0};
  const char *end;
  size_t p = 0;
  for (text = copy_to_name(&out, text, &end); *text; text = copy_to_name(&out, text, &end)) {
    const char *behind = NULL;
    bool largest = strncmp(text, "max", 3) == 0, smallest = strncmp(text, "min", 3) == 0;
    if (end == text + 3 && (largest || smallest)) behind = single_parameter(instance->problem, end, &p);
    if (behind && instance->values[p][0].type != CLT_STRING) {
      char number[64];
      clt_value best = instance->values[p][0];
      for (size_t i = 1; i < instance->n_values[p]; i++) {
        double difference = clt_value_number(instance->values[p][i]) - clt_value_number(best);
        if (largest ? difference > 0 : difference < 0) best = instance->values[p][i];
      }
      clt_value_print(best, number, sizeof number);
      clt_text_printf(&out, "(%s)", number);
      text = behind;
    } else {
      clt_text_add_bytes(&out, text, (size_t)(end - text));
      text = end;
    }
  }
  return clt_text_take(expanded, &out, error);
}

/* --- compiling --- */

static clt_symbol constant(const char *name, clt_value value) {
  return (clt_symbol){.name = name, .constant = true, .value = value};
}

static clt_symbol variable(const char *name, size_t slot) { return (clt_symbol){.name = name, .slot = (uint32_t)slot}; }

static bool is_declared(const clt_problem *problem, const char *name) {
  for (size_t i = 0; i < problem->n_sizes; i++)
    if (strcmp(problem->sizes[i].name, name) == 0) return true;
  return clt_problem_parameter_index(problem, name) >= 0;
}

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
    if (!is_declared(problem, block_sizes[d]))
      symbols[n++] = constant(block_sizes[d], (clt_value){.type = CLT_INT, .integer = defaults[d]});
  for (size_t i = 0; i < problem->n_sizes; i++)
    symbols[n++] = constant(problem->sizes[i].name, (clt_value){.type = CLT_INT, .integer = instance->sizes[i]});
  for (size_t i = 0; i < problem->n_parameters; i++) symbols[n++] = variable(problem->parameters[i].name, i);
  *out = symbols;
  *n_out = n;
  return CLT_OK;
}

static int read_values(clt_instance *instance, size_t index, const clt_symbol *constants, size_t n_constants,
                       clt_error *error) {
  const clt_tuning_parameter *parameter = &instance->problem->parameters[index];
  size_t n = json_array_size(parameter->list);
  int rc = CLT_OK;
  if (parameter->list == NULL)
    return clt_values_parse(&instance->values[index], &instance->n_values[index], parameter->values, parameter->type,
                            constants, n_constants, error);
  clt_value *values = instance->values[index] = clt_new_array(n, sizeof *values);
  if (values == NULL) return clt_fail_memory(error);
  instance->n_values[index] = n;
  for (size_t i = 0; rc == CLT_OK && i < n; i++) {
    if (!clt_json_to_value(&values[i], json_array_get(parameter->list, i)))
      rc = clt_fail(error, CLT_E_FORMAT, "value %zu is neither a number, a truth value nor a string", i + 1);
    if (rc == CLT_OK) rc = clt_value_fit(&values[i], parameter->type, error);
  }
  return rc;
}

static int compile_expression(clt_instance *instance, size_t id, const clt_symbol *symbols, size_t n,
                              clt_error *error) {
  const clt_expression *expression = &instance->problem->expressions[id];
  clt_error cause = {0};
  char *expanded = NULL;
  int rc = expression->of_values ? expand_value_limits(&expanded, instance, expression->text, &cause) : CLT_OK;
  if (rc == CLT_OK)
    rc = clt_expr_compile(&instance->compiled[id], expanded ? expanded : expression->text, symbols, n, &cause);
  free(expanded);
  return rc ? clt_key_wrap(&instance->problem->source, expression->key, rc, error, &cause) : CLT_OK;
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
    clt_error cause = {0};
    rc = read_values(instance, i, symbols, n_constants, &cause);
    if (rc) rc = clt_key_wrap(&problem->source, problem->parameters[i].key, rc, error, &cause);
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

void clt_calculation_fail(clt_calculation *e, clt_expression_id id, int code, const char *format, ...) {
  const clt_expression *expression = &e->instance->problem->expressions[id];
  char message[200];
  va_list arguments;
  if (e->rc) return;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  e->rc =
      clt_key_fail(&e->instance->problem->source, expression->key, code, e->error, "%s: %s", message, expression->text);
}

clt_value clt_evaluate(clt_calculation *e, clt_expression_id id) {
  const clt_instance *instance = e->instance;
  clt_value value = {CLT_INT, .integer = 0};
  clt_error cause = {0};
  if (e->rc) return value;
  if (clt_needs_device(instance, id)) {
    clt_calculation_fail(e, id, CLT_E_DEVICE, "needs a device to be chosen");
  } else if (e->slots == NULL && clt_expr_n_slots(instance->compiled[id]) > 0) {
    clt_calculation_fail(e, id, CLT_E_EXPRESSION, "must not depend on the configuration");
  } else {
    e->rc = clt_expr_eval(instance->compiled[id], e->slots, &value, &cause);
    if (e->rc)
      clt_key_wrap(&instance->problem->source, instance->problem->expressions[id].key, e->rc, e->error, &cause);
  }
  return e->rc ? (clt_value){CLT_INT, .integer = 0} : value;
}

double clt_evaluate_number(clt_calculation *e, clt_expression_id id) {
  clt_value value = clt_evaluate(e, id);
  if (value.type == CLT_STRING) clt_calculation_fail(e, id, CLT_E_EXPRESSION, "needs a number");
  return e->rc ? 0 : clt_value_number(value);
}

size_t clt_evaluate_count(clt_calculation *e, clt_expression_id id, size_t min) {
  double number = clt_evaluate_number(e, id);
  if (!(number >= (double)min && number <= MAX_COUNT && number == floor(number)))
    clt_calculation_fail(e, id, CLT_E_RANGE, "needs a whole number of at least %zu and gives %.10g", min, number);
  return e->rc ? 0 : (size_t)number;
}

bool clt_evaluate_when(clt_calculation *e, clt_expression_id id) {
  return id == CLT_NO_EXPRESSION ? e->rc == CLT_OK : clt_value_truthy(clt_evaluate(e, id));
}

void clt_evaluate_extent(clt_calculation *e, const clt_extent *extent, size_t min, size_t unused, size_t out[3]) {
  for (size_t d = 0; d < 3; d++) out[d] = d < extent->n ? clt_evaluate_count(e, extent->id[d], min) : unused;
}
