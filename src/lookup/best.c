/* Which of a key's records is its best: what finalists came to goes before what the search saw, since their times are
 * medians of interleaved runs; of several records of a finalist the newest counts. But where the best finalists are not valid
 * here, those that are left may be slower than much that the search saw: the default, say, which is always among them. */
#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/memory.h"
#include "lookup/lookup.h"
#include "store/store.h"

#define CLEARLY 0.8 /* of the best finalist's time in the search: what another one must be below to go before it */

typedef struct choice {
  clt_best best;    /* finalist */
  clt_best fastest; /* in the search */
  clt_config *seen; /* finalists */
  size_t n_seen, capacity;
} choice;

static bool is_seen(const choice *c, clt_config config) {
  for (size_t i = 0; i < c->n_seen; i++)
    if (c->seen[i] == config) return true;
  return false;
}

static int take_finalist(choice *c, const clt_measurement *m) {
  if (is_seen(c, m->config)) return 0;
  if (clt_grow(&c->seen, &c->capacity, c->n_seen + 1, sizeof *c->seen)) return CLT_E_MEMORY;
  c->seen[c->n_seen++] = m->config;
  if (clt_measurement_correct(m) && m->time_s < c->best.time_s) c->best = (clt_best){m->config, m->time_s, m->energy_J};
  return 0;
}

static int take(void *user, clt_record_kind kind, const clt_measurement *m) {
  choice *c = user;
  if (kind == CLT_RECORD_FINALIST) return take_finalist(c, m);
  bool is_best = m->config == c->best.config;
  if (c->fastest.config == CLT_CONFIG_NONE) {
    if (is_seen(c, m->config) && !is_best) return 0; /* slower than the best finalist, or it failed */
    c->fastest = (clt_best){m->config, m->time_s, m->energy_J};
    return is_best || c->best.config == CLT_CONFIG_NONE;
  }
  if (c->fastest.time_s >= CLEARLY * m->time_s && !is_best) return 0;
  if (c->fastest.time_s < CLEARLY * m->time_s) c->best = c->fastest;
  return 1;
}

int clt_best_of_key(clt_best *out, clt_store *store, const clt_store_key *key, const clt_space *space,
                    const clt_objective *objective, clt_error *error) {
  if (!clt_objective_ranks_by_time(objective)) return clt_best_by_cost(out, store, key, space, objective, error);
  choice c = {.best = {CLT_CONFIG_NONE, INFINITY, NAN}, .fastest = {CLT_CONFIG_NONE, INFINITY, NAN}};
  int rc = clt_store_best(store, key, space, take, &c, error);
  free(c.seen);
  if (rc == CLT_OK) *out = c.best.config != CLT_CONFIG_NONE ? c.best : c.fastest;
  return rc;
}
