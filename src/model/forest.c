/* Forests of small trees. A tree has at most 64 leaves, so that a set of them is one 64-bit word, and predicting is the
 * conjunction of one word for each parameter's value, which excludes the leaves that the value rules out (Lucchese et
 * al., "QuickScorer", SIGIR 2015). */
#include "base/base.h"
#include "model/model.h"
#include "model/network.h"
#include "model/trees.h"

#define TABLE_ROWS 512 /* of words; 256 KiB, so that they stay in the second-level cache */
#define MOST_NODES (2 * CLT_TREE_LEAVES - 1)
#define MOST_SOURCES (CLT_MAX_PARAMETERS + CLT_MAX_RESOURCES)

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
  clt_arena memory; /* of the words */
  const clt_encoding *encoding;
  size_t n_nodes[CLT_TREES];
  clt_tree_node trees[CLT_TREES][MOST_NODES];
  float leaves[CLT_TREES][CLT_TREE_LEAVES];
  uint64_t **parameter_words; /* by parameter: [value][tree]; NULL if no tree tests it */
  struct resource_words *resources;
  clt_split split;
  uint64_t *table; /* [row of the split's table][tree] */
};

/* --- from trees to words --- */

/* The leaves first .. end - 1 of a tree are excluded if an input is above a node's number. */
static int exclude_leaves(clt_forest *f, const clt_tree_node *node, uint32_t tree, size_t first, size_t end,
                          clt_error *error) {
  const clt_encoding *e = f->encoding;
  uint64_t below_end = end < 64 ? (UINT64_C(1) << end) - 1 : UINT64_MAX;
  uint64_t excluded = below_end & ~((UINT64_C(1) << first) - 1);
  size_t input = (size_t)node->input, k = 0;
  if (input >= e->first_resource) {
    struct resource_words *r = &f->resources[input - e->first_resource];
    if (clt_grow(&r->tests, &r->capacity, r->n + 1, sizeof *r->tests)) return clt_fail_memory(error);
    r->tests[r->n++] = (struct test){node->number, tree, excluded};
    return CLT_OK;
  }
  while (input >= e->parameters[k].first + e->parameters[k].width) k++;
  const clt_encoded_parameter *p = &e->parameters[k];
  if (f->parameter_words[k] == NULL) {
    f->parameter_words[k] = clt_arena_array(&f->memory, p->n_values, CLT_TREES * sizeof(uint64_t));
    if (f->parameter_words[k] == NULL) return clt_fail_memory(error);
    memset(f->parameter_words[k], 0xff, p->n_values * CLT_TREES * sizeof(uint64_t));
  }
  for (size_t v = 0; v < p->n_values; v++)
    if (p->table[v * p->width + (input - p->first)] > node->number)
      f->parameter_words[k][v * CLT_TREES + tree] &= ~excluded;
  return CLT_OK;
}

/* Goes through a tree in pre-order; *at and *leaf are the next ones. Nodes may come from a file: the nesting is bounded
 * by their number. */
static int compile_node(clt_forest *f, uint32_t tree, size_t *at, size_t *leaf, clt_error *error) {
  if (*at >= f->n_nodes[tree]) return clt_model_damaged(error, "trees");
  const clt_tree_node *node = &f->trees[tree][(*at)++];
  if (node->input < 0) {
    if (*leaf >= CLT_TREE_LEAVES || !isfinite(node->number)) return clt_model_damaged(error, "trees");
    f->leaves[tree][(*leaf)++] = node->number;
    return CLT_OK;
  }
  if ((size_t)node->input >= f->encoding->n_inputs || isnan(node->number)) return clt_model_damaged(error, "trees");
  size_t first = *leaf;
  int rc = compile_node(f, tree, at, leaf, error);
  if (rc == CLT_OK) rc = exclude_leaves(f, node, tree, first, *leaf, error);
  return rc ? rc : compile_node(f, tree, at, leaf, error);
}

static int compare_thresholds(const void *a, const void *b) {
  const struct test *p = a, *q = b;
  return (p->threshold > q->threshold) - (p->threshold < q->threshold);
}

