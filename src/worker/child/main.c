/* clatune-worker: builds and runs kernels for a tuner, in a process that may crash or hang. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "worker/child/child.h"
#include "worker/message.h"

static long long option(int n, char **arguments, const char *name) {
  size_t length = strlen(name);
  for (int i = 1; i < n; i++)
    if (strncmp(arguments[i], name, length) == 0) return strtoll(arguments[i] + length, NULL, 10);
  return 0;
}

static int usage(int n, char **arguments) {
  if (n == 2 && strcmp(arguments[1], "--version") == 0) {
    printf("clatune-worker %s (protocol %d)\n", CLATUNE_VERSION, CLT_PROTOCOL_VERSION);
    return 0;
  }
  fprintf(stderr, "clatune-worker: started by clatune, not by hand; only --version is for people\n");
  return 2;
}

/* Ends without cleaning up: drivers hang and crash in their exit handlers, and the parent removes the folder. */
int main(int n, char **arguments) {
  long long parent = option(n, arguments, "--parent=");
  if (parent <= 0) return usage(n, arguments);
  clt_worker_limit(option(n, arguments, "--memory="));
  if (strcmp(arguments[n - 1], CLT_COMMAND_TRADE) == 0) _Exit(clt_worker_run_commands(CLT_WORKER_FD, (pid_t)parent));
  if (!clt_worker_follow((pid_t)parent)) return 1;
  clt_worker_watch_faults(CLT_WORKER_FD);
  _Exit(clt_worker_serve(CLT_WORKER_FD));
}
