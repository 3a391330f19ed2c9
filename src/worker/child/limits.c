#include "worker/child/limits.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "worker/frame.h"

int clt_worker_follow(pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  return getppid() == parent; /* it may have died before */
}

#ifdef __SANITIZE_ADDRESS__
#define LIMITED false /* its shadow alone is more than any limit */
#else
#define LIMITED true
#endif

/* RLIMIT_DATA and not RLIMIT_AS: drivers reserve far more addresses than they use. */
static void limit_memory(int64_t bytes) {
  struct rlimit limit = {(rlim_t)bytes, (rlim_t)bytes};
  if (LIMITED && bytes > 0) setrlimit(RLIMIT_DATA, &limit);
}

static void be_first_to_go(void) {
  int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (fd < 0) return;
  ssize_t written = write(fd, "800", 3);
  (void)written;
  close(fd);
}

void clt_worker_limit(int64_t memory_bytes) {
  struct rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  limit_memory(memory_bytes);
  be_first_to_go();
  fcntl(CLT_WORKER_FD, F_SETFD, FD_CLOEXEC);
  close_range(CLT_WORKER_FD + 1, ~0U, 0);
}
