#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "space/parts.h"

void clt_flow_free(clt_flow *flow) {
  if (flow == NULL) return;
  for (size_t i = 0; i < flow->n_nodes; i++) free(flow->nodes[i].table);
  free(flow->nodes);
  free(flow->roots);
  clt_map_release(&flow->index);
  free(flow);
}

/* A node that does not depend on a parameter gets its value, one that depends on a single parameter its table. */
static int evaluate_flow_node(const clt_flow *flow, clt_flow_node *node) {
  unsigned arity = clt_op_arity(node->op);
  const clt_parameter *parameter = node->n_support == 1 ? &flow->parameters[clt_mask_least(node->support)] : NULL;
  const clt_value *operands[4];
  if (node->n_support == 2) return CLT_OK;
  if (parameter && (node->table = clt_new_array(parameter->n_values, sizeof *node->table)) == NULL) return CLT_E_MEMORY;
  for (size_t v = 0; v < (parameter ? parameter->n_values : 1); v++) {
    clt_value *out = parameter ? &node->table[v] : &node->value;
    for (unsigned k = 0; k < arity; k++) {
      const clt_flow_node *operand = &flow->nodes[node->operands[k]];
      operands[k] = operand->table ? &operand->table[v] : &operand->value;
    }
    if (arity > 0)
      *out = clt_op_apply((clt_op)node->op, operands);
    else if (parameter)
      *out = parameter->values[v];
  }
  return CLT_OK;
}

/* Each node is there once. */
static int intern_flow_node(clt_flow *flow, clt_flow_node node, uint32_t *out) {
  struct {
    uint64_t op, type;
    int64_t value;
    uint32_t operands[4];
  } id = {node.op, node.value.type, node.value.integer, {0}};
  uint64_t *entry;
  bool is_new = false;
  memcpy(id.operands, node.operands, sizeof id.operands);
  if (clt_grow(&flow->nodes, &flow->nodes_capacity, flow->n_nodes + 1, sizeof *flow->nodes)) return CLT_E_MEMORY;
  for (uint64_t key = clt_hash64(&id, sizeof id) >> 1;; key++) {
    if ((entry = clt_map_add(&flow->index, key, &is_new)) == NULL) return CLT_E_MEMORY;
    if (is_new) break;
    const clt_flow_node *known = &flow->nodes[*entry];
    if (known->op == node.op && known->value.type == node.value.type && known->value.integer == node.value.integer &&
        memcmp(known->operands, node.operands, sizeof node.operands) == 0)
      return *out = (uint32_t)*entry, CLT_OK;
  }
  *entry = *out = (uint32_t)flow->n_nodes;
  if (node.n_support == 1 && evaluate_flow_node(flow, &node)) return CLT_E_MEMORY;
  flow->nodes[flow->n_nodes++] = node;
  return CLT_OK;
}

/* numbers: in the flow, of the operations of the expression before this one. */
static int import_expr_node(clt_flow *flow, const clt_expr_node *from, const uint32_t *numbers, uint32_t *out) {
  unsigned arity = clt_op_arity(from->op);
  clt_flow_node node = {.op = from->op};
  if (from->op == CLT_OP_CONSTANT) node.value = from->value;
  if (from->op == CLT_OP_SLOT) {
    const clt_parameter *parameter = &flow->parameters[from->operands[0]];
    if (parameter->n_values == 1) { /* as good as a constant */
      node = (clt_flow_node){.op = CLT_OP_CONSTANT, .value = parameter->values[0]};
    } else {
      node.operands[0] = from->operands[0];
      clt_mask_add(&node.support, from->operands[0]);
    }
  }
  for (unsigned k = 0; k < arity; k++) {
    node.operands[k] = numbers[from->operands[k]];
    node.support = clt_mask_union(node.support, flow->nodes[node.operands[k]].support);
  }
  size_t n = clt_mask_count(node.support);
  node.n_support = n > 2 ? 2 : (uint8_t)n;
  if (arity > 0 && n == 0) {
    evaluate_flow_node(flow, &node);
    node = (clt_flow_node){.op = CLT_OP_CONSTANT, .value = node.value};
  }
  /* Where operands may change places they come in one order, so that a*b and b*a are one. */
  bool free_order =
      node.op == CLT_OP_ADD || node.op == CLT_OP_MULTIPLY || node.op == CLT_OP_EQUAL || node.op == CLT_OP_NOT_EQUAL;
  if (free_order && node.operands[0] > node.operands[1]) {
    uint32_t first = node.operands[1];
    node.operands[1] = node.operands[0];
    node.operands[0] = first;
  }
  return intern_flow_node(flow, node, out);
}

