#include "model/forest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "model/matrix.h"
#include "model/split.h"

#define TABLE_ROWS 512

/* A test of a resource: leaves of a tree that are excluded above the threshold. */
struct test {
  float threshold;
  uint32_t tree;
  uint64_t excluded;
};

/* Tests of one resource in ascending order; words[i][tree] are the leaves left by the first i of them. */
struct resource_words {
  struct test *tests;
  size_t n, capacity;
  uint64_t *words;
};

struct clt_forest {
  const clt_encoding *encoding;
  const clt_kernels *kernels;
  clt_tree trees[CLT_TREES];
  float leaves[CLT_TREES][CLT_TREE_LEAVES];
  uint64_t **parameter_words; /* by parameter: [value][tree]; NULL where no tree asks */
  struct resource_words *resources;
  clt_split split;
  uint64_t *table; /* [row of the split's table][tree] */
};

/* --- from trees to words --- */

struct compiler {
  clt_forest *forest;
  uint32_t tree;
  size_t node, leaf;
};

static int bad_tree(clt_error *error) {
  return clt_fail(error, CLT_E_FORMAT, "a tree of the validity model is damaged");
}

/* Leaves first .. end-1 as a word. */
static uint64_t leaf_word(size_t first, size_t end) {
  uint64_t below_end = end < 64 ? (UINT64_C(1) << end) - 1 : UINT64_MAX;
  return below_end & ~((UINT64_C(1) << first) - 1);
}

static int exclude_values(clt_forest *f, size_t k, const clt_tree_node *node, uint32_t tree, uint64_t excluded,
                          clt_error *error) {
  const clt_encoded_parameter *p = &f->encoding->parameters[k];
  if (f->parameter_words[k] == NULL) {
    f->parameter_words[k] = clt_vector_memory(p->n_values, CLT_TREES * sizeof(uint64_t));
    if (f->parameter_words[k] == NULL) return clt_fail_memory(error);
    memset(f->parameter_words[k], 0xff, p->n_values * CLT_TREES * sizeof(uint64_t));
  }
  size_t column = (size_t)node->input - p->first;
  for (size_t v = 0; v < p->n_values; v++)
    if (p->table[v * p->width + column] > node->number) f->parameter_words[k][v * CLT_TREES + tree] &= ~excluded;
  return CLT_OK;
}

static int exclude_resource(struct resource_words *r, const clt_tree_node *node, uint32_t tree, uint64_t excluded,
                            clt_error *error) {
  if (clt_grow(&r->tests, &r->capacity, r->n + 1, sizeof *r->tests)) return clt_fail_memory(error);
  r->tests[r->n++] = (struct test){node->number, tree, excluded};
  return CLT_OK;
}

static int exclude(clt_forest *f, const clt_tree_node *node, uint32_t tree, uint64_t excluded, clt_error *error) {
  const clt_encoding *e = f->encoding;
  size_t input = (size_t)node->input;
  if (input >= e->first_resource)
    return exclude_resource(&f->resources[input - e->first_resource], node, tree, excluded, error);
  size_t k = 0;
  while (input >= e->parameters[k].first + e->parameters[k].width) k++;
  return exclude_values(f, k, node, tree, excluded, error);
}

/* Goes through a tree in pre-order; c->node and c->leaf are the next ones. The nesting is bounded by the number of
 * nodes. */
static int compile_node(struct compiler *c, clt_error *error) {
  clt_forest *f = c->forest;
  const clt_tree *tree = &f->trees[c->tree];
  if (c->node >= tree->n_nodes) return bad_tree(error);
  const clt_tree_node *node = &tree->nodes[c->node++];
  if (node->input < 0) {
    if (c->leaf >= CLT_TREE_LEAVES || !isfinite(node->number)) return bad_tree(error);
    f->leaves[c->tree][c->leaf++] = node->number;
    return CLT_OK;
  }
  if ((size_t)node->input >= f->encoding->n_inputs || node->number != node->number) return bad_tree(error);
  size_t first = c->leaf;
  int rc = compile_node(c, error);
  if (!rc) rc = exclude(f, node, c->tree, leaf_word(first, c->leaf), error);
  return rc ? rc : compile_node(c, error);
}

