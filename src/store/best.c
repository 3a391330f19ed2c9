/* The best known configuration of a key (docs/explanation/best-known.md). */

#include "store/best.h"
#include "base/base.h"
#include "base/hash.h"
#include "measurement/measurement.h"
#include "store/store.h"
#include "store/words.h"

/* A configuration that was measured after the comparison takes precedence if it was clearly better in the search. With
 * an objective that may prefer slower configurations, the finalists may be from a search with another objective; then 2
 * % suffice, which is noise. */
#define CLEARLY_WITH_OTHERS 0.98

/* Any login of a shared database may deliver any number of records, so few measurements are kept in memory. */
#define MOST_KEPT 512

/* A record of a finalist or of a search. */
typedef struct known_record {
  clt_config config;
  clt_measurement *m; /* owned, without its log; NULL: not kept (take_measurements) */
  double cost;        /* NaN: failed, or without a value */
  double time_s;
  uint64_t identity;
  int64_t number, voice, created_s;
  size_t config_index;
  size_t contest; /* of a finalist: the comparison that it belongs to */
  /* Indices + 1; 0: none. */
  size_t before;  /* the next older record of the comparison */
  size_t other;   /* the newest of another voice about the configuration, but older */
  size_t earlier; /* the configuration's in the next older comparison that included it */
} known_record;

typedef struct known_config {
  size_t newest;              /* its newest record */
  size_t latest;              /* its record in the newest comparison that included it: index + 1; 0: none */
  size_t won;                 /* if it won any: the newest, in the order of comparisons */
  const known_record *counts; /* the record of a finalist that counts; NULL: none does, or it has failed */
} known_config;

typedef struct known_records {
  known_record *all; /* oldest first */
  known_config *configs;
  size_t n, capacity, configs_capacity, n_kept;
  clt_map indices; /* of configurations */
} known_records;

/* A comparison of finalists. */
typedef struct known_contest {
  int64_t created_s, number; /* of its newest record */
  int64_t voice;
  size_t newest;   /* this record's index + 1; 0: all are others */
  bool has_others; /* finalists that the space or the query rules out */
} known_contest;

typedef struct best_view {
  const clt_best_query *query;
  clt_voices voices;
  bool hears_others;      /* there are other voices than one's own */
  const int64_t *without; /* n_without voices that do not count */
  size_t n_without;
  bool by_time;
  known_records finalists;
  known_records searched; /* by_time: those that may be the best, the fastest first */
  known_contest *contests;
  size_t n_contests, contests_capacity;
  clt_map contest_indices;      /* by a hash of origin and comparison */
  clt_map newest_in;            /* by comparison and configuration: the index of the newest record */
  const known_record *champion; /* the best of the finalists; NULL: none */
  bool is_chosen;               /* champion is set, as all finalists were read */
  size_t fastest;               /* the one of `searched` that may be the best: its index + 1; 0: none yet */
  bool is_replaced;             /* the best of the search takes precedence over the champion */
} best_view;

/* Of a record or a comparison: its number, among those of the record's origin and voice. */
static uint64_t hash_of(const clt_store_record *record, int64_t number) {
  const char *origin = record->origin ? record->origin : "";
  const uint64_t parts[] = {clt_hash64_here(origin, strlen(origin)), (uint64_t)number, (uint64_t)record->voice};
  return clt_hash64_here(parts, sizeof parts);
}

