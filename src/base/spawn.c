#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"

extern char **environ;

int clt_spawn_start(pid_t *pid, const clt_spawn *s) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  const int fds[3] = {s->in, s->out, s->err};
  sigset_t all, none; /* all: the signals to reset to their default action */
  if (s->own_group) {
    sigfillset(&all);
  } else { /* the signals that clatune's programs ignore */
    sigemptyset(&all);
    sigaddset(&all, SIGPIPE);
    sigaddset(&all, SIGXFSZ);
  }
  sigemptyset(&none);
  posix_spawn_file_actions_init(&actions); /* these and the functions for attributes fail only if misused */
  posix_spawnattr_init(&attributes);
  int rc = 0;
  if (s->folder) rc = posix_spawn_file_actions_addchdir_np(&actions, s->folder);
  for (int i = 0; rc == 0 && i < 3; i++) {
    const int mode = i == 0 ? O_RDONLY : O_WRONLY;
    rc = fds[i] == CLT_SPAWN_NULL ? posix_spawn_file_actions_addopen(&actions, i, "/dev/null", mode, 0)
                                  : posix_spawn_file_actions_adddup2(&actions, fds[i], i);
  }
  if (rc == 0 && s->extra_as) rc = posix_spawn_file_actions_adddup2(&actions, s->extra_fd, s->extra_as);
  if (s->own_group || s->default_signals) { /* with signals as a program expects them */
    const short group = s->own_group ? POSIX_SPAWN_SETPGROUP : 0;
    posix_spawnattr_setflags(&attributes, group | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setsigmask(&attributes, &none);
  }
  if (rc == 0)
    rc = posix_spawnp(pid, s->program, &actions, &attributes, s->arguments, s->environment ? s->environment : environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return rc;
}

bool clt_spawn_wait(int *status, pid_t pid) {
  pid_t ended;
  do ended = waitpid(pid, status, 0);
  while (ended < 0 && errno == EINTR);
  return ended == pid;
}

int clt_spawn_output(clt_text *output, int *status, const clt_spawn *spawn, size_t max_bytes, clt_error *error) {
  int ends[2];
  pid_t pid;
  if (pipe2(ends, O_CLOEXEC)) return clt_fail_errno(error, CLT_E_IO, "run", spawn->program);
  clt_spawn piped = *spawn;
  piped.out = piped.err = ends[1];
  int failure = clt_spawn_start(&pid, &piped);
  close(ends[1]);
  if (failure) {
    close(ends[0]);
    return clt_fail(error, CLT_E_IO, "cannot run '%s': %s", spawn->program, strerror(failure));
  }
  char chunk[4096];
  for (ssize_t got = 1; got > 0 || (got < 0 && errno == EINTR);) {
    got = read(ends[0], chunk, sizeof chunk);
    size_t room = max_bytes - output->n;
    if (got > 0) clt_text_add_bytes(output, chunk, (size_t)got < room ? (size_t)got : room);
  }
  close(ends[0]);
  if (!clt_spawn_wait(status, pid)) return clt_fail_errno(error, CLT_E_IO, "wait for", spawn->program);
  return output->rc ? clt_fail_memory(error) : CLT_OK;
}
