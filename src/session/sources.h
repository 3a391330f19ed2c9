/* session/sources.h - what is known of the same kernel elsewhere, from recordings and from the store, in the terms of
 * the searched space. */
#ifndef CLT_SESSION_SOURCES_H
#define CLT_SESSION_SOURCES_H

#include <clatune/recording.h>
#include <clatune/store.h>
#include <clatune/sys/searcher.h>

typedef struct clt_sources {
  clt_search_source *sources; /* names, configurations and speeds are owned */
  size_t n, capacity;
} clt_sources; /* zeroed: none */

/* least cost / cost; 0: failed. */
typedef struct clt_known_speed {
  clt_config config;
  float speed;
} clt_known_speed;

/* Adds a source of n known speeds, which are sorted; of several of one configuration the fastest counts. */
int clt_sources_add(clt_sources *sources, const char *name, clt_known_speed *known, size_t n, clt_error *error);

/* objective: by whose costs (clt_objective_cost); what has none is left out. Translates recordings by the names and
 * values of their parameters. One whose parameters (those with more than one value) are not those of the space, or of
 * whose configurations none can be translated, is left out with a warning. Release also after a failure. */
int clt_sources_add_recordings(clt_sources *out, const clt_space *space, const clt_objective *objective,
                               const clt_recording *const *recordings, size_t n, clt_log_fn log, void *log_user,
                               clt_error *error);
/* Whose relatives are looked for in a store. */
typedef struct clt_source_wish {
  const clt_store_key *own;         /* is left out */
  const char *problem_name, *sizes; /* sizes as clt_instance_sizes_text writes them */
} clt_source_wish;

/* Adds what the store knows of the same problem under other keys: other devices, other drivers; and of problems of the
 * same name whose text or sizes differ but whose parameters are those of the space. Says what is learnt from. At most
 * eight: those of the same text before others, this device before others, near sizes before far ones, many measurements
 * before few. */
int clt_sources_add_stored(clt_sources *out, const clt_space *space, const clt_objective *objective, clt_store *store,
                           const clt_source_wish *wish, clt_log_fn log, void *log_user, clt_error *error);
void clt_sources_release(clt_sources *sources);

#endif
