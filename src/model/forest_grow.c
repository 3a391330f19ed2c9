#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/memory.h"
#include "model/forest.h"

#define NO_CHILD (-1)
#define PURE 1e-12 /* variance below which a node is not split */

/* A node while the tree grows; its rows are order[first .. first + n). */
struct node {
  size_t first, n;
  double sum, squares; /* of the targets */
  int input;           /* of the best split found; NO_CHILD: none */
  float threshold;
  double gain;
  int left, right; /* NO_CHILD: a leaf */
};

struct growth {
  const float *x;
  size_t n_inputs;
  const float *y;
  size_t *order;
  double base;
  clt_rng *rng;
  struct node nodes[CLT_TREE_NODES];
  int n_nodes;
};

/* What the mean leaves of the squares: for targets of 0 and 1, Gini's impurity. */
static double explained(size_t n, double sum) { return n ? sum * sum / (double)n : 0; }

/* Smallest and largest x[input] in a node. */
static void input_range(const struct growth *g, const struct node *node, size_t input, float *low, float *high) {
  *low = INFINITY;
  *high = -INFINITY;
  for (size_t i = node->first; i < node->first + node->n; i++) {
    float x = g->x[g->order[i] * g->n_inputs + input];
    *low = fminf(*low, x);
    *high = fmaxf(*high, x);
  }
}

/* A split of the node's rows at a random threshold of this input; kept where it is the best so far. */
static void try_split(struct growth *g, struct node *node, size_t input) {
  float low, high;
  input_range(g, node, input, &low, &high);
  if (!(high > low)) return;
  float threshold = low + (float)clt_rng_unit(g->rng) * (high - low);
  if (!(threshold < high)) threshold = low;
  size_t n = 0;
  double sum = 0;
  for (size_t i = node->first; i < node->first + node->n; i++) {
    if (g->x[g->order[i] * g->n_inputs + input] > threshold) continue;
    n++;
    sum += g->y[g->order[i]];
  }
  double gain = explained(n, sum) + explained(node->n - n, node->sum - sum) - explained(node->n, node->sum);
  if (node->input == NO_CHILD || gain > node->gain) {
    node->input = (int)input;
    node->threshold = threshold;
    node->gain = gain;
  }
}

/* Every input at one random threshold: on recorded spaces better than at some of the inputs. */
static void find_split(struct growth *g, struct node *node) {
  node->input = NO_CHILD;
  node->gain = 0;
  if (!(node->squares - explained(node->n, node->sum) > PURE * (double)node->n)) return;
  for (size_t i = 0; i < g->n_inputs; i++) try_split(g, node, i);
}

static int add_node(struct growth *g, size_t first, size_t n) {
  struct node *node = &g->nodes[g->n_nodes];
  *node = (struct node){first, n, .left = NO_CHILD, .right = NO_CHILD};
  for (size_t i = first; i < first + n; i++) {
    double y = g->y[g->order[i]];
    node->sum += y;
    node->squares += y * y;
  }
  find_split(g, node);
  return g->n_nodes++;
}

/* Moves the rows that go to the left in front; returns how many. */
static size_t partition(struct growth *g, const struct node *node) {
  size_t left = node->first;
  for (size_t i = node->first; i < node->first + node->n; i++) {
    if (g->x[g->order[i] * g->n_inputs + (size_t)node->input] > node->threshold) continue;
    size_t row = g->order[i];
    g->order[i] = g->order[left];
    g->order[left++] = row;
  }
  return left - node->first;
}

/* The leaf whose split gains most, or NO_CHILD. */
static int best_leaf(const struct growth *g) {
  int best = NO_CHILD;
  for (int i = 0; i < g->n_nodes; i++) {
    const struct node *node = &g->nodes[i];
    if (node->left != NO_CHILD || node->input == NO_CHILD) continue;
    if (best == NO_CHILD || node->gain > g->nodes[best].gain) best = i;
  }
  return best;
}

/* A leaf's number is drawn towards the mean of all rows, as if one row of it were the average. */
static void write_node(const struct growth *g, int index, clt_tree *out) {
  const struct node *node = &g->nodes[index];
  clt_tree_node *to = &out->nodes[out->n_nodes++];
  if (node->left == NO_CHILD) {
    *to = (clt_tree_node){-1, (float)((node->sum + g->base) / ((double)node->n + 1))};
    return;
  }
  *to = (clt_tree_node){node->input, node->threshold};
  write_node(g, node->left, out);
  write_node(g, node->right, out);
}

int clt_tree_grow(clt_tree *out, const float *x, size_t n_inputs, const float *y, size_t n, double base, clt_rng *rng,
                  clt_error *error) {
  struct growth g = {x, n_inputs, y, .base = base, .rng = rng};
  g.order = clt_new_array(n, sizeof *g.order);
  int rc = g.order ? CLT_OK : clt_fail_memory(error);
  if (rc) goto done;
  for (size_t i = 0; i < n; i++) g.order[i] = i;
  add_node(&g, 0, n);
  for (int leaf; g.n_nodes < CLT_TREE_NODES && (leaf = best_leaf(&g)) != NO_CHILD;) {
    struct node node = g.nodes[leaf];
    size_t n_left = partition(&g, &node);
    g.nodes[leaf].left = add_node(&g, node.first, n_left);
    g.nodes[leaf].right = add_node(&g, node.first + n_left, node.n - n_left);
  }
  out->n_nodes = 0;
  write_node(&g, 0, out);
done:
  free(g.order);
  return rc;
}
