/* base/parallel.h - the same work on several threads. */
#ifndef CLT_BASE_PARALLEL_H
#define CLT_BASE_PARALLEL_H

#include <clatune/error.h>
#include <stddef.h>

/* Calls task(user, index, error) once for every index below n, on up to `threads` threads (0: as many as there are
 * processors). After a failure no further index is started; the first failure is returned, with its error. */
int clt_parallel(unsigned threads, size_t n, int (*task)(void *user, size_t index, clt_error *error), void *user,
                 clt_error *error);

unsigned clt_processors(void);

#endif
