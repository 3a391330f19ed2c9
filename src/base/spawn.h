/* base/spawn.h - starts programs with posix_spawn. */
#ifndef CLT_BASE_SPAWN_H
#define CLT_BASE_SPAWN_H

#include <clatune/error.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/text.h"

#define CLT_SPAWN_NULL 0 /* for in, out and err: /dev/null */

typedef struct clt_spawn {
  const char *program;      /* a path, or a name that is searched in PATH */
  char *const *arguments;   /* the first is the program's name; NULL at the end */
  char *const *environment; /* "NAME=value", NULL at the end; NULL: this process's own */
  const char *folder;       /* the working folder; NULL: this process's own */
  int in, out, err;         /* CLT_SPAWN_NULL, or descriptors above 2 */
  int extra_fd, extra_as;   /* another descriptor to pass, and its number in the program; extra_as 0: none */
  bool own_group;           /* start it in its own process group, with all signals unblocked and at their defaults */
  bool default_signals;     /* unblock all signals, and reset SIGPIPE and SIGXFSZ, which clatune's programs ignore */
} clt_spawn;

/* Starts a program. The caller keeps its descriptors. Returns 0 or an errno value. */
int clt_spawn_start(pid_t *pid, const clt_spawn *spawn);

/* Waits for the end of a process; signals do not interrupt it. *status is as from waitpid. False: waitpid failed. */
bool clt_spawn_wait(int *status, pid_t pid);

/* Runs a program and collects its standard output and standard error in *output: the first max_bytes, the rest is
 * discarded. CLT_E_IO: it cannot be started. */
int clt_spawn_output(clt_text *output, int *status, const clt_spawn *spawn, size_t max_bytes, clt_error *error);

#endif
