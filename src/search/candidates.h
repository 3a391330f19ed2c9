/* search/candidates.h - what a model predicts to be the fastest, in order, fetched as far as it is read. */
#ifndef CLT_SEARCH_CANDIDATES_H
#define CLT_SEARCH_CANDIDATES_H

#include <clatune/model.h>

#include "search/draw.h"

typedef struct clt_candidates {
  clt_config *configs;
  clt_prediction *predictions;
  size_t n, next; /* next: the first not taken */
  bool exhausted; /* the model has no others */
} clt_candidates;

void clt_candidates_release(clt_candidates *candidates);

/* Replaces what is there by the model's best of those not in `seen` and not standing for another configuration, those
 * less likely to be valid than min_p_valid last. */
int clt_candidates_refill(clt_candidates *candidates, const clt_model *model, const clt_space *space,
                          const clt_config_set *seen, double min_p_valid, clt_error *error);

#endif
