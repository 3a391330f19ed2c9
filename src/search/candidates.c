#include "search/candidates.h"

#include <stdlib.h>

#include "base/fail.h"
#include "base/memory.h"

#define AT_ONCE 4096 /* a sweep finds this many */

void clt_candidates_release(clt_candidates *candidates) {
  free(candidates->configs);
  free(candidates->predictions);
  *candidates = (clt_candidates){0};
}

static void keep_new_canonical(clt_candidates *c, const clt_space *space, const clt_config_set *seen) {
  size_t kept = 0;
  for (size_t i = 0; i < c->n; i++) {
    if (clt_space_canonical(space, c->configs[i]) != c->configs[i] || clt_config_set_has(seen, c->configs[i])) continue;
    c->configs[kept] = c->configs[i];
    c->predictions[kept++] = c->predictions[i];
  }
  c->n = kept;
}

static int fetch(clt_candidates *out, const clt_model *model, size_t want, const clt_config *skip, size_t n_skip,
                 double min_p_valid, clt_error *error) {
  clt_candidates c = {.configs = clt_new_array(want, sizeof *c.configs),
                      .predictions = clt_new_array(want, sizeof *c.predictions)};
  int rc = c.configs && c.predictions ? CLT_OK : clt_fail_memory(error);
  if (rc == CLT_OK) rc = clt_model_best(model, want, min_p_valid, skip, n_skip, c.configs, c.predictions, &c.n, error);
  if (rc) {
    clt_candidates_release(&c);
    return rc;
  }
  c.exhausted = c.n < want;
  clt_candidates_release(out);
  *out = c;
  return CLT_OK;
}

int clt_candidates_refill(clt_candidates *candidates, const clt_model *model, const clt_space *space,
                          const clt_config_set *seen, double min_p_valid, clt_error *error) {
  size_t n_skip = clt_config_set_size(seen), want = AT_ONCE;
  clt_config *skip = clt_new_array(n_skip, sizeof *skip);
  if (skip == NULL) return clt_fail_memory(error);
  clt_config_set_sorted(seen, skip);
  int rc;
  do { /* again where the best were all aliases */
    rc = fetch(candidates, model, want, skip, n_skip, min_p_valid, error);
    if (rc == CLT_OK) keep_new_canonical(candidates, space, seen);
    want *= 2;
  } while (rc == CLT_OK && candidates->n == 0 && !candidates->exhausted);
  free(skip);
  return rc;
}
