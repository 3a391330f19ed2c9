#include "space/expr.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "base/reader.h"
#include "space/code.h"

#define FEW 128 /* nodes whose results fit on the stack */

/* --- making --- */

int clt_expr_add_constant(clt_expr *expr, clt_value value, clt_operand *out) {
  if (clt_grow(&expr->constants, &expr->constants_capacity, expr->n_constants + 1, sizeof *expr->constants))
    return CLT_E_MEMORY;
  *out = clt_operand_make(CLT_FROM_CONSTANT, expr->n_constants);
  expr->constants[expr->n_constants++] = value;
  return CLT_OK;
}

int clt_expr_add_text(clt_expr *expr, const char *text, size_t length, clt_operand *out) {
  if (clt_grow(&expr->strings, &expr->strings_capacity, expr->n_strings + 1, sizeof *expr->strings))
    return CLT_E_MEMORY;
  char *copy = strndup(text, length);
  if (copy == NULL) return CLT_E_MEMORY;
  expr->strings[expr->n_strings++] = copy;
  return clt_expr_add_constant(expr, (clt_value){.type = CLT_STRING, .text = copy}, out);
}

static bool is_constant(clt_operand o) { return clt_operand_kind_of(o) == CLT_FROM_CONSTANT; }

/* Where one operand decides which other one is the result. */
static bool decided(const clt_expr *expr, clt_op op, const clt_operand *operands, clt_operand *out) {
  if (!is_constant(operands[0])) return false;
  bool truth = clt_value_truthy(expr->constants[clt_operand_index(operands[0])]);
  if (op == CLT_OP_AND) *out = operands[truth ? 1 : 0];
  if (op == CLT_OP_OR) *out = operands[truth ? 0 : 1];
  if (op == CLT_OP_CHOOSE) *out = operands[truth ? 1 : 2];
  return op == CLT_OP_AND || op == CLT_OP_OR || op == CLT_OP_CHOOSE;
}

static bool folded(const clt_expr *expr, clt_op op, const clt_operand *operands, clt_value *out) {
  const clt_value *values[4];
  for (unsigned i = 0; i < clt_op_arity(op); i++) {
    if (!is_constant(operands[i])) return false;
    values[i] = &expr->constants[clt_operand_index(operands[i])];
  }
  *out = clt_op_apply(op, values, 0);
  return out->type != CLT_FAILED;
}

int clt_expr_add_node(clt_expr *expr, clt_op op, uint32_t column, const clt_operand *operands, clt_operand *out) {
  clt_value value;
  if (decided(expr, op, operands, out)) return CLT_OK;
  if (folded(expr, op, operands, &value)) return clt_expr_add_constant(expr, value, out);
  if (clt_grow(&expr->nodes, &expr->nodes_capacity, expr->n_nodes + 1, sizeof *expr->nodes)) return CLT_E_MEMORY;
  clt_operation *node = &expr->nodes[expr->n_nodes];
  *node = (clt_operation){.op = (uint8_t)op, .column = column};
  memcpy(node->operands, operands, clt_op_arity(op) * sizeof *operands);
  *out = clt_operand_make(CLT_FROM_NODE, expr->n_nodes++);
  return CLT_OK;
}

static void mark_used(clt_expr *expr) {
  if (clt_operand_kind_of(expr->root) == CLT_FROM_NODE) expr->nodes[clt_operand_index(expr->root)].used = true;
  for (size_t i = expr->n_nodes; i-- > 0;) {
    const clt_operation *node = &expr->nodes[i];
    for (unsigned k = 0; node->used && k < clt_op_arity(node->op); k++)
      if (clt_operand_kind_of(node->operands[k]) == CLT_FROM_NODE)
        expr->nodes[clt_operand_index(node->operands[k])].used = true;
  }
}

static clt_operand renumbered(clt_operand o, const uint32_t *numbers) {
  if (clt_operand_kind_of(o) != CLT_FROM_NODE) return o;
  return clt_operand_make(CLT_FROM_NODE, numbers[clt_operand_index(o)]);
}

