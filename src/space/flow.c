#include "space/parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"

void clt_flow_free(clt_flow *flow) {
  if (flow == NULL) return;
  for (size_t i = 0; i < flow->n_nodes; i++) free(flow->nodes[i].table);
  free(flow->nodes);
  free(flow->roots);
  clt_map_release(&flow->index);
  free(flow);
}

/* --- nodes, each once --- */

static int intern_flow_node(clt_flow *flow, clt_flow_node node, uint32_t *out) {
  struct {
    uint64_t op, type;
    int64_t value;
    uint32_t operands[4];
  } id = {node.op, node.value.type, node.value.integer, {0}};
  memcpy(id.operands, node.operands, sizeof id.operands);
  uint64_t *entry;
  bool is_new = false;
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
  flow->nodes[flow->n_nodes++] = node;
  return CLT_OK;
}

/* --- taking expressions in --- */

/* numbers: in the flow, of the operations before node i of the expression, which is to be taken in. */
static int import_expr_node(clt_flow *flow, const clt_expr_node *nodes, const uint32_t *numbers, size_t i,
                            uint32_t *out) {
  const clt_expr_node *from = &nodes[i];
  unsigned arity = clt_op_arity(from->op);
  clt_flow_node node = {.op = from->op};
  const clt_value *values[4];
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
    size_t operand = from->operands[k];
    node.operands[k] = numbers[operand];
    if (clt_op_arity(nodes[operand].op) == 0 &&
        import_expr_node(flow, nodes, numbers, operand, &node.operands[k])) /* (a leaf, so the depth is 2) */
      return CLT_E_MEMORY;
    node.support = clt_mask_union(node.support, flow->nodes[node.operands[k]].support);
  }
  size_t n = clt_mask_count(node.support);
  node.n_support = n > 2 ? 2 : (uint8_t)n;
  if (arity > 0 && n == 0) {
    for (unsigned k = 0; k < arity; k++) values[k] = &flow->nodes[node.operands[k]].value;
    node = (clt_flow_node){.op = CLT_OP_CONSTANT, .value = clt_op_apply((clt_op)from->op, values, 0)};
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

/* The sides of the "and"s at the top are roots of their own, in the order of evaluation, unless it is to be whole. */
static int import_constraint(clt_flow *flow, const clt_expr *expr, bool whole, uint32_t constraint) {
  uint32_t *numbers = clt_new_array(expr->n_nodes, sizeof *numbers), *stack = NULL;
  size_t n = 0, capacity = 0;
  int rc = numbers ? clt_grow(&stack, &capacity, 1, sizeof *stack) : CLT_E_MEMORY;
  for (size_t i = 0; rc == CLT_OK && i < expr->n_nodes; i++)
    if (clt_op_arity(expr->nodes[i].op) > 0 || i + 1 == expr->n_nodes)
      rc = import_expr_node(flow, expr->nodes, numbers, i, &numbers[i]);
  if (rc == CLT_OK) stack[n++] = numbers[expr->n_nodes - 1];
  while (rc == CLT_OK && n > 0) {
    uint32_t i = stack[--n];
    while (!whole && flow->nodes[i].op == CLT_OP_BOOL) i = flow->nodes[i].operands[0]; /* true where its operand is */
    if (whole || flow->nodes[i].op != CLT_OP_AND) {
      rc = clt_grow(&flow->roots, &flow->roots_capacity, flow->n_roots + 1, sizeof *flow->roots);
      if (rc == CLT_OK) flow->roots[flow->n_roots++] = (clt_flow_root){i, constraint};
    } else if ((rc = clt_grow(&stack, &capacity, n + 2, sizeof *stack)) == CLT_OK) {
      stack[n++] = flow->nodes[i].operands[1];
      stack[n++] = flow->nodes[i].operands[0];
    }
  }
  free(numbers);
  free(stack);
  return rc;
}

/* --- tables --- */

/* Tables are filled where something outside of them looks into them: roots, and operations on several parameters. */
static int fill_tables(clt_flow *flow) {
  uint32_t *nodes = clt_new_array(flow->n_nodes, sizeof *nodes); /* those of one parameter */
  if (nodes == NULL) return CLT_E_MEMORY;
  for (size_t r = 0; r < flow->n_roots; r++) flow->nodes[flow->roots[r].node].needed = true;
  for (size_t i = 0; i < flow->n_nodes; i++)
    for (unsigned k = 0; flow->nodes[i].n_support == 2 && k < clt_op_arity(flow->nodes[i].op); k++)
      flow->nodes[flow->nodes[i].operands[k]].needed = true;
  for (size_t p = 0; p < flow->n_parameters; p++) {
    const clt_parameter *parameter = &flow->parameters[p];
    size_t n = 0;
    for (size_t i = 0; i < flow->n_nodes; i++) {
      clt_flow_node *node = &flow->nodes[i];
      if (node->n_support != 1 || !clt_mask_has(&node->support, p)) continue;
      nodes[n++] = (uint32_t)i;
      if (node->needed && (node->table = clt_new_array(parameter->n_values, sizeof *node->table)) == NULL)
        return free(nodes), CLT_E_MEMORY;
    }
    for (size_t v = 0; n > 0 && v < parameter->n_values; v++)
      for (size_t i = 0; i < n; i++) {
        clt_flow_node *node = &flow->nodes[nodes[i]];
        const clt_value *operands[4];
        for (unsigned k = 0; k < clt_op_arity(node->op); k++) operands[k] = &flow->nodes[node->operands[k]].value;
        node->value = node->op == CLT_OP_SLOT ? parameter->values[v] : clt_op_apply((clt_op)node->op, operands, 0);
        if (node->table) node->table[v] = node->value;
      }
  }
  free(nodes);
  return CLT_OK;
}

int clt_flow_new(clt_flow **out, const clt_parameter *parameters, size_t n_parameters, clt_expr *const *exprs,
                 const bool *whole, size_t n_exprs) {
  clt_flow *flow = clt_new_array(1, sizeof *flow);
  if (flow == NULL) return CLT_E_MEMORY;
  flow->parameters = parameters;
  flow->n_parameters = n_parameters;
  int rc = CLT_OK;
  for (size_t i = 0; rc == CLT_OK && i < n_exprs; i++) rc = import_constraint(flow, exprs[i], whole[i], (uint32_t)i);
  if (rc == CLT_OK) rc = fill_tables(flow);
  if (rc)
    clt_flow_free(flow);
  else
    *out = flow;
  return rc;
}