static int add_known(known_records *known, const clt_store_record *record, const clt_measurement *m, double cost) {
  bool is_new = false;
  uint64_t *index = clt_map_add(&known->indices, m->config, &is_new);
  if (index == NULL || clt_grow(&known->all, &known->capacity, known->n + 1, sizeof *known->all) ||
      clt_grow(&known->configs, &known->configs_capacity, known->indices.n, sizeof *known->configs))
    return CLT_E_MEMORY;
  if (is_new) known->configs[ *index = known->indices.n - 1] = (known_config){0};
  known_config *config = &known->configs[*index];
  known_record *added = &known->all[known->n];
  *added = (known_record){.config = m->config,
                          .cost = cost,
                          .time_s = m->time_s,
                          .identity = hash_of(record, record->sequence),
                          .number = record->number,
                          .voice = record->voice,
                          .created_s = record->created_s,
                          .config_index = *index,
                          .other = is_new ? 0 : config->newest + 1};
  config->newest = known->n++;
  for (size_t *link = &added->other; *link; link = &known->all[*link - 1].other) {
    known_record *older = &known->all[*link - 1];
    if (older->voice != record->voice) continue;
    *link = older->other;
    known->n_kept -= older->m != NULL;
    free(older->m);
    older->m = NULL;
    break;
  }
  if (known->n_kept == MOST_KEPT) return CLT_OK;
  added->m = malloc(sizeof *m);
  if (added->m == NULL) return CLT_E_MEMORY;
  known->n_kept++;
  *added->m = *m;
  added->m->log = NULL; /* borrowed */
  return CLT_OK;
}

static void release_known(known_records *known) {
  for (size_t i = 0; i < known->n; i++) free(known->all[i].m);
  free(known->all);
  free(known->configs);
  clt_map_release(&known->indices);
}

/* The record of a configuration that counts, and how much; NULL: none. */
static const known_record *judge(clt_belief *belief, const best_view *v, const known_records *known,
                                 clt_config config) {
  clt_word words[CLT_MOST_VOICES];
  const known_record *of[CLT_MOST_VOICES];
  const uint64_t *index = clt_map_find(&known->indices, config);
  size_t n = 0;
  *belief = CLT_DISPUTED;
  for (size_t next = index ? known->configs[*index].newest + 1 : 0; next > 0 && n < CLT_MOST_VOICES;
       next = of[n++]->other) {
    of[n] = &known->all[next - 1];
    words[n] = (clt_word){.voice = of[n]->voice, .correct = !isnan(of[n]->cost), .cost = of[n]->cost};
  }
  return n ? of[clt_words_judge(belief, words, n, v->voices.first)] : NULL;
}

/* Of finalists; NULL: it does not count, or has failed. */
static const known_record *judge_finalist(const best_view *v, clt_config config) {
  clt_belief belief;
  const known_record *r = judge(&belief, v, &v->finalists, config);
  return r && !isnan(r->cost) && (belief >= CLT_BY_FIRST || v->query->believes) ? r : NULL;
}

/* Whether finalists have decided about a record of the search. */
static bool is_decided(const best_view *v, clt_config config) {
  clt_belief belief;
  return judge(&belief, v, &v->finalists, config) && (belief >= CLT_BY_FIRST || v->query->believes);
}

/* --- comparisons --- */

static uint64_t place_in(size_t contest, size_t config) { return (uint64_t)contest << 32 | (uint32_t)config; }

static int add_finalist(best_view *v, const clt_store_record *record, const clt_measurement *m, double cost,
                        bool is_other) {
  const int64_t comparison = record->comparison ? record->comparison : -record->number; /* alone */
  bool is_new = false;
  uint64_t *index = clt_map_add(&v->contest_indices, hash_of(record, comparison) >> 1, &is_new);
  if (index == NULL || clt_grow(&v->contests, &v->contests_capacity, v->n_contests + 1, sizeof *v->contests))
    return CLT_E_MEMORY;
  if (is_new) v->contests[ *index = v->n_contests++] = (known_contest){0};
  known_contest *contest = &v->contests[*index];
  contest->created_s = record->created_s;
  contest->number = record->number;
  contest->voice = record->voice;
  contest->has_others = contest->has_others || is_other;
  if (is_other) return CLT_OK;
  const int rc = add_known(&v->finalists, record, m, cost);
  if (rc) return rc;
  known_record *added = &v->finalists.all[v->finalists.n - 1];
  added->contest = *index;
  added->before = contest->newest;
  contest->newest = v->finalists.n;
  uint64_t *newest = clt_map_add(&v->newest_in, place_in(*index, added->config_index), NULL);
  if (newest == NULL) return CLT_E_MEMORY;
  *newest = v->finalists.n - 1;
  return CLT_OK;
}

