#include "model/boosting.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"

int clt_boosted_init(clt_boosted *out, size_t n_inputs, size_t n_trees, size_t depth, clt_error *error) {
  *out = (clt_boosted){n_inputs, n_trees, depth};
  size_t n_leaves = (size_t)1 << depth;
  out->nodes = clt_new_array(n_trees, (n_leaves - 1) * sizeof *out->nodes);
  out->leaves = clt_new_array(n_trees, n_leaves * sizeof *out->leaves);
  return out->nodes && out->leaves ? CLT_OK : clt_fail_memory(error);
}

void clt_boosted_release(clt_boosted *boosted) {
  free(boosted->nodes);
  free(boosted->leaves);
  *boosted = (clt_boosted){0};
}

static float leaf_of(const clt_boosted_node *nodes, const float *leaves, size_t depth, const float *x) {
  size_t i = 0;
  for (size_t d = 0; d < depth; d++) i = 2 * i + 1 + (x[nodes[i].input] > nodes[i].threshold);
  return leaves[i - (((size_t)1 << depth) - 1)];
}

float clt_boosted_predict(const clt_boosted *b, const float *x) {
  size_t n_leaves = (size_t)1 << b->depth;
  float sum = b->base;
  for (size_t t = 0; t < b->n_trees; t++)
    sum += leaf_of(b->nodes + t * (n_leaves - 1), b->leaves + t * n_leaves, b->depth, x);
  return sum;
}

void clt_boosted_predict_rows(float out[CLT_BOOSTED_ROWS], const clt_boosted *b, const float *x) {
  size_t n_leaves = (size_t)1 << b->depth, n_inputs = b->n_inputs;
  for (size_t r = 0; r < CLT_BOOSTED_ROWS; r++) out[r] = b->base;
  for (size_t t = 0; t < b->n_trees; t++) {
    const clt_boosted_node *nodes = b->nodes + t * (n_leaves - 1);
    const float *leaves = b->leaves + t * n_leaves;
    uint32_t at[CLT_BOOSTED_ROWS] = {0};
    for (size_t d = 0; d < b->depth; d++)
      for (size_t r = 0; r < CLT_BOOSTED_ROWS; r++)
        at[r] = 2 * at[r] + 1 + (x[r * n_inputs + nodes[at[r]].input] > nodes[at[r]].threshold);
    for (size_t r = 0; r < CLT_BOOSTED_ROWS; r++) out[r] += leaves[at[r] - (n_leaves - 1)];
  }
}

/* --- growing --- */

/* An input's cuts: a row's bin is the number of cuts below its value. */
struct cuts {
  size_t n;
  float at[CLT_BOOSTING_BINS - 1];
};

struct growth {
  const clt_boosting_options *options;
  size_t n_inputs, n;
  struct cuts *cuts; /* [n_inputs] */
  uint8_t *bin;      /* [input][row] */
  float *left;       /* what the trees before left, by row */
  uint32_t *order;   /* rows, those of a node together */
  double *gain;
  clt_boosted_node *nodes;
  float *leaves;
};

static int by_value(const void *a, const void *b) {
  float x = *(const float *)a, y = *(const float *)b;
  return (x > y) - (x < y);
}

/* values[n], sorted: between neighbours where these are few, else at quantiles. */
static void find_cuts(struct cuts *cuts, const float *values, size_t n) {
  size_t n_distinct = 1;
  for (size_t i = 1; i < n; i++) n_distinct += values[i] > values[i - 1];
  cuts->n = 0;
  if (n_distinct <= CLT_BOOSTING_BINS) {
    for (size_t i = 1; i < n; i++)
      if (values[i] > values[i - 1]) cuts->at[cuts->n++] = (values[i] + values[i - 1]) / 2;
    return;
  }
  for (size_t k = 1; k < CLT_BOOSTING_BINS; k++) {
    size_t i = k * n / CLT_BOOSTING_BINS;
    float cut = (values[i] + values[i - 1]) / 2;
    if (i > 0 && values[i] > values[i - 1] && (cuts->n == 0 || cut > cuts->at[cuts->n - 1])) cuts->at[cuts->n++] = cut;
  }
}

static uint8_t bin_of(const struct cuts *cuts, float value) {
  size_t low = 0, high = cuts->n;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (cuts->at[middle] < value)
      low = middle + 1;
    else
      high = middle;
  }
  return (uint8_t)low;
}

static int fill_bins(struct growth *g, const float *x, const size_t *rows, clt_error *error) {
  float *values = clt_new_array(g->n, sizeof *values);
  if (values == NULL) return clt_fail_memory(error);
  for (size_t k = 0; k < g->n_inputs; k++) {
    for (size_t i = 0; i < g->n; i++) values[i] = x[rows[i] * g->n_inputs + k];
    qsort(values, g->n, sizeof *values, by_value);
    find_cuts(&g->cuts[k], values, g->n);
    for (size_t i = 0; i < g->n; i++) g->bin[k * g->n + i] = bin_of(&g->cuts[k], x[rows[i] * g->n_inputs + k]);
  }
  free(values);
  return CLT_OK;
}

