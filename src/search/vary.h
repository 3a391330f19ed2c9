/* search/vary.h - configurations made of others. All results are valid and stand for themselves (clt_space_canonical);
 * none need be new. */
#ifndef CLT_SEARCH_VARY_H
#define CLT_SEARCH_VARY_H

#include "space/walk.h"

/* Room for one thread's work; the space is not empty. */
typedef struct clt_vary {
  const clt_space *space;
  clt_rng *rng;
  clt_branch *branches;
} clt_vary;

int clt_vary_init(clt_vary *vary, const clt_space *space, clt_rng *rng, clt_error *error);
void clt_vary_release(clt_vary *vary);

/* The parents' values mixed: each parameter has that of a or of b with equal probability, and is drawn anew among its
 * values with probability `rate`. With a == b this is mutation alone. Where many tries give nothing valid, the tree is
 * walked: values that do not fit those before give way to random ones. */
clt_config clt_vary_mix(clt_vary *vary, clt_config a, clt_config b, double rate);

/* Another value for one parameter, chosen at random; the configuration itself where tries give nothing valid. */
clt_config clt_vary_one(clt_vary *vary, clt_config config);

#endif
