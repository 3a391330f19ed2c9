/* The best known configuration of a key (docs/explanation/best-known.md). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/memory.h"
#include "measurement/objective.h"
#include "store/best.h"
#include "store/store.h"

/* A configuration that was measured after the comparison takes precedence if it was clearly faster in the search: by a
 * fifth, as the fastest of many single measurements looks better than it is. With an objective that may prefer slower
 * configurations, the finalists may be from a search with another objective; then 2 % suffice, which is noise. */
#define CLEARLY 0.8
#define CLEARLY_WITH_OTHERS 0.98

/* A record of a finalist or of a search. */
typedef struct known_record {
  clt_measurement m; /* without its log */
  double cost;       /* NaN: failed, or without a value */
  int64_t number, voice;
  int64_t doubted_by; /* a voice that says otherwise; 0: none */
  size_t contest;     /* of a finalist: the comparison that it belongs to */
  size_t before;      /* the next older record of the comparison: its index + 1; 0: none */
} known_record;

typedef struct known_records {
  known_record *all; /* oldest first */
  size_t n, capacity;
  clt_map newest; /* by configuration: an index */
} known_records;

/* A comparison of finalists. */
typedef struct known_contest {
  int64_t created_s, number; /* of its newest record */
  size_t newest;             /* this record's index + 1; 0: all are others */
  bool has_others;           /* finalists that the space or the query rules out */
} known_contest;

typedef struct best_view {
  const clt_best_query *query;
  const int64_t *without; /* n_without voices that do not count */
  size_t n_without;
  bool by_time;
  known_records finalists;
  known_records searched; /* by_time: at most one, the fastest that may be the best */
  known_contest *contests;
  size_t n_contests, contests_capacity;
  clt_map contest_indices;      /* by a hash of origin and comparison */
  const known_record *champion; /* the best of the finalists; NULL: none */
  bool is_chosen;               /* champion is set, as all finalists were read */
  bool is_replaced;             /* the best of the search takes precedence over the champion */
} best_view;

/* Whether a record decides about its configuration instead of an older one. Another voice alone can neither call it
 * wrong nor undo that it failed here. */
static bool decides(known_record *older, const clt_store_record *record, const clt_measurement *m) {
  const bool fails = !clt_measurement_correct(m), failed = !clt_measurement_correct(&older->m);
  if (record->voice == 0 || record->voice == older->voice || fails == failed || (failed && older->voice)) return true;
  if (fails && older->doubted_by && older->doubted_by != record->voice) return true;
  older->doubted_by = record->voice;
  return false;
}

static int add_known(known_records *known, const clt_store_record *record, const clt_measurement *m, double cost) {
  bool is_new = false;
  uint64_t *newest = clt_map_add(&known->newest, m->config, &is_new);
  if (newest == NULL || clt_grow(&known->all, &known->capacity, known->n + 1, sizeof *known->all)) return CLT_E_MEMORY;
  if (is_new || decides(&known->all[*newest], record, m)) *newest = known->n;
  known->all[known->n] = (known_record){.m = *m, .cost = cost, .number = record->number, .voice = record->voice};
  known->all[known->n++].m.log = NULL; /* borrowed */
  return CLT_OK;
}

static const known_record *newest_of(const known_records *known, clt_config config) {
  const uint64_t *index = clt_map_find(&known->newest, config);
  return index ? &known->all[*index] : NULL;
}

/* --- comparisons --- */