/* The nodes "not a" and "not b" for a node "not (a or b)", such as "not in" a list makes; false: it is none. */
static bool split_negated(clt_flow *flow, uint32_t i, uint32_t sides[2], int *rc) {
  uint32_t inner = flow->nodes[i].operands[0];
  if (flow->nodes[i].op != CLT_OP_NOT || flow->nodes[i].n_support < 2) return false;
  while (flow->nodes[inner].op == CLT_OP_BOOL) inner = flow->nodes[inner].operands[0];
  if (flow->nodes[inner].op != CLT_OP_OR) return false;
  for (int side = 0; *rc == CLT_OK && side < 2; side++) {
    uint32_t operand = flow->nodes[inner].operands[side];
    const clt_expr_node negation = {.op = CLT_OP_NOT};
    *rc = import_expr_node(flow, &negation, &operand, &sides[side]);
  }
  return true;
}

/* The sides of the "and"s at the top are roots of their own, in the order of evaluation, unless it is to be whole. */
static int import_constraint(clt_flow *flow, const clt_expr *expr, bool whole, uint32_t constraint) {
  uint32_t *numbers = clt_new_array(expr->n_nodes, sizeof *numbers), *stack = NULL;
  size_t n = 0, capacity = 0;
  int rc = numbers ? clt_grow(&stack, &capacity, 1, sizeof *stack) : CLT_E_MEMORY;
  for (size_t i = 0; rc == CLT_OK && i < expr->n_nodes; i++)
    rc = import_expr_node(flow, &expr->nodes[i], numbers, &numbers[i]);
  if (rc == CLT_OK) stack[n++] = numbers[expr->n_nodes - 1];
  while (rc == CLT_OK && n > 0) {
    uint32_t i = stack[--n], sides[2];
    while (!whole && flow->nodes[i].op == CLT_OP_BOOL) i = flow->nodes[i].operands[0]; /* true where its operand is */
    bool split = !whole && split_negated(flow, i, sides, &rc);
    if (!whole && flow->nodes[i].op == CLT_OP_AND) {
      memcpy(sides, flow->nodes[i].operands, sizeof sides);
      split = true;
    }
    if (rc) break;
    if (!split) {
      rc = clt_grow(&flow->roots, &flow->roots_capacity, flow->n_roots + 1, sizeof *flow->roots);
      if (rc == CLT_OK) flow->roots[flow->n_roots++] = (clt_flow_root){i, constraint};
    } else if ((rc = clt_grow(&stack, &capacity, n + 2, sizeof *stack)) == CLT_OK) {
      stack[n++] = sides[1];
      stack[n++] = sides[0];
    }
  }
  free(numbers);
  free(stack);
  return rc;
}

int clt_flow_new(clt_flow **out, const clt_space *space, const bool *whole) {
  clt_flow *flow = clt_new_array(1, sizeof *flow);
  if (flow == NULL) return CLT_E_MEMORY;
  flow->parameters = space->parameters;
  flow->n_parameters = space->n_parameters;
  int rc = CLT_OK;
  for (size_t i = 0; rc == CLT_OK && i < space->n_constraints; i++)
    rc = import_constraint(flow, space->constraints[i].expr, whole[i], (uint32_t)i);
  if (rc)
    clt_flow_free(flow);
  else
    *out = flow;
  return rc;
}
