#include "common/wait.h"

#include <errno.h>
#include <math.h>
#include <time.h>

#include "base/clock.h"

void wait_until(double s) {
  struct timespec when = {(time_t)s, (long)((s - floor(s)) * 1e9)};
  while (s > 0 && clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, NULL) == EINTR) continue;
}

void compute_s(double s) {
  struct timespec t = {0}, begin;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
  for (double had = 0; had < s; had = (double)(t.tv_sec - begin.tv_sec) + 1e-9 * (double)(t.tv_nsec - begin.tv_nsec))
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
}

void wait_s(double s) {
  if (s > 0) wait_until(clt_now_s() + s);
}
