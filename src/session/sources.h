/* session/sources.h - recordings of the same kernel on other devices, in the terms of the searched space. */
#ifndef CLT_SESSION_SOURCES_H
#define CLT_SESSION_SOURCES_H

#include <clatune/recording.h>
#include <clatune/sys/searcher.h>

typedef struct clt_sources {
  clt_search_source *sources;
  size_t n;
} clt_sources;

/* Translates recordings by the names and values of their parameters. One whose parameters (those with more than one
 * value) are not those of the space, or of whose configurations none can be translated, is left out with a warning.
 * Release also after a failure. */
int clt_sources_init(clt_sources *out, const clt_space *space, const clt_recording *const *recordings, size_t n,
                     clt_log_fn log, void *log_user, clt_error *error);
void clt_sources_release(clt_sources *sources);

#endif
