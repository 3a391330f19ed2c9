/* session/known.h - what is known of configurations: found in the store, or answered in this session. */
#ifndef CLT_SESSION_KNOWN_H
#define CLT_SESSION_KNOWN_H

#include <clatune/store.h>

/* Zeroed before use. Configurations are canonical ones. */
typedef struct clt_known {
  bool needs_energy; /* a correct measurement without its energy is none */
  struct clt_known_entry *entries;
} clt_known;

void clt_known_release(clt_known *known);

/* Reads a store. Of several search records of a configuration the newest counts. Of finalists only failures count, like
 * search records: their times were interleaved with others'. Out of memory does not: others were prepared as well. */
int clt_known_load(clt_known *known, clt_store *store, const clt_store_key *key, const clt_space *space,
                   clt_error *error);

/* Remembers an answer of this session: its reason and time. */
int clt_known_add(clt_known *known, const clt_measurement *measurement, clt_error *error);

/* One more attempt that a configuration did not survive; how many there were, in earlier sessions too. */
int clt_known_add_attempt(clt_known *known, clt_config config, clt_error *error);
unsigned clt_known_attempts(const clt_known *known, clt_config config);

/* Whether there is an answer, and where it came from. */
typedef enum clt_known_source { CLT_KNOWN_NOT, CLT_KNOWN_STORE, CLT_KNOWN_SESSION } clt_known_source;

/* Fills *out, owned by the caller, unless nothing is known. The first answer from the store has all its runs and makes
 * the configuration one that was answered in this session; later ones have reason and time only. */
clt_known_source clt_known_take(clt_known *known, clt_config config, clt_measurement *out);

#endif
