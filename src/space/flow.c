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
  clt_table_release(&flow->index);
  free(flow);
}

static unsigned n_operands(const clt_flow_node *node) {
  return node->op == CLT_FLOW_PARAMETER ? 0 : clt_op_arity((clt_op)node->op);
}

/* --- nodes, each once --- */

typedef struct identity {
  uint64_t op;
  uint64_t operands[4]; /* of a constant: type and payload */
} identity;

static identity identity_of(const clt_flow_node *node) {
  identity id = {.op = node->op};
  if (node->n_support == 0) {
    id.op = 0x100;
    id.operands[0] = node->value.type;
    memcpy(&id.operands[1], &node->value.integer, sizeof node->value.integer);
    return id;
  }
  for (unsigned i = 0; i < 4; i++) id.operands[i] = node->operands[i];
  return id;
}

static int intern(clt_flow *flow, const clt_flow_node *node, uint32_t *out) {
  identity id = identity_of(node);
  uint64_t hash = clt_hash64(&id, sizeof id);
  size_t at;
  if (clt_table_reserve(&flow->index)) return CLT_E_MEMORY;
  if (clt_grow(&flow->nodes, &flow->nodes_capacity, flow->n_nodes + 1, sizeof *flow->nodes)) return CLT_E_MEMORY;
  for (uint32_t i = clt_table_first(&flow->index, hash, &at); i != CLT_TABLE_NONE;
       i = clt_table_next(&flow->index, hash, &at)) {
    identity other = identity_of(&flow->nodes[i]);
    if (memcmp(&other, &id, sizeof id) == 0) {
      *out = i;
      return CLT_OK;
    }
  }
  clt_table_put(&flow->index, hash, at, (uint32_t)flow->n_nodes);
  flow->nodes[flow->n_nodes] = *node;
  *out = (uint32_t)flow->n_nodes++;
  return CLT_OK;
}

static int add_constant(clt_flow *flow, clt_value value, uint32_t *out) {
  clt_flow_node node = {.value = value};
  return intern(flow, &node, out);
}

/* A parameter with a single value is a constant. */
static int add_parameter(clt_flow *flow, uint32_t parameter, uint32_t *out) {
  if (flow->parameters[parameter].n_values == 1) return add_constant(flow, flow->parameters[parameter].values[0], out);
  clt_flow_node node = {.op = CLT_FLOW_PARAMETER, .n_support = 1, .operands = {parameter}};
  clt_mask_add(&node.support, parameter);
  return intern(flow, &node, out);
}

/* The order of two operands that may change places, so that a*b and b*a are one. */
static void arrange(clt_flow_node *node) {
  bool free_order =
      node->op == CLT_OP_ADD || node->op == CLT_OP_MULTIPLY || node->op == CLT_OP_EQUAL || node->op == CLT_OP_NOT_EQUAL;
  if (!free_order || node->operands[0] <= node->operands[1]) return;
  uint32_t first = node->operands[1];
  node->operands[1] = node->operands[0];
  node->operands[0] = first;
}

static int add_operation(clt_flow *flow, clt_op op, const uint32_t *operands, uint32_t *out) {
  clt_flow_node node = {.op = (uint8_t)op};
  const clt_value *values[4];
  for (unsigned i = 0; i < clt_op_arity(op); i++) {
    node.operands[i] = operands[i]; /* as many as arity: NOLINT(clang-analyzer-core.uninitialized.Assign) */
    node.support = clt_mask_union(node.support, flow->nodes[operands[i]].support);
    values[i] = &flow->nodes[operands[i]].value;
  }
  size_t n = clt_mask_count(node.support);
  node.n_support = n > 2 ? 2 : (uint8_t)n;
  if (n == 0) return add_constant(flow, clt_op_apply(op, values, 0), out);
  arrange(&node);
  return intern(flow, &node, out);
}

/* --- taking expressions in --- */

static int import_operand(clt_flow *flow, const clt_expr *expr, const uint32_t *numbers, clt_operand o, uint32_t *out) {
  size_t i = clt_operand_index(o);
  switch (clt_operand_kind_of(o)) {
    case CLT_FROM_CONSTANT: return add_constant(flow, expr->constants[i], out);
    case CLT_FROM_SLOT: return add_parameter(flow, (uint32_t)i, out);
    default: *out = numbers[i]; return CLT_OK;
  }
}

static int import_node(clt_flow *flow, const clt_expr *expr, uint32_t *numbers, size_t i) {
  const clt_operation *node = &expr->nodes[i];
  uint32_t operands[4];
  for (unsigned k = 0; k < clt_op_arity(node->op); k++)
    if (import_operand(flow, expr, numbers, node->operands[k], &operands[k])) return CLT_E_MEMORY;
  return add_operation(flow, node->op, operands, &numbers[i]);
}