struct split {
  double gain;
  size_t input, cut;
};

/* The best cut of one input for rows order[first .. end - 1]. */
static void try_input(const struct growth *g, size_t input, size_t first, size_t end, double sum, struct split *best) {
  double sums[CLT_BOOSTING_BINS] = {0};
  size_t counts[CLT_BOOSTING_BINS] = {0};
  const uint8_t *bin = g->bin + input * g->n;
  for (size_t i = first; i < end; i++) {
    sums[bin[g->order[i]]] += (double)g->left[g->order[i]];
    counts[bin[g->order[i]]]++;
  }
  size_t n = end - first, n_left = 0;
  double left = 0, whole = sum * sum / (double)n;
  for (size_t c = 0; c < g->cuts[input].n; c++) {
    left += sums[c];
    n_left += counts[c];
    if (n_left < g->options->leaf_rows || n - n_left < g->options->leaf_rows) continue;
    double gain = left * left / (double)n_left + (sum - left) * (sum - left) / (double)(n - n_left) - whole;
    if (gain > best->gain) *best = (struct split){gain, input, c};
  }
}

/* Moves the rows that go to the left in front; returns where the others begin. */
static size_t partition(struct growth *g, const struct split *s, size_t first, size_t end) {
  const uint8_t *bin = g->bin + s->input * g->n;
  size_t middle = first;
  for (size_t i = first; i < end; i++) {
    if (bin[g->order[i]] > s->cut) continue;
    uint32_t row = g->order[i];
    g->order[i] = g->order[middle];
    g->order[middle++] = row;
  }
  return middle;
}

static void make_leaf(struct growth *g, size_t leaf, size_t first, size_t end, double sum) {
  float value = end > first ? (float)(g->options->rate * sum / (double)(end - first)) : 0;
  g->leaves[leaf] = value;
  for (size_t i = first; i < end; i++) g->left[g->order[i]] -= value;
}

/* The nesting is the tree's depth. */
static void grow(struct growth *g, size_t node, size_t depth, size_t first, size_t end) {
  double sum = 0;
  for (size_t i = first; i < end; i++) sum += (double)g->left[g->order[i]];
  if (depth == g->options->depth) {
    make_leaf(g, node - (((size_t)1 << depth) - 1), first, end, sum);
    return;
  }
  struct split best = {1e-12, 0, 0};
  bool splits = end - first >= 2 * g->options->leaf_rows;
  for (size_t k = 0; splits && k < g->n_inputs; k++) try_input(g, k, first, end, sum, &best);
  splits = splits && best.gain > 1e-12;
  g->nodes[node] = (clt_boosted_node){(uint32_t)best.input, splits ? g->cuts[best.input].at[best.cut] : FLT_MAX};
  if (splits && g->gain) g->gain[best.input] += best.gain;
  size_t middle = splits ? partition(g, &best, first, end) : end;
  grow(g, 2 * node + 1, depth + 1, first, middle);
  grow(g, 2 * node + 2, depth + 1, middle, end);
}

static int growth_init(struct growth *g, const float *x, const float *y, const size_t *rows, clt_error *error) {
  g->cuts = clt_new_array(g->n_inputs, sizeof *g->cuts);
  g->bin = clt_new_array(g->n, g->n_inputs);
  g->left = clt_new_array(g->n, sizeof *g->left);
  g->order = clt_new_array(g->n, sizeof *g->order);
  if (!g->cuts || !g->bin || !g->left || !g->order) return clt_fail_memory(error);
  for (size_t i = 0; i < g->n; i++) {
    g->left[i] = y[rows[i]];
    g->order[i] = (uint32_t)i;
  }
  return fill_bins(g, x, rows, error);
}

static float take_mean(struct growth *g) {
  double sum = 0;
  for (size_t i = 0; i < g->n; i++) sum += (double)g->left[i];
  float mean = (float)(sum / (double)g->n);
  for (size_t i = 0; i < g->n; i++) g->left[i] -= mean;
  return mean;
}

int clt_boosted_fit(clt_boosted *out, const clt_boosting_options *options, const float *x, size_t n_inputs,
                    const float *y, const size_t *rows, size_t n, double *gain, clt_error *error) {
  struct growth g = {.options = options, .n_inputs = n_inputs, .n = n, .gain = gain};
  int rc = clt_boosted_init(out, n_inputs, options->rounds, options->depth, error);
  if (!rc) rc = growth_init(&g, x, y, rows, error);
  if (!rc) out->base = take_mean(&g);
  size_t n_leaves = (size_t)1 << options->depth;
  for (size_t t = 0; !rc && t < options->rounds; t++) {
    g.nodes = out->nodes + t * (n_leaves - 1);
    g.leaves = out->leaves + t * n_leaves;
    grow(&g, 0, 0, 0, n);
  }
  free(g.cuts);
  free(g.bin);
  free(g.left);
  free(g.order);
  return rc;
}
