/* model/trees.h - the state of the model `trees`, shared with its reader and writer. */
#ifndef CLT_MODEL_TREES_H
#define CLT_MODEL_TREES_H

#include <clatune/sys/model.h>

#include "dataset/encoding.h"
#include "model/boosting.h"

#define CLT_MOST_TREE_MEMBERS 64
#define CLT_MOST_ROUNDS 10000

typedef struct clt_trees {
  clt_encoding *encoding;
  size_t n_members;
  clt_boosted *members;
  float *residuals;
  size_t n_residuals;
} clt_trees;

int clt_trees_save(const void *state, struct json_t **out, clt_error *error);
int clt_trees_load(void *state, const clt_space *space, const clt_instance *instance, const struct json_t *json,
                   clt_error *error);

#endif
