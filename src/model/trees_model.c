/* The model `trees`: bagged boosted regression trees on log cost (Bergstra, Pinto and Cox, "Machine learning for
 * predictive auto-tuning with boosted regression trees", 2012), as many members as there are folds, each without one of
 * them. */
#include <float.h>

#include "base/base.h"
#include "model/model.h"

#define MOST_MEMBERS 64
#define MOST_ROUNDS 10000

#define MOST_DEPTH 8
#define ROWS 16 /* predicted side by side: one alone waits for its tree at every level */

typedef struct boosted_options {
  int64_t members, rounds, depth, leaf_rows;
  double rate;
  bool resources;
} boosted_options;

typedef struct boosted_node {
  uint32_t input;
  float threshold;
} boosted_node;

/* Trees are complete, so that walking them has no branches: node i has the children 2 i + 1 (input at most the
 * threshold) and 2 i + 2; if no split gains anything, all rows go to the left. */
typedef struct boosted {
  size_t n_trees, depth;
  float base;          /* the prediction without any tree */
  boosted_node *nodes; /* [n_trees][2^depth - 1] */
  float *leaves;       /* [n_trees][2^depth] */
} boosted;

typedef struct boosted_state {
  clt_arena memory; /* of members and trees */
  clt_encoding *encoding;
  size_t n_members;
  boosted *members;
} boosted_state;

#define AT(field) offsetof(boosted_options, field)
static const clt_option options[] = {
    {"members", CLT_OPTION_INT, "11", 2, MOST_MEMBERS, AT(members),
     "boosted models, each trained without one part of the rows"},
    {"rounds", CLT_OPTION_INT, "100", 1, MOST_ROUNDS, AT(rounds), "trees per boosted model"},
    {"depth", CLT_OPTION_INT, "4", 1, MOST_DEPTH, AT(depth), "depth of a tree"},
    {"leaf-rows", CLT_OPTION_INT, "10", 1, 1e6, AT(leaf_rows), "minimum rows per leaf"},
    {"rate", CLT_OPTION_REAL, "0.1", 0.001, 1, AT(rate),
     "learning rate: the fraction of a leaf's mean that a tree adds"},
    {"resources", CLT_OPTION_BOOL, "yes", 0, 0, AT(resources), "uses the problem's Resources as inputs, if it has any"},
};

/* Trees of zeros. */
static boosted allocate_trees(clt_arena *memory, size_t n_trees, size_t depth) {
  const size_t n_leaves = (size_t)1 << depth;
  return (boosted){.n_trees = n_trees,
                   .depth = depth,
                   .nodes = clt_arena_array(memory, n_trees, (n_leaves - 1) * sizeof(boosted_node)),
                   .leaves = clt_arena_array(memory, n_trees, n_leaves * sizeof(float))};
}

/* Writes a subtree as a complete one, at node `at`; the values of its leaves are subtracted from their rows. */
static void write_whole(clt_growth *g, size_t index, size_t at, size_t depth, boosted_node *nodes, float *leaves) {
  const clt_growing_node *node = &g->nodes[index];
  if (depth == g->most_depth) {
    float value = clt_growth_leaf(g, node);
    leaves[at - (((size_t)1 << depth) - 1)] = value;
    for (size_t i = node->first; i < node->first + node->n; i++) g->y[g->order[i]] -= value;
    return;
  }
  if (node->left == 0) {
    nodes[at] = (boosted_node){0, FLT_MAX};
    write_whole(g, index, 2 * at + 1, depth + 1, nodes, leaves);
    return;
  }
  nodes[at] = (boosted_node){(uint32_t)node->input, node->threshold};
  write_whole(g, node->left, 2 * at + 1, depth + 1, nodes, leaves);
  write_whole(g, node->right, 2 * at + 2, depth + 1, nodes, leaves);
}

/* For rows x[ROWS][n_inputs]. */
static void predict_rows(float out[ROWS], const boosted *b, const float *x, size_t n_inputs) {
  size_t n_leaves = (size_t)1 << b->depth;
  for (size_t r = 0; r < ROWS; r++) out[r] = b->base;
  for (size_t t = 0; t < b->n_trees; t++) {
    const boosted_node *nodes = b->nodes + t * (n_leaves - 1);
    const float *leaves = b->leaves + t * n_leaves;
    uint32_t at[ROWS] = {0};
    for (size_t d = 0; d < b->depth; d++)
      for (size_t r = 0; r < ROWS; r++)
        at[r] = 2 * at[r] + 1 + (x[r * n_inputs + nodes[at[r]].input] > nodes[at[r]].threshold);
    for (size_t r = 0; r < ROWS; r++) out[r] += leaves[at[r] - (n_leaves - 1)];
  }
}

