/* session/sources.h - prior data: recordings, and stored measurements of related kernels. */
#ifndef CLT_SESSION_SOURCES_H
#define CLT_SESSION_SOURCES_H

#include <clatune/recording.h>
#include <clatune/sys/searcher.h>

#include "measurement/measurement.h"

typedef struct clt_sources {
  clt_search_source *sources; /* names, configurations and costs are owned */
  size_t n, capacity;
} clt_sources; /* zeroed: none */

typedef struct clt_known_cost {
  clt_config config;
  float log_cost; /* NaN: failed */
} clt_known_cost;

/* Adds a source of n known costs, which this sorts; the lowest of several for one configuration counts. */
int clt_sources_add(clt_sources *sources, const char *name, clt_known_cost *known, size_t n, clt_error *error);
void clt_sources_release(clt_sources *sources);

/* Adds recordings as sources, with the objective's costs (clt_objective_cost); measurements without a cost are left
 * out. Parameters are matched by names and values. A recording is left out with a warning if its parameters (those with
 * more than one value) are not those of the space, or if no configuration of it is in the space. Release also after a
 * failure. */
int clt_sources_add_recordings(clt_sources *out, const clt_space *space, const clt_objective *objective,
                               const clt_recording *const *recordings, size_t n, clt_log_fn log, void *log_user,
                               clt_error *error);

struct clt_related_query; /* lookup/lookup.h */

/* Adds sources from the store: the same problem on other devices or with other drivers, and problems of the same name
 * and parameters with another text or other sizes. Logs them. At most eight; in order of preference: the same text,
 * this device, near sizes, many measurements. */
int clt_sources_add_stored(clt_sources *out, const clt_space *space, const clt_objective *objective, clt_store *store,
                           const struct clt_related_query *query, clt_log_fn log, void *log_user, clt_error *error);

#endif
