/* Expressions of a problem: adding them to its table, their symbols, their evaluation; metrics. */
#include <ctype.h>

#include "base/base.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "device/device.h"
#include "problem/instance.h"
#include "problem/load.h"

#define MAX_COUNT 0x1p62

/* --- adding --- */

clt_expression_id clt_add_expression_text(clt_problem *problem, const char *text, const clt_node *node) {
  clt_expression expression = {.text = clt_expand_problem_size(problem, text, node), .key = clt_load_key(node)};
  if (clt_node_ok(node) && clt_grow(&problem->expressions, &problem->expressions_capacity, problem->n_expressions + 2,
                                    sizeof *problem->expressions))
    clt_node_fail_as(node, CLT_E_MEMORY, "out of memory");
  if (!clt_node_ok(node)) return 0;
  problem->expressions[++problem->n_expressions] = expression;
  return problem->n_expressions;
}

clt_expression_id clt_add_expression(clt_problem *problem, const clt_node *node) {
  char text[64];
  clt_value value;
  if (node->json == NULL || !clt_node_ok(node)) return 0;
  if (json_is_string(node->json)) return clt_add_expression_text(problem, json_string_value(node->json), node);
  if (!clt_json_to_value(&value, node->json))
    return clt_node_fail(node, "needs a number or an expression in quotes"), (clt_expression_id)0;
  if (value.type == CLT_BOOL) value.type = CLT_INT;
  clt_value_print(text, sizeof text, value);
  return clt_add_expression_text(problem, text, node);
}

clt_expression_id clt_load_expression(clt_problem *problem, const clt_node *parent, const char *name) {
  clt_node node = clt_node_member(parent, name);
  return clt_add_expression(problem, &node);
}

clt_extent clt_load_extent(clt_problem *problem, const clt_node *parent, const char *name) {
  static const char *const names[] = {"X", "Y", "Z"};
  clt_node node = clt_node_member(parent, name);
  clt_extent extent = {0};
  bool object = json_is_object(node.json);
  size_t n = object ? 3 : clt_node_count(&node);
  if (object) clt_read_object(&node, CLT_NAMES("X", "Y", "Z"), true);
  if (node.json && (n < 1 || n > 3)) clt_node_fail(&node, "needs one to three sizes, in the order x, y, z");
  for (size_t d = 0; d < n && clt_node_ok(&node); d++) {
    clt_node item = object ? clt_node_member(&node, names[d]) : clt_node_item(&node, d);
    if (item.json == NULL && !object) clt_node_fail(&item, "needs a size");
    if (item.json && d > extent.n) clt_node_fail(&node, "needs \"%s\" as well", names[extent.n]);
    if (item.json) extent.id[extent.n++] = clt_add_expression(problem, &item);
  }
  if (object && extent.n == 0) clt_node_fail(&node, "needs \"X\"");
  return clt_node_ok(&node) ? extent : (clt_extent){0};
}

void *clt_load_list(size_t *n, const clt_node *list, size_t element_bytes) {
  *n = clt_read_list(list);
  return clt_node_new(list, *n, element_bytes);
}

const char *clt_load_key(const clt_node *node) { return clt_node_keep(node, strdup(node->key)); }

