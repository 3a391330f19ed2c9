#include "common/wait.h"

#include <math.h>
#include <time.h>

#include "base/base.h"

void wait_until(double s) {
  for (double left_s; (left_s = s - clt_now_s()) > 0;) /* not until a moment of the clock, which a test lets jump */
    nanosleep(&(struct timespec){(time_t)left_s, (long)((left_s - floor(left_s)) * 1e9)}, NULL);
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
