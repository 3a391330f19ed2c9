#include "worker/process.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/spawn.h"
#include "base/text.h"
#include "worker/worker_place.h" /* made by meson: CLATUNE_LIBEXECDIR */

#define PROGRAM "clatune-worker"
#define SEND_PATIENCE_S 10
#define END_PATIENCE_MS 5000
#define FIRST_FREE_FD 10 /* above every descriptor that the worker is given */
#define MOST_PRINTED ((size_t)1 << 14)
#define MOST_ANSWERED ((size_t)1 << 20)

extern char **environ;

int clt_worker_path(char **out, clt_error *error) {
  /* Beside the executable, in the build tree of the command line and of the tests, in an installed tree that was moved;
   * for the programs of others: lib/libclatune.so, or lib/<architecture>/libclatune.so, in a tree that was moved. */
  static const char *const near_program[] = {PROGRAM,
                                             "../worker/child/" PROGRAM,
                                             "../../src/worker/child/" PROGRAM,
                                             "../src/worker/child/" PROGRAM,
                                             "../libexec/" PROGRAM,
                                             NULL};
  static const char *const near_library[] = {"src/worker/child/" PROGRAM, "../libexec/" PROGRAM,
                                             "../../libexec/" PROGRAM, NULL};
  const char *given = getenv("CLATUNE_WORKER"), *installed = CLATUNE_LIBEXECDIR "/" PROGRAM;
  char *path = NULL;
  if (given && *given) {
    if (access(given, X_OK))
      return clt_fail_errno(error, CLT_E_WORKER, "run the worker that CLATUNE_WORKER names,", given);
    path = strdup(given);
    return path ? (*out = path, CLT_OK) : clt_fail_memory(error);
  }
  path = clt_find_near_program(near_program, X_OK);
  if (path == NULL) path = clt_find_near_library(near_library, X_OK);
  if (path == NULL && access(installed, X_OK) == 0 && (path = strdup(installed)) == NULL) return clt_fail_memory(error);
  if (path == NULL)
    return clt_fail(error, CLT_E_WORKER,
                    "cannot find the program '" PROGRAM "' beside the executable or in '" CLATUNE_LIBEXECDIR
                    "'; name it in CLATUNE_WORKER");
  *out = path;
  return CLT_OK;
}

/* --- starting --- */

/* What a worker is connected by: our ends, then the worker's; -1: none, or given away. */
typedef struct channels {
  int sockets[2], output[2], answers[2];
} channels;

static int fail_to_make(clt_error *error, const char *what) {
  return clt_fail(error, CLT_E_WORKER, "cannot make a %s for a worker: %s", what, strerror(errno));
}

/* Ours does not block; the worker's cannot be in the way of its own descriptors, 0 to 3. */
static int set_up_ends(int ends[2]) {
  int moved = fcntl(ends[1], F_DUPFD_CLOEXEC, FIRST_FREE_FD);
  if (moved < 0) return -1;
  close(ends[1]);
  ends[1] = moved;
  return fcntl(ends[0], F_SETFL, O_NONBLOCK);
}

static int open_pipe(int ends[2], clt_error *error) {
  if (pipe2(ends, O_CLOEXEC) == 0) return set_up_ends(ends) ? fail_to_make(error, "pipe") : CLT_OK;
  ends[0] = ends[1] = -1;
  return fail_to_make(error, "pipe");
}

/* Bytes pass as they are: nobody shall find "\r\n" at a line's end. */
static int open_terminal(int ends[2], clt_error *error) {
  char name[64];
  struct termios raw;
  ends[0] = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (ends[0] >= 0 && grantpt(ends[0]) == 0 && unlockpt(ends[0]) == 0 && ptsname_r(ends[0], name, sizeof name) == 0)
    ends[1] = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (ends[1] < 0 || tcgetattr(ends[1], &raw)) return fail_to_make(error, "terminal");
  cfmakeraw(&raw);
  return tcsetattr(ends[1], TCSANOW, &raw) || set_up_ends(ends) ? fail_to_make(error, "terminal") : CLT_OK;
}

static int open_channels(channels *c, clt_answers answers, clt_error *error) {
  struct timeval patience = {.tv_sec = SEND_PATIENCE_S};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, c->sockets)) {
    c->sockets[0] = c->sockets[1] = -1;
    return fail_to_make(error, "socket");
  }
  int moved = fcntl(c->sockets[1], F_DUPFD_CLOEXEC, FIRST_FREE_FD);
  if (moved < 0 || setsockopt(c->sockets[0], SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience)) {
    if (moved >= 0) close(moved);
    return fail_to_make(error, "socket");
  }
  close(c->sockets[1]);
  c->sockets[1] = moved;
  int rc = open_pipe(c->output, error);
  if (rc == 0 && answers == CLT_ANSWERS_IN_PIPE) rc = open_pipe(c->answers, error);
  if (rc == 0 && answers == CLT_ANSWERS_ON_TERMINAL) rc = open_terminal(c->answers, error);
  return rc;
}

