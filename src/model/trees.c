#include "model/trees.h"

#define BINS 64    /* of an input: its values, or quantiles of them if there are more */
#define PURE 1e-12 /* rows whose squares differ by a smaller share are equal: rounding errors */
#define NO_SPLIT (-1)
#define LEAST_GAIN 1e-12

/* An input's bins hold ascending values: first[b] .. last[b]. */
struct input_bins {
  size_t n;
  float first[BINS], last[BINS];
};

static int compare_values(const void *a, const void *b) {
  float x = *(const float *)a, y = *(const float *)b;
  return (x > y) - (x < y);
}

/* values[n], sorted: a bin for each of them, or if there are too many, for quantiles. */
static void choose_bins(struct input_bins *bins, const float *values, size_t n) {
  size_t n_distinct = 1;
  for (size_t i = 1; i < n; i++) n_distinct += values[i] > values[i - 1];
  const bool all = n_distinct <= BINS;
  bins->n = 1;
  bins->first[0] = values[0];
  for (size_t k = 1; k < (all ? n : BINS); k++) {
    size_t i = all ? k : k * n / BINS;
    if (!(values[i] > values[i - 1])) continue;
    bins->last[bins->n - 1] = values[i - 1];
    bins->first[bins->n++] = values[i];
  }
  bins->last[bins->n - 1] = values[n - 1];
}

int clt_growth_init(clt_growth *g, const float *x, size_t n_inputs, const float *y, const size_t *rows, size_t n,
                    clt_error *error) {
  float *values = clt_arena_array(&g->memory, n, sizeof *values);
  g->n_inputs = n_inputs;
  g->n = n;
  g->inputs = clt_arena_array(&g->memory, n_inputs, sizeof *g->inputs);
  g->bin = clt_arena_array(&g->memory, n, n_inputs);
  g->y = clt_arena_array(&g->memory, n, sizeof *g->y);
  g->order = clt_arena_array(&g->memory, n, sizeof *g->order);
  g->nodes = clt_arena_array(&g->memory, 2 * g->most_leaves, sizeof *g->nodes);
  if (g->memory.failed) return clt_arena_check(&g->memory, error);
  for (size_t i = 0; i < n; i++) {
    g->y[i] = y[rows ? rows[i] : i];
    g->order[i] = (uint32_t)i;
  }
  for (size_t k = 0; k < n_inputs; k++) {
    struct input_bins *bins = &g->inputs[k];
    for (size_t i = 0; i < n; i++) values[i] = x[(rows ? rows[i] : i) * n_inputs + k];
    qsort(values, n, sizeof *values, compare_values);
    choose_bins(bins, values, n);
    for (size_t i = 0; i < n; i++) {
      size_t low = 0, high = bins->n - 1;
      for (float value = x[(rows ? rows[i] : i) * n_inputs + k]; low < high;) {
        size_t middle = (low + high) / 2;
        if (bins->last[middle] < value)
          low = middle + 1;
        else
          high = middle;
      }
      g->bin[k * n + i] = (uint8_t)low;
    }
  }
  return CLT_OK;
}

/* The squared deviations from the mean of n rows, short of the sum of their squares. Of y = 0 and 1 this is Gini's. */
static double impurity(size_t n, double sum) { return n ? -sum * sum / (double)n : 0; }

/* Tries the split behind a bin, with n_left rows and their sum on the left, and keeps it if it is the best so far. */
static bool try_split(const clt_growth *g, clt_growing_node *node, size_t input, size_t bin, size_t n_left,
                      double left) {
  if (n_left < g->leaf_rows || node->n - n_left < g->leaf_rows) return false;
  double gain = impurity(node->n, node->sum) - impurity(n_left, left) - impurity(node->n - n_left, node->sum - left);
  if (!(gain > node->gain)) return false;
  node->gain = gain;
  node->input = (int)input;
  node->bin = (uint8_t)bin;
  return true;
}

