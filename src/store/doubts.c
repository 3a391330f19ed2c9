/* Whether one voice alone has chosen the best known configuration (docs/explanation/trust.md). */

#include "base/base.h"
#include "measurement/measurement.h"
#include "store/best.h"
#include "store/store.h"
#include "store/words.h"

/* What each voice said last about one configuration, or two. */
typedef struct hearing {
  const clt_best_query *query;
  clt_config config; /* that is heard now */
  int which;
  size_t n;
  clt_word words[CLT_MOST_VOICES];
  clt_measurement measurements[CLT_MOST_VOICES];
  /* Of finalists and searches, by `which`; INFINITY: failed; 0: nothing was said. */
  double costs[CLT_MOST_VOICES][2][2];
} hearing;

static int note_word(void *user, const clt_store_record *record, const clt_measurement *m) {
  hearing *h = user;
  const clt_best_query *query = h->query;
  const bool is_silent = (query->only && record->voice != query->only) ||
                         (query->without && record->voice == *query->without) || record->kind == CLT_RECORD_ATTEMPT;
  if (is_silent || m->config != h->config) return 0;
  const bool correct = clt_measurement_correct(m);
  const double cost = correct ? clt_objective_cost(query->objective, m) : INFINITY;
  size_t i = 0;
  if (isnan(cost)) return 0;
  while (i < h->n && h->words[i].voice != record->voice) i++;
  if (i == CLT_MOST_VOICES) return 0;
  if (i == h->n) h->n++;
  h->costs[i][record->kind == CLT_RECORD_SEARCH][h->which] = cost;
  h->words[i] = (clt_word){.voice = record->voice, .correct = correct, .cost = correct ? cost : NAN};
  h->measurements[i] = *m;
  h->measurements[i].log = NULL; /* borrowed */
  return 0;
}

/* Of n configurations. Free *out. */
static int hear(hearing **out, const clt_config *configs, int n, clt_store *store, const clt_store_key *key,
                const clt_space *space, const clt_best_query *query, clt_error *error) {
  hearing *h = *out = calloc(1, sizeof *h);
  int rc = h ? CLT_OK : clt_fail_memory(error);
  if (h) h->query = query;
  for (int i = 0; rc == CLT_OK && i < n; i++) {
    h->which = i;
    h->config = configs[i];
    rc = clt_store_walk_words(store, key, space, configs[i], note_word, h, error);
  }
  return rc;
}

/* The word that counts about an answer that one voice alone gave: the fastest records come first, and slower ones about
 * the same configuration were not read. *cost: INFINITY if it has failed. Unchanged if none counts. */
static int hear_all(clt_best_known *out, double *cost, clt_store *store, const clt_store_key *key,
                    const clt_space *space, const clt_best_query *query, int64_t first, clt_error *error) {
  hearing *h;
  clt_belief belief = CLT_DISPUTED;
  const int rc = hear(&h, &out->measurement.config, 1, store, key, space, query, error);
  const size_t chosen = rc == CLT_OK && h->n ? clt_words_judge(&belief, h->words, h->n, first) : 0;
  if (belief >= CLT_BY_FIRST) {
    *cost = h->words[chosen].correct ? h->words[chosen].cost : INFINITY;
    out->alone = belief < CLT_KNOWN;
    if (h->words[chosen].correct) out->measurement = h->measurements[chosen], out->voice = h->words[chosen].voice;
  }
  free(h);
  return rc;
}

/* Whether more voices found the second of two configurations better than the first, at least two or one's own: as
 * finalists, or else in searches. One's own counts more than one other, less than two. */
