/* Which of a key's records is its best. */
#include <stdlib.h>

#include "base/map.h"
#include "base/memory.h"
#include "lookup/lookup.h"
#include "store/store.h"

/* --- by time, or what ranks as time does ---
 *
 * What finalists came to goes before what the search saw, since their times are medians of interleaved runs; of several
 * records of a finalist the newest counts. But where the best finalists are not valid here, those that are left may be
 * slower than much that the search saw: the default, say, which is always among them. So a configuration that was
 * clearly faster in the search than the best finalist was there goes before it; clearly, since a search picks its
 * fastest by single measurements, whose noise makes the fastest of many look better than it is. */
#define CLEARLY 0.8

typedef struct time_choice {
  const clt_objective *objective;
  clt_best_record best;    /* finalist */
  clt_best_record fastest; /* in the search */
  clt_map finalists;       /* seen */
} time_choice;

static int judge_by_time(void *user, clt_record_kind kind, const clt_measurement *m) {
  time_choice *c = user;
  bool correct = clt_measurement_correct(m);
  if (correct && isnan(clt_objective_value(c->objective, m))) return 0; /* a program's figure alone */
  if (kind == CLT_RECORD_FINALIST) {
    bool is_new;
    if (clt_map_add(&c->finalists, m->config, &is_new) == NULL) return CLT_E_MEMORY;
    if (is_new && correct && m->time_s < c->best.time_s)
      c->best = (clt_best_record){m->config, m->time_s, m->energy_J, m->figure};
    return 0;
  }
  bool is_best = m->config == c->best.config;
  if (c->fastest.config == CLT_CONFIG_NONE) {
    if (clt_map_find(&c->finalists, m->config) && !is_best) return 0; /* slower than the best finalist, or it failed */
    c->fastest = (clt_best_record){m->config, m->time_s, m->energy_J, m->figure};
    return is_best || c->best.config == CLT_CONFIG_NONE;
  }
  if (c->fastest.time_s >= CLEARLY * m->time_s && !is_best) return 0;
  if (c->fastest.time_s < CLEARLY * m->time_s) c->best = c->fastest;
  return 1;
}

/* --- by an objective that no index knows: all records are read ---
 *
 * As for time, what was run side by side goes before what the search saw; but that may have been for another objective,
 * so only where it has the search's best among it, or something as good: a cost within 2 %, which is noise. */
#define AS_GOOD 0.98

enum { SEARCHED, COMPARED }; /* the two kinds of records */

/* A configuration: its newest record of either kind. */
typedef struct candidate {
  bool failed;    /* when it was last run */
  double cost[2]; /* NaN: none */
  clt_best_record best[2];
} candidate;

typedef struct cost_choice {
  const clt_objective *objective;
  clt_map places; /* of configurations among the candidates */
  candidate *all;
  size_t n, capacity;
} cost_choice;

/* One that lacks the energy says nothing of what was known before. */
static int judge_by_cost(void *user, clt_record_kind kind, const clt_measurement *m) {
  cost_choice *c = user;
  double cost = clt_objective_cost(c->objective, m);
  bool correct = clt_measurement_correct(m), is_new;
  if (kind == CLT_RECORD_ATTEMPT || (correct && isnan(cost))) return 0;
  if (clt_grow(&c->all, &c->capacity, c->n + 1, sizeof *c->all)) return CLT_E_MEMORY;
  uint64_t *place = clt_map_add(&c->places, m->config, &is_new);
  if (place == NULL) return CLT_E_MEMORY;
  if (is_new) {
    *place = c->n;
    c->all[c->n++] = (candidate){.cost = {NAN, NAN}};
  }
  candidate *i = &c->all[*place];
  i->failed = !correct;
  if (correct) {
    const int k = kind == CLT_RECORD_SEARCH ? SEARCHED : COMPARED;
    i->cost[k] = cost;
    i->best[k] = (clt_best_record){m->config, m->time_s, m->energy_J, m->figure};
  }
  return 0;
}

static clt_best_record choose_by_cost(const cost_choice *c) {
  const candidate *least[2] = {NULL, NULL};
  for (size_t n = 0; n < c->n; n++)
    for (int k = 0; k < 2; k++) {
      const candidate *i = &c->all[n];
      if (i->failed || isnan(i->cost[k])) continue;
      const candidate *l = least[k];
      if (l == NULL || i->cost[k] < l->cost[k] || (i->cost[k] == l->cost[k] && i->best[k].config < l->best[k].config))
        least[k] = i;
    }
  const candidate *searched = least[SEARCHED], *compared = least[COMPARED];
  if (compared == NULL) return searched ? searched->best[SEARCHED] : CLT_NOTHING_BEST;
  bool passed =
      searched && isnan(searched->cost[COMPARED]) && !(AS_GOOD * compared->cost[COMPARED] <= searched->cost[SEARCHED]);
  return passed ? searched->best[SEARCHED] : compared->best[COMPARED];
}

int clt_best_of_key(clt_best_record *out, clt_store *store, const clt_store_key *key, const clt_space *space,
                    const clt_objective *objective, clt_error *error) {
  int rc;
  if (clt_objective_ranks_by_time(objective)) {
    const clt_best_record none = {CLT_CONFIG_NONE, INFINITY, NAN, NAN};
    time_choice c = {.objective = objective, .best = none, .fastest = none};
    rc = clt_store_best(store, key, space, judge_by_time, &c, error);
    if (rc == CLT_OK) *out = c.best.config != CLT_CONFIG_NONE ? c.best : c.fastest;
    clt_map_release(&c.finalists);
  } else {
    cost_choice c = {.objective = objective};
    rc = clt_store_each(store, key, space, judge_by_cost, &c, NULL, error);
    if (rc == CLT_OK) *out = choose_by_cost(&c);
    clt_map_release(&c.places);
    free(c.all);
  }
  return rc;
}