static void drop_unused(clt_expr *expr, uint32_t *numbers) {
  size_t kept = 0;
  for (size_t i = 0; i < expr->n_nodes; i++) {
    clt_operation node = expr->nodes[i];
    if (!node.used) continue;
    for (unsigned k = 0; k < clt_op_arity(node.op); k++) node.operands[k] = renumbered(node.operands[k], numbers);
    numbers[i] = (uint32_t)kept;
    expr->nodes[kept++] = node;
  }
  expr->root = renumbered(expr->root, numbers);
  expr->n_nodes = kept;
}

static int note_slot(clt_expr *expr, clt_operand o) {
  if (clt_operand_kind_of(o) != CLT_FROM_SLOT) return CLT_OK;
  uint32_t slot = (uint32_t)clt_operand_index(o);
  size_t at = 0;
  while (at < expr->n_slots && expr->slots[at] < slot) at++;
  if (at < expr->n_slots && expr->slots[at] == slot) return CLT_OK;
  if (clt_grow(&expr->slots, &expr->slots_capacity, expr->n_slots + 1, sizeof *expr->slots)) return CLT_E_MEMORY;
  memmove(&expr->slots[at + 1], &expr->slots[at], (expr->n_slots - at) * sizeof *expr->slots);
  expr->slots[at] = slot;
  expr->n_slots++;
  return CLT_OK;
}

int clt_expr_finish(clt_expr *expr) {
  uint32_t *numbers = clt_new_array(expr->n_nodes, sizeof *numbers);
  if (numbers == NULL) return CLT_E_MEMORY;
  mark_used(expr);
  drop_unused(expr, numbers);
  free(numbers);
  int rc = note_slot(expr, expr->root);
  for (size_t i = 0; i < expr->n_nodes; i++)
    for (unsigned k = 0; rc == CLT_OK && k < clt_op_arity(expr->nodes[i].op); k++)
      rc = note_slot(expr, expr->nodes[i].operands[k]);
  return rc;
}

clt_expr *clt_expr_share(clt_expr *expr) {
  atomic_fetch_add(&expr->n_owners, 1);
  return expr;
}

void clt_expr_free(clt_expr *expr) {
  if (expr == NULL || atomic_fetch_sub(&expr->n_owners, 1) > 1) return;
  for (size_t i = 0; i < expr->n_strings; i++) free(expr->strings[i]);
  free(expr->strings);
  free(expr->slots);
  free(expr->constants);
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
  char message[sizeof error->message];
  va_list arguments;
  if (error == NULL || error->code) return code;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  if (expr->place.source == NULL) return clt_fail(error, code, "%s", message);
  return clt_key_fail(expr->place.source, expr->place.key, code, error, "%s", message);
}

/* --- asking --- */

size_t clt_expr_n_slots(const clt_expr *expr) { return expr->n_slots; }
uint32_t clt_expr_slot(const clt_expr *expr, size_t index) { return expr->slots[index]; }
const char *clt_expr_text(const clt_expr *expr) { return expr->text; }

bool clt_expr_mentions(const char *text, const char *prefix) {
  size_t limit = strlen(text), length = strlen(prefix);
  const char *problem;
  clt_token token = {0};
  do {
    size_t at = token.end;
    if (clt_lex(&token, text, at, limit, &problem)) token.end = token.begin + 1; /* read on behind what is unreadable */
    bool name = token.kind == CLT_TOKEN_NAME && token.end - token.begin >= length;
    if (name && memcmp(text + token.begin, prefix, length) == 0) return true;
  } while (token.end < limit);
  return false;
}

/* --- trends --- */

static clt_trend both_trends(clt_trend a, clt_trend b) {
  if (a == CLT_TREND_CONSTANT || a == b) return b;
  return b == CLT_TREND_CONSTANT ? a : CLT_TREND_NONE;
}

static clt_trend inverse_trend(clt_trend a) {
  return a == CLT_TREND_RISING ? CLT_TREND_FALLING : a == CLT_TREND_FALLING ? CLT_TREND_RISING : a;
}

