/* space/flow.h - the steps of building a space: the constraints are merged into one graph of operations (flow);
 * parameters that share constraints form groups; the parameters of each group are ordered (order); and a decision
 * diagram is built for each group (diagram). */
#pragma once

#include "base/base.h"
#include "base/hash.h"
#include "space/code.h"
#include "space/space.h"

/* --- flow: the constraints of a space as one graph of operations ---
 *
 * A subexpression that occurs several times is one node. A subexpression that depends on a single parameter is a table
 * over the values of that parameter. */

/* An operation, with op and operands as in clt_expr_node; operands have lower numbers. Its support is the set of
 * parameters that it depends on. With an empty support it is a constant, with one parameter a table. */
typedef struct clt_flow_node {
  uint8_t op;
  uint8_t n_support; /* size of the support; 2 stands for two or more */
  uint32_t operands[4];
  clt_mask support;
  clt_value value;  /* of a constant */
  clt_value *table; /* n_support 1: one entry per value of the parameter */
} clt_flow_node;

/* The number of operands to visit. Constants and tables count as leaves. */
static inline unsigned clt_flow_arity(const clt_flow_node *node) {
  return node->n_support == 2 ? clt_op_arity((clt_op)node->op) : 0;
}

/* A node that must be true: a constraint, or one operand of the "and"s at its top. */
typedef struct clt_flow_root {
  uint32_t node, constraint;
} clt_flow_root;

typedef struct clt_flow {
  const clt_parameter *parameters; /* borrowed */
  size_t n_parameters;
  clt_arena arena; /* of the tables, and of the data for building the groups */
  clt_flow_node *nodes;
  size_t n_nodes, nodes_capacity;
  clt_flow_root *roots;
  size_t n_roots, roots_capacity;
  clt_map index; /* hash of a node -> its number */
} clt_flow;

/* --- diagram: the valid combinations of one group of parameters ---
 *
 * The tree of a group has one level per parameter. Two nodes have the same subtree if the remaining constraints read
 * the same intermediate values there. Such a subtree is built and stored once. So the tree becomes a graph whose size
 * depends on the number of different intermediate values, not on the number of valid combinations. Each edge stores how
 * many combinations precede it, so counting, ranking and unranking are walks from the root.
 *
 * If the only constraint is that all parameters differ, as in a permutation, nothing is stored: a node is the number of
 * its level, and its edges are the positions that no level above has taken. */

/* A parameter of a group, with the positions of the values that satisfy the constraints on this parameter alone. */
typedef struct clt_domain {
  uint32_t parameter;
  uint32_t *positions; /* ascending */
  size_t n_positions;
} clt_domain;

typedef struct clt_edge {
  uint32_t position; /* of the level's parameter */
  uint32_t child;    /* node of the next level */
  uint64_t before;   /* number of combinations below earlier edges of the same node */
} clt_edge;

typedef struct clt_diagram {
  size_t n_levels;
  uint32_t *parameters; /* of the levels */
  uint64_t *weights;    /* the number that one position of the level's parameter adds to clt_config */
  uint64_t unit;        /* the number that one rank adds to clt_config; 0: positions count */
  size_t n_distinct;    /* positions of each parameter, all of which differ; 0: edges are stored */
  uint64_t *below;      /* of such a diagram: number of combinations below an edge of each level; NULL: too many */
  clt_edge *edges;
  uint32_t *first; /* index of the first edge of each node; n_nodes + 1 entries */
  size_t n_edges, n_nodes;
  uint32_t root;
  uint64_t valid; /* 0: the diagram has no root; CLT_TOO_MANY */
} clt_diagram;

#define CLT_MOST_NUMBERS ((uint64_t)1 << 63)
#define CLT_TOO_MANY UINT64_MAX /* more than CLT_MOST_NUMBERS, of a diagram without edges */

/* Results of clt_diagram_new other than 0 and CLT_E_MEMORY. */
#define CLT_DIAGRAM_TOO_LARGE 1
#define CLT_DIAGRAM_FAILED 2   /* a constraint cannot be evaluated */
#define CLT_DIAGRAM_TOO_MANY 3 /* more than CLT_MOST_NUMBERS combinations */

/* Limits of the construction of a diagram: the positions to try, and the bytes to allocate. */
typedef struct clt_diagram_limits {
  size_t tries, bytes;
} clt_diagram_limits;

/* A group of parameters that share constraints. domains (borrowed) are in the order of the levels. roots are the
 * indices of the flow's roots that depend on several parameters of the group. nodes are the nodes of the flow that
 * these roots need, in ascending order, without the operands of tables. Parameters with the same number in distinct_of
 * differ from each other; CLT_NO_GROUP: one that need not. */
#define CLT_NO_GROUP SIZE_MAX
#define CLT_MOST_DISTINCT CLT_MAX_PARAMETERS /* values of such parameters, */
#define CLT_MOST_TAKEN 64                    /* and with further constraints; */
#define CLT_MOST_PARTLY 32                   /* of those that are not stored, unless all positions are taken */
typedef struct clt_group {
  const clt_flow *flow;
  const size_t *distinct_of; /* by parameter */
  const clt_domain *domains[CLT_MAX_PARAMETERS];
  size_t n_domains;
  uint32_t *roots, *nodes;
  size_t n_roots, n_nodes;
} clt_group;

/* Builds the diagram of a group. weights: of all parameters of the space. positions: one entry per parameter of the
 * space. CLT_DIAGRAM_FAILED: *failed is the root that cannot be evaluated, and positions has the positions of the
 * group's parameters that were set at that time. */
int clt_diagram_new(clt_diagram **out, const clt_group *group, const uint64_t *weights, clt_diagram_limits limits,
                    uint32_t *positions, uint32_t *failed);
void clt_diagram_free(clt_diagram *diagram);

/* The diagram of n listed combinations: rows[n][n_parameters], ascending, each once. It has a level for each of the
 * n_levels parameters, in this order. */
int clt_diagram_new_listed(clt_diagram **out, const uint32_t *parameters, size_t n_levels, const uint64_t *weights,
                           const uint32_t *const *rows, size_t n);

/* --- order: the order in which the parameters of a group are set, with few states to distinguish --- */

/* An estimate, before a diagram is built, of the number of different intermediate values that its construction must
 * distinguish. */
typedef struct clt_estimate clt_estimate;
int clt_estimate_new(clt_estimate **out, const clt_group *group); /* only CLT_E_MEMORY */
void clt_estimate_free(clt_estimate *estimate);

/* Sorts the domains of a group with a greedy search: the next parameter is the one that is best at this point. */
void clt_order_quickly(clt_group *group, const clt_estimate *estimate);

/* Sorts the domains in the order that tries the fewest edges according to the estimate: exact for at most 10
 * parameters, else with a beam search. Fails only with CLT_E_MEMORY. */
int clt_order_well(clt_group *group, const clt_estimate *estimate);