static int compile_trees(clt_forest *f, clt_error *error) {
  const clt_encoding *e = f->encoding;
  f->parameter_words = clt_arena_array(&f->memory, e->n_parameters, sizeof *f->parameter_words);
  f->resources = clt_arena_array(&f->memory, e->n_resources, sizeof *f->resources);
  int rc = clt_arena_check(&f->memory, error);
  for (uint32_t tree = 0; rc == CLT_OK && tree < CLT_TREES; tree++) {
    size_t at = 0, leaf = 0;
    rc = compile_node(f, tree, &at, &leaf, error);
    if (rc == CLT_OK && at != f->n_nodes[tree]) rc = clt_model_damaged(error, "trees");
  }
  for (size_t k = 0; rc == CLT_OK && k < e->n_resources; k++) {
    struct resource_words *r = &f->resources[k];
    if (r->n == 0) continue;
    r->words = clt_arena_array(&f->memory, r->n + 1, CLT_TREES * sizeof(uint64_t));
    if (r->words == NULL) return clt_fail_memory(error);
    qsort(r->tests, r->n, sizeof *r->tests, compare_thresholds);
    memset(r->words, 0xff, CLT_TREES * sizeof(uint64_t));
    for (size_t i = 0; i < r->n; i++) {
      uint64_t *to = r->words + (i + 1) * CLT_TREES;
      memcpy(to, to - CLT_TREES, CLT_TREES * sizeof *to);
      to[r->tests[i].tree] &= ~r->tests[i].excluded;
    }
  }
  /* The words of all combinations of the parameters in the table. */
  if (rc == CLT_OK) rc = clt_split_init(&f->split, e, TABLE_ROWS, NULL, NULL, 0, error);
  f->table = clt_arena_array(&f->memory, f->split.n_rows, CLT_TREES * sizeof *f->table);
  if (rc == CLT_OK) rc = clt_arena_check(&f->memory, error);
  for (size_t row = 0; rc == CLT_OK && row < f->split.n_rows; row++) {
    const uint64_t *words[CLT_MAX_PARAMETERS];
    size_t n = 0;
    for (size_t k = 0; k < e->n_parameters; k++)
      if (f->parameter_words[k] && f->split.in_table[k])
        words[n++] = f->parameter_words[k] + clt_split_position(&f->split, row, k) * CLT_TREES;
    clt_kernels_best()->conjunction(words, n, f->table + row * CLT_TREES);
  }
  return rc;
}

void clt_forest_free(clt_forest *f) {
  if (f == NULL) return;
  for (size_t r = 0; f->resources && r < f->encoding->n_resources; r++) free(f->resources[r].tests);
  clt_arena_release(&f->memory);
  free(f);
}

int clt_forest_fit(clt_forest **out, const clt_encoding *encoding, const float *x, const float *y, size_t n,
                   uint64_t seed, clt_error *error) {
  clt_rng rng;
  clt_rng_init(&rng, seed);
  clt_growth g = {
      .most_leaves = CLT_TREE_LEAVES, .most_depth = CLT_TREE_LEAVES, .leaf_rows = 1, .rng = &rng, .rate = 1};
  for (size_t i = 0; i < n; i++) g.prior += (double)y[i] / (double)n;
  clt_forest *f = clt_new_array(1, sizeof *f);
  if (f == NULL) return clt_fail_memory(error);
  f->encoding = encoding;
  int rc = clt_growth_init(&g, x, encoding->n_inputs, y, NULL, n, error);
  for (size_t t = 0; rc == CLT_OK && t < CLT_TREES; t++) {
    for (size_t i = 0; i < n; i++) g.order[i] = (uint32_t)i;
    clt_growth_tree(&g);
    f->n_nodes[t] = clt_growth_write(&g, 0, f->trees[t], 0);
  }
  clt_arena_release(&g.memory);
  if (rc == CLT_OK) rc = compile_trees(f, error);
  if (rc == CLT_OK)
    *out = f;
  else
    clt_forest_free(f);
  return rc;
}

/* --- predicting --- */

