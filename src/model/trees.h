/* model/trees.h - regression trees, and what is made of them.
 *
 * One learner grows all trees: the inputs are put into bins, a node adds up its rows' targets by bin, and the leaf
 * whose split gains most is split first. A split is either the best one over all inputs and bins (CART: Breiman,
 * Friedman, Olshen and Stone, "Classification and regression trees", 1984), or the best of one random cut an input
 * (Geurts, Ernst and Wehenkel, "Extremely randomized trees", 2006). From these are made
 * - a single tree: the filter of the searcher `ants`;
 * - a forest of random trees: which configurations fail, and the trees of the searcher `surrogate`;
 * - boosted trees (Friedman, "Greedy function approximation", 2001): the model `trees` (trees_model.c). */
#ifndef CLT_MODEL_TREES_H
#define CLT_MODEL_TREES_H

#include <clatune/rng.h>
#include <jansson.h>

#include "model/encoding.h"
#include "model/kernels.h"

/* Sends rows with x[input] <= number to the node behind it, the others to node `right`; input -1: a leaf, number its
 * value. */
typedef struct clt_tree_node {
  int32_t input;
  float number;
  uint32_t right;
} clt_tree_node;

/* --- the learner: trees while they grow --- */

/* A node's rows are order[first .. first + n). */
typedef struct clt_growing_node {
  size_t first, n, depth;
  double sum;
  int input;   /* of the split found; -1: none */
  uint8_t bin; /* rows of this one and those below go to the left */
  float threshold;
  double gain;
  size_t left, right; /* 0: a leaf */
} clt_growing_node;

/* What a fit of one or many trees works on. The first members are the caller's to set, before init. */
typedef struct clt_growth {
  size_t most_leaves, most_depth, leaf_rows;
  clt_rng *rng; /* NULL: best splits */
  double prior; /* a leaf is the mean of its rows and of one more with this value; NaN: of its rows alone */
  double rate;  /* a leaf keeps this share of it */

  size_t n_inputs, n, n_nodes;
  struct input_bins *inputs;
  uint8_t *bin; /* [input][row] */
  float *y;     /* by row; boosting: what the trees before left */
  uint32_t *order;
  clt_growing_node *nodes;
} clt_growth;

/* Of x[rows[i]][n_inputs] and finite y[rows[i]] (rows NULL: the first n), n >= 1. Release also after a failure. */
int clt_growth_init(clt_growth *growth, const float *x, size_t n_inputs, const float *y, const size_t *rows, size_t n,
                    clt_error *error);
void clt_growth_release(clt_growth *growth);

/* Grows a tree, whose root is nodes[0]. */
void clt_growth_tree(clt_growth *growth);
float clt_growth_leaf(const clt_growth *growth, const clt_growing_node *node);
float clt_growth_predict(const clt_growth *growth, const float *x); /* what its leaf says */

/* The subtree of a node, in pre-order from out[at] on; returns where it ends. */
size_t clt_growth_write(const clt_growth *growth, size_t index, clt_tree_node *out, size_t at);

/* --- forests (forest.c) --- */

typedef struct clt_forest clt_forest;

/* CLT_TREES random trees of at most CLT_TREE_LEAVES leaves on x[n][n_inputs of the encoding] and y[n] in 0 .. 1
 * (failed: 1). The encoding is borrowed. */
int clt_forest_fit(clt_forest **out, const clt_encoding *encoding, const float *x, const float *y, size_t n,
                   uint64_t seed, clt_error *error);
void clt_forest_free(clt_forest *forest);

/* The trees' mean for n configurations, within 0 .. 1; quickest for many consecutive ranks at once. Any number of
 * threads at once. */
int clt_forest_predict(const clt_forest *forest, const clt_config *configs, size_t n, float *out, clt_error *error);

/* Each tree as [input, number, input, number, ...] in pre-order; a new reference, NULL when out of memory. And back:
 * CLT_E_FORMAT where these are no trees over the encoding's inputs. */
json_t *clt_forest_save(const clt_forest *forest);
int clt_forest_load(clt_forest **out, const clt_encoding *encoding, const json_t *array, clt_error *error);

#endif
