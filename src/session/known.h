/* session/known.h - known answers: from the store and from this session, by canonical configuration. */
#ifndef CLT_SESSION_KNOWN_H
#define CLT_SESSION_KNOWN_H

#include "base/map.h"
#include "store/store.h"

/* Zeroed before use. */
typedef struct clt_known {
  clt_map index; /* configuration to index in entries */
  struct clt_known_entry *entries;
  size_t n, capacity;
  int64_t newest; /* number of the newest record that was read; 0: none */
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
