/* A forest as JSON and back (docs/model-file.md). */
#include <stdlib.h>

#include "base/fail.h"
#include "base/memory.h"
#include "model/forest.h"
#include "model/json.h"

/* A tree as [input, number, input, number, ...] in pre-order. */
static json_t *tree_json(const clt_tree *tree) {
  json_t *array = json_array();
  for (size_t i = 0; array && i < tree->n_nodes; i++) {
    bool good = json_array_append_new(array, json_integer(tree->nodes[i].input)) == 0 &&
                json_array_append_new(array, json_real((double)tree->nodes[i].number)) == 0;
    if (good) continue;
    json_decref(array);
    return NULL;
  }
  return array;
}

json_t *clt_forest_save(const clt_forest *forest) {
  json_t *trees = json_array();
  for (size_t i = 0; trees && i < CLT_TREES; i++) {
    if (json_array_append_new(trees, tree_json(&clt_forest_trees(forest)[i])) == 0) continue;
    json_decref(trees);
    return NULL;
  }
  return trees;
}

static int load_tree(clt_tree *tree, const json_t *array, clt_error *error) {
  size_t n = json_array_size(array) / 2;
  if (n > CLT_TREE_NODES) return clt_model_damaged(error, "trees");
  tree->n_nodes = n;
  for (size_t i = 0; i < n; i++) {
    const json_t *input = json_array_get(array, 2 * i);
    double number;
    bool good = json_is_integer(input) && json_integer_value(input) >= -1 && json_integer_value(input) <= INT32_MAX &&
                clt_json_read_number(&number, json_array_get(array, 2 * i + 1));
    if (!good) return clt_model_damaged(error, "trees");
    tree->nodes[i] = (clt_tree_node){(int32_t)json_integer_value(input), (float)number};
  }
  return CLT_OK;
}

int clt_forest_load(clt_forest **out, const clt_encoding *encoding, const json_t *array, clt_error *error) {
  if (json_array_size(array) != CLT_TREES) return clt_model_damaged(error, "trees");
  clt_tree *trees = clt_new_array(CLT_TREES, sizeof *trees);
  int rc = trees ? CLT_OK : clt_fail_memory(error);
  for (size_t i = 0; !rc && i < CLT_TREES; i++) rc = load_tree(&trees[i], json_array_get(array, i), error);
  if (!rc) rc = clt_forest_new(out, encoding, trees, error);
  free(trees);
  return rc;
}