static int fit_member(const clt_bag *bag, size_t index, const size_t *rows, size_t n_train, float *outputs,
                      clt_error *error) {
  const boosted_state *s = bag->state;
  const boosted_options *o = bag->options;
  boosted *b = &s->members[index];
  size_t n_inputs = s->encoding->n_inputs, n_leaves = (size_t)1 << o->depth;
  clt_growth g = {n_leaves, (size_t)o->depth, (size_t)o->leaf_rows, .prior = NAN, .rate = o->rate};
  float *left_out = clt_arena_array(&g.memory, ROWS, n_inputs * sizeof *left_out), y[ROWS];
  int rc = clt_growth_init(&g, bag->x, n_inputs, bag->y, rows, n_train, error);
  double sum = 0;
  for (size_t i = 0; rc == CLT_OK && i < n_train; i++) sum += (double)g.y[i];
  b->base = (float)(sum / (double)n_train);
  for (size_t i = 0; rc == CLT_OK && i < n_train; i++) g.y[i] -= b->base;
  for (size_t t = 0; rc == CLT_OK && t < b->n_trees; t++) {
    clt_growth_tree(&g);
    write_whole(&g, 0, 0, 0, b->nodes + t * (n_leaves - 1), b->leaves + t * n_leaves);
  }
  for (size_t i = n_train; rc == CLT_OK && i < bag->n; i += ROWS) {
    size_t n = clt_min(bag->n - i, ROWS);
    for (size_t r = 0; r < n; r++)
      memcpy(left_out + r * n_inputs, bag->x + rows[i + r] * n_inputs, n_inputs * sizeof *left_out);
    predict_rows(y, b, left_out, n_inputs);
    memcpy(outputs + (i - n_train), y, n * sizeof *y);
  }
  clt_arena_release(&g.memory);
  return rc;
}

static int boosted_fit(void *state, const clt_rows *rows, const void *given, uint64_t seed, unsigned threads,
                       float *residuals, clt_error *error) {
  const boosted_options *o = given;
  boosted_state *s = state;
  int rc = clt_rows_encoding(&s->encoding, rows, o->resources, error);
  if (rc) return rc;
  s->n_members = clt_min((size_t)o->members, rows->n);
  s->members = clt_arena_array(&s->memory, s->n_members, sizeof *s->members);
  for (size_t m = 0; s->members && m < s->n_members; m++)
    s->members[m] = allocate_trees(&s->memory, (size_t)o->rounds, (size_t)o->depth);
  if (s->memory.failed) return clt_arena_check(&s->memory, error);
  clt_bag bag = {.state = s, .options = o, .fit_member = fit_member, .scale = 1};
  return clt_bag_fit(&bag, s->encoding, rows, s->n_members, seed, threads, residuals, error);
}

/* Fast: one member; eleven of them take eleven times as long. */
static int boosted_predict(const void *state, const clt_config *configs, size_t n, bool fast, clt_prediction *out,
                           clt_error *error) {
  const boosted_state *s = state;
  size_t n_inputs = s->encoding->n_inputs, n_members = fast ? 1 : s->n_members;
  float *x = clt_new_array(n_inputs * ROWS, sizeof *x), y[ROWS];
  if (x == NULL) return clt_fail_memory(error);
  for (size_t i = 0; i < n; i += ROWS) {
    size_t n_rows = clt_min(n - i, ROWS);
    double sum[ROWS] = {0}, squares[ROWS] = {0};
    for (size_t r = 0; r < n_rows; r++) clt_encode(s->encoding, configs[i + r], x + r * n_inputs);
    for (size_t m = 0; m < n_members; m++) {
      predict_rows(y, &s->members[m], x, n_inputs);
      for (size_t r = 0; r < n_rows; r++) {
        sum[r] += (double)y[r];
        squares[r] += (double)y[r] * (double)y[r];
      }
    }
    for (size_t r = 0; r < n_rows; r++) {
      double mean = sum[r] / (double)n_members;
      out[i + r].log_cost = (float)mean;
      out[i + r].spread = (float)sqrt(fmax(0, squares[r] / (double)n_members - mean * mean));
    }
  }
  free(x);
  return CLT_OK;
}

