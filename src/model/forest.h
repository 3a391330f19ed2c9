/* model/forest.h - forests of small trees: which configurations fail, and boosted trees for their times.
 *
 * Extremely randomised trees (Geurts, Ernst, Wehenkel, "Extremely randomized trees", Machine Learning 2006) on failed =
 * 1, with the encoding's inputs; or gradient boosting of such trees (Friedman, "Stochastic gradient boosting", 2002) on
 * any target, where each tree learns what those before it left. A tree has at most 64 leaves, so that a set of its
 * leaves is one 64-bit word, and predicting is the conjunction of one word for each parameter's value: it excludes the
 * leaves that the value rules out (Lucchese et al., "QuickScorer", SIGIR 2015). */
#ifndef CLT_MODEL_FOREST_H
#define CLT_MODEL_FOREST_H

#include "dataset/encoding.h"
#include "model/kernels.h"

#define CLT_TREE_NODES (2 * CLT_TREE_LEAVES - 1)

/* A node in pre-order: input >= 0 sends rows with x[input] <= number to the left, which follows directly; input -1 is a
 * leaf, number its value. */
typedef struct clt_tree_node {
  int32_t input;
  float number;
} clt_tree_node;

typedef struct clt_tree {
  size_t n_nodes;
  clt_tree_node nodes[CLT_TREE_NODES];
} clt_tree;

typedef struct clt_forest clt_forest;

/* x[n][n_inputs of the encoding], failed[n]. The encoding is borrowed. */
int clt_forest_fit(clt_forest **out, const clt_encoding *encoding, const float *x, const bool *failed, size_t n,
                   uint64_t seed, clt_error *error);

/* Boosts CLT_TREES trees on y of the rows with these numbers; rate is the share of a leaf's mean that a tree keeps. */
int clt_forest_boost(clt_forest **out, const clt_encoding *encoding, const float *x, const float *y, const size_t *rows,
                     size_t n, double rate, clt_rng *rng, clt_error *error);
/* The same trees for any target y[n] in 0 .. 1: clt_forest_failures then says its mean. */
int clt_forest_fit_values(clt_forest **out, const clt_encoding *encoding, const float *x, const float *y, size_t n,
                          uint64_t seed, clt_error *error);

/* From CLT_TREES trees (copied). CLT_E_FORMAT where one is not a tree over the encoding's inputs. */
int clt_forest_new(clt_forest **out, const clt_encoding *encoding, const clt_tree *trees, clt_error *error);
void clt_forest_free(clt_forest *forest);
const clt_tree *clt_forest_trees(const clt_forest *forest); /* CLT_TREES of them */

/* The probability of failure of n configurations; quickest for many consecutive ranks at once. */
int clt_forest_failures(const clt_forest *forest, const clt_config *configs, size_t n, float *out, clt_error *error);

/* The sum of the trees' values, as a boosted forest predicts. */
int clt_forest_sums(const clt_forest *forest, const clt_config *configs, size_t n, float *out, clt_error *error);

/* The same for encoded rows: out[i] for x[rows[i]]. */
void clt_forest_row_sums(const clt_forest *forest, const float *x, size_t n_inputs, const size_t *rows, size_t n,
                         float *out);

/* Grows one tree on y (forest_grow.c). A leaf is the mean of its rows and of one more row of value base. */
int clt_tree_grow(clt_tree *out, const float *x, size_t n_inputs, const float *y, size_t n, double base, clt_rng *rng,
                  clt_error *error);

#endif