/* Random cuts try every input: on recorded spaces that was better than some of the inputs. */
static void find_split(const clt_growth *g, clt_growing_node *node) {
  node->input = NO_SPLIT;
  node->gain = g->rng ? -INFINITY : LEAST_GAIN;
  for (size_t k = 0; k < g->n_inputs; k++) {
    const struct input_bins *bins = &g->inputs[k];
    const uint8_t *bin = g->bin + k * g->n;
    double sums[BINS], left = 0;
    size_t counts[BINS], n_left = 0, low = 0, high = bins->n - 1;
    if (bins->n < 2) continue;
    for (size_t b = 0; b < bins->n; b++) sums[b] = 0, counts[b] = 0;
    for (size_t i = node->first; i < node->first + node->n; i++) {
      uint32_t row = g->order[i];
      sums[bin[row]] += (double)g->y[row];
      counts[bin[row]]++;
    }
    if (g->rng == NULL) {
      for (size_t b = 0; b < high; b++) {
        left += sums[b];
        n_left += counts[b];
        if (try_split(g, node, k, b, n_left, left)) node->threshold = (bins->last[b] + bins->first[b + 1]) / 2;
      }
      continue;
    }
    while (low < high && counts[low] == 0) low++;
    while (low < high && counts[high] == 0) high--;
    if (low == high) continue;
    float threshold = bins->first[low] + (float)clt_rng_unit(g->rng) * (bins->last[high] - bins->first[low]);
    size_t cut = low;
    while (cut + 1 < high && bins->first[cut + 1] <= threshold) cut++;
    for (size_t b = low; b <= cut; b++) left += sums[b], n_left += counts[b];
    threshold = fmaxf(threshold, bins->last[cut]); /* between bins, not within one */
    if (!(threshold < bins->first[cut + 1])) threshold = bins->last[cut];
    if (try_split(g, node, k, cut, n_left, left)) node->threshold = threshold;
  }
}

/* Returns the new node's number. */
static size_t add_node(clt_growth *g, size_t first, size_t n, size_t depth) {
  clt_growing_node *node = &g->nodes[g->n_nodes];
  double squares = 0;
  *node = (clt_growing_node){first, n, depth, .input = NO_SPLIT};
  for (size_t i = first; i < first + n; i++) {
    double y = (double)g->y[g->order[i]];
    node->sum += y;
    squares += y * y;
  }
  bool pure = squares + impurity(n, node->sum) <= PURE * squares;
  if (!pure && depth < g->most_depth && n >= 2 * g->leaf_rows) find_split(g, node);
  return g->n_nodes++;
}

/* Splits leaves, the one that gains most first, until there are enough or none gains. */
void clt_growth_tree(clt_growth *g) {
  g->n_nodes = 0;
  add_node(g, 0, g->n, 0);
  for (size_t n_leaves = 1; n_leaves < g->most_leaves; n_leaves++) {
    clt_growing_node *best = NULL;
    for (size_t i = 0; i < g->n_nodes; i++) {
      clt_growing_node *node = &g->nodes[i];
      if (node->left == 0 && node->input != NO_SPLIT && (best == NULL || node->gain > best->gain)) best = node;
    }
    if (best == NULL) return;
    const uint8_t *bin = g->bin + (size_t)best->input * g->n;
    size_t middle = best->first;
    for (size_t i = best->first; i < best->first + best->n; i++) {
      uint32_t row = g->order[i];
      if (bin[row] > best->bin) continue;
      g->order[i] = g->order[middle];
      g->order[middle++] = row;
    }
    size_t n_left = middle - best->first;
    best->left = add_node(g, best->first, n_left, best->depth + 1);
    best->right = add_node(g, middle, best->n - n_left, best->depth + 1);
  }
}

float clt_growth_leaf(const clt_growth *g, const clt_growing_node *node) {
  if (isnan(g->prior)) return (float)(g->rate * node->sum / (double)node->n);
  return (float)(g->rate * (node->sum + g->prior) / ((double)node->n + 1));
}

float clt_growth_predict(const clt_growth *g, const float *x) {
  const clt_growing_node *node = g->nodes;
  while (node->left) node = &g->nodes[x[node->input] <= node->threshold ? node->left : node->right];
  return clt_growth_leaf(g, node);
}

size_t clt_growth_write(const clt_growth *g, size_t index, clt_tree_node *out, size_t at) {
  const clt_growing_node *node = &g->nodes[index];
  if (node->left == 0) {
    out[at] = (clt_tree_node){-1, clt_growth_leaf(g, node), 0};
    return at + 1;
  }
  size_t right = clt_growth_write(g, node->left, out, at + 1);
  out[at] = (clt_tree_node){node->input, node->threshold, (uint32_t)right};
  return clt_growth_write(g, node->right, out, right);
}
