#include "common/wait.h"

#include <errno.h>
#include <math.h>
#include <time.h>

#include "base/clock.h"

void wait_until(double s) {
  struct timespec when = {(time_t)s, (long)((s - floor(s)) * 1e9)};
  while (s > 0 && clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, NULL) == EINTR) continue;
}

void wait_s(double s) {
  if (s > 0) wait_until(clt_now_s() + s);
}