static int add_finalist(best_view *v, const clt_store_record *record, const clt_measurement *m, double cost,
                        bool is_other) {
  const int64_t comparison = record->comparison ? record->comparison : -record->number; /* alone */
  /* With the voice: an origin can be chosen so that it has another's hash. */
  const uint64_t parts[] = {clt_hash64(record->origin, strlen(record->origin)), (uint64_t)comparison,
                            (uint64_t)record->voice};
  bool is_new = false;
  uint64_t *index = clt_map_add(&v->contest_indices, clt_hash64(parts, sizeof parts) >> 1, &is_new);
  if (index == NULL || clt_grow(&v->contests, &v->contests_capacity, v->n_contests + 1, sizeof *v->contests))
    return CLT_E_MEMORY;
  if (is_new) v->contests[ *index = v->n_contests++] = (known_contest){0};
  known_contest *contest = &v->contests[*index];
  contest->created_s = record->created_s;
  contest->number = record->number;
  contest->has_others = contest->has_others || is_other;
  if (is_other) return CLT_OK;
  const int rc = add_known(&v->finalists, record, m, cost);
  if (rc) return rc;
  known_record *added = &v->finalists.all[v->finalists.n - 1];
  added->contest = *index;
  added->before = contest->newest;
  contest->newest = v->finalists.n;
  return CLT_OK;
}

/* The next older record of the same comparison; NULL: none. */
static const known_record *record_before(const best_view *v, size_t index) {
  return index ? &v->finalists.all[index - 1] : NULL;
}

/* The newest record of a configuration in a comparison; NULL: it was not included, or failed. */
static const known_record *find_in(const best_view *v, size_t contest, clt_config config) {
  const known_record *r = record_before(v, v->contests[contest].newest);
  while (r && r->m.config != config) r = record_before(v, r->before);
  return r && !isnan(r->cost) ? r : NULL;
}

/* The best of a comparison that has not failed since; of equally good ones the first. NULL: none. */
static const known_record *find_winner(const best_view *v, size_t contest) {
  const known_record *winner = NULL;
  for (const known_record *r = record_before(v, v->contests[contest].newest); r; r = record_before(v, r->before)) {
    const bool has_failed = !clt_measurement_correct(&newest_of(&v->finalists, r->m.config)->m);
    const bool is_better = r->cost <= (winner ? winner->cost : INFINITY);
    if (is_better && !has_failed && find_in(v, contest, r->m.config) == r) winner = r;
  }
  return winner;
}

/* The better of two by the last comparison that included both; by their newest costs if none did. Of equally good ones
 * b. order: the comparisons from old to new. */
static const known_record *find_better(const best_view *v, const size_t *order, const known_record *a,
                                       const known_record *b) {
  for (size_t i = v->n_contests; i-- > 0;) {
    const known_record *a_there = find_in(v, order[i], a->m.config), *b_there = find_in(v, order[i], b->m.config);
    if (a_there && b_there) return a_there->cost < b_there->cost ? a : b;
  }
  return a->cost < b->cost ? a : b;
}

static int by_age(const void *left, const void *right, void *user) {
  const best_view *v = user;
  const size_t i = *(const size_t *)left, k = *(const size_t *)right;
  const known_contest *a = &v->contests[i], *b = &v->contests[k];
  if (a->created_s != b->created_s) return a->created_s < b->created_s ? -1 : 1;
  if (a->number != b->number) return a->number < b->number ? -1 : 1;
  return (i > k) - (i < k);
}

/* The winners of the comparisons meet each other, beginning with the oldest comparison. Each is judged by its newest
 * record. */
static int choose_champion(best_view *v) {
  size_t *order = clt_new_array(v->n_contests, sizeof *order);
  const known_record **winners = clt_new_array(v->n_contests, sizeof *winners);
  clt_map last_won = {0}; /* by configuration */
  int rc = order && winners ? CLT_OK : CLT_E_MEMORY;
  for (size_t i = 0; rc == CLT_OK && i < v->n_contests; i++) order[i] = i;
  if (rc == CLT_OK && v->n_contests) qsort_r(order, v->n_contests, sizeof *order, by_age, v);
  for (size_t i = 0; rc == CLT_OK && i < v->n_contests; i++) {
    const known_record *winner = find_winner(v, order[i]);
    uint64_t *last = winner ? clt_map_add(&last_won, winner->m.config, NULL) : NULL;
    if (winner && last == NULL) rc = CLT_E_MEMORY;
    if (last) *last = i;
    winners[i] = winner ? newest_of(&v->finalists, winner->m.config) : NULL;
  }
  for (size_t i = 0; rc == CLT_OK && i < v->n_contests; i++) {
    if (winners[i] == NULL || *clt_map_find(&last_won, winners[i]->m.config) != i) continue;
    v->champion = v->champion ? find_better(v, order, v->champion, winners[i]) : winners[i];
  }
  clt_map_release(&last_won);
  free(winners);
  free(order);
  v->is_chosen = true;
  return rc;
}