const char *clt_load_path(const clt_problem *problem, const clt_node *node, const char *name) {
  return name && clt_node_ok(node) ? clt_node_keep(node, clt_path_join(problem->folder, name)) : NULL;
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

/* --- names --- */

const char *const clt_block_sizes[3] = {"block_size_x", "block_size_y", "block_size_z"};

static clt_symbol constant(const char *name, clt_value value) {
  return (clt_symbol){.name = name, .constant = true, .value = value};
}

static clt_symbol variable(const char *name, size_t slot) { return (clt_symbol){.name = name, .slot = (uint32_t)slot}; }

int clt_instance_symbols(const clt_instance *instance, clt_symbol **out, size_t *n_out, size_t *n_constants,
                         clt_error *error) {
  /* Kernel Tuner's defaults, for files that state their grid as Kernel Tuner does. */
  static const int64_t defaults[] = {256, 1, 1};
  const clt_problem *problem = instance->problem;
  size_t n_properties = clt_device_n_properties(), n = 0;
  clt_symbol *symbols = clt_new_array(problem->n_sizes + problem->n_parameters + n_properties + 3, sizeof *symbols);
  if (symbols == NULL) return clt_fail_memory(error);
  for (size_t d = 0; problem->problem_size.n > 0 && d < 3; d++)
    if (!clt_is_declared(problem, clt_block_sizes[d]))
      symbols[n++] = constant(clt_block_sizes[d], (clt_value){.type = CLT_INT, .integer = defaults[d]});
  for (size_t i = instance->fixed ? problem->n_passed : 0; i < problem->n_sizes; i++)
    symbols[n++] = constant(problem->sizes[i].name, (clt_value){.type = CLT_INT, .integer = instance->sizes[i]});
  for (size_t i = 0; instance->fixed && i < problem->n_parameters; i++)
    symbols[n++] = constant(problem->parameters[i].name, instance->fixed[i]);
  *n_constants = n + (instance->has_device ? n_properties : 0);
  for (size_t i = 0; i < n_properties; i++)
    symbols[n++] = instance->has_device
                       ? constant(clt_device_property_name(i), clt_device_property(&instance->device, i))
                       : variable(clt_device_property_name(i), CLT_SLOT_DEVICE + i);
  for (size_t i = 0; !instance->fixed && i < problem->n_parameters; i++)
    symbols[n++] = variable(problem->parameters[i].name, i);
  for (size_t i = 0; instance->fixed && i < problem->n_passed; i++) symbols[n++] = variable(problem->sizes[i].name, i);
  *out = symbols;
  *n_out = n;
  return CLT_OK;
}

int clt_default_size(int64_t *out, const clt_problem *problem, const clt_problem_parameter *size,
                     const clt_device_info *device, clt_error *error) {
  static const clt_device_info unknown;
  const clt_place place = {&problem->source, size->key};
  const size_t n = clt_device_n_properties();
  clt_value value = {.type = CLT_INT, .integer = size->default_value};
  clt_expr *expr = NULL;
  clt_error cause = {0};
  int rc = CLT_OK;
  if (size->rule) {
    clt_symbol *symbols = clt_new_array(n, sizeof *symbols);
    if (symbols == NULL) return clt_fail_memory(error);
    for (size_t i = 0; i < n; i++)
      symbols[i] = constant(clt_device_property_name(i), clt_device_property(device ? device : &unknown, i));
    rc = clt_expr_compile_at(&expr, size->rule, &place, symbols, n, error);
    if (rc == CLT_OK) rc = clt_expr_eval(expr, NULL, &value, error);
    free(symbols);
    if (rc == CLT_OK && clt_value_fit(&value, "int64", &cause) != CLT_OK)
      rc = clt_key_wrap(&problem->source, size->key, CLT_E_EXPRESSION, error, &cause);
  }
  if (rc == CLT_OK && (value.integer < size->min || value.integer > size->max))
    rc = clt_key_fail(&problem->source, size->key, CLT_E_FORMAT, error,
                      "must be between \"Min\" and \"Max\", but is %lld", (long long)value.integer);
  if (rc == CLT_OK) *out = value.integer;
  clt_expr_free(expr);
  return rc;
}

/* --- evaluating --- */

bool clt_needs_device(const clt_instance *instance, clt_expression_id id) {
  if (!id || instance->has_device || instance->problem->expressions[id].of_index) return false;
  const clt_expr *compiled = instance->compiled[id];
  size_t n = clt_expr_n_slots(compiled);
  return n > 0 && clt_expr_slot(compiled, n - 1) >= CLT_SLOT_DEVICE;
}

void clt_calculation_fail(clt_calculation *c, clt_expression_id id, int code, const char *format, ...) {
  const clt_expression *expression = &c->instance->problem->expressions[id];
  char message[200];
  va_list arguments;
  if (c->rc) return;
  va_start(arguments, format);
  clt_vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  c->rc =
      clt_key_fail(&c->instance->problem->source, expression->key, code, c->error, "%s: %s", message, expression->text);
}

clt_value clt_evaluate(clt_calculation *c, clt_expression_id id) {
  const clt_instance *instance = c->instance;
  clt_value value = {CLT_INT, .integer = 0};
  if (c->rc) return value;
  if (clt_needs_device(instance, id)) {
    clt_calculation_fail(c, id, CLT_E_DEVICE, "depends on the device; choose one");
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
    clt_calculation_fail(c, id, CLT_E_RANGE, "must be a whole number of at least %zu, but is %.10g", min, number);
  return c->rc ? 0 : (size_t)number;
}

void clt_evaluate_component(clt_calculation *c, clt_expression_id id, void *at, clt_element_base base, size_t n) {
  const clt_value value = clt_evaluate(c, id);
  const size_t step = clt_element_base_bytes(base);
  char type[16];
  if (c->rc == CLT_OK && value.type == CLT_STRING) clt_calculation_fail(c, id, CLT_E_EXPRESSION, "needs a number");
  for (size_t i = 0; i < n && c->rc == CLT_OK; i++) clt_store_value((char *)at + i * step, base, value);
  if (c->rc || n == 0) return;
  const double number = clt_value_number(value), stored = clt_load_number(at, base);
  if (base < CLT_ELEMENT_HALF ? stored == number : isinf(stored) == isinf(number)) return;
  clt_element_print(type, (clt_element){base, 1, 0});
  clt_calculation_fail(c, id, CLT_E_RANGE,
                       "the type '%s' cannot hold %.15g; give a number that it holds (int(x) rounds towards 0), or use "
                       "another type",
                       type, number);
}

bool clt_evaluate_when(clt_calculation *c, clt_expression_id id) {
  return !id ? c->rc == CLT_OK : clt_value_truthy(clt_evaluate(c, id));
}

void clt_evaluate_extent(clt_calculation *c, const clt_extent *extent, size_t min, size_t unused, size_t out[3]) {
  for (size_t d = 0; d < 3; d++) out[d] = d < extent->n ? clt_evaluate_count(c, extent->id[d], min) : unused;
}

/* --- metrics --- */

/* In the order of clt_kernel_use. */
static const char *const uses[CLT_METRIC_USES] = {"registers", "spill_bytes", "private_bytes", "local_bytes"};

int clt_metric_compile(clt_expr **out, const char *text, const clt_metric_scope *scope, clt_error *error) {
  const size_t n_own = scope->instance ? 0 : clt_space_n_parameters(scope->space);
  const size_t n_sizes = scope->instance ? 0 : scope->n_sizes;
  clt_symbol *known = NULL;
  size_t n_known = 0, n_constants = 0, n = 0;
  int rc = CLT_OK;
  if (scope->instance) rc = clt_instance_symbols(scope->instance, &known, &n_known, &n_constants, error);
  if (rc) return rc;
  clt_symbol *all = clt_new_array(n_known + n_sizes + n_own + scope->n_above + CLT_METRIC_USES + 3, sizeof *all);
  if (all) { /* if two have the same name, the later one is used */
    all[n++] = variable("figure", CLT_SLOT_FIGURE);
    for (size_t i = 0; i < CLT_METRIC_USES; i++) all[n++] = variable(uses[i], CLT_SLOT_USE + i);
    for (size_t i = 0; i < scope->n_above; i++) all[n++] = variable(scope->above[i].name, CLT_SLOT_METRICS + i);
    for (size_t i = 0; i < n_known; i++) all[n++] = known[i];
    for (size_t i = 0; i < n_sizes; i++)
      all[n++] = constant(scope->sizes[i].name, (clt_value){.type = CLT_INT, .integer = scope->sizes[i].value});
    for (size_t i = 0; i < n_own; i++) all[n++] = variable(clt_space_parameter(scope->space, i)->name, i);
    all[n++] = variable("time_s", CLT_SLOT_TIME);
    all[n++] = variable("energy_J", CLT_SLOT_ENERGY);
  }
  rc = all ? clt_expr_compile(out, text, all, n, error) : clt_fail_memory(error);
  free(known);
  free(all);
  return rc;
}
