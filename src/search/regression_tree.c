#include "search/regression_tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"

/* A leaf has no child. Positions up to `last` go to `below`, the others to the node behind it. */
typedef struct node {
  uint32_t parameter, last;
  size_t below; /* 0: a leaf */
  double mean;
} node;

struct clt_regression_tree {
  const clt_space *space;
  node *nodes;
  size_t n_nodes, capacity;
};

typedef struct bucket {
  double sum;
  size_t n;
} bucket;

/* rows: indices, of which a node has a part. */
typedef struct grower {
  clt_regression_tree *tree;
  const uint32_t *positions; /* by row, then by parameter */
  const double *targets;
  size_t n_parameters, min_leaf;
  size_t *rows;
  bucket *buckets; /* by value */
} grower;

typedef struct split {
  size_t parameter;
  uint32_t last;
  double gain; /* by which the sum of squares falls; 0: no split */
} split;

static uint32_t position(const grower *g, size_t row, size_t parameter) {
  return g->positions[row * g->n_parameters + parameter];
}

static double sum_of(const grower *g, size_t from, size_t to) {
  double sum = 0;
  for (size_t i = from; i < to; i++) sum += g->targets[g->rows[i]];
  return sum;
}

static void fill_buckets(const grower *g, size_t parameter, size_t from, size_t to) {
  memset(g->buckets, 0, clt_space_parameter(g->tree->space, parameter)->n_values * sizeof *g->buckets);
  for (size_t i = from; i < to; i++) {
    bucket *b = &g->buckets[position(g, g->rows[i], parameter)];
    b->sum += g->targets[g->rows[i]];
    b->n++;
  }
}

static void try_parameter(const grower *g, size_t parameter, size_t from, size_t to, double sum, split *best) {
  size_t n_values = clt_space_parameter(g->tree->space, parameter)->n_values, n = to - from, n_below = 0;
  double below = 0;
  if (n_values < 2) return;
  fill_buckets(g, parameter, from, to);
  for (uint32_t v = 0; v + 1 < n_values; v++) {
    below += g->buckets[v].sum;
    n_below += g->buckets[v].n;
    if (g->buckets[v].n == 0 || n_below < g->min_leaf || n - n_below < g->min_leaf) continue;
    double above = sum - below;
    double gain = below * below / (double)n_below + above * above / (double)(n - n_below) - sum * sum / (double)n;
    if (gain > best->gain) *best = (split){parameter, v, gain};
  }
}

/* Brings the rows below the split to the front; returns how many they are. */
static size_t divide(const grower *g, const split *s, size_t from, size_t to) {
  size_t middle = from;
  for (size_t i = from; i < to; i++) {
    size_t row = g->rows[i];
    if (position(g, row, s->parameter) > s->last) continue;
    g->rows[i] = g->rows[middle];
    g->rows[middle++] = row;
  }
  return middle;
}

static int grow(grower *g, size_t at, size_t from, size_t to, clt_error *error) {
  clt_regression_tree *tree = g->tree;
  double sum = sum_of(g, from, to), mean = sum / (double)(to - from);
  split best = {.gain = 1e-12 * (1 + mean * mean)};
  double least = best.gain;
  tree->nodes[at] = (node){.mean = mean};
  if (to - from < 2 * g->min_leaf) return CLT_OK;
  for (size_t p = 0; p < g->n_parameters; p++) try_parameter(g, p, from, to, sum, &best);
  if (best.gain <= least) return CLT_OK;
  if (clt_grow(&tree->nodes, &tree->capacity, tree->n_nodes + 2, sizeof *tree->nodes)) return clt_fail_memory(error);
  size_t below = tree->n_nodes, middle = divide(g, &best, from, to);
  tree->n_nodes += 2;
  tree->nodes[at].parameter = (uint32_t)best.parameter;
  tree->nodes[at].last = best.last;
  tree->nodes[at].below = below;
  int rc = grow(g, below, from, middle, error);
  return rc ? rc : grow(g, below + 1, middle, to, error);
}

static int grow_all(grower *g, size_t n, clt_error *error) {
  clt_regression_tree *tree = g->tree;
  if (clt_grow(&tree->nodes, &tree->capacity, 1, sizeof *tree->nodes)) return clt_fail_memory(error);
  tree->n_nodes = 1;
  for (size_t i = 0; i < n; i++) g->rows[i] = i;
  return grow(g, 0, 0, n, error);
}

static size_t most_values(const clt_space *space) {
  size_t most = 1;
  for (size_t i = 0; i < clt_space_n_parameters(space); i++)
    if (clt_space_parameter(space, i)->n_values > most) most = clt_space_parameter(space, i)->n_values;
  return most;
}

int clt_regression_tree_new(clt_regression_tree **out, const clt_space *space, const clt_config *configs,
                            const double *targets, size_t n, size_t min_leaf, clt_error *error) {
  size_t n_parameters = clt_space_n_parameters(space);
  clt_regression_tree *tree = clt_new_array(1, sizeof *tree);
  uint32_t *positions = clt_new_array(n * n_parameters, sizeof *positions);
  size_t *rows = clt_new_array(n, sizeof *rows);
  bucket *buckets = clt_new_array(most_values(space), sizeof *buckets);
  int rc = tree && positions && rows && buckets ? CLT_OK : clt_fail_memory(error);
  if (rc == CLT_OK) {
    grower g = {tree, positions, targets, n_parameters, min_leaf, rows, buckets};
    tree->space = space;
    for (size_t i = 0; i < n; i++) clt_space_positions(space, configs[i], &positions[i * n_parameters]);
    rc = grow_all(&g, n, error);
  }
  free(positions);
  free(rows);
  free(buckets);
  if (rc)
    clt_regression_tree_free(tree);
  else
    *out = tree;
  return rc;
}

void clt_regression_tree_free(clt_regression_tree *tree) {
  if (tree == NULL) return;
  free(tree->nodes);
  free(tree);
}

double clt_regression_tree_predict(const clt_regression_tree *tree, clt_config config) {
  uint32_t positions[CLT_MAX_PARAMETERS];
  const node *at = tree->nodes;
  clt_space_positions(tree->space, config, positions);
  while (at->below) at = &tree->nodes[at->below + (positions[at->parameter] > at->last)];
  return at->mean;
}

size_t clt_regression_tree_n_leaves(const clt_regression_tree *tree) {
  size_t n = 0;
  for (size_t i = 0; i < tree->n_nodes; i++) n += tree->nodes[i].below == 0;
  return n;
}