static int compile_tree(clt_forest *f, uint32_t index, clt_error *error) {
  struct compiler c = {f, index, 0, 0};
  if (f->trees[index].n_nodes > CLT_TREE_NODES) return bad_tree(error);
  int rc = compile_node(&c, error);
  return rc ? rc : c.node == f->trees[index].n_nodes ? CLT_OK : bad_tree(error);
}

static int by_threshold(const void *a, const void *b) {
  const struct test *p = a, *q = b;
  return (p->threshold > q->threshold) - (p->threshold < q->threshold);
}

static int compile_resource(struct resource_words *r, clt_error *error) {
  if (r->n == 0) return CLT_OK;
  r->words = clt_vector_memory(r->n + 1, CLT_TREES * sizeof(uint64_t));
  if (r->words == NULL) return clt_fail_memory(error);
  qsort(r->tests, r->n, sizeof *r->tests, by_threshold);
  memset(r->words, 0xff, CLT_TREES * sizeof(uint64_t));
  for (size_t i = 0; i < r->n; i++) {
    const uint64_t *from = r->words + i * CLT_TREES;
    uint64_t *to = r->words + (i + 1) * CLT_TREES;
    memcpy(to, from, CLT_TREES * sizeof *to);
    to[r->tests[i].tree] &= ~r->tests[i].excluded;
  }
  return CLT_OK;
}

/* The words of all combinations of the parameters in the table. */
static int fill_table(clt_forest *f, clt_error *error) {
  const clt_encoding *e = f->encoding;
  int rc = clt_split_init(&f->split, e, TABLE_ROWS, NULL, NULL, error);
  if (rc) return rc;
  f->table = clt_vector_memory(f->split.n_rows, CLT_TREES * sizeof *f->table);
  if (f->table == NULL) return clt_fail_memory(error);
  for (size_t row = 0; row < f->split.n_rows; row++) {
    const uint64_t *rows[CLT_MAX_PARAMETERS];
    size_t n = 0;
    for (size_t k = 0; k < e->n_parameters; k++)
      if (f->parameter_words[k] && f->split.in_table[k])
        rows[n++] = f->parameter_words[k] + clt_split_position(&f->split, row, k) * CLT_TREES;
    f->kernels->conjunction(rows, n, f->table + row * CLT_TREES);
  }
  return CLT_OK;
}

int clt_forest_new(clt_forest **out, const clt_encoding *encoding, const clt_tree *trees, clt_error *error) {
  clt_forest *f = clt_new_array(1, sizeof *f);
  if (f == NULL) return clt_fail_memory(error);
  f->encoding = encoding;
  f->kernels = clt_kernels_best();
  memcpy(f->trees, trees, sizeof f->trees);
  f->parameter_words = clt_new_array(encoding->n_parameters, sizeof *f->parameter_words);
  f->resources = clt_new_array(encoding->n_resources, sizeof *f->resources);
  int rc = f->parameter_words && f->resources ? CLT_OK : clt_fail_memory(error);
  for (uint32_t i = 0; !rc && i < CLT_TREES; i++) rc = compile_tree(f, i, error);
  for (size_t r = 0; !rc && r < encoding->n_resources; r++) rc = compile_resource(&f->resources[r], error);
  if (!rc) rc = fill_table(f, error);
  if (rc) return clt_forest_free(f), rc;
  *out = f;
  return CLT_OK;
}

void clt_forest_free(clt_forest *f) {
  if (f == NULL) return;
  for (size_t k = 0; f->parameter_words && k < f->encoding->n_parameters; k++) free(f->parameter_words[k]);
  for (size_t r = 0; f->resources && r < f->encoding->n_resources; r++) {
    free(f->resources[r].tests);
    free(f->resources[r].words);
  }
  free(f->table);
  free(f->parameter_words);
  free(f->resources);
  free(f);
}

const clt_tree *clt_forest_trees(const clt_forest *forest) { return forest->trees; }

