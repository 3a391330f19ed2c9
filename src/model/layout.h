/* model/layout.h - configurations laid out for being predicted again and again by networks that change.
 *
 * The first layer's sums are split as in model/tables.h: a factor for a few parameters whose combinations stand in a
 * table, and one for the *rest*, shared by many configurations. Which configuration has which factors depends on the
 * configurations alone, so it is worked out once and not at every refit. */
#ifndef CLT_MODEL_LAYOUT_H
#define CLT_MODEL_LAYOUT_H

#include "model/split.h"

#define CLT_LAYOUT_MOST CLT_SPLIT_BATCH /* configurations */

/* Inputs that a model has beside the encoding's: out[n] of a configuration. Any number of threads at once. */
typedef struct clt_extra_inputs {
  size_t n;
  void (*fill)(const void *user, clt_config config, float *out);
  const void *user;
} clt_extra_inputs;

typedef struct clt_layout {
  size_t n, n_rests, n_rows; /* configurations; rests; rows of the table */
  size_t n_rest_inputs, n_row_inputs;
  size_t *rest_inputs, *row_inputs; /* which of the encoding's inputs */
  uint32_t *order, *start, *row;    /* configurations order[start[r]] .. share rest r; row: by place in order */
  float *rest_x, *row_x;            /* [rest][n_rest_inputs], [row][n_row_inputs] */
} clt_layout;

/* Chooses the table for configurations like these, so that few factors have to be computed. None with extra inputs:
 * they are each configuration's own. */
int clt_layout_split(clt_split *out, const clt_encoding *encoding, bool has_extra, const clt_config *configs, size_t n,
                     clt_error *error);

/* n at most CLT_LAYOUT_MOST. Release also after a failure. The encoding has no resources; extra is NULL where
 * there is nothing beside it. */
int clt_layout_init(clt_layout *layout, const clt_split *split, const clt_extra_inputs *extra,
                    const clt_config *configs, size_t n, clt_error *error);
void clt_layout_release(clt_layout *layout);

#endif