/* --- the search --- */

/* Whether the champion's comparison has decided about a record of the search already: what its session knew could take
 * part. Not if the comparison may have been by another objective, its winner is ruled out, or nothing else took part.
 */
static bool is_settled(const best_view *v, int64_t number) {
  if (v->champion == NULL || !clt_objective_ranks_as_usual(v->query->objective)) return false;
  const known_contest *contest = &v->contests[v->champion->contest];
  const bool is_alone = v->finalists.all[contest->newest - 1].before == 0;
  return !is_alone && !contest->has_others && number <= contest->number;
}

/* With time as objective, or one with the same ranking, the search's records come fastest first. Returns 1 as soon as
 * the best is certain: the champion's own records show how fast it is in a search. */
static int add_fastest(best_view *v, const clt_store_record *record, const clt_measurement *m, double cost) {
  const bool is_champion = v->champion && m->config == v->champion->m.config;
  if (v->searched.n == 0) {
    if (is_champion) return 1;
    if (newest_of(&v->finalists, m->config) || is_settled(v, record->number)) return 0;
    v->is_replaced = v->champion == NULL;
    const int rc = add_known(&v->searched, record, m, cost);
    return rc ? rc : v->is_replaced;
  }
  v->is_replaced = v->searched.all[0].m.time_s < CLEARLY * m->time_s;
  return v->is_replaced || is_champion;
}

static int add_record(void *user, const clt_store_record *record, const clt_measurement *m) {
  best_view *v = user;
  const bool is_search = record->kind == CLT_RECORD_SEARCH;
  if (record->kind == CLT_RECORD_ATTEMPT) return 0;
  for (size_t i = 0; i < v->n_without; i++)
    if (record->voice == v->without[i]) return 0;
  if (m->config == CLT_CONFIG_NONE || (v->query->accepts && !v->query->accepts(v->query->user, m->config)))
    return is_search ? 0 : add_finalist(v, record, m, NAN, true);
  const bool correct = clt_measurement_correct(m);
  const double cost = correct ? clt_objective_cost(v->query->objective, m) : NAN;
  if (correct && isnan(cost)) return 0; /* the objective, such as energy, was not measured */
  if (!is_search) return add_finalist(v, record, m, cost, false);
  if (!v->by_time) return add_known(&v->searched, record, m, cost);
  if (!v->is_chosen && choose_champion(v)) return CLT_E_MEMORY;
  return add_fastest(v, record, m, cost);
}

/* The best of the search with other objectives, for which stores have no index: all records were read. */
static void choose_searched(best_view *v) {
  const known_record *best = NULL, *champion = v->champion;
  for (size_t i = 0; i < v->searched.n; i++) {
    const known_record *r = &v->searched.all[i], *as_finalist = newest_of(&v->finalists, r->m.config);
    const bool has_failed = as_finalist && isnan(as_finalist->cost);
    if (newest_of(&v->searched, r->m.config) != r || isnan(r->cost) || has_failed) continue;
    if (best == NULL || r->cost < best->cost || (r->cost == best->cost && r->m.config < best->m.config)) best = r;
  }
  if (best == NULL) return;
  const bool decided = newest_of(&v->finalists, best->m.config) || is_settled(v, best->number);
  v->is_replaced = champion == NULL || (!decided && best->cost < CLEARLY_WITH_OTHERS * champion->cost);
  v->searched.all[0] = *best;
}

