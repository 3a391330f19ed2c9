/* space/diagram.h - the valid combinations of one group of parameters, as a decision diagram.
 *
 * The tree of a group has a level for each parameter. Two of its nodes get the same subtree if the constraints still to
 * be checked see the same intermediate values there; so the subtree is built and kept once, and the tree becomes a
 * graph whose size depends on how many different intermediate values there are, not on how many combinations are valid.
 * Each edge knows how many combinations come before it, so that counting, ranking and its reverse are walks from the
 * root. */
#ifndef CLT_SPACE_DIAGRAM_H
#define CLT_SPACE_DIAGRAM_H

#include "space/program.h"

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
#define CLT_DIAGRAM_FAILED 2 /* a constraint cannot be evaluated: *failed is the root, positions are where */

typedef struct clt_diagram_failure {
  uint32_t root;
  size_t level;                           /* where it was noticed */
  uint32_t positions[CLT_MAX_PARAMETERS]; /* by level, up to `level` */
} clt_diagram_failure;

/* When a diagram is too large: the positions that its construction may try, the memory that it may take. */
typedef struct clt_diagram_limits {
  size_t tries, bytes;
} clt_diagram_limits;

/* weights: of all parameters of the space. */
int clt_diagram_new(clt_diagram **out, clt_program *program, const uint64_t *weights, clt_diagram_limits limits,
                    clt_diagram_failure *failure);
void clt_diagram_free(clt_diagram *diagram);
size_t clt_diagram_bytes(const clt_diagram *diagram);

/* A combination is the sum of its weighted positions: what it adds to a configuration. rank < valid. */
clt_config clt_diagram_at(const clt_diagram *diagram, uint64_t rank);

/* positions: by parameter of the space. False if they are not valid. rank may be NULL. */
bool clt_diagram_rank(const clt_diagram *diagram, const uint32_t *positions, uint64_t *rank);

/* Writes `base` plus each of the combinations first .. first+n-1, all below valid. */
void clt_diagram_walk(const clt_diagram *diagram, uint64_t first, size_t n, clt_config base, clt_config *out);

#endif