/* A tree is a list: [input, threshold, ...] of its nodes, then its leaves. */
static int boosted_save(const void *state, clt_model_record *out, clt_error *error) {
  const boosted_state *s = state;
  json_t *members = json_array();
  for (const boosted *b = s->members; b < s->members + s->n_members; b++) {
    size_t n_leaves = (size_t)1 << b->depth;
    json_t *trees = json_array();
    for (size_t t = 0; t < b->n_trees; t++) {
      json_t *tree = json_array();
      const boosted_node *nodes = b->nodes + t * (n_leaves - 1);
      for (size_t i = 0; i + 1 < n_leaves; i++) {
        clt_json_append(&tree, json_integer((json_int_t)nodes[i].input));
        clt_json_append(&tree, json_real((double)nodes[i].threshold));
      }
      for (size_t i = 0; i < n_leaves; i++) clt_json_append(&tree, json_real((double)b->leaves[t * n_leaves + i]));
      clt_json_append(&trees, tree);
    }
    clt_json_append(
        &members, json_pack("{s:f, s:I, s:o}", "base", (double)b->base, "depth", (json_int_t)b->depth, "trees", trees));
  }
  int failed = json_object_set_new(clt_record_json(out), "resources", clt_encoding_save(s->encoding));
  failed |= json_object_set_new(clt_record_json(out), "members", members);
  return failed ? clt_fail_memory(error) : CLT_OK;
}

static int load_member(boosted *b, clt_arena *memory, size_t n_inputs, const json_t *json, clt_error *error) {
  const json_t *trees = json_object_get(json, "trees");
  size_t n = json_array_size(trees), depth = 0;
  double base = 0;
  bool good = n > 0 && n <= MOST_ROUNDS && clt_json_read_number(&base, json_object_get(json, "base")) &&
              clt_json_read_size(&depth, json_object_get(json, "depth"), 1, MOST_DEPTH);
  if (!good) return clt_model_damaged(error, "trees");
  *b = allocate_trees(memory, n, depth);
  if (memory->failed) return clt_arena_check(memory, error);
  size_t n_leaves = (size_t)1 << depth, n_nodes = n_leaves - 1;
  b->base = (float)base;
  for (size_t t = 0; good && t < n; t++) {
    const json_t *tree = json_array_get(trees, t);
    boosted_node *nodes = b->nodes + t * n_nodes;
    good = json_array_size(tree) == 2 * n_nodes + n_leaves;
    for (size_t i = 0; good && i < 2 * n_nodes + n_leaves; i++) {
      double number = 0;
      good = clt_json_read_number(&number, json_array_get(tree, i)) && isfinite((float)number);
      if (i >= 2 * n_nodes)
        b->leaves[t * n_leaves + i - 2 * n_nodes] = (float)number;
      else if (i % 2)
        nodes[i / 2].threshold = (float)number;
      else if ((good = good && number >= 0 && number < (double)n_inputs && number == floor(number)))
        nodes[i / 2].input = (uint32_t)number;
    }
  }
  return good ? CLT_OK : clt_model_damaged(error, "trees");
}

static int boosted_load(void *state, const clt_space *space, const clt_instance *instance,
                        const clt_model_record *record, clt_error *error) {
  boosted_state *s = state;
  const json_t *json = clt_record_json(record), *members = json_object_get(json, "members");
  size_t n = json_array_size(members);
  int rc = clt_encoding_load(&s->encoding, space, instance, json_object_get(json, "resources"), error);
  if (rc) return rc;
  if (n == 0 || n > MOST_MEMBERS) return clt_model_damaged(error, "trees");
  s->n_members = n;
  s->members = clt_arena_array(&s->memory, n, sizeof *s->members);
  rc = clt_arena_check(&s->memory, error);
  for (size_t m = 0; rc == CLT_OK && m < n; m++)
    rc = load_member(&s->members[m], &s->memory, s->encoding->n_inputs, json_array_get(members, m), error);
  return rc;
}

static void boosted_bind(void *state, const clt_instance *instance) {
  clt_encoding_bind(((boosted_state *)state)->encoding, instance);
}

static void boosted_fini(void *state) {
  boosted_state *s = state;
  clt_arena_release(&s->memory);
  clt_encoding_free(s->encoding);
}

const clt_model_type clt_model_trees = {
    .abi = CLT_MODEL_ABI,
    .name = "trees",
    .summary = "an ensemble of boosted regression trees, fitted to log time",
    CLT_OPTIONS(options, boosted_options),
    .state_size = sizeof(boosted_state),
    .has_fast = true,
    .fit = boosted_fit,
    .predict = boosted_predict,
    .save = boosted_save,
    .load = boosted_load,
    .bind = boosted_bind,
    .fini = boosted_fini,
};