/* --- asking --- */

/* The newest comparison with the champion that also included query->beside. */
static void find_beside(clt_best_known *out, const best_view *v) {
  int64_t newest_s = INT64_MIN;
  for (size_t i = 0; v->query->beside != CLT_CONFIG_NONE && i < v->n_contests; i++) {
    const known_record *own = find_in(v, i, v->champion->m.config), *beside = find_in(v, i, v->query->beside);
    if (!own || !beside || v->contests[i].created_s < newest_s) continue;
    newest_s = v->contests[i].created_s;
    out->measurement = own->m;
    out->beside = beside->m;
  }
}

/* Whether another voice has measured the champion, too. */
static bool is_confirmed(const best_view *v) {
  for (size_t i = 0; i < v->finalists.n; i++) {
    const known_record *r = &v->finalists.all[i];
    if (r->m.config == v->champion->m.config && r->voice != v->champion->voice && !isnan(r->cost)) return true;
  }
  return false;
}

static int choose_without(clt_best_known *out, const int64_t *without, size_t n_without, clt_store *store,
                          const clt_store_key *key, const clt_space *space, const clt_best_query *query,
                          clt_error *error) {
  best_view v = {.query = query,
                 .without = without,
                 .n_without = n_without,
                 .by_time = clt_objective_ranks_by_time(query->objective)};
  const clt_store_order order = v.by_time ? CLT_STORE_BEST_FIRST : CLT_STORE_OLDEST_FIRST;
  clt_measurement_init(&out->measurement, CLT_CONFIG_NONE);
  clt_measurement_init(&out->beside, CLT_CONFIG_NONE);
  out->compared = out->alone = false;
  out->voice = 0;
  int rc = clt_store_walk(store, order, key, space, add_record, &v, error);
  if (rc == CLT_OK && !v.is_chosen && choose_champion(&v)) rc = clt_fail_memory(error);
  if (rc == CLT_OK && !v.by_time) choose_searched(&v);
  if (rc == CLT_OK && v.is_replaced) {
    out->measurement = v.searched.all[0].m;
    out->voice = v.searched.all[0].voice;
    out->alone = out->voice != 0;
  } else if (rc == CLT_OK && v.champion) {
    out->compared = true;
    out->voice = v.champion->voice;
    out->alone = out->voice != 0 && !is_confirmed(&v);
    out->measurement = v.champion->m;
    find_beside(out, &v);
  }
  clt_map_release(&v.contest_indices);
  clt_map_release(&v.finalists.newest);
  clt_map_release(&v.searched.newest);
  free(v.finalists.all);
  free(v.searched.all);
  free(v.contests);
  return rc;
}

#define MOST_DOUBTED 16

int clt_store_best(clt_best_known *out, clt_store *store, const clt_store_key *key, const clt_space *space,
                   const clt_best_query *query, clt_error *error) {
  int64_t without[MOST_DOUBTED];
  int rc = choose_without(out, NULL, 0, store, key, space, query, error);
  for (size_t n = 0; rc == CLT_OK && out->alone && !query->believes && n < MOST_DOUBTED;) {
    clt_best_known other;
    without[n++] = out->voice;
    rc = choose_without(&other, without, n, store, key, space, query, error);
    if (rc || other.measurement.config == CLT_CONFIG_NONE) break;
    const double cost = clt_objective_cost(query->objective, &out->measurement),
                 theirs = clt_objective_cost(query->objective, &other.measurement);
    const bool same = other.measurement.config == out->measurement.config, doubtful = cost < CLEARLY * theirs;
    if (same && !doubtful) out->alone = false;
    if (!doubtful) break;
    other.alone = other.alone && !same;
    *out = other;
  }
  return rc;
}
