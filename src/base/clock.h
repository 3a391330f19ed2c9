/* base/clock.h - the host's monotonic clock, and processor time. */
#ifndef CLT_BASE_CLOCK_H
#define CLT_BASE_CLOCK_H

#include <poll.h>
#include <stddef.h>
#include <time.h>

/* Seconds since an arbitrary fixed moment; never goes back. */
static inline double clt_now_s(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* poll(2) for at most wait_s, and at most a second. Returns by how much the clock jumped meanwhile, 0 if by less than a
 * second: the machine was suspended, or this process was stopped. Deadlines that were being waited for move by it. */
double clt_poll(struct pollfd *watched, size_t n, double wait_s);

/* Seconds of processor time that the calling thread has used. */
static inline double clt_thread_time_s(void) {
  struct timespec used;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return (double)used.tv_sec + 1e-9 * (double)used.tv_nsec;
}

/* Seconds of processor time of all processors since the machine started: busy_s, all_s (including idle), and own_s, the
 * part of this process and of the processes that it has waited for. NaN: not known. */
typedef struct clt_processor_time {
  double busy_s, all_s, own_s;
} clt_processor_time;
clt_processor_time clt_processor_time_now(void);

#endif
