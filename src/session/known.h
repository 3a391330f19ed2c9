/* session/known.h - known answers: from the store and from this session, by canonical configuration. */
#ifndef CLT_SESSION_KNOWN_H
#define CLT_SESSION_KNOWN_H

#include "base/hash.h"
#include "store/store.h"

/* What is known of those who gave answers (clt_store_record's voice). */
typedef struct clt_known_voice {
  int64_t id;
  double least_cost;           /* of its correct answers; INFINITY: none */
  bool is_confirmed, is_wrong; /* what it said is known (words.h), or something else */
} clt_known_voice;

/* Zeroed before use.
 *
 * The answer of one other voice alone is a claim. It is measured here instead if it is better than all others' by a
 * fifth, if it says that the default configuration fails, or if the voice has said something that is known to be
 * untrue; also the first claim of all, unless its voice was confirmed, and once in a hundred evaluations one that bars
 * a neighbour of the best known configuration. Contradictory answers of others are none. */
typedef struct clt_known {
  const clt_objective *objective; /* by the caller; NULL: time */
  clt_map index;                  /* configuration to index in entries */
  struct clt_known_entry *entries;
  size_t n, capacity;
  const clt_space *space;
  int64_t newest;      /* number of the newest record that was read; 0: none */
  clt_config insisted; /* if it insists: its failure is always measured here */
  bool insists;
  clt_config best[2]; /* what is known; what was claimed and taken */
  double best_cost[2];
  clt_known_voice voices[CLT_MOST_VOICES]; /* the first: this machine */
  size_t n_voices;
  int64_t n_taken, n_samples, n_bars;         /* answers that were asked for, and of these measured here again */
  size_t n_refuted, n_returned, next_refuted; /* answers that count no longer, and of these returned as such */
} clt_known;

void clt_known_release(clt_known *known);

/* Reads a store's newest answers (clt_store_newest). A second call adds the answers that others have stored since.
 * Existing answers stay. */
int clt_known_load(clt_known *known, clt_store *store, const clt_store_key *key, const clt_space *space,
                   bool needs_energy, clt_error *error);

/* The origin of an answer. */
typedef enum clt_origin { CLT_NOT_KNOWN, CLT_FROM_STORE, CLT_FROM_SESSION } clt_origin;

/* Fills *out, owned by the caller, unless nothing is known. The first time, an answer from the store has all its runs,
 * and the configuration then counts as answered in this session; later answers have reason, time and energy only. */
clt_origin clt_known_take(clt_known *known, clt_config config, clt_measurement *out);
/* The failure of this configuration is never taken on another's word alone. */
void clt_known_insist(clt_known *known, clt_config config);
/* Adds an answer of this session, or replaces one. */
int clt_known_add(clt_known *known, const clt_measurement *m, clt_error *error);
bool clt_known_has(const clt_known *known, clt_config config);
bool clt_known_is_claim(const clt_known *known, clt_config config);
/* A configuration whose answer was taken before its voice lost its credit; it then has none. CLT_CONFIG_NONE: no more.
 */
clt_config clt_known_next_refuted(clt_known *known);

/* The first result of a configuration that is measured twice, until the second one: keep moves it from *m, take moves
 * it to *out; false: there is none. */
int clt_known_keep_first(clt_known *known, clt_measurement *m, clt_error *error);
bool clt_known_take_first(clt_known *known, clt_config config, clt_measurement *out);

/* Counts attempts that ended with the worker's process. */
int clt_known_add_attempt(clt_known *known, clt_config config, clt_error *error);
unsigned clt_known_attempts(const clt_known *known, clt_config config);

#endif