/* The caller's environment but for what every worker has of its own. */
static int spawn_worker(pid_t *pid, const clt_process_setup *setup, const channels *c, clt_error *error) {
  char parent[32], memory[32], *ours[3];
  size_t n = 0, kept = 0;
  while (environ && environ[n]) n++;
  char **environment = clt_new_array(n + 4, sizeof *environment);
  ours[0] = clt_format("POCL_CACHE_DIR=%s/cache", setup->folder);
  ours[1] = clt_format("TMPDIR=%s", setup->folder);
  ours[2] = clt_format("POCL_SIGFPE_HANDLER=0");
  int rc = environment && ours[0] && ours[1] && ours[2] ? CLT_OK : clt_fail_memory(error);
  if (rc == CLT_OK) {
    for (size_t i = 0; i < n; i++)
      if (!clt_starts_with(environ[i], "POCL_CACHE_DIR=") && !clt_starts_with(environ[i], "TMPDIR=") &&
          !clt_starts_with(environ[i], "POCL_SIGFPE_HANDLER="))
        environment[kept++] = environ[i];
    memcpy(environment + kept, ours, sizeof ours);
    snprintf(parent, sizeof parent, "--parent=%lld", (long long)getpid());
    snprintf(memory, sizeof memory, "--memory=%lld", (long long)setup->memory_limit_bytes);
    char *arguments[] = {(char *)setup->path, parent, memory, (char *)setup->trade, NULL};
    const clt_spawn spawn = {.program = setup->path,
                             .arguments = arguments,
                             .environment = environment,
                             .out = c->answers[1] >= 0 ? c->answers[1] : c->output[1],
                             .err = c->output[1],
                             .extra_fd = c->sockets[1],
                             .extra_as = CLT_WORKER_FD,
                             .own_group = true};
    int failure = clt_spawn_start(pid, &spawn);
    if (failure) rc = clt_fail(error, CLT_E_WORKER, "cannot start the worker '%s': %s", setup->path, strerror(failure));
  }
  for (int i = 0; i < 3; i++) free(ours[i]);
  free(environment);
  return rc;
}

static void close_fd(int *fd) {
  if (*fd >= 0) close(*fd);
  *fd = -1;
}

int clt_process_start(clt_process *process, const clt_process_setup *setup, const clt_deadlines *limits,
                      clt_error *error) {
  channels c = {{-1, -1}, {-1, -1}, {-1, -1}};
  pid_t pid = 0;
  *process = (clt_process){.alive = false};
  int rc = open_channels(&c, setup->answers, error);
  if (rc == 0) rc = spawn_worker(&pid, setup, &c, error);
  if (rc == 0) {
    *process = (clt_process){.alive = true,
                             .pid = pid,
                             .pid_fd = (int)syscall(SYS_pidfd_open, pid, 0),
                             .socket = c.sockets[0],
                             .output = c.output[0],
                             .answers = c.answers[0],
                             .busy = true,
                             .limits = *limits,
                             .deadline_s = clt_now_s() + limits->host_s};
    c.sockets[0] = c.output[0] = c.answers[0] = -1;
  }
  for (int i = 0; i < 2; i++) {
    close_fd(&c.sockets[i]);
    close_fd(&c.output[i]);
    close_fd(&c.answers[i]);
  }
  return rc;
}

/* --- requests and what is said to them --- */

int clt_process_tell(clt_process *process, json_t *message, clt_error *error) {
  if (message == NULL) return clt_fail_memory(error);
  int rc = clt_frame_send(process->socket, message, error);
  json_decref(message);
  return rc;
}

static double allowed_s(const clt_deadlines *limits, clt_phase phase) {
  switch (phase) {
    case CLT_PHASE_BUILD:
    case CLT_PHASE_LAUNCH: return limits->compile_s;
    case CLT_PHASE_RUNNING: return limits->run_s;
    default: return limits->host_s;
  }
}

int clt_process_request(clt_process *process, json_t *request, clt_phase phase, const clt_deadlines *limits,
                        clt_error *error) {
  process->busy = true;
  process->heard = false;
  process->phase = phase;
  process->limits = *limits;
  process->paused_s = 0;
  process->deadline_s = clt_now_s() + allowed_s(limits, phase);
  return clt_process_tell(process, request, error);
}

