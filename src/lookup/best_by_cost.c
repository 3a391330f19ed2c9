/* The best of a key by an objective that no index knows: all records are read. As for time, what was run side by side
 * goes before what the search saw; but that may have been for another objective, so only where it has the search's best
 * among it, or something as good. */
#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "lookup/lookup.h"

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#define AS_GOOD 0.98 /* a cost by so much less is another one */

/* A configuration: its newest record of either kind. */
typedef struct candidate {
  clt_config config;
  bool failed;             /* when it was last run */
  double search, finalist; /* costs; NaN: none */
  clt_best searched, compared;
  UT_hash_handle hh;
} candidate;

typedef struct choice {
  const clt_objective *objective;
  candidate *all;
} choice;

static candidate *find_or_add(choice *c, clt_config config) {
  candidate *found;
  HASH_FIND(hh, c->all, &config, sizeof config, found);
  if (found) return found;
  found = calloc(1, sizeof *found);
  if (found == NULL) return NULL;
  found->config = config;
  found->search = found->finalist = NAN;
  HASH_ADD(hh, c->all, config, sizeof found->config, found);
  if (found->hh.tbl) return found;
  free(found);
  return NULL;
}

/* One that lacks the energy says nothing of what was known before. */
static int take(void *user, clt_record_kind kind, const clt_measurement *m) {
  choice *c = user;
  double cost = clt_objective_cost(c->objective, m);
  bool correct = clt_measurement_correct(m);
  if (kind == CLT_RECORD_ATTEMPT || (correct && isnan(cost))) return 0;
  candidate *found = find_or_add(c, m->config);
  if (found == NULL) return CLT_E_MEMORY;
  found->failed = !correct;
  if (!correct) return 0;
  clt_best best = {m->config, m->time_s, m->energy_J};
  if (kind != CLT_RECORD_SEARCH) {
    found->finalist = cost;
    found->compared = best;
  } else {
    found->search = cost;
    found->searched = best;
  }
  return 0;
}

static const candidate *best_of(const choice *c, bool finalists) {
  const candidate *best = NULL;
  for (const candidate *i = c->all; i; i = i->hh.next) {
    double cost = finalists ? i->finalist : i->search, least = !best ? NAN : finalists ? best->finalist : best->search;
    if (!i->failed && !isnan(cost) && (best == NULL || cost < least || (cost == least && i->config < best->config)))
      best = i;
  }
  return best;
}

static clt_best choose(const choice *c) {
  const candidate *compared = best_of(c, true), *searched = best_of(c, false);
  if (compared == NULL && searched == NULL) return (clt_best){CLT_CONFIG_NONE, NAN, NAN};
  if (compared == NULL) return searched->searched;
  bool passed = searched && isnan(searched->finalist) && !(AS_GOOD * compared->search <= searched->search);
  return passed ? searched->searched : compared->compared;
}

int clt_best_by_cost(clt_best *out, clt_store *store, const clt_store_key *key, const clt_space *space,
                     const clt_objective *objective, clt_error *error) {
  choice c = {.objective = objective};
  candidate *i, *next;
  int rc = clt_store_each(store, key, space, take, &c, NULL, error);
  if (rc == CLT_OK) *out = choose(&c);
  HASH_ITER(hh, c.all, i, next) {
    HASH_DEL(c.all, i);
    free(i);
  }
  return rc;
}
