/* space/parts.h - what a builder and a space consist of, and how a space is built: from the constraints to one graph of
 * operations (flow), from each group of parameters in a good order (order) to a decision diagram (diagram). */
#ifndef CLT_SPACE_PARTS_H
#define CLT_SPACE_PARTS_H

#include "base/map.h"
#include "space/code.h"

/* --- sets of tuning parameters --- */

#define CLT_MASK_WORDS (CLT_MAX_PARAMETERS / 64)

typedef struct clt_mask {
  uint64_t words[CLT_MASK_WORDS];
} clt_mask;

static inline void clt_mask_add(clt_mask *m, size_t i) { m->words[i / 64] |= (uint64_t)1 << (i % 64); }
static inline bool clt_mask_has(const clt_mask *m, size_t i) { return m->words[i / 64] >> (i % 64) & 1; }

static inline clt_mask clt_mask_union(clt_mask a, clt_mask b) {
  for (size_t w = 0; w < CLT_MASK_WORDS; w++) a.words[w] |= b.words[w];
  return a;
}

/* Whether all of a is in b. */
static inline bool clt_mask_within(clt_mask a, clt_mask b) {
  for (size_t w = 0; w < CLT_MASK_WORDS; w++)
    if (a.words[w] & ~b.words[w]) return false;
  return true;
}

static inline size_t clt_mask_count(clt_mask m) {
  size_t n = 0;
  for (size_t w = 0; w < CLT_MASK_WORDS; w++) n += (size_t)__builtin_popcountll(m.words[w]);
  return n;
}

/* The least member; the set is not empty. */
static inline size_t clt_mask_least(clt_mask m) {
  size_t w = 0;
  while (m.words[w] == 0) w++;
  return w * 64 + (size_t)__builtin_ctzll(m.words[w]);
}

/* --- flow: the constraints of a space as one graph of operations ---
 *
 * Each common part stands in it once, each part that depends on a single parameter is a table over its values. */

/* An operation, with the ops and operands of clt_expr_node; operands have lower numbers. With no parameter in its
 * support it is a constant, with one a table. */
typedef struct clt_flow_node {
  uint8_t op;
  uint8_t n_support; /* 0, 1, or 2 for more */
  uint32_t operands[4];
  clt_mask support;
  clt_value value;  /* of a constant */
  clt_value *table; /* of one parameter: an entry for each of its values; owned */
} clt_flow_node;

/* How many operands are looked at where tables have no inside. */
static inline unsigned clt_flow_arity(const clt_flow_node *node) {
  return node->n_support == 2 ? clt_op_arity((clt_op)node->op) : 0;
}

/* What has to be true: a constraint, or one side of the "and"s at its top. */
typedef struct clt_flow_root {
  uint32_t node, constraint;
} clt_flow_root;

typedef struct clt_flow {
  const clt_parameter *parameters; /* borrowed */
  size_t n_parameters;
  clt_flow_node *nodes;
  size_t n_nodes, nodes_capacity;
  clt_flow_root *roots;
  size_t n_roots, roots_capacity;
  clt_map index; /* hash of a node -> its number */
} clt_flow;

/* --- diagram: the valid combinations of one group of parameters ---
 *
 * The tree of a group has a level for each parameter. Two of its nodes get the same subtree if the constraints still to
 * be checked see the same intermediate values there; so the subtree is built and kept once, and the tree becomes a
 * graph whose size depends on how many different intermediate values there are, not on how many combinations are valid.
 * Each edge knows how many combinations come before it, so that counting, ranking and its reverse are walks from the
 * root. */

/* A parameter that the levels may set, with the positions that its own constraints leave. */
typedef struct clt_domain {
  uint32_t parameter;
  uint32_t *positions; /* ascending */
  size_t n_positions;
} clt_domain;

typedef struct clt_edge {
  uint32_t position; /* of the level's parameter */
  uint32_t child;    /* node of the next level */
  uint64_t before;   /* combinations of the edges before it at the same node */
} clt_edge;

typedef struct clt_diagram {
  size_t n_levels;
  uint32_t *parameters; /* of the levels */
  uint64_t *weights;    /* what one position of the level's parameter adds to a configuration */
  clt_edge *edges;
  uint32_t *first; /* of a node, its first edge; one more at the end */
  size_t n_edges, n_nodes;
  uint32_t root;
  uint64_t valid; /* 0: there is no root */
} clt_diagram;

