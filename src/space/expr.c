#include "space/expr.h"
#include "base/base.h"
#include "base/json.h"
#include "space/code.h"

#define FEW 256 /* nodes whose results fit on the stack */

/* --- making --- */

int clt_expr_add(clt_expr *expr, clt_expr_node node, clt_operand *out) {
  unsigned arity = clt_op_arity(node.op);
  const clt_value *values[4];
  bool constant = arity > 0;
  for (unsigned k = 0; k < arity; k++) {
    values[k] = &expr->nodes[node.operands[k]].value;
    constant &= expr->nodes[node.operands[k]].op == CLT_OP_CONSTANT;
    if (k > 0 || !constant) continue;
    /* If the constant first operand selects the result, no node is needed. */
    const bool selects = node.op == CLT_OP_AND || node.op == CLT_OP_OR || node.op == CLT_OP_CHOOSE;
    if (!selects) continue;
    *out = node.operands[clt_value_truthy(*values[0]) != (node.op == CLT_OP_OR)];
    if (node.op == CLT_OP_CHOOSE) *out = node.operands[clt_value_truthy(*values[0]) ? 1 : 2];
    return CLT_OK;
  }
  clt_value value = constant ? clt_op_apply((clt_op)node.op, values) : (clt_value){.type = CLT_FAILED};
  if (value.type != CLT_FAILED) node = (clt_expr_node){.op = CLT_OP_CONSTANT, .value = value};
  if (clt_grow(&expr->nodes, &expr->nodes_capacity, expr->n_nodes + 1, sizeof *expr->nodes)) return CLT_E_MEMORY;
  if (node.value.type == CLT_STRING && (node.value.text = strdup(node.value.text)) == NULL) return CLT_E_MEMORY;
  *out = (clt_operand)expr->n_nodes;
  expr->nodes[expr->n_nodes++] = node;
  return CLT_OK;
}

static void release_node(clt_expr_node *node) {
  if (node->value.type == CLT_STRING) free((void *)(uintptr_t)node->value.text);
}

int clt_expr_finish(clt_expr *expr, clt_operand root) {
  uint32_t *numbers =
      clt_new_array(expr->n_nodes, sizeof *numbers); /* first 1 for needed nodes, then the new number of each */
  size_t kept = 0;
  expr->slots = clt_new_array(expr->n_nodes, sizeof *expr->slots);
  if (numbers == NULL || expr->slots == NULL) {
    free(numbers);
    return CLT_E_MEMORY;
  }
  numbers[root] = 1;
  for (size_t i = root + (size_t)1; i-- > 0;)
    for (unsigned k = 0; numbers[i] && k < clt_op_arity(expr->nodes[i].op); k++)
      numbers[expr->nodes[i].operands[k]] = 1;
  for (size_t i = 0; i < expr->n_nodes; i++) {
    clt_expr_node node = expr->nodes[i];
    if (numbers[i] == 0) {
      release_node(&node);
      continue;
    }
    for (unsigned k = 0; k < clt_op_arity(node.op); k++) node.operands[k] = numbers[node.operands[k]];
    numbers[i] = (uint32_t)kept;
    expr->nodes[kept++] = node;
    if (node.op != CLT_OP_SLOT) continue;
    size_t at = 0;
    while (at < expr->n_slots && expr->slots[at] < node.operands[0]) at++;
    if (at < expr->n_slots && expr->slots[at] == node.operands[0]) continue;
    memmove(&expr->slots[at + 1], &expr->slots[at], (expr->n_slots++ - at) * sizeof *expr->slots);
    expr->slots[at] = node.operands[0];
  }
  expr->n_nodes = kept;
  free(numbers);
  return CLT_OK;
}

clt_expr *clt_expr_share(clt_expr *expr) {
  atomic_fetch_add(&expr->n_owners, 1);
  return expr;
}

void clt_expr_free(clt_expr *expr) {
  if (expr == NULL || atomic_fetch_sub(&expr->n_owners, 1) > 1) return;
  for (size_t i = 0; i < expr->n_nodes; i++) release_node(&expr->nodes[i]);
  free(expr->slots);
  free(expr->nodes);
  free(expr->text);
  free(expr);
}

int clt_expr_compile_at(clt_expr **out, const char *text, const clt_place *place, const clt_symbol *symbols,
                        size_t n_symbols, clt_error *error) {
  return clt_expr_compile_part(out, text, 0, strnlen(text, CLT_EXPR_MAX_BYTES + 1), place, symbols, n_symbols, error);
}

int clt_expr_compile(clt_expr **out, const char *text, const clt_symbol *symbols, size_t n_symbols, clt_error *error) {
  return clt_expr_compile_at(out, text, NULL, symbols, n_symbols, error);
}

int clt_expr_mistake(const clt_expr *expr, int code, clt_error *error, const char *format, ...) {
  va_list arguments;
  if (error == NULL || error->code) return code;
  va_start(arguments, format);
  if (expr->place.source)
    clt_key_vfail(expr->place.source, expr->place.key, code, error, format, arguments);
  else
    clt_vfail_at(error, code, NULL, 0, NULL, format, arguments);
  va_end(arguments);
  return code;
}