/* The record at an index + 1; NULL for 0. */
static known_record *record_at(const best_view *v, size_t index) { return index ? &v->finalists.all[index - 1] : NULL; }

static known_config *config_of(const best_view *v, const known_record *r) {
  return &v->finalists.configs[r->config_index];
}

/* The newest record of a configuration in a comparison; NULL: it was not included, or failed. */
static const known_record *find_in(const best_view *v, size_t contest, size_t config_index) {
  const uint64_t *newest = clt_map_find(&v->newest_in, place_in(contest, config_index));
  const known_record *r = newest ? &v->finalists.all[*newest] : NULL;
  return r && !isnan(r->cost) ? r : NULL;
}

/* The best of a comparison, of those that count now; of equally good ones the first. NULL: none. */
static const known_record *find_winner(const best_view *v, size_t contest) {
  const known_record *winner = NULL;
  for (const known_record *r = record_at(v, v->contests[contest].newest); r; r = record_at(v, r->before)) {
    const bool is_better = r->cost <= (winner ? winner->cost : INFINITY);
    if (is_better && config_of(v, r)->counts && find_in(v, contest, r->config_index) == r) winner = r;
  }
  return winner;
}

/* The better of two by the last comparison that included both: one's own, or as most voices say. By their costs if none
 * did, or one voice alone. Of equally good ones b. */
