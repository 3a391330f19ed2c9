/* base/parallel.h - a loop on several threads. */
#ifndef CLT_BASE_PARALLEL_H
#define CLT_BASE_PARALLEL_H

#include <clatune/error.h>
#include <stddef.h>

/* Calls task(user, index, error) once for each index 0 .. n - 1, on up to `threads` threads including the calling one
 * (0: one per available processor; at most 64). After a failure, no further index is started. Returns the first
 * failure, with its error. */
int clt_parallel(unsigned threads, size_t n, int (*task)(void *user, size_t index, clt_error *error), void *user,
                 clt_error *error);

unsigned clt_processors(void);

#endif
