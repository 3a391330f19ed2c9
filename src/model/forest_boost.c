/* Gradient boosting of small trees on squared error. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "model/forest.h"

/* The value that a tree gives a row: its nodes are in pre-order, so the right child stands behind the left one's. */
static float walk(const clt_tree *tree, const uint32_t *right, const float *x) {
  size_t i = 0;
  while (tree->nodes[i].input >= 0) i = x[tree->nodes[i].input] <= tree->nodes[i].number ? i + 1 : right[i];
  return tree->nodes[i].number;
}

/* right[i]: the right child of node i. Returns the node behind the subtree of i. */
static uint32_t find_right(const clt_tree *tree, uint32_t i, uint32_t *right) {
  if (tree->nodes[i].input < 0) return i + 1;
  right[i] = find_right(tree, i + 1, right);
  return find_right(tree, right[i], right);
}

static void shrink(clt_tree *tree, double rate) {
  for (size_t i = 0; i < tree->n_nodes; i++)
    if (tree->nodes[i].input < 0) tree->nodes[i].number *= (float)rate;
}

/* One tree on what is left, which it then takes its share of. */
static int boost_once(clt_tree *tree, const float *x, size_t n_inputs, float *left, size_t n, double rate, clt_rng *rng,
                      clt_error *error) {
  uint32_t right[CLT_TREE_NODES];
  int rc = clt_tree_grow(tree, x, n_inputs, left, n, 0, rng, error);
  if (rc) return rc;
  shrink(tree, rate);
  find_right(tree, 0, right);
  for (size_t i = 0; i < n; i++) left[i] -= walk(tree, right, x + i * n_inputs);
  return CLT_OK;
}

int clt_forest_boost(clt_forest **out, const clt_encoding *encoding, const float *x, const float *y, const size_t *rows,
                     size_t n, double rate, clt_rng *rng, clt_error *error) {
  size_t n_inputs = encoding->n_inputs;
  float *chosen = clt_new_array(n, n_inputs * sizeof *chosen), *left = clt_new_array(n, sizeof *left);
  clt_tree *trees = clt_new_array(CLT_TREES, sizeof *trees);
  int rc = chosen && left && trees ? CLT_OK : clt_fail_memory(error);
  for (size_t i = 0; !rc && i < n; i++) {
    memcpy(chosen + i * n_inputs, x + rows[i] * n_inputs, n_inputs * sizeof *x);
    left[i] = y[rows[i]];
  }
  for (size_t i = 0; !rc && i < CLT_TREES; i++) rc = boost_once(&trees[i], chosen, n_inputs, left, n, rate, rng, error);
  if (!rc) rc = clt_forest_new(out, encoding, trees, error);
  free(trees);
  free(left);
  free(chosen);
  return rc;
}

void clt_forest_row_sums(const clt_forest *forest, const float *x, size_t n_inputs, const size_t *rows, size_t n,
                         float *out) {
  const clt_tree *trees = clt_forest_trees(forest);
  uint32_t right[CLT_TREE_NODES];
  for (size_t i = 0; i < n; i++) out[i] = 0;
  for (size_t t = 0; t < CLT_TREES; t++) {
    find_right(&trees[t], 0, right);
    for (size_t i = 0; i < n; i++) out[i] += walk(&trees[t], right, x + rows[i] * n_inputs);
  }
}
