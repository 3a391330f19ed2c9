/* model/trees.h - regression trees and their ensembles.
 *
 * One learner grows all trees: it puts the inputs into bins, sums the targets of a node's rows per bin, and splits the
 * leaf with the largest gain first. A split is either the best one over all inputs and bins (CART: Breiman, Friedman,
 * Olshen and Stone, "Classification and regression trees", 1984), or the best of one random cut per input (Geurts,
 * Ernst and Wehenkel, "Extremely randomized trees", 2006). These trees are used in
 * - a single tree: the filter of the searcher `ants`;
 * - a forest of random trees: the validity model, and the trees of the searcher `surrogate`;
 * - boosted trees (Friedman, "Greedy function approximation", 2001): the model `trees` (trees_model.c). */
#pragma once

#include <clatune/rng.h>
#include <jansson.h>

#include "base/base.h"
#include "model/kernels.h"
#include "model/rows.h"

/* Rows with x[input] <= number go to the next node in the array, others to node `right`. input -1: a leaf, whose value
 * is number. */
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
  int input;   /* of the best split; -1: none */
  uint8_t bin; /* rows in this bin and lower ones go to the left */
  float threshold;
  double gain;
  size_t left, right; /* 0: a leaf */
} clt_growing_node;

/* The state of fitting one or many trees. The caller sets the first members before init. */
typedef struct clt_growth {
  size_t most_leaves, most_depth, leaf_rows;
  clt_rng *rng; /* NULL: best splits */
  double prior; /* a leaf is the mean of its rows and of one more with this value; NaN: of its rows alone */
  double rate;  /* learning rate: a leaf keeps this fraction of its value */

  clt_arena memory; /* of the arrays */
  size_t n_inputs, n, n_nodes;
  struct input_bins *inputs;
  uint8_t *bin; /* [input][row] */
  float *y;     /* [row]; boosting: the residuals of the earlier trees */
  uint32_t *order;
  clt_growing_node *nodes;
} clt_growth;

/* For x[rows[i]][n_inputs] and finite y[rows[i]], i < n (rows NULL: the first n), n >= 1. Release growth->memory, also
 * after a failure. */
int clt_growth_init(clt_growth *growth, const float *x, size_t n_inputs, const float *y, const size_t *rows, size_t n,
                    clt_error *error);

/* Grows a tree, whose root is nodes[0]. */
void clt_growth_tree(clt_growth *growth);
float clt_growth_leaf(const clt_growth *growth, const clt_growing_node *node);
float clt_growth_predict(const clt_growth *growth, const float *x); /* the value of its leaf */

/* Writes the subtree of a node in pre-order from out[at] on; returns the index after its end. */
size_t clt_growth_write(const clt_growth *growth, size_t index, clt_tree_node *out, size_t at);

/* --- forests (forest.c) --- */

typedef struct clt_forest clt_forest;

/* Fits CLT_TREES random trees of at most CLT_TREE_LEAVES leaves to x[n][n_inputs of the encoding] and y[n] in 0 .. 1
 * (1: failed). Borrows the encoding. */
int clt_forest_fit(clt_forest **out, const clt_encoding *encoding, const float *x, const float *y, size_t n,
                   uint64_t seed, clt_error *error);
void clt_forest_free(clt_forest *forest);

/* The mean of the trees for n configurations, 0 .. 1. Fastest for many consecutive ranks per call. Thread-safe. */
int clt_forest_predict(const clt_forest *forest, const clt_config *configs, size_t n, float *out, clt_error *error);

/* save: each tree as [input, number, input, number, ...] in pre-order; a new reference, NULL when out of memory. load:
 * CLT_E_FORMAT if the array is not a forest over the encoding's inputs. */
json_t *clt_forest_save(const clt_forest *forest);
int clt_forest_load(clt_forest **out, const clt_encoding *encoding, const json_t *array, clt_error *error);