/* Leaves that were fitted are within 0 .. 1, and so is their mean; a file's may be anything. */
int clt_forest_predict(const clt_forest *f, const clt_config *configs, size_t n, float *out, clt_error *error) {
  const clt_encoding *e = f->encoding;
  const clt_kernels *kernels = clt_kernels_best();
  int rc = CLT_OK;
  for (size_t done = 0; rc == CLT_OK && done < n; done += CLT_LAYOUT_MOST) {
    clt_layout l;
    size_t n_here = clt_min(n - done, CLT_LAYOUT_MOST);
    rc = clt_layout_group(&l, &f->split, configs + done, n_here, error);
    for (size_t i = 0; rc == CLT_OK && i < l.n_rests; i++) {
      const uint64_t *words[MOST_SOURCES];
      uint64_t rest[CLT_TREES]; /* the leaves left by all that is not in the table */
      float resources[CLT_MAX_RESOURCES];
      uint32_t positions[CLT_MAX_PARAMETERS];
      size_t n_words = 0;
      clt_space_positions(positions, e->space, l.first[i]);
      for (size_t k = 0; k < e->n_parameters; k++)
        if (f->parameter_words[k] && !f->split.in_table[k])
          words[n_words++] = f->parameter_words[k] + (size_t)positions[k] * CLT_TREES;
      clt_encode_resources(e, l.first[i], resources);
      for (size_t k = 0; k < e->n_resources; k++) {
        const struct resource_words *r = &f->resources[k];
        size_t low = 0, high = r->n; /* the tests with a threshold below the value apply */
        while (low < high) {
          size_t middle = (low + high) / 2;
          if (r->tests[middle].threshold < resources[k])
            low = middle + 1;
          else
            high = middle;
        }
        if (r->n) words[n_words++] = r->words + low * CLT_TREES;
      }
      kernels->conjunction(words, n_words, rest);
      for (size_t at = l.start[i]; at < l.start[i + 1]; at++) {
        float sum = kernels->forest(rest, f->table + (size_t)l.row[at] * CLT_TREES, &f->leaves[0][0]);
        out[done + l.order[at]] = fminf(fmaxf(sum / CLT_TREES, 0), 1);
      }
    }
    clt_arena_release(&l.memory);
  }
  return rc;
}

/* --- as JSON (src/model/FORMAT.md) --- */

json_t *clt_forest_save(const clt_forest *f) {
  json_t *trees = json_array();
  for (size_t t = 0; t < CLT_TREES; t++) {
    json_t *tree = json_array();
    for (const clt_tree_node *node = f->trees[t]; node < f->trees[t] + f->n_nodes[t]; node++) {
      clt_json_append(&tree, json_integer(node->input));
      clt_json_append(&tree, json_real((double)node->number));
    }
    clt_json_append(&trees, tree);
  }
  return trees;
}

int clt_forest_load(clt_forest **out, const clt_encoding *encoding, const json_t *array, clt_error *error) {
  if (json_array_size(array) != CLT_TREES) return clt_model_damaged(error, "trees");
  clt_forest *f = clt_new_array(1, sizeof *f);
  if (f == NULL) return clt_fail_memory(error);
  f->encoding = encoding;
  bool good = true;
  for (size_t t = 0; good && t < CLT_TREES; t++) {
    const json_t *tree = json_array_get(array, t);
    size_t n = json_array_size(tree) / 2;
    good = n <= MOST_NODES;
    f->n_nodes[t] = good ? n : 0;
    for (size_t i = 0; good && i < n; i++) {
      const json_t *input = json_array_get(tree, 2 * i);
      double number = 0;
      good = json_is_integer(input) && json_integer_value(input) >= -1 && json_integer_value(input) <= INT32_MAX &&
             clt_json_read_number(&number, json_array_get(tree, 2 * i + 1));
      if (good) f->trees[t][i] = (clt_tree_node){(int32_t)json_integer_value(input), (float)number, 0};
    }
  }
  int rc = good ? compile_trees(f, error) : clt_model_damaged(error, "trees");
  if (rc == CLT_OK)
    *out = f;
  else
    clt_forest_free(f);
  return rc;
}
