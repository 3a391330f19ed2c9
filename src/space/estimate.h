/* space/estimate.h - how many different intermediate values a group's construction has to tell apart, for choosing the
 * order of its levels before anything is built. */
#ifndef CLT_SPACE_ESTIMATE_H
#define CLT_SPACE_ESTIMATE_H

#include "space/program.h"

/* A node of the flow that others use: it is on hold from when its parameters are set until its last user is known. */
typedef struct clt_held {
  clt_mask support;
  double bits;     /* logarithm (2) of how many values it takes, an estimate from above */
  clt_mask *users; /* their supports, none inside another */
  size_t n_users;
} clt_held;

typedef struct clt_estimate {
  clt_held *held;
  size_t n_held;
  double parameter_bits[CLT_MAX_PARAMETERS]; /* of the domains, by parameter */
} clt_estimate;

/* As clt_program_new. CLT_E_MEMORY only. */
int clt_estimate_new(clt_estimate **out, const clt_flow *flow, const clt_domain *const *domains, size_t n_domains,
                     const uint32_t *roots, size_t n_roots);
void clt_estimate_free(clt_estimate *estimate);

/* The logarithm of the number of different states behind a level when these parameters are set. */
double clt_estimate_bits(const clt_estimate *estimate, clt_mask set);

#endif