clt_process_event clt_process_next(clt_process *process, json_t **reply) {
  json_t *message = NULL;
  clt_process_drain(process);
  for (int taken = 0; taken == 0;) {
    taken = clt_frame_take(&process->reader, &message, NULL);
    if (taken < 0) return process->garbled = true, CLT_PROCESS_ENDED;
    if (taken > 0) break;
    /* Asked before reading, so that its last words are heard. Its socket alone would not tell: a child may hold it. */
    bool gone = clt_process_gone(process);
    clt_frame_input input = clt_frame_receive(&process->reader, process->socket, false);
    if (input == CLT_FRAME_CLOSED || (gone && input == CLT_FRAME_NOTHING)) return CLT_PROCESS_ENDED;
    if (input == CLT_FRAME_NOTHING) return CLT_PROCESS_NOTHING;
  }
  if (strcmp(clt_json_string(message, "reply"), "phase") != 0) {
    process->busy = false;
    *reply = message;
    return CLT_PROCESS_REPLY;
  }
  clt_phase phase;
  int rc = clt_phase_parse(&phase, clt_json_string(message, "phase"));
  json_decref(message);
  if (rc) return process->garbled = true, CLT_PROCESS_ENDED;
  /* Compiling goes on in the first launch, so LAUNCH after BUILD has no new deadline. */
  if (phase != CLT_PHASE_LAUNCH || process->phase != CLT_PHASE_BUILD)
    process->deadline_s = clt_now_s() + allowed_s(&process->limits, phase);
  process->phase = phase;
  process->heard = true;
  return CLT_PROCESS_PHASE;
}

int clt_process_await(clt_process *process, json_t **reply, clt_error *error) {
  for (;;) {
    json_t *message = NULL;
    clt_process_event event = clt_process_next(process, &message);
    if (event == CLT_PROCESS_REPLY && strcmp(clt_json_string(message, "reply"), "error") == 0) {
      int rc = clt_message_to_error(message, error);
      json_decref(message);
      return rc;
    }
    if (event == CLT_PROCESS_REPLY) return *reply = message, CLT_OK;
    double left_s = process->deadline_s - clt_now_s();
    if (event == CLT_PROCESS_ENDED || (event == CLT_PROCESS_NOTHING && left_s <= 0)) {
      bool ended = event == CLT_PROCESS_ENDED;
      char *why = NULL;
      clt_process_stop(process, ended, &why);
      int rc = clt_fail(error, CLT_E_WORKER, "%s: %s", ended ? "the worker gave no answer" : "the worker took too long",
                        why ? why : "out of memory");
      free(why);
      return rc;
    }
    if (event == CLT_PROCESS_NOTHING) {
      struct pollfd watched[CLT_PROCESS_WATCHED];
      clt_process_watch(process, watched);
      poll(watched, CLT_PROCESS_WATCHED, (int)fmin(ceil(left_s * 1e3), 1e6));
    }
  }
}

int clt_process_check_greeting(const json_t *greeting, clt_error *error) {
  int64_t protocol = 0;
  const char *version = clt_json_string(greeting, "version");
  if (strcmp(clt_json_string(greeting, "reply"), "hello") != 0 ||
      clt_message_integer(&protocol, greeting, "protocol", 0, INT32_MAX, NULL))
    return clt_fail(error, CLT_E_WORKER, "the program that should be clatune-worker is something else");
  if (protocol != CLT_PROTOCOL_VERSION || strcmp(version, CLATUNE_VERSION) != 0)
    return clt_fail(error, CLT_E_WORKER,
                    "clatune-worker is of version %.32s (protocol %d), this is %s (protocol %d); install both from one "
                    "build, or name the right one in CLATUNE_WORKER",
                    version, (int)protocol, CLATUNE_VERSION, CLT_PROTOCOL_VERSION);
  return CLT_OK;
}

int clt_process_greet(clt_process *process, clt_error *error) {
  json_t *greeting = NULL;
  int rc = clt_process_await(process, &greeting, error);
  if (rc == 0) rc = clt_process_check_greeting(greeting, error);
  json_decref(greeting);
  return rc;
}

/* --- time --- */

void clt_process_pause(clt_process *process) {
  if (process->paused_s == 0) process->paused_s = clt_now_s();
}

void clt_process_resume(clt_process *process, double grace_s) {
  double now_s = clt_now_s();
  if (process->paused_s != 0) process->deadline_s += now_s - process->paused_s;
  process->deadline_s = fmax(process->deadline_s, now_s + grace_s);
  process->paused_s = 0;
}

bool clt_process_expired(const clt_process *process, double now_s) {
  return process->busy && process->paused_s == 0 && now_s >= process->deadline_s;
}

