/* session/known.h - known answers: from the store and from this session, by canonical configuration. */
#ifndef CLT_SESSION_KNOWN_H
#define CLT_SESSION_KNOWN_H

#include "base/map.h"
#include "store/store.h"

#define CLT_KNOWN_VOICES 64 /* more are not told apart */

/* What is known of those who gave answers (clt_store_record's voice). */
typedef struct clt_known_voice {
  int64_t id;
  double fastest_s;            /* of its correct answers; INFINITY: none */
  bool is_confirmed, is_wrong; /* a failure that it gave was confirmed; an answer was not */
} clt_known_voice;

/* Zeroed before use.
 *
 * The answer of another agent is not taken, and so measured here, where it must not count on its word alone: if it is a
 * failure, or faster than half of what anybody else has measured, and no other agent gave the same answer. As most
 * failures are true, those of a voice are taken once one was confirmed, except one in a hundred evaluations, those of
 * the default configuration, and all if an answer of the voice was not confirmed. Answers of others that contradict
 * each other are none. */
typedef struct clt_known {
  clt_map index; /* configuration to index in entries */
  struct clt_known_entry *entries;
  size_t n, capacity;
  int64_t newest;      /* number of the newest record that was read; 0: none */
  clt_config insisted; /* its failure is always measured here; CLT_CONFIG_NONE: set by clt_known_load */
  bool insists;
  clt_known_voice voices[CLT_KNOWN_VOICES]; /* the first: this machine */
  size_t n_voices;
  int64_t n_taken, n_repeated; /* answers that were asked for, and of these measured here again */
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

/* The first result of a configuration that is measured twice, until the second one: keep moves it from *m, take moves
 * it to *out; false: there is none. */
int clt_known_keep_first(clt_known *known, clt_measurement *m, clt_error *error);
bool clt_known_take_first(clt_known *known, clt_config config, clt_measurement *out);

/* Counts attempts that ended with the worker's process. */
int clt_known_add_attempt(clt_known *known, clt_config config, clt_error *error);
unsigned clt_known_attempts(const clt_known *known, clt_config config);

#endif
