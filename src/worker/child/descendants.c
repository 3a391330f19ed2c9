#include "worker/child/descendants.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 1000
#define ROUND_NS 1000000

void clt_adopt_descendants(void) { prctl(PR_SET_CHILD_SUBREAPER, 1); }

static void kill_children(void) {
  char path[64];
  int child;
  snprintf(path, sizeof path, "/proc/self/task/%lld/children", (long long)gettid());
  FILE *file = fopen(path, "re");
  if (file == NULL) return;
  while (fscanf(file, "%d", &child) == 1)
    if (child > 1) kill(child, SIGKILL);
  fclose(file);
}

/* False: there are no children any more. */
static int reap_some(void) {
  pid_t got;
  while ((got = waitpid(-1, NULL, WNOHANG)) > 0 || (got < 0 && errno == EINTR)) continue;
  return got == 0;
}

/* What is killed may have children of its own, which come here then. */
void clt_end_descendants(pid_t group) {
  const struct timespec pause = {.tv_nsec = ROUND_NS};
  if (group > 1) kill(-group, SIGKILL);
  for (int i = 0; i < ROUNDS && reap_some(); i++) {
    kill_children();
    if (i > 0) nanosleep(&pause, NULL);
  }
}
