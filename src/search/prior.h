/* search/prior.h - what a model predicted beforehand, corrected by what was measured since.
 *
 * A Gaussian process on the logarithm of measured over predicted times (Rasmussen and Williams, "Gaussian Processes for
 * Machine Learning", 2006, section 2.2, with the prediction as its mean, 2.7): near what was measured the prediction is
 * shifted as that was, far from it by what all have in common. */
#ifndef CLT_SEARCH_PRIOR_H
#define CLT_SEARCH_PRIOR_H

#include <clatune/sys/searcher.h>

#include "model/trees.h"
#include "search/searchers.h"
#include "search/draw.h"

typedef struct clt_prior {
  const clt_encoding *encoding;
  clt_config *configs; /* those that stand for themselves and are predicted to be valid, ascending */
  float *log_time;     /* up to a constant */
  float *x;            /* [n][n_inputs] */
  size_t n;
} clt_prior;

/* Borrows the encoding. */
int clt_prior_init(clt_prior *prior, const clt_search_source *predictions, const clt_encoding *encoding,
                   clt_error *error);
void clt_prior_release(clt_prior *prior);

/* The fastest by the corrected predictions of those not in asked; those that fail by `failures` (nullable) last. rows:
 * the measured ones; failed ones and those that nothing was predicted for do not count. CLT_CONFIG_NONE: none is left.
 */
int clt_prior_best(clt_config *out, const clt_prior *prior, const clt_row *rows, size_t n_rows,
                   const clt_config_set *asked, const clt_forest *failures, clt_error *error);

#endif