static const known_record *find_better(const best_view *v, const known_record *a, const known_record *b) {
  int64_t voices[CLT_MOST_VOICES];
  int for_a = 0, for_b = 0;
  size_t n = 0;
  for (const known_record *b_there = record_at(v, config_of(v, b)->latest); b_there && n < CLT_MOST_VOICES;
       b_there = record_at(v, b_there->earlier)) {
    const known_record *a_there = find_in(v, b_there->contest, a->config_index);
    const int64_t voice = b_there->voice;
    size_t said = 0;
    if (!a_there) continue;
    if (voice == 0) return a_there->cost < b_there->cost ? a : b;
    while (said < n && voices[said] != voice) said++;
    if (said < n) continue;
    voices[n++] = voice;
    *(a_there->cost < b_there->cost ? &for_a : &for_b) += clt_voice_weight(voice, v->voices.first);
  }
  if (for_a != for_b && (for_a > for_b ? for_a : for_b) >= CLT_WEIGHT_OF_FIRST) return for_a > for_b ? a : b;
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

/* Links the records of each configuration in a comparison with those in older ones. */
static void link_contest(const best_view *v, size_t contest) {
  for (known_record *r = record_at(v, v->contests[contest].newest); r; r = record_at(v, r->before)) {
    known_config *config = config_of(v, r);
    if (find_in(v, contest, r->config_index) != r) continue;
    r->earlier = config->latest;
    config->latest = (size_t)(r - v->finalists.all) + 1;
  }
}

/* The winners of the comparisons meet each other, beginning with the oldest comparison. */
static int choose_champion(best_view *v) {
  size_t *order = clt_new_array(v->n_contests, sizeof *order);
  const known_record **winners = clt_new_array(v->n_contests, sizeof *winners);
  const int rc = order && winners ? CLT_OK : CLT_E_MEMORY;
  for (size_t i = 0; i < v->finalists.indices.n; i++)
    v->finalists.configs[i].counts = judge_finalist(v, v->finalists.all[v->finalists.configs[i].newest].config);
  for (size_t i = 0; rc == CLT_OK && i < v->n_contests; i++) order[i] = i;
  if (rc == CLT_OK && v->n_contests) qsort_r(order, v->n_contests, sizeof *order, by_age, v);
  for (size_t i = 0; rc == CLT_OK && i < v->n_contests; i++) {
    link_contest(v, order[i]);
    const known_record *winner = find_winner(v, order[i]);
    winners[i] = winner ? config_of(v, winner)->counts : NULL;
    if (winner) config_of(v, winner)->won = i;
  }
  for (size_t i = 0; rc == CLT_OK && i < v->n_contests; i++) {
    if (winners[i] == NULL || config_of(v, winners[i])->won != i) continue;
    v->champion = v->champion ? find_better(v, v->champion, winners[i]) : winners[i];
  }
  free(winners);
  free(order);
  v->is_chosen = true;
  return rc;
}

/* --- the search --- */

/* Whether the champion's comparison, if it is one's own or of the same voice, has decided about a record of the search
 * already: what its session knew could take part. Not if it may have been by another objective, its winner is ruled
 * out, or nothing else took part. While a transaction is open, later records have the same number. */
static bool is_settled(const best_view *v, int64_t voice, int64_t number, int64_t created_s) {
  if (v->champion == NULL || !clt_objective_ranks_as_usual(v->query->objective)) return false;
  const known_contest *contest = &v->contests[v->champion->contest];
  const bool is_alone = v->finalists.all[contest->newest - 1].before == 0;
  return !is_alone && !contest->has_others && (contest->voice == 0 || contest->voice == voice) &&
         number <= contest->number && created_s <= contest->created_s;
}

/* With time as objective, or one with the same ranking, the search's records come fastest first. Returns 1 as soon as
 * the best is certain: what is known of the champion shows how fast it is in a search. */
static int add_fastest(best_view *v, const clt_store_record *record, const clt_measurement *m, double cost) {
  const bool is_champion = v->champion && m->config == v->champion->config;
  const bool decided = is_decided(v, m->config) || is_settled(v, record->voice, record->number, record->created_s);
  clt_belief belief = CLT_DISPUTED;
  const known_record *r = NULL;
  if (is_champion || !(v->fastest || decided)) {
    if (add_known(&v->searched, record, m, cost)) return CLT_E_MEMORY;
    r = judge(&belief, v, &v->searched, m->config);
  }
  if (v->fastest || is_champion) {
    const double time_s = is_champion && belief >= CLT_BY_FIRST ? r->time_s : m->time_s;
    v->is_replaced = v->fastest && v->searched.all[v->fastest - 1].time_s < CLT_CLEARLY_BETTER * time_s;
    return v->is_replaced || (is_champion && belief >= CLT_BY_FIRST);
  }
  if (r == NULL || (v->champion && belief < CLT_BY_FIRST && !v->query->believes)) return 0;
  v->fastest = (size_t)(r - v->searched.all) + 1;
  v->is_replaced = v->champion == NULL;
  return v->is_replaced;
}

static bool is_heard(const best_view *v, const clt_store_record *record) {
  for (size_t i = 0; i < v->n_without; i++)
    if (record->voice == v->without[i]) return false;
  return record->kind != CLT_RECORD_ATTEMPT && (v->query->only == 0 || record->voice == v->query->only);
}

static void note_voice(clt_voices *voices, int64_t voice) {
  for (size_t i = 0; i < voices->n; i++)
    if (voices->all[i] == voice) return;
  if (voice != 0 && voices->n < CLT_MOST_DOUBTED) voices->all[voices->n++] = voice;
}

static int add_record(void *user, const clt_store_record *record, const clt_measurement *m) {
  best_view *v = user;
  const bool is_search = record->kind == CLT_RECORD_SEARCH;
  v->hears_others = v->hears_others || record->voice != 0;
  clt_first_note(&v->voices.first, record);
  if (!is_heard(v, record)) return 0;
  note_voice(&v->voices, record->voice);
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
    clt_belief belief, of_finalist;
    const clt_config config = v->searched.all[i].config;
    const known_record *r = judge(&belief, v, &v->searched, config),
                       *as_finalist = judge(&of_finalist, v, &v->finalists, config);
    const bool counts = belief >= CLT_BY_FIRST || (champion == NULL && belief == CLT_CLAIMED);
    const bool has_failed = as_finalist && isnan(as_finalist->cost) && of_finalist >= CLT_BY_FIRST;
    if (isnan(r->cost) || has_failed || !(counts || v->query->believes)) continue;
    if (best == NULL || r->cost < best->cost || (r->cost == best->cost && config < best->config)) best = r;
  }
  if (best == NULL) return;
  const bool decided = is_decided(v, best->config) || is_settled(v, best->voice, best->number, best->created_s);
  v->is_replaced = champion == NULL || (!decided && best->cost < CLEARLY_WITH_OTHERS * champion->cost);
  v->fastest = (size_t)(best - v->searched.all) + 1;
}

