#include "base/base.h"

#include <sys/resource.h>
#include <unistd.h>

#define LOOK_S 1.0
#define LEAST_JUMP_S 1.0

double clt_poll(struct pollfd *watched, size_t n, double wait_s) {
  const double begun_s = clt_now_s(), asked_s = fmin(fmax(wait_s, 0), LOOK_S);
  poll(watched, n, (int)ceil(asked_s * 1e3));
  const double jump_s = clt_now_s() - begun_s - asked_s;
  return jump_s > LEAST_JUMP_S ? jump_s : 0;
}

clt_processor_time clt_processor_time_now(void) {
  const clt_processor_time unknown = {NAN, NAN, NAN};
  clt_processor_time now = {0};
  /* user, nice, system, idle, iowait, irq, softirq, steal */
  long long ticks[8] = {0};
  struct rusage own, children;
  FILE *file = fopen("/proc/stat", "re");
  const double tick_s = 1.0 / (double)sysconf(_SC_CLK_TCK);
  int n = file ? fscanf(file, "cpu %lld %lld %lld %lld %lld %lld %lld %lld", &ticks[0], &ticks[1], &ticks[2], &ticks[3],
                        &ticks[4], &ticks[5], &ticks[6], &ticks[7])
               : 0;
  if (file) fclose(file);
  if (n < 8 || getrusage(RUSAGE_SELF, &own) || getrusage(RUSAGE_CHILDREN, &children)) return unknown;
  for (int i = 0; i < 8; i++) {
    now.all_s += tick_s * (double)ticks[i];
    if (i != 3 && i != 4) now.busy_s += tick_s * (double)ticks[i];
  }
  const struct timeval used[] = {own.ru_utime, own.ru_stime, children.ru_utime, children.ru_stime};
  for (int i = 0; i < 4; i++) now.own_s += (double)used[i].tv_sec + 1e-6 * (double)used[i].tv_usec;
  return now;
}
