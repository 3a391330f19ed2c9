/* model/boosting.h - gradient-boosted regression trees (Friedman, "Greedy function approximation", 2001; as a model of
 * run time: Bergstra, Pinto and Cox, "Machine learning for predictive auto-tuning with boosted regression trees",
 * 2012).
 *
 * Trees of a fixed depth on squared error, each on what those before it left. Every split is the best one over all
 * inputs; inputs with many values are cut at their quantiles. A tree is stored whole, so that walking it has no
 * branches: node i has the children 2 i + 1 (input at most the threshold) and 2 i + 2; where nothing was gained by
 * splitting, all goes to the left. */
#ifndef CLT_MODEL_BOOSTING_H
#define CLT_MODEL_BOOSTING_H

#include <clatune/error.h>
#include <clatune/rng.h>
#include <stddef.h>
#include <stdint.h>

#define CLT_MOST_DEPTH 8
#define CLT_BOOSTING_BINS 64 /* values of an input, or quantiles of them, that a split may lie between */

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

typedef struct clt_boosted {
  size_t n_inputs, n_trees, depth;
  float base;              /* what every row begins with */
  clt_boosted_node *nodes; /* [n_trees][2^depth - 1] */
  float *leaves;           /* [n_trees][2^depth] */
} clt_boosted;

/* Room for the trees, all of them 0. */
int clt_boosted_init(clt_boosted *out, size_t n_inputs, size_t n_trees, size_t depth, clt_error *error);
void clt_boosted_release(clt_boosted *boosted);

/* On x[rows[i]][n_inputs] and y[rows[i]], n >= 1. gain (nullable) [n_inputs]: how much squared error each input's
 * splits took away is added. Release also after a failure. */
int clt_boosted_fit(clt_boosted *out, const clt_boosting_options *options, const float *x, size_t n_inputs,
                    const float *y, const size_t *rows, size_t n, double *gain, clt_error *error);

/* CLT_BOOSTED_ROWS rows x[row][n_inputs] side by side: one alone waits for its tree at every level. */
#define CLT_BOOSTED_ROWS 16
void clt_boosted_predict_rows(float out[CLT_BOOSTED_ROWS], const clt_boosted *boosted, const float *x);
float clt_boosted_predict(const clt_boosted *boosted, const float *x); /* one; the same to the bit */

#endif