/* --- asking --- */

/* The records of the champion and query->beside in the newest comparison of both, by the voice that counts. */
static void find_beside(const known_record *found[2], const best_view *v) {
  const uint64_t *other = clt_map_find(&v->finalists.indices, v->query->beside);
  int64_t newest_s = INT64_MIN;
  for (size_t i = 0; other && i < v->n_contests; i++) {
    const known_record *own = find_in(v, i, v->champion->config_index), *beside = find_in(v, i, *other);
    const bool counts = v->contests[i].voice == v->champion->voice && v->contests[i].created_s >= newest_s;
    if (!own || !beside || !counts) continue;
    newest_s = v->contests[i].created_s;
    found[0] = own;
    found[1] = beside;
  }
}

typedef struct measurements_walk {
  const known_record *wanted[2]; /* NULL: not wanted, or found */
  clt_measurement *out[2];
} measurements_walk;

static int take_measurement(void *user, const clt_store_record *record, const clt_measurement *m) {
  measurements_walk *w = user;
  for (int i = 0; i < 2; i++) {
    const known_record *wanted = w->wanted[i];
    if (!wanted || wanted->config != m->config || wanted->identity != hash_of(record, record->sequence)) continue;
    *w->out[i] = *m;
    w->out[i]->log = NULL;
    w->wanted[i] = NULL;
  }
  return !w->wanted[0] && !w->wanted[1];
}

/* Reads again those that were not kept. */
static int take_measurements(clt_best_known *out, const known_record *found[2], clt_store *store, clt_store_order order,
                             const clt_store_key *key, const clt_space *space, clt_error *error) {
  measurements_walk w = {.out = {&out->measurement, &out->beside}};
  for (int i = 0; i < 2; i++) {
    if (found[i] && found[i]->m)
      *w.out[i] = *found[i]->m;
    else
      w.wanted[i] = found[i];
  }
  if (!w.wanted[0] && !w.wanted[1]) return CLT_OK;
  const int rc = clt_store_walk(store, order, key, space, take_measurement, &w, error);
  if (rc || (!w.wanted[0] && !w.wanted[1])) return rc;
  return clt_fail(error, CLT_E_STORE, "measurements in '%s' were removed while they were read; try again",
                  clt_store_path(store));
}

int clt_store_best_without(clt_best_known *out, clt_voices *voices, const int64_t *without, size_t n_without,
                           clt_store *store, const clt_store_key *key, const clt_space *space,
                           const clt_best_query *query, clt_error *error) {
  best_view v = {.query = query,
                 .voices = *voices,
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
  const known_record *best = v.is_replaced ? &v.searched.all[v.fastest - 1] : v.champion;
  out->others = v.hears_others;
  *voices = v.voices;
  if (rc == CLT_OK && best) {
    clt_belief belief;
    judge(&belief, &v, v.is_replaced ? &v.searched : &v.finalists, best->config);
    out->compared = !v.is_replaced;
    out->voice = best->voice;
    out->alone = belief < CLT_KNOWN;
    const known_record *found[2] = {best};
    if (out->compared) find_beside(found, &v);
    rc = take_measurements(out, found, store, order, key, space, error);
  }
  clt_map_release(&v.contest_indices);
  clt_map_release(&v.newest_in);
  release_known(&v.finalists);
  release_known(&v.searched);
  free(v.contests);
  return rc;
}
