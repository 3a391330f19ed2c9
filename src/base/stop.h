/* base/stop.h - requests to end, set by a signal handler or another thread. */
#ifndef CLT_BASE_STOP_H
#define CLT_BASE_STOP_H

#include <stdbool.h>
#include <stddef.h>

/* NULL: nobody can ask. */
static inline bool clt_stop_asked(const volatile int *stop) {
  return stop != NULL && __atomic_load_n(stop, __ATOMIC_RELAXED) != 0;
}

#endif