static int vote(bool *for_second, const clt_config two[2], clt_store *store, const clt_store_key *key,
                const clt_space *space, const clt_best_query *query, clt_error *error) {
  hearing *h;
  int votes[2] = {0, 0};
  const int rc = hear(&h, two, 2, store, key, space, query, error);
  for (size_t i = 0; rc == CLT_OK && i < h->n; i++) {
    const double *finalists = h->costs[i][0], *searched = h->costs[i][1];
    const double *costs = finalists[0] != 0 && finalists[1] != 0 ? finalists : searched;
    if (costs[0] != 0 && costs[1] != 0 && costs[0] != costs[1])
      votes[costs[1] < costs[0]] += clt_voice_weight(h->words[i].voice, 0);
  }
  free(h);
  *for_second = votes[1] > votes[0] && votes[1] >= CLT_WEIGHT_OF_FIRST;
  return rc;
}

/* If one voice tips the answer, all that measured both vote; again until nothing changes. */
static int let_all_vote(clt_best_known *out, const clt_voices *voices, clt_store *store, const clt_store_key *key,
                        const clt_space *space, const clt_best_query *query, clt_error *error) {
  int rc = CLT_OK;
  size_t n_changes = 0;
  for (size_t next = 0; rc == CLT_OK && next < voices->n && n_changes <= voices->n;) {
    const int64_t without[] = {voices->all[next++], query->without ? *query->without : 0};
    clt_voices heard = {.first = voices->first};
    clt_best_known other;
    double cost;
    bool is_better = false;
    rc = clt_store_best_without(&other, &heard, without, query->without ? 2 : 1, store, key, space, query, error);
    const clt_config two[] = {out->measurement.config, other.measurement.config};
    if (rc == CLT_OK && two[1] != CLT_CONFIG_NONE && two[0] != two[1])
      rc = vote(&is_better, two, store, key, space, query, error);
    if (is_better && other.alone && !other.compared)
      rc = hear_all(&other, &cost, store, key, space, query, voices->first, error);
    if (!is_better) continue;
    *out = other;
    next = 0;
    n_changes++;
  }
  return rc;
}

int clt_store_best(clt_best_known *out, clt_store *store, const clt_store_key *key, const clt_space *space,
                   const clt_best_query *query, clt_error *error) {
  int64_t without[CLT_MOST_DOUBTED];
  clt_voices voices = {.first = CLT_NO_VOICE};
  int rc =
      clt_store_best_without(out, &voices, query->without, query->without != NULL, store, key, space, query, error);
  for (size_t n = 0; rc == CLT_OK && out->alone && !out->compared && !query->believes && n < CLT_MOST_DOUBTED;) {
    clt_best_known other;
    const double cost = clt_objective_cost(query->objective, &out->measurement);
    double judged = cost;
    const int64_t voice = without[n++] = out->voice;
    rc = hear_all(out, &judged, store, key, space, query, voices.first, error);
    if (rc == CLT_OK) rc = clt_store_best_without(&other, &voices, without, n, store, key, space, query, error);
    if (rc || other.measurement.config == CLT_CONFIG_NONE) break;
    const double theirs = clt_objective_cost(query->objective, &other.measurement);
    const bool same = other.measurement.config == out->measurement.config;
    const bool is_refuted = cost < CLT_CLEARLY_BETTER * judged && theirs < judged;
    bool doubtful = is_refuted || (out->alone && cost < CLT_CLEARLY_BETTER * theirs);
    if (doubtful && !is_refuted && voice == voices.first && other.voice != 0) { /* two must doubt the first voice */
      clt_best_known second;
      const int64_t of_both[] = {voice, other.voice};
      rc = clt_store_best_without(&second, &voices, of_both, 2, store, key, space, query, error);
      doubtful = cost < CLT_CLEARLY_BETTER * clt_objective_cost(query->objective, &second.measurement);
    }
    if (same && !doubtful) out->alone = false;
    if (rc || !doubtful) break;
    other.alone = other.alone && !same;
    *out = other;
  }
  const bool is_contested = out->measurement.config != CLT_CONFIG_NONE && !query->believes && !query->only;
  return rc == CLT_OK && is_contested ? let_all_vote(out, &voices, store, key, space, query, error) : rc;
}