/* --- properties --- */

size_t clt_expr_n_slots(const clt_expr *expr) { return expr->n_slots; }
uint32_t clt_expr_slot(const clt_expr *expr, size_t index) { return expr->slots[index]; }
const char *clt_expr_text(const clt_expr *expr) { return expr->text; }

/* --- trends --- */

static clt_trend both_trends(clt_trend a, clt_trend b) {
  if (a == CLT_TREND_CONSTANT || a == b) return b;
  return b == CLT_TREND_CONSTANT ? a : CLT_TREND_NONE;
}

static clt_trend inverse_trend(clt_trend a) {
  if (a == CLT_TREND_RISING) return CLT_TREND_FALLING;
  return a == CLT_TREND_FALLING ? CLT_TREND_RISING : a;
}

clt_trend clt_expr_trend(const clt_expr *expr, const clt_trend *slots) {
  clt_trend *nodes = clt_new_array(expr->n_nodes, sizeof *nodes), out = CLT_TREND_NONE;
  if (nodes == NULL) return CLT_TREND_NONE;
  for (size_t i = 0; i < expr->n_nodes; i++) {
    const clt_expr_node *node = &expr->nodes[i];
    clt_trend a = clt_op_arity(node->op) > 0 ? nodes[node->operands[0]] : CLT_TREND_NONE;
    clt_trend b = clt_op_arity(node->op) > 1 ? nodes[node->operands[1]] : CLT_TREND_NONE;
    switch (node->op) {
      case CLT_OP_CONSTANT: out = clt_value_number(node->value) > 0 ? CLT_TREND_CONSTANT : CLT_TREND_NONE; break;
      case CLT_OP_SLOT: out = slots[node->operands[0]]; break;
      case CLT_OP_PLUS:
      case CLT_OP_FLOAT:
      case CLT_OP_SQRT: out = a; break;
      case CLT_OP_ADD:
      case CLT_OP_MULTIPLY: out = both_trends(a, b); break;
      case CLT_OP_DIVIDE: out = both_trends(a, inverse_trend(b)); break;
      case CLT_OP_POWER: {
        const clt_expr_node *power = &expr->nodes[node->operands[1]];
        double exponent = power->op == CLT_OP_CONSTANT ? clt_value_number(power->value) : NAN;
        out = exponent > 0 ? a : CLT_TREND_NONE;
        if (exponent < 0) out = inverse_trend(a);
        break;
      }
      default: out = CLT_TREND_NONE;
    }
    nodes[i] = out;
  }
  free(nodes);
  return out; /* the trend of the root */
}

/* --- evaluating --- */

static int fail_evaluation(const clt_expr *expr, clt_value failed, clt_error *error) {
  static const char *const texts[] = {
      [CLT_FAILED_DIVISION] = "division by zero",
      [CLT_FAILED_DOMAIN] = "the result is not a number",
      [CLT_FAILED_SHIFT] = "shift by a negative amount",
      [CLT_FAILED_OVERFLOW] = "the result exceeds 64 bits (to calculate in floating point, write 2.0 instead of 2)",
      [CLT_FAILED_TYPES] = "it cannot be applied to operands of these types"};
  clt_failure why = clt_failed_why(failed);
  int code = why < CLT_FAILED_FATAL ? CLT_E_RANGE : CLT_E_EXPRESSION;
  const clt_expr_node *node = &expr->nodes[failed.integer >> CLT_FAILED_NODE_SHIFT];
  return clt_expr_mistake(expr, code, error, "cannot evaluate '%.300s': '%s' at column %u: %s", expr->text,
                          clt_op_text(node->op), (unsigned)node->column, texts[why]);
}

int clt_expr_eval(const clt_expr *expr, const clt_value *slots, clt_value *out, clt_error *error) {
  clt_value few[FEW], *results = few;
  if (expr->n_nodes > FEW && (results = clt_new_array(expr->n_nodes, sizeof *results)) == NULL)
    return clt_fail_memory(error);
  for (size_t i = 0; i < expr->n_nodes; i++) {
    const clt_expr_node *node = &expr->nodes[i];
    if (node->op == CLT_OP_CONSTANT) {
      results[i] = node->value;
    } else if (node->op == CLT_OP_SLOT) {
      results[i] = slots[node->operands[0]];
    } else {
      const clt_value *operands[4];
      for (unsigned k = 0; k < clt_op_arity(node->op); k++) operands[k] = &results[node->operands[k]];
      results[i] = clt_op_apply((clt_op)node->op, operands);
      if (results[i].type == CLT_FAILED && results[i].integer >> CLT_FAILED_NODE_SHIFT == 0)
        results[i].integer |= (int64_t)i << CLT_FAILED_NODE_SHIFT;
    }
  }
  clt_value result = results[expr->n_nodes - 1];
  if (results != few) free(results);
  if (result.type == CLT_FAILED) return fail_evaluation(expr, result, error);
  *out = result;
  return CLT_OK;
}
