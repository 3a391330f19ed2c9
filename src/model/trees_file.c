/* Boosted trees as JSON and back (docs/model-file.md). */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/memory.h"
#include "model/json.h"
#include "model/trees.h"

/* --- saving --- */

/* A tree: [input, threshold, ...] of its nodes, then its leaves. */
static json_t *save_tree(const clt_boosted *b, size_t tree) {
  size_t n_leaves = (size_t)1 << b->depth;
  json_t *array = json_array();
  for (size_t i = 0; i + 1 < n_leaves; i++) {
    const clt_boosted_node *node = &b->nodes[tree * (n_leaves - 1) + i];
    json_array_append_new(array, json_integer((json_int_t)node->input));
    json_array_append_new(array, json_real((double)node->threshold));
  }
  for (size_t i = 0; i < n_leaves; i++) json_array_append_new(array, json_real((double)b->leaves[tree * n_leaves + i]));
  return array;
}

static json_t *save_member(const clt_boosted *b) {
  json_t *trees = json_array();
  for (size_t t = 0; t < b->n_trees; t++) json_array_append_new(trees, save_tree(b, t));
  return json_pack("{s:f, s:I, s:o}", "base", (double)b->base, "depth", (json_int_t)b->depth, "trees", trees);
}

int clt_trees_save(const void *state, json_t **out, clt_error *error) {
  const clt_trees *t = state;
  json_t *members = json_array();
  for (size_t m = 0; m < t->n_members; m++) json_array_append_new(members, save_member(&t->members[m]));
  *out = json_pack("{s:o, s:o, s:o}", "resources", clt_resources_save(t->encoding), "residuals",
                   clt_json_floats(t->residuals, t->n_residuals), "members", members);
  return *out ? CLT_OK : clt_fail_memory(error);
}

/* --- loading --- */

static bool read_nodes(clt_boosted_node *nodes, size_t n, size_t n_inputs, const json_t *array) {
  for (size_t i = 0; i < n; i++) {
    size_t input;
    double threshold;
    if (!clt_json_read_size(&input, json_array_get(array, 2 * i), 0, n_inputs - 1) ||
        !clt_json_read_number(&threshold, json_array_get(array, 2 * i + 1)))
      return false;
    nodes[i] = (clt_boosted_node){(uint32_t)input, (float)threshold};
  }
  return true;
}

static bool read_tree(clt_boosted *b, size_t tree, const json_t *array) {
  size_t n_leaves = (size_t)1 << b->depth, n_nodes = n_leaves - 1;
  if (json_array_size(array) != 2 * n_nodes + n_leaves) return false;
  bool good = read_nodes(b->nodes + tree * n_nodes, n_nodes, b->n_inputs, array);
  for (size_t i = 0; good && i < n_leaves; i++) {
    double leaf;
    good = clt_json_read_number(&leaf, json_array_get(array, 2 * n_nodes + i)) && isfinite((float)leaf);
    if (good) b->leaves[tree * n_leaves + i] = (float)leaf;
  }
  return good;
}

static int load_member(clt_boosted *out, size_t n_inputs, const json_t *json, clt_error *error) {
  const json_t *trees = json_object_get(json, "trees");
  size_t n = json_array_size(trees), depth = 0;
  double base = 0;
  bool good = n > 0 && n <= CLT_MOST_ROUNDS && clt_json_read_number(&base, json_object_get(json, "base")) &&
              clt_json_read_size(&depth, json_object_get(json, "depth"), 1, CLT_MOST_DEPTH);
  if (!good) return clt_model_damaged(error, "trees");
  int rc = clt_boosted_init(out, n_inputs, n, depth, error);
  out->base = (float)base;
  for (size_t t = 0; !rc && t < n; t++)
    if (!read_tree(out, t, json_array_get(trees, t))) rc = clt_model_damaged(error, "trees");
  return rc;
}

static int load_residuals(clt_trees *t, const json_t *array, clt_error *error) {
  t->n_residuals = json_array_size(array);
  t->residuals = clt_new_array(t->n_residuals, sizeof *t->residuals);
  if (t->residuals == NULL) return clt_fail_memory(error);
  bool good = json_is_array(array) && clt_json_read_floats(t->residuals, t->n_residuals, array);
  return good ? CLT_OK : clt_model_damaged(error, "residuals");
}

int clt_trees_load(void *state, const clt_space *space, const clt_instance *instance, const json_t *json,
                   clt_error *error) {
  clt_trees *t = state;
  const json_t *members = json_object_get(json, "members");
  size_t n = json_array_size(members);
  int rc = clt_encoding_new(&t->encoding, space, NULL, error);
  if (!rc) rc = clt_resources_load(t->encoding, instance, json_object_get(json, "resources"), error);
  if (!rc) rc = load_residuals(t, json_object_get(json, "residuals"), error);
  if (rc) return rc;
  if (n == 0 || n > CLT_MOST_TREE_MEMBERS || t->encoding->n_inputs == 0) return clt_model_damaged(error, "trees");
  t->members = clt_new_array(n, sizeof *t->members);
  if (t->members == NULL) return clt_fail_memory(error);
  t->n_members = n;
  for (size_t m = 0; !rc && m < n; m++)
    rc = load_member(&t->members[m], t->encoding->n_inputs, json_array_get(members, m), error);
  return rc;
}
