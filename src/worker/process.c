#include "worker/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/memory.h"
#include "worker/frame.h"

#define SEND_PATIENCE_S 10
#define END_PATIENCE_MS 5000
#define FIRST_FREE_FD 10 /* above every descriptor that the worker is given */

extern char **environ;

/* --- the environment --- */

static bool is_ours(const char *entry) {
  static const char *const names[] = {"POCL_CACHE_DIR=", "POCL_SIGFPE_HANDLER=", "TMPDIR="};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strncmp(entry, names[i], strlen(names[i])) == 0) return true;
  return false;
}

static void free_environment(char **environment, char **ours) {
  for (int i = 0; i < 3; i++) free(ours[i]);
  free(environment);
}

/* The caller's environment with our entries at its end; the others are borrowed. */
static char **new_environment(const char *folder, char *ours[3]) {
  size_t n = 0, kept = 0;
  while (environ && environ[n]) n++;
  char **out = clt_new_array(n + 4, sizeof *out);
  ours[0] = clt_format("POCL_CACHE_DIR=%s/cache", folder);
  ours[1] = clt_format("TMPDIR=%s", folder);
  ours[2] = clt_format("POCL_SIGFPE_HANDLER=0");
  if (out == NULL || !ours[0] || !ours[1] || !ours[2]) {
    free_environment(out, ours);
    return NULL;
  }
  for (size_t i = 0; i < n; i++)
    if (!is_ours(environ[i])) out[kept++] = environ[i];
  for (int i = 0; i < 3; i++) out[kept++] = ours[i];
  return out;
}

/* --- starting --- */

/* A descriptor that cannot be in the way of the worker's own 0 to 3. */
static int move_up(int *fd) {
  int moved = fcntl(*fd, F_DUPFD_CLOEXEC, FIRST_FREE_FD);
  if (moved < 0) return -1;
  close(*fd);
  *fd = moved;
  return 0;
}

static void close_pair(int pair[2]) {
  for (int i = 0; i < 2; i++)
    if (pair[i] >= 0) close(pair[i]);
}

/* The two ends of what a worker is connected by; -1: closed, or given away. */
typedef struct channels {
  int sockets[2], output[2], answers[2]; /* ours, then the worker's */
} channels;

static const channels no_channels = {{-1, -1}, {-1, -1}, {-1, -1}};

static int cannot(clt_error *error, const char *what) {
  return clt_fail(error, CLT_E_WORKER, "cannot make a %s for a worker: %s", what, strerror(errno));
}

static int open_pipe(int ends[2], clt_error *error) {
  if (pipe2(ends, O_CLOEXEC) == 0) return CLT_OK;
  ends[0] = ends[1] = -1;
  return cannot(error, "pipe");
}

/* Bytes pass as they are: nobody shall find "\r\n" at a line's end. */
static int open_terminal(int ends[2], clt_error *error) {
  char name[64];
  struct termios raw;
  ends[0] = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (ends[0] >= 0 && grantpt(ends[0]) == 0 && unlockpt(ends[0]) == 0 && ptsname_r(ends[0], name, sizeof name) == 0)
    ends[1] = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (ends[1] < 0 || tcgetattr(ends[1], &raw)) return cannot(error, "terminal");
  cfmakeraw(&raw);
  return tcsetattr(ends[1], TCSANOW, &raw) ? cannot(error, "terminal") : CLT_OK;
}

static int open_answers(int ends[2], clt_answers answers, clt_error *error) {
  if (answers == CLT_ANSWERS_WITH_ERRORS) return CLT_OK;
  int rc = answers == CLT_ANSWERS_IN_PIPE ? open_pipe(ends, error) : open_terminal(ends, error);
  if (rc) return rc;
  return move_up(&ends[1]) || fcntl(ends[0], F_SETFL, O_NONBLOCK) ? cannot(error, "pipe") : CLT_OK;
}

static int open_channels(channels *c, clt_answers answers, clt_error *error) {
  struct timeval patience = {.tv_sec = SEND_PATIENCE_S};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, c->sockets)) {
    c->sockets[0] = c->sockets[1] = -1;
    return cannot(error, "socket");
  }
  int rc = open_pipe(c->output, error);
  if (rc) return rc;
  if (move_up(&c->sockets[1]) || move_up(&c->output[1]) || fcntl(c->output[0], F_SETFL, O_NONBLOCK) ||
      setsockopt(c->sockets[0], SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience))
    return clt_fail(error, CLT_E_WORKER, "cannot prepare a worker's descriptors: %s", strerror(errno));
  return open_answers(c->answers, answers, error);
}