static int add_root(clt_flow *flow, uint32_t node, uint32_t constraint, uint32_t part) {
  if (clt_grow(&flow->roots, &flow->roots_capacity, flow->n_roots + 1, sizeof *flow->roots)) return CLT_E_MEMORY;
  flow->roots[flow->n_roots++] = (clt_flow_root){.node = node, .constraint = constraint, .part = part};
  return CLT_OK;
}

/* bool(x) is true where x is. */
static uint32_t bare(const clt_flow *flow, uint32_t i) {
  while (flow->nodes[i].n_support > 0 && flow->nodes[i].op == CLT_OP_BOOL) i = flow->nodes[i].operands[0];
  return i;
}

/* The sides of the "and"s at the top are roots of their own, in the order of evaluation. */
static int add_parts(clt_flow *flow, uint32_t top, uint32_t constraint) {
  uint32_t *stack = NULL, part = 0;
  size_t n = 0, capacity = 0;
  int rc = clt_grow(&stack, &capacity, 1, sizeof *stack);
  if (rc == CLT_OK) stack[n++] = top;
  while (rc == CLT_OK && n > 0) {
    uint32_t i = bare(flow, stack[--n]);
    if (flow->nodes[i].n_support == 0 || flow->nodes[i].op != CLT_OP_AND) {
      rc = add_root(flow, i, constraint, part++);
    } else if ((rc = clt_grow(&stack, &capacity, n + 2, sizeof *stack)) == CLT_OK) {
      stack[n++] = flow->nodes[i].operands[1];
      stack[n++] = flow->nodes[i].operands[0];
    }
  }
  free(stack);
  return rc;
}

static int import(clt_flow *flow, const clt_expr *expr, bool whole, uint32_t constraint) {
  uint32_t *numbers = clt_new_array(expr->n_nodes, sizeof *numbers), top = 0;
  int rc = numbers ? CLT_OK : CLT_E_MEMORY;
  for (size_t i = 0; rc == CLT_OK && i < expr->n_nodes; i++) rc = import_node(flow, expr, numbers, i);
  if (rc == CLT_OK) rc = import_operand(flow, expr, numbers, expr->root, &top);
  if (rc == CLT_OK) rc = whole ? add_root(flow, top, constraint, 0) : add_parts(flow, top, constraint);
  free(numbers);
  return rc;
}

/* --- tables --- */

/* Tables are filled where something outside of them looks into them. */
static void mark_needed(clt_flow *flow) {
  for (size_t r = 0; r < flow->n_roots; r++) flow->nodes[flow->roots[r].node].needed = true;
  for (size_t i = 0; i < flow->n_nodes; i++)
    for (unsigned k = 0; flow->nodes[i].n_support == 2 && k < n_operands(&flow->nodes[i]); k++)
      flow->nodes[flow->nodes[i].operands[k]].needed = true;
}

static int make_tables(clt_flow *flow) {
  for (size_t i = 0; i < flow->n_nodes; i++) {
    clt_flow_node *node = &flow->nodes[i];
    if (!node->needed || node->n_support != 1) continue;
    node->table = clt_new_array(flow->parameters[clt_mask_least(node->support)].n_values, sizeof *node->table);
    if (node->table == NULL) return CLT_E_MEMORY;
  }
  return CLT_OK;
}

/* One value of one parameter through all the nodes that depend on this parameter alone. */
static void fill_entry(clt_flow *flow, const uint32_t *nodes, size_t n, size_t position, clt_value value) {
  for (size_t i = 0; i < n; i++) {
    clt_flow_node *node = &flow->nodes[nodes[i]];
    const clt_value *operands[4];
    for (unsigned k = 0; k < n_operands(node); k++) operands[k] = &flow->nodes[node->operands[k]].value;
    node->value = node->op == CLT_FLOW_PARAMETER ? value : clt_op_apply((clt_op)node->op, operands, 0);
    if (node->table) node->table[position] = node->value;
  }
}

static int fill_tables(clt_flow *flow) {
  uint32_t *nodes = clt_new_array(flow->n_nodes, sizeof *nodes);
  if (nodes == NULL) return CLT_E_MEMORY;
  for (size_t p = 0; p < flow->n_parameters; p++) {
    size_t n = 0;
    for (size_t i = 0; i < flow->n_nodes; i++)
      if (flow->nodes[i].n_support == 1 && clt_mask_has(&flow->nodes[i].support, p)) nodes[n++] = (uint32_t)i;
    const clt_parameter *parameter = &flow->parameters[p];
    for (size_t v = 0; n > 0 && v < parameter->n_values; v++) fill_entry(flow, nodes, n, v, parameter->values[v]);
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
  for (size_t i = 0; rc == CLT_OK && i < n_exprs; i++) rc = import(flow, exprs[i], whole[i], (uint32_t)i);
  mark_needed(flow);
  if (rc == CLT_OK) rc = make_tables(flow);
  if (rc == CLT_OK) rc = fill_tables(flow);
  if (rc)
    clt_flow_free(flow);
  else
    *out = flow;
  return rc;
}
