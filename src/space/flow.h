/* space/flow.h - the constraints of a space as one graph of operations: each common part stands in it once, each part
 * that depends on a single parameter is a table over its values. */
#ifndef CLT_SPACE_FLOW_H
#define CLT_SPACE_FLOW_H

#include "space/code.h"
#include "space/mask.h"
#include "space/table.h"

#define CLT_FLOW_PARAMETER 0xff /* instead of an op: the value of parameter operands[0] */

/* An operation; its operands have lower numbers. With no parameter in its support it is a constant, with one a table.
 */
typedef struct clt_flow_node {
  uint8_t op;
  uint8_t n_support; /* 0, 1, or 2 for more */
  bool needed;       /* of a table: it is filled */
  uint32_t operands[4];
  clt_mask support;
  clt_value value;  /* of a constant */
  clt_value *table; /* owned; one entry per value of the parameter */
} clt_flow_node;

/* What has to be true: a constraint, or one side of the "and"s at its top. */
typedef struct clt_flow_root {
  uint32_t node;
  uint32_t constraint, part; /* parts of a constraint are counted in the order of evaluation */
} clt_flow_root;

typedef struct clt_flow {
  const clt_parameter *parameters; /* borrowed */
  size_t n_parameters;
  clt_flow_node *nodes;
  size_t n_nodes, nodes_capacity;
  clt_flow_root *roots;
  size_t n_roots, roots_capacity;
  clt_table index;
} clt_flow;

/* exprs: the constraints; their slots are numbers of parameters. whole[i]: constraint i is not split. The exprs have to
 * live as long as the flow. CLT_E_MEMORY only. */
int clt_flow_new(clt_flow **out, const clt_parameter *parameters, size_t n_parameters, clt_expr *const *exprs,
                 const bool *whole, size_t n_exprs);
void clt_flow_free(clt_flow *flow);

#endif