clt_trend clt_expr_trend(const clt_expr *expr, const clt_trend *slots) {
  clt_trend *nodes = clt_new_array(expr->n_nodes, sizeof *nodes), out = CLT_TREND_NONE;
  if (nodes == NULL) return CLT_TREND_NONE;
  for (size_t i = 0; i <= expr->n_nodes; i++) { /* the root is the last one */
    const clt_operation *node = i < expr->n_nodes ? &expr->nodes[i] : NULL;
    clt_trend operands[2] = {CLT_TREND_NONE, CLT_TREND_NONE};
    double numbers[2] = {NAN, NAN};
    for (unsigned k = 0; k < 2 && k < (node ? clt_op_arity(node->op) : 1); k++) {
      clt_operand o = node ? node->operands[k] : expr->root;
      size_t at = clt_operand_index(o);
      if (clt_operand_kind_of(o) == CLT_FROM_CONSTANT) numbers[k] = clt_value_number(expr->constants[at]);
      operands[k] = clt_operand_kind_of(o) == CLT_FROM_NODE   ? nodes[at]
                    : clt_operand_kind_of(o) == CLT_FROM_SLOT ? slots[at]
                    : numbers[k] > 0                          ? CLT_TREND_CONSTANT
                                                              : CLT_TREND_NONE;
    }
    if (node == NULL) {
      out = operands[0];
      break;
    }
    switch (node->op) {
      case CLT_OP_PLUS:
      case CLT_OP_FLOAT:
      case CLT_OP_SQRT: nodes[i] = operands[0]; break;
      case CLT_OP_ADD:
      case CLT_OP_MULTIPLY: nodes[i] = both_trends(operands[0], operands[1]); break;
      case CLT_OP_DIVIDE: nodes[i] = both_trends(operands[0], inverse_trend(operands[1])); break;
      case CLT_OP_POWER:
        nodes[i] = numbers[1] > 0 ? operands[0] : numbers[1] < 0 ? inverse_trend(operands[0]) : CLT_TREND_NONE;
        break;
      default: nodes[i] = CLT_TREND_NONE;
    }
  }
  free(nodes);
  return out;
}

/* --- evaluating --- */

static int fail_evaluation(const clt_expr *expr, clt_value failed, clt_error *error) {
  static const char *const texts[] = {
      [CLT_FAILED_DIVISION] = "division by zero",
      [CLT_FAILED_DOMAIN] = "no number is the result",
      [CLT_FAILED_SHIFT] = "shift by a negative amount",
      [CLT_FAILED_OVERFLOW] = "the result is beyond 64 bits (write 2.0 for 2 to calculate in floating point)",
      [CLT_FAILED_TYPES] = "these types do not go together"};
  clt_failure why = clt_failed_why(failed);
  int code = why < CLT_FAILED_FATAL ? CLT_E_RANGE : CLT_E_EXPRESSION;
  uint32_t mark = clt_failed_mark(failed);
  if (mark >= expr->n_nodes) return clt_expr_mistake(expr, code, error, "cannot evaluate '%.300s'", expr->text);
  const clt_operation *node = &expr->nodes[mark];
  return clt_expr_mistake(expr, code, error, "cannot evaluate '%.300s': '%s' at column %u: %s", expr->text,
                          clt_op_text(node->op), (unsigned)node->column, texts[why]);
}

int clt_expr_eval(const clt_expr *expr, const clt_value *slots, clt_value *out, clt_error *error) {
  clt_value few[FEW], *results = few;
  if (expr->n_nodes > FEW && (results = clt_new_array(expr->n_nodes, sizeof *results)) == NULL)
    return clt_fail_memory(error);
  const clt_value *sources[3] = {results, expr->constants, slots}, *operands[4];
  for (size_t i = 0; i < expr->n_nodes; i++) {
    const clt_operation *node = &expr->nodes[i];
    unsigned arity = clt_op_arity(node->op);
    for (unsigned k = 0; k < arity; k++)
      operands[k] = sources[clt_operand_kind_of(node->operands[k])] + clt_operand_index(node->operands[k]);
    results[i] = clt_op_apply(node->op, operands, (uint32_t)i);
  }
  clt_value result = sources[clt_operand_kind_of(expr->root)][clt_operand_index(expr->root)];
  if (results != few) free(results);
  if (result.type == CLT_FAILED) return fail_evaluation(expr, result, error);
  *out = result;
  return CLT_OK;
}