int clt_forest_fit_values(clt_forest **out, const clt_encoding *encoding, const float *x, const float *y, size_t n,
                          uint64_t seed, clt_error *error) {
  clt_tree *trees = clt_new_array(CLT_TREES, sizeof *trees);
  clt_rng rng;
  clt_rng_init(&rng, seed);
  double sum = 0;
  for (size_t i = 0; i < n; i++) sum += (double)y[i];
  int rc = trees ? CLT_OK : clt_fail_memory(error);
  for (int i = 0; !rc && i < CLT_TREES; i++)
    rc = clt_tree_grow(&trees[i], x, encoding->n_inputs, y, n, sum / (double)n, &rng, error);
  if (!rc) rc = clt_forest_new(out, encoding, trees, error);
  free(trees);
  return rc;
}

int clt_forest_fit(clt_forest **out, const clt_encoding *encoding, const float *x, const bool *failed, size_t n,
                   uint64_t seed, clt_error *error) {
  float *y = clt_new_array(n, sizeof *y);
  if (y == NULL) return clt_fail_memory(error);
  for (size_t i = 0; i < n; i++) y[i] = failed[i];
  int rc = clt_forest_fit_values(out, encoding, x, y, n, seed, error);
  free(y);
  return rc;
}

/* --- predicting --- */

/* The leaves left by a resource's value: the tests with a threshold below it apply. */
static const uint64_t *resource_words(const struct resource_words *r, float x) {
  size_t low = 0, high = r->n;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (r->tests[middle].threshold < x)
      low = middle + 1;
    else
      high = middle;
  }
  return r->words + low * CLT_TREES;
}

#define MOST_SOURCES (CLT_MAX_PARAMETERS + CLT_MAX_RESOURCES)

/* The leaves left by all that is not in the table. */
static void rest_words(const clt_forest *f, clt_config config, uint64_t *out) {
  const clt_encoding *e = f->encoding;
  const uint64_t *rows[MOST_SOURCES];
  float resources[CLT_MAX_RESOURCES];
  size_t n = 0;
  for (size_t k = 0; k < e->n_parameters; k++)
    if (f->parameter_words[k] && !f->split.in_table[k])
      rows[n++] = f->parameter_words[k] + clt_encoded_position(&e->parameters[k], config) * CLT_TREES;
  clt_encode_resources(e, config, resources);
  for (size_t r = 0; r < e->n_resources; r++)
    if (f->resources[r].n) rows[n++] = resource_words(&f->resources[r], resources[r]);
  f->kernels->conjunction(rows, n, out);
}

static void predict_batch(const clt_forest *f, clt_split_batch *b, const clt_config *configs, size_t n, float *out) {
  clt_split_batch_fill(b, &f->split, configs, n);
  for (size_t r = 0; r < b->n_rests; r++) {
    uint64_t rest[CLT_TREES];
    rest_words(f, b->first[r], rest);
    for (size_t i = b->start[r]; i < b->start[r + 1]; i++) {
      const uint64_t *row = f->table + (size_t)b->table_row[b->order[i]] * CLT_TREES;
      out[b->order[i]] = f->kernels->forest(rest, row, &f->leaves[0][0]);
    }
  }
}

int clt_forest_sums(const clt_forest *f, const clt_config *configs, size_t n, float *out, clt_error *error) {
  clt_split_batch batch = {0};
  int rc = clt_split_batch_init(&batch, n < CLT_SPLIT_BATCH ? n : CLT_SPLIT_BATCH, error);
  for (size_t done = 0; !rc && done < n; done += CLT_SPLIT_BATCH) {
    size_t here = n - done < CLT_SPLIT_BATCH ? n - done : CLT_SPLIT_BATCH;
    predict_batch(f, &batch, configs + done, here, out + done);
  }
  clt_split_batch_release(&batch);
  return rc;
}

/* Trees that learn shares are between 0 and 1, and so is their mean; a file's may be anything. */
int clt_forest_failures(const clt_forest *f, const clt_config *configs, size_t n, float *out, clt_error *error) {
  int rc = clt_forest_sums(f, configs, n, out, error);
  for (size_t i = 0; !rc && i < n; i++) out[i] = fminf(fmaxf(out[i] / CLT_TREES, 0), 1);
  return rc;
}