/* How the construction of a diagram ended, besides 0 and CLT_E_MEMORY: */
#define CLT_DIAGRAM_TOO_LARGE 1
#define CLT_DIAGRAM_FAILED 2 /* a constraint cannot be evaluated */

/* When a diagram is too large: the positions that its construction may try, the memory that it may take. */
typedef struct clt_diagram_limits {
  size_t tries, bytes;
} clt_diagram_limits;

/* A group: parameters that share constraints, in the order of the levels (domains, borrowed); the numbers of its roots,
 * those that depend on more than one parameter; and the nodes of the flow that these need, without the insides of
 * tables, ascending. */
typedef struct clt_group {
  const clt_flow *flow;
  const clt_domain *domains[CLT_MAX_PARAMETERS];
  size_t n_domains;
  uint32_t *roots, *nodes;
  size_t n_roots, n_nodes;
} clt_group;

/* weights: of all parameters of the space. Where a constraint cannot be evaluated, *failed is the root, and positions,
 * with room for one of each parameter, are those of the group's parameters so far. */
int clt_diagram_new(clt_diagram **out, const clt_group *group, const uint64_t *weights, clt_diagram_limits limits,
                    uint32_t *positions, uint32_t *failed);
void clt_diagram_free(clt_diagram *diagram);

/* --- order: in which order the parameters of a group are set, so that few states have to be told apart --- */

/* How many different intermediate values a group's construction has to tell apart, before anything is built. */
typedef struct clt_estimate clt_estimate;
int clt_estimate_new(clt_estimate **out, const clt_group *group); /* CLT_E_MEMORY only */
void clt_estimate_free(clt_estimate *estimate);

/* Sorts the domains of a group. Quick: each next one is the best for the moment. */
void clt_order_quickly(clt_group *group, const clt_estimate *estimate);

/* Thorough: the order that tries the fewest edges by estimate (exact for 10 parameters or fewer, else a beam search).
 * CLT_E_MEMORY only. */
int clt_order_well(clt_group *group, const clt_estimate *estimate);

/* --- builders and spaces --- */

#define CLT_NO_GROUP SIZE_MAX

typedef struct clt_constraint {
  clt_expr *expr;
  char *message;
  clt_constraint_origin origin;
} clt_constraint;

typedef struct clt_alias {
  clt_expr *when;
  uint32_t parameter, position;
} clt_alias;

struct clt_space_builder {
  clt_parameter *parameters; /* names, and values in one block with their texts, owned */
  size_t n_parameters, parameters_capacity;
  const clt_value **sorted[CLT_MAX_PARAMETERS]; /* the values of each, ascending */
  clt_symbol *constants;                        /* names and texts owned */
  size_t n_constants, constants_capacity;
  clt_constraint *constraints;
  size_t n_constraints, constraints_capacity;
  clt_alias *aliases;
  size_t n_aliases, aliases_capacity;
};

struct clt_space {
  clt_parameter *parameters; /* owned as the builder's */
  uint64_t *weights;         /* of one position in a configuration */
  size_t n_parameters;
  clt_constraint *constraints;
  size_t n_constraints;
  clt_alias *aliases;
  size_t n_aliases;
  uint64_t cartesian, valid;
  double build_s;
  /* a product of groups ... */
  clt_diagram **groups;
  size_t n_groups;
  size_t group_of[CLT_MAX_PARAMETERS]; /* CLT_NO_GROUP: a single value */
  /* ... or a list, ascending */
  bool listed;
  clt_config *configs;
};

/* What a group may take: some seconds, and half a gigabyte. */
#define CLT_SPACE_LIMITS ((clt_diagram_limits){.tries = (size_t)1 << 28, .bytes = (size_t)1 << 29})

/* clt_space_new with other limits, of each group. */
int clt_space_new_within(clt_space **out, const clt_space_builder *builder, clt_diagram_limits limits,
                         clt_error *error);

/* Finds the groups of the constraints and builds their diagrams. */
int clt_space_build_groups(clt_space *space, clt_diagram_limits limits, clt_error *error);

/* All values of a configuration, as slots of the expressions. */
void clt_space_values(const clt_space *space, const uint32_t *positions, clt_value *values);

#endif