static void close_channels(channels *c) {
  close_pair(c->sockets);
  close_pair(c->output);
  close_pair(c->answers);
}

static int set_actions(posix_spawn_file_actions_t *actions, const channels *c) {
  int printed = c->answers[1] >= 0 ? c->answers[1] : c->output[1];
  int rc = posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  if (rc == 0) rc = posix_spawn_file_actions_adddup2(actions, printed, STDOUT_FILENO);
  if (rc == 0) rc = posix_spawn_file_actions_adddup2(actions, c->output[1], STDERR_FILENO);
  if (rc == 0) rc = posix_spawn_file_actions_adddup2(actions, c->sockets[1], CLT_WORKER_FD);
  return rc;
}

static int set_attributes(posix_spawnattr_t *attributes) {
  sigset_t all, none;
  sigfillset(&all);
  sigemptyset(&none);
  int rc = posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  if (rc == 0) rc = posix_spawnattr_setpgroup(attributes, 0);
  if (rc == 0) rc = posix_spawnattr_setsigdefault(attributes, &all);
  if (rc == 0) rc = posix_spawnattr_setsigmask(attributes, &none);
  return rc;
}

static int spawn(pid_t *pid, const char *path, char **arguments, char **environment, const channels *c) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  int rc = posix_spawn_file_actions_init(&actions);
  if (rc) return rc;
  rc = posix_spawnattr_init(&attributes);
  if (rc == 0) {
    rc = set_actions(&actions, c);
    if (rc == 0) rc = set_attributes(&attributes);
    if (rc == 0) rc = posix_spawn(pid, path, &actions, &attributes, arguments, environment);
    posix_spawnattr_destroy(&attributes);
  }
  posix_spawn_file_actions_destroy(&actions);
  return rc;
}

static int spawn_worker(pid_t *pid, const clt_process_setup *setup, const channels *c, clt_error *error) {
  char parent[32], memory[32], *ours[3] = {NULL, NULL, NULL};
  snprintf(parent, sizeof parent, "--parent=%lld", (long long)getpid());
  snprintf(memory, sizeof memory, "--memory=%lld", (long long)setup->memory_limit_bytes);
  char *arguments[] = {(char *)setup->path, parent, memory, (char *)setup->trade, NULL};
  char **environment = new_environment(setup->folder, ours);
  if (environment == NULL) return clt_fail_memory(error);
  int failure = spawn(pid, setup->path, arguments, environment, c);
  free_environment(environment, ours);
  if (failure) return clt_fail(error, CLT_E_WORKER, "cannot start the worker '%s': %s", setup->path, strerror(failure));
  return CLT_OK;
}

int clt_process_launch(clt_process *process, const clt_process_setup *setup, clt_error *error) {
  channels c = no_channels;
  pid_t pid = 0;
  char *captured = clt_new_array(CLT_CAPTURE_BYTES + 1, 1);
  int rc = captured ? open_channels(&c, setup->answers, error) : clt_fail_memory(error);
  if (rc == 0) rc = spawn_worker(&pid, setup, &c, error);
  if (rc) goto done;
  *process = (clt_process){.pid = pid,
                           .pid_fd = (int)syscall(SYS_pidfd_open, pid, 0),
                           .socket = c.sockets[0],
                           .output = c.output[0],
                           .answers = c.answers[0],
                           .captured = captured};
  c.sockets[0] = c.output[0] = c.answers[0] = -1;
  captured = NULL;
done:
  close_channels(&c);
  free(captured);
  return rc;
}

int clt_process_start(clt_process *process, const char *path, const char *folder, int64_t memory_limit_bytes,
                      clt_error *error) {
  clt_process_setup setup = {.path = path, .folder = folder, .memory_limit_bytes = memory_limit_bytes};
  return clt_process_launch(process, &setup, error);
}

void clt_process_watch(const clt_process *process, struct pollfd *out) {
  out[0] = (struct pollfd){.fd = process->socket, .events = POLLIN};
  out[1] = (struct pollfd){.fd = process->output, .events = POLLIN};
  out[2] = (struct pollfd){.fd = process->pid_fd, .events = POLLIN};
}