void clt_process_watch(const clt_process *process, struct pollfd *out) {
  out[0] = (struct pollfd){.fd = process->socket, .events = POLLIN};
  out[1] = (struct pollfd){.fd = process->output, .events = POLLIN};
  out[2] = (struct pollfd){.fd = process->answers, .events = POLLIN};
  out[3] = (struct pollfd){.fd = process->pid_fd, .events = POLLIN};
}

bool clt_process_gone(const clt_process *process) {
  struct pollfd ended = {.fd = process->pid_fd, .events = POLLIN};
  return process->pid_fd >= 0 && poll(&ended, 1, 0) == 1;
}

/* --- what it prints --- */

/* Of what is too much the first half goes. */
static void drain_pipe(clt_text *text, int *fd, size_t most) {
  char chunk[8192];
  ssize_t got = 1;
  while (*fd >= 0 && got > 0) {
    do got = read(*fd, chunk, sizeof chunk);
    while (got < 0 && errno == EINTR);
    clt_text_add_bytes(text, chunk, got > 0 ? (size_t)got : 0);
    if (text->n <= most) continue;
    memmove(text->bytes, text->bytes + text->n - most / 2, most / 2 + 1);
    text->n = most / 2;
  }
  if (got == 0) close_fd(fd);
}

void clt_process_drain(clt_process *process) {
  drain_pipe(&process->printed, &process->output, MOST_PRINTED);
  drain_pipe(&process->answered, &process->answers, MOST_ANSWERED);
}

void clt_process_forget_output(clt_process *process) {
  clt_process_drain(process);
  clt_text_release(&process->printed);
  clt_text_release(&process->answered);
}

/* --- ending --- */

void clt_process_dismiss(clt_process *process, double patience_s) {
  struct pollfd ended = {.fd = process->pid_fd, .events = POLLIN};
  close_fd(&process->socket);
  if (!process->alive || process->pid_fd < 0) return;
  while (poll(&ended, 1, (int)(patience_s * 1e3)) < 0 && errno == EINTR) continue;
}

void clt_process_stop(clt_process *process, bool by_itself, char **why) {
  char ending[64];
  int status = 0, ready = 1;
  if (why) *why = NULL;
  if (!process->alive) return;
  kill(-process->pid, SIGKILL); /* before reaping: until then nobody else can have the group's number */
  /* A process that hangs in a driver cannot be waited for without a limit. Without pidfds there is no such limit. */
  if (process->pid_fd >= 0) {
    struct pollfd ended = {.fd = process->pid_fd, .events = POLLIN};
    do ready = poll(&ended, 1, END_PATIENCE_MS);
    while (ready < 0 && errno == EINTR);
  }
  bool ended = ready != 0 && clt_spawn_wait(&status, process->pid);
  clt_process_drain(process);
  clt_status_text(status, ending, sizeof ending);
  if (!by_itself) strcpy(ending, ended ? "was ended" : "cannot be ended");
  if (process->garbled) strcpy(ending, "sent what is no message");
  const char *printed = process->printed.bytes;
  size_t n = process->printed.n;
  while (n > 0 && printed[n - 1] == '\n') n--;
  if (why)
    *why = clt_format("the worker %s%s%.*s", ending, n > 0 ? "; it had printed:\n" : "", (int)n, n > 0 ? printed : "");
  close_fd(&process->output);
  close_fd(&process->answers);
  close_fd(&process->socket);
  close_fd(&process->pid_fd);
  clt_frame_reader_release(&process->reader);
  clt_text_release(&process->printed);
  clt_text_release(&process->answered);
  *process = (clt_process){.alive = false};
}

void clt_status_text(int status, char *out, size_t capacity) {
  static const struct {
    int number;
    const char *name;
  } table[] = {{SIGSEGV, "SIGSEGV"}, {SIGABRT, "SIGABRT"}, {SIGBUS, "SIGBUS"},   {SIGFPE, "SIGFPE"},
               {SIGILL, "SIGILL"},   {SIGKILL, "SIGKILL"}, {SIGTERM, "SIGTERM"}, {SIGTRAP, "SIGTRAP"},
               {SIGXCPU, "SIGXCPU"}, {SIGXFSZ, "SIGXFSZ"}, {SIGPIPE, "SIGPIPE"}, {SIGSYS, "SIGSYS"}};
  if (!WIFSIGNALED(status)) {
    snprintf(out, capacity, "exited with status %d", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
    return;
  }
  snprintf(out, capacity, "was killed by signal %d", WTERMSIG(status));
  for (size_t i = 0; i < sizeof table / sizeof *table; i++)
    if (table[i].number == WTERMSIG(status)) snprintf(out, capacity, "was killed by %s", table[i].name);
}
