/* model/trees.h - regression trees, and what is made of them.
 *
 * One learner grows all trees: the inputs are put into bins, a node adds up its rows' targets by bin, and the leaf
 * whose split gains most is split first. A split is either the best one over all inputs and bins (CART: Breiman,
 * Friedman, Olshen and Stone, "Classification and regression trees", 1984), or the best of one random cut an input
 * (Geurts, Ernst and Wehenkel, "Extremely randomized trees", 2006). From these are made
 * - a single tree: the filter of the searcher `ants`;
 * - a forest of random trees: which configurations fail, and the trees of the searcher `surrogate`;
 * - boosted trees (Friedman, "Greedy function approximation", 2001): the model `trees`. */
#ifndef CLT_MODEL_TREES_H
#define CLT_MODEL_TREES_H

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

/* In pre-order. */
typedef struct clt_tree {
  size_t n_nodes;
  clt_tree_node *nodes;
} clt_tree;

/* One tree by best splits, on x[n][n_inputs] and finite y[n], n >= 1; leaves have at least leaf_rows of them. */
int clt_tree_fit(clt_tree *out, const float *x, size_t n_inputs, const float *y, size_t n, size_t leaf_rows,
                 clt_error *error);
void clt_tree_release(clt_tree *tree);
float clt_tree_predict(const clt_tree *tree, const float *x); /* the mean of its leaf */

/* --- boosted trees --- */

#define CLT_MOST_DEPTH 8

typedef struct clt_boosting_options {
  size_t rounds;    /* trees */
  size_t depth;     /* 1 .. CLT_MOST_DEPTH */
  size_t leaf_rows; /* fewest rows of a leaf, 1 or more */
  double rate;      /* share of a leaf's mean that a tree keeps */
} clt_boosting_options;

typedef struct clt_boosted_node {
  uint32_t input;
  float threshold;
} clt_boosted_node;

/* Trees are whole, so that walking them has no branches: node i has the children 2 i + 1 (input at most the threshold)
 * and 2 i + 2; where nothing was gained by splitting, all goes to the left. */
typedef struct clt_boosted {
  size_t n_inputs, n_trees, depth;
  float base;              /* what every row begins with */
  clt_boosted_node *nodes; /* [n_trees][2^depth - 1] */
  float *leaves;           /* [n_trees][2^depth] */
} clt_boosted;

/* Room for the trees, all of them 0. Release also after a failure. */
int clt_boosted_init(clt_boosted *out, size_t n_inputs, size_t n_trees, size_t depth, clt_error *error);
void clt_boosted_release(clt_boosted *boosted);

/* On x[rows[i]][n_inputs] and y[rows[i]], n >= 1. Release also after a failure. */
int clt_boosted_fit(clt_boosted *out, const clt_boosting_options *options, const float *x, size_t n_inputs,
                    const float *y, const size_t *rows, size_t n, clt_error *error);

/* CLT_BOOSTED_ROWS rows x[row][n_inputs] side by side: one alone waits for its tree at every level. */
#define CLT_BOOSTED_ROWS 16
void clt_boosted_predict(float out[CLT_BOOSTED_ROWS], const clt_boosted *boosted, const float *x);

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

/* What forest.c needs of the learner: CLT_TREES trees into nodes[tree][CLT_TREE_NODES]. */
#define CLT_TREE_NODES (2 * CLT_TREE_LEAVES - 1)
int clt_trees_grow_random(clt_tree_node (*nodes)[CLT_TREE_NODES], size_t n_nodes[CLT_TREES], const float *x,
                          size_t n_inputs, const float *y, size_t n, uint64_t seed, clt_error *error);

#endif
