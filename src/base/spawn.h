/* base/spawn.h - starting programs, by posix_spawn. */
#ifndef CLT_BASE_SPAWN_H
#define CLT_BASE_SPAWN_H

#include <clatune/error.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/text.h"

#define CLT_SPAWN_NULL 0 /* for in, out and err: /dev/null */

typedef struct clt_spawn {
  const char *program;      /* a path, or a name that is searched in PATH */
  char *const *arguments;   /* with the program's name as the first, NULL at the end */
  char *const *environment; /* "NAME=value", NULL at the end; NULL: this process's own */
  const char *folder;       /* to start in; NULL: this process's own */
  int in, out, err;         /* CLT_SPAWN_NULL, or descriptors above 2 */
  int extra_fd, extra_as;   /* a further descriptor, and the number that it has in the program; extra_as 0: none */
  bool own_group;           /* in a process group of its own, with default signals and none blocked */
} clt_spawn;

/* Starts a program; descriptors stay the caller's. Returns 0 or an errno. */
int clt_spawn_start(pid_t *pid, const clt_spawn *spawn);

/* Waits for the end of a process, whatever signals arrive. *status is as from waitpid. False: it cannot be waited for.
 */
bool clt_spawn_wait(int *status, pid_t pid);

/* Starts a program with out and err in one pipe and waits for its end. The first max_bytes of what it prints go to
 * *output; the rest is read and dropped. CLT_E_IO with the name of the program where it cannot be started. */
int clt_spawn_output(clt_text *output, int *status, const clt_spawn *spawn, size_t max_bytes, clt_error *error);

#endif
