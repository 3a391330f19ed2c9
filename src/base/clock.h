/* base/clock.h - the host's monotonic clock. */
#ifndef CLT_BASE_CLOCK_H
#define CLT_BASE_CLOCK_H

#include <time.h>

/* Seconds since an arbitrary fixed moment; never goes back. */
static inline double clt_now_s(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#endif