bool clt_process_gone(const clt_process *process) {
  struct pollfd ended = {.fd = process->pid_fd, .events = POLLIN};
  return process->pid_fd >= 0 && poll(&ended, 1, 0) == 1;
}

/* --- what it prints --- */

static void keep_tail(clt_process *process) {
  if (process->n_captured < CLT_CAPTURE_BYTES) return;
  process->n_captured = CLT_CAPTURE_BYTES / 2;
  memmove(process->captured, process->captured + CLT_CAPTURE_BYTES / 2, CLT_CAPTURE_BYTES / 2);
}

void clt_process_drain(clt_process *process) {
  ssize_t got = 1;
  while (process->output >= 0 && got > 0) {
    keep_tail(process);
    do {
      got = read(process->output, process->captured + process->n_captured, CLT_CAPTURE_BYTES - process->n_captured);
    } while (got < 0 && errno == EINTR);
    if (got > 0) process->n_captured += (size_t)got;
  }
  process->captured[process->n_captured] = 0;
  if (process->output >= 0 && got == 0) {
    close(process->output);
    process->output = -1;
  }
}

void clt_process_forget_output(clt_process *process) {
  clt_process_drain(process);
  process->n_captured = 0;
  process->captured[0] = 0;
}

/* --- ending --- */

/* A process that hangs in a driver cannot be waited for without a limit. Without pidfds there is no such limit. */
static bool reap(const clt_process *process, int *status) {
  struct pollfd ended = {.fd = process->pid_fd, .events = POLLIN};
  int ready = 1;
  if (process->pid_fd >= 0) {
    do {
      ready = poll(&ended, 1, END_PATIENCE_MS);
    } while (ready < 0 && errno == EINTR);
  }
  if (ready == 0) return false;
  pid_t got;
  do {
    got = waitpid(process->pid, status, 0);
  } while (got < 0 && errno == EINTR);
  return got == process->pid;
}

static void close_fd(int *fd) {
  if (*fd >= 0) close(*fd);
  *fd = -1;
}

void clt_process_dismiss(clt_process *process, double patience_s) {
  struct pollfd ended = {.fd = process->pid_fd, .events = POLLIN};
  close_fd(&process->socket);
  if (process->pid == 0 || process->pid_fd < 0) return;
  while (poll(&ended, 1, (int)(patience_s * 1e3)) < 0 && errno == EINTR) continue;
}

bool clt_process_end(clt_process *process, int *status) {
  *status = 0;
  if (process->pid == 0) return true;
  kill(-process->pid, SIGKILL); /* before reaping: until then nobody else can have the group's number */
  bool ended = reap(process, status);
  clt_process_drain(process);
  close_fd(&process->output);
  close_fd(&process->answers);
  close_fd(&process->socket);
  close_fd(&process->pid_fd);
  process->pid = 0;
  return ended;
}

void clt_process_release(clt_process *process) {
  int status;
  if (process == NULL) return;
  clt_process_end(process, &status);
  free(process->captured);
  memset(process, 0, sizeof *process);
}

static const char *signal_name(int number) {
  static const struct {
    int number;
    const char *name;
  } table[] = {{SIGSEGV, "SIGSEGV"}, {SIGABRT, "SIGABRT"}, {SIGBUS, "SIGBUS"},   {SIGFPE, "SIGFPE"},
               {SIGILL, "SIGILL"},   {SIGKILL, "SIGKILL"}, {SIGTERM, "SIGTERM"}, {SIGTRAP, "SIGTRAP"},
               {SIGXCPU, "SIGXCPU"}, {SIGXFSZ, "SIGXFSZ"}, {SIGPIPE, "SIGPIPE"}, {SIGSYS, "SIGSYS"}};
  for (size_t i = 0; i < sizeof table / sizeof *table; i++)
    if (table[i].number == number) return table[i].name;
  return NULL;
}

void clt_process_status_text(int status, char *out, size_t capacity) {
  if (!WIFSIGNALED(status)) {
    snprintf(out, capacity, "exited with status %d", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
    return;
  }
  const char *name = signal_name(WTERMSIG(status));
  if (name) {
    snprintf(out, capacity, "was killed by %s", name);
  } else {
    snprintf(out, capacity, "was killed by signal %d", WTERMSIG(status));
  }
}
