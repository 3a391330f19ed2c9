#include "worker/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "base/base.h"
#include "base/file.h"
#include "base/text.h"
#include "worker/worker_place.h" /* made by meson: CLATUNE_LIBEXECDIR */

#define PROGRAM "clatune-worker"
#define SEND_PATIENCE_S 10
#define END_PATIENCE_S 30 /* a driver may need time to release the resources of a killed process */
#define LEAVE_PATIENCE_MS 5000
#define GREETING_S 60 /* time limit of the greeting of a worker that runs programs */
#define GRACE_S 30    /* the worker enforces a program's limit; after this time more it is given up */
#define NO_LIMIT_S 1e9
#define WORDS_SHOWN 300
#define ANSWERS_SHOWN 8000
#define FIRST_FREE_FD 10 /* above every descriptor that the worker is given */
#define MOST_PRINTED ((size_t)1 << 14)
#define MOST_ANSWERED ((size_t)1 << 20)
#define FAULT_PATIENCE_MS 100 /* time for a process to end after it closed its socket */
#define REAP_PAUSE_NS 100000  /* first pause between two attempts to reap it */
#define MOST_REAP_PAUSE_NS 50000000

int clt_worker_path(char **out, clt_error *error) {
  /* Next to the executable; in the build tree of the command line and of the tests; in an installed tree that was
   * moved. For applications: in the tree of lib/libclatune.so or lib/<architecture>/libclatune.so. */
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
      return clt_fail_errno(error, CLT_E_WORKER, "run the worker program in CLATUNE_WORKER,", given);
    path = strdup(given);
  } else if ((path = clt_find_near_program(near_program, X_OK)) == NULL &&
             (path = clt_find_near_library(near_library, X_OK)) == NULL) {
    if (access(installed, X_OK))
      return clt_fail(error, CLT_E_WORKER,
                      "cannot find the program '" PROGRAM "' next to the executable or in '" CLATUNE_LIBEXECDIR
                      "'; set CLATUNE_WORKER to its path");
    path = strdup(installed);
  }
  if (path == NULL) return clt_fail_memory(error);
  *out = path;
  return CLT_OK;
}

/* --- starting --- */

static void close_fd(int *fd) {
  if (*fd >= 0) close(*fd);
  *fd = -1;
}

/* Opens a socket pair, a pipe or a terminal. ends[0] is ours and closed on exec. ends[1] is the worker's, above the
 * descriptors 0 to 3 that the worker will have. On failure the caller closes both. */
typedef enum channel_kind { CHANNEL_SOCKET, CHANNEL_PIPE, CHANNEL_TERMINAL } channel_kind;

static int open_channel(int ends[2], channel_kind kind, clt_error *error) {
  static const char *const names[] = {"socket", "pipe", "terminal"};
  const struct timeval patience = {.tv_sec = SEND_PATIENCE_S};
  struct termios raw;
  char name[64];
  int made[2] = {-1, -1};
  bool opened;
  if (kind == CHANNEL_TERMINAL) {
    made[0] = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (made[0] >= 0 && grantpt(made[0]) == 0 && unlockpt(made[0]) == 0 && ptsname_r(made[0], name, sizeof name) == 0)
      made[1] = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
    opened = made[1] >= 0 && tcgetattr(made[1], &raw) == 0;
    if (opened) cfmakeraw(&raw); /* no conversion of line ends to "\r\n" */
    opened = opened && tcsetattr(made[1], TCSANOW, &raw) == 0;
  } else if (kind == CHANNEL_PIPE) {
    opened = pipe2(made, O_CLOEXEC) == 0;
  } else {
    opened = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, made) == 0;
  }
  ends[0] = made[0];
  ends[1] = opened ? fcntl(made[1], F_DUPFD_CLOEXEC, FIRST_FREE_FD) : -1;
  if (ends[1] >= 0 && kind == CHANNEL_SOCKET)
    opened = setsockopt(ends[0], SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience) == 0;
  else if (ends[1] >= 0)
    opened = fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0;
  int rc = CLT_OK;
  if (ends[1] < 0 || !opened)
    rc = clt_fail(error, CLT_E_WORKER, "cannot create a %s for a worker: %s", names[kind], strerror(errno));
  close_fd(&made[1]);
  return rc;
}

int clt_process_start(clt_process *process, const clt_process_setup *setup, const clt_deadlines *limits,
                      clt_error *error) {
  int sockets[2] = {-1, -1}, output[2] = {-1, -1}, answers[2] = {-1, -1};
  char parent[32], memory[32], **environment = NULL;
  pid_t pid;
  *process = (clt_process){.alive = false};
  int rc = open_channel(sockets, CHANNEL_SOCKET, error);
  if (rc == CLT_OK) rc = open_channel(output, CHANNEL_PIPE, error);
  if (rc == CLT_OK && setup->answers != CLT_ANSWERS_WITH_ERRORS)
    rc = open_channel(answers, setup->answers == CLT_ANSWERS_IN_PIPE ? CHANNEL_PIPE : CHANNEL_TERMINAL, error);
  if (rc == CLT_OK) rc = clt_worker_environment(&environment, setup, error);
  if (rc == CLT_OK) {
    snprintf(parent, sizeof parent, "--parent=%lld", (long long)getpid());
    snprintf(memory, sizeof memory, "--memory=%lld", (long long)setup->memory_limit_bytes);
    char *arguments[] = {(char *)setup->path, parent, memory, (char *)setup->trade, NULL};
    const clt_spawn spawn = {.program = setup->path,
                             .arguments = arguments,
                             .environment = environment,
                             .out = answers[1] >= 0 ? answers[1] : output[1],
                             .err = output[1],
                             .extra_fd = sockets[1],
                             .extra_as = CLT_WORKER_FD,
                             .own_group = true};
    int failure = clt_spawn_start(&pid, &spawn);
    if (failure) rc = clt_fail(error, CLT_E_WORKER, "cannot start the worker '%s': %s", setup->path, strerror(failure));
  }
  clt_words_free(environment);
  close_fd(&sockets[1]);
  close_fd(&output[1]);
  close_fd(&answers[1]);
  if (rc) {
    close_fd(&sockets[0]);
    close_fd(&output[0]);
    close_fd(&answers[0]);
    return rc;
  }
  *process = (clt_process){.alive = true,
                           .pid = pid,
                           .pid_fd = (int)syscall(SYS_pidfd_open, pid, 0),
                           .socket = sockets[0],
                           .output = output[0],
                           .answers = answers[0],
                           .busy = true,
                           .phase = CLT_PHASE_VERIFY,
                           .limits = *limits};
  clt_process_begin_phase(process);
  return CLT_OK;
}

/* --- the worker's output --- */

/* Keeps the last part: above `most` bytes, the first half is dropped. */
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

static void drain_process(clt_process *process) {
  drain_pipe(&process->printed, &process->output, MOST_PRINTED);
  drain_pipe(&process->answered, &process->answers, MOST_ANSWERED);
}

void clt_process_forget_output(clt_process *process) {
  drain_process(process);
  clt_text_release(&process->printed);
  clt_text_release(&process->answered);
}

/* --- requests and replies --- */

int clt_process_tell(clt_process *process, json_t *message, clt_error *error) {
  if (message == NULL) return clt_fail_memory(error);
  int rc = clt_frame_send(process->socket, message, error);
  json_decref(message);
  return rc;
}

int clt_process_request(clt_process *process, json_t *request, clt_phase phase, const clt_deadlines *limits,
                        clt_error *error) {
  process->busy = true;
  process->heard = false;
  process->phase = phase;
  process->limits = *limits;
  process->paused_s = 0;
  process->starved = process->asleep = process->jumped = false;
  clt_process_begin_phase(process);
  return clt_process_tell(process, request, error);
}

clt_process_event clt_process_next(clt_process *process, json_t **reply) {
  json_t *message = NULL;
  drain_process(process);
  for (int taken = 0; taken == 0;) {
    taken = clt_frame_take(&process->reader, &message, NULL);
    if (taken < 0) {
      process->garbled = true;
      return CLT_PROCESS_ENDED;
    }
    if (taken > 0) break;
    /* Checked before reading, so that its last messages are read. The socket alone does not show the end, because a
     * child process may hold it. */
    bool gone = clt_process_gone(process);
    clt_frame_input input = clt_frame_receive(&process->reader, process->socket, false);
    if (input == CLT_FRAME_CLOSED || (gone && input == CLT_FRAME_NOTHING)) return CLT_PROCESS_ENDED;
    if (input == CLT_FRAME_NOTHING) return CLT_PROCESS_NOTHING;
  }
  if (strcmp(clt_json_string(message, "reply"), "phase") != 0) {
    process->busy = false;
    drain_process(process);
    *reply = message;
    return CLT_PROCESS_REPLY;
  }
  clt_phase phase;
  int rc = clt_phase_parse(&phase, clt_json_string(message, "phase"));
  json_decref(message);
  if (rc) {
    process->garbled = true;
    return CLT_PROCESS_ENDED;
  }
  /* Drivers continue to compile in the first launch, so LAUNCH after BUILD keeps the deadline. */
  bool goes_on = phase == CLT_PHASE_LAUNCH && process->phase == CLT_PHASE_BUILD;
  process->phase = phase;
  process->heard = true;
  if (!goes_on) clt_process_begin_phase(process);
  return CLT_PROCESS_PHASE;
}

/* Ends the process and reports how it ended. */
static int fail_ended(clt_process *process, bool by_itself, const char *what, clt_error *error) {
  char *why = NULL;
  clt_process_stop(process, by_itself, &why);
  int rc = clt_fail(error, CLT_E_WORKER, "%s%s", what, why ? why : "out of memory");
  free(why);
  return rc;
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
    if (event == CLT_PROCESS_REPLY) {
      *reply = message;
      return CLT_OK;
    }
    double left_s = process->deadline_s - clt_now_s();
    bool expired = event == CLT_PROCESS_NOTHING && left_s <= 0;
    if (expired && clt_process_excuse(process, true, clt_now_s())) continue;
    if (event == CLT_PROCESS_ENDED) return fail_ended(process, true, "the worker did not answer: ", error);
    if (expired) return fail_ended(process, false, "the worker took too long: ", error);
    if (event == CLT_PROCESS_NOTHING) {
      struct pollfd watched[CLT_PROCESS_WATCHED];
      clt_process_watch(process, watched);
      clt_process_jump(process, clt_poll(watched, CLT_PROCESS_WATCHED, left_s));
    }
  }
}

int clt_process_check_greeting(const json_t *greeting, clt_error *error) {
  int64_t protocol = 0;
  const char *version = clt_json_string(greeting, "version");
  if (strcmp(clt_json_string(greeting, "reply"), "hello") != 0 ||
      clt_message_integer(&protocol, greeting, "protocol", 0, INT32_MAX, NULL))
    return clt_fail(error, CLT_E_WORKER,
                    "the program started as the worker is not clatune-worker; check CLATUNE_WORKER");
  if (protocol != CLT_PROTOCOL_VERSION || strcmp(version, CLT_VERSION) != 0)
    return clt_fail(
        error, CLT_E_WORKER,
        "clatune-worker has version %.32s (protocol %d), clatune has %s (protocol %d); install both from the same "
        "build, or set CLATUNE_WORKER to the matching program",
        version, (int)protocol, CLT_VERSION, CLT_PROTOCOL_VERSION);
  return CLT_OK;
}

int clt_process_begin(clt_process *process, const clt_process_setup *setup, const clt_deadlines *limits,
                      clt_error *error) {
  json_t *greeting = NULL;
  int rc = clt_process_start(process, setup, limits, error);
  if (rc == CLT_OK) rc = clt_process_await(process, &greeting, error);
  if (rc == CLT_OK) rc = clt_process_check_greeting(greeting, error);
  if (rc) clt_process_stop(process, false, NULL);
  json_decref(greeting);
  return rc;
}

void clt_process_watch(const clt_process *process, struct pollfd *out) {
  out[0] = (struct pollfd){.fd = process->socket, .events = POLLIN};
  out[1] = (struct pollfd){.fd = process->output, .events = POLLIN};
  out[2] = (struct pollfd){.fd = process->answers, .events = POLLIN};
  out[3] = (struct pollfd){.fd = process->pid_fd, .events = POLLIN};
}

/* Waits for its end; false if it has not ended after patience_ms, or if the system cannot tell. */
static bool await_end(const clt_process *process, int patience_ms) {
  struct pollfd ended = {.fd = process->pid_fd, .events = POLLIN};
  int ready;
  if (process->pid_fd < 0) return false;
  do ready = poll(&ended, 1, patience_ms);
  while (ready < 0 && errno == EINTR);
  return ready == 1;
}

bool clt_process_gone(const clt_process *process) { return await_end(process, 0); }

/* --- ending --- */

/* Prints a status as from waitpid: "was killed by SIGSEGV", "exited with status 1". */
static void print_status(int status, char *out, size_t capacity) {
  const char *name = WIFSIGNALED(status) ? sigabbrev_np(WTERMSIG(status)) : NULL;
  if (name)
    snprintf(out, capacity, "was killed by SIG%s", name);
  else if (WIFSIGNALED(status))
    snprintf(out, capacity, "was killed by signal %d", WTERMSIG(status));
  else
    snprintf(out, capacity, "exited with status %d", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

/* Waits until until_s for its end and releases its pid; false: it has not ended. Also works without pidfds, and for
 * a process that is dead but held by a tracer. */
static bool reap(int *status, const clt_process *process, double until_s) {
  await_end(process, (int)ceil(fmax(until_s - clt_now_s(), 0) * 1e3));
  for (long pause_ns = REAP_PAUSE_NS;; pause_ns = pause_ns < MOST_REAP_PAUSE_NS ? 2 * pause_ns : pause_ns) {
    pid_t ended = waitpid(process->pid, status, WNOHANG);
    if (ended == process->pid || (ended < 0 && errno != EINTR))
      return true; /* or another caller of waitpid has reaped it */
    if (clt_now_s() >= until_s) return false;
    nanosleep(&(struct timespec){.tv_nsec = pause_ns}, NULL);
  }
}

void clt_process_kill(clt_process *process) {
  if (!process->alive || process->end_by_s != 0) return;
  kill(-process->pid, SIGKILL); /* before reaping: until then the group's number cannot be reused */
  process->end_by_s = clt_now_s() + fmin(process->limits.host_s, END_PATIENCE_S);
}

pid_t clt_process_stop(clt_process *process, bool by_itself, char **why) {
  static const int sent[] = {SIGKILL, SIGTERM, SIGINT, SIGHUP, SIGQUIT}; /* signals that other processes send */
  char ending[100];
  int status = 0;
  if (why) *why = NULL;
  if (!process->alive) return 0;
  bool gone = by_itself && !process->garbled && await_end(process, FAULT_PATIENCE_MS), killed = false;
  clt_process_kill(process);
  const bool ended = reap(&status, process, process->end_by_s);
  drain_process(process);
  print_status(status, ending, sizeof ending);
  if (!by_itself) strcpy(ending, "was stopped");
  if (process->garbled) strcpy(ending, "sent an invalid message");
  if (!ended) snprintf(ending, sizeof ending, "cannot be killed: process %lld is left behind", (long long)process->pid);
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
  for (size_t i = 0; i < sizeof sent / sizeof *sent; i++)
    killed = killed || (ended && gone && WIFSIGNALED(status) && WTERMSIG(status) == sent[i]);
  const pid_t left = ended ? 0 : process->pid;
  *process = (clt_process){
      .starved = process->starved, .asleep = process->asleep, .jumped = process->jumped, .killed = killed};
  return left;
}

/* --- programs --- */

int clt_program_start(clt_process *process, const clt_process_setup *setup, clt_error *error) {
  const clt_deadlines limits = {GREETING_S, GREETING_S, GREETING_S};
  clt_process_setup programs = *setup;
  programs.trade = CLT_COMMAND_TRADE;
  return clt_process_begin(process, &programs, &limits, error);
}

void clt_program_stop(clt_process *process) {
  if (process->alive) { /* the worker then ends the program and itself */
    close_fd(&process->socket);
    await_end(process, LEAVE_PATIENCE_MS);
  }
  clt_process_stop(process, false, NULL);
}

static json_t *pack_texts(char *const *list) {
  json_t *out = json_array();
  for (size_t i = 0; list && list[i]; i++) clt_json_append(&out, clt_json_text(list[i]));
  return out;
}

int clt_program_begin(clt_process *process, const clt_program_run *run, clt_error *error) {
  double patience_s = run->limit_s > 0 ? run->limit_s + GRACE_S : NO_LIMIT_S;
  const clt_deadlines limits = {patience_s, patience_s, patience_s};
  clt_process_forget_output(process); /* of the previous program */
  json_t *request = json_pack("{s:s, s:o, s:o, s:o, s:o, s:f}", "request", "command", "words", pack_texts(run->words),
                              "environment", pack_texts(run->environment), "folder", clt_json_text(run->folder),
                              "input", clt_json_text(run->input), "limit_s", run->limit_s);
  return clt_process_request(process, request, CLT_PHASE_VERIFY, &limits, error);
}

void clt_program_interrupt(clt_process *process) {
  clt_process_tell(process, json_pack("{s:s}", "request", "end"), NULL);
  process->deadline_s = fmin(process->deadline_s, clt_now_s() + GRACE_S);
}

static double positive_number(const json_t *reply, const char *key) {
  double x = json_number_value(json_object_get(reply, key));
  return isfinite(x) && x > 0 ? x : 0;
}

int clt_program_poll(clt_process *process, clt_program_end *out, clt_error *error) {
  json_t *reply = NULL;
  if (!process->alive) return clt_fail(error, CLT_E_WORKER, "there is no worker");
  clt_process_event event = clt_process_next(process, &reply);
  drain_process(process);
  int rc = process->answered.rc ? clt_fail_memory(error) : CLT_OK;
  if (rc == CLT_OK && event == CLT_PROCESS_REPLY) {
    const char *kind = clt_json_string(reply, "reply");
    int64_t status = 0;
    *out = (clt_program_end){.started = strcmp(kind, "ended") == 0};
    if (out->started) {
      rc = clt_message_integer(&status, reply, "status", INT32_MIN, INT32_MAX, error);
      out->status = (int)status;
      out->expired = json_is_true(json_object_get(reply, "expired"));
      out->wall_s = positive_number(reply, "wall_s");
      out->user_s = positive_number(reply, "user_s");
      out->system_s = positive_number(reply, "system_s");
      out->memory_bytes = positive_number(reply, "memory_bytes");
    } else if (strcmp(kind, "not-started") == 0) {
      snprintf(out->why, sizeof out->why, "%s", clt_json_string(reply, "why"));
    } else {
      rc = clt_fail(error, CLT_E_WORKER, "the worker sent an invalid answer");
    }
  }
  json_decref(reply);
  if (rc || event == CLT_PROCESS_REPLY) return rc ? rc : 1;
  bool ended = event == CLT_PROCESS_ENDED;
  if (!ended && !clt_process_expired(process, clt_now_s())) return 0;
  return fail_ended(process, ended, "", error);
}

char *clt_program_story(const clt_process *process, char *const *words, const clt_program_end *end) {
  clt_text out = {0};
  char *text = NULL, status[64];
  const char *printed = process->answered.bytes, *errors = process->printed.bytes;
  size_t n_printed = process->answered.n, n_errors = process->printed.n, left = WORDS_SHOWN;
  for (size_t i = 0; words[i] && left > 0; i++) {
    size_t n = strnlen(words[i], left);
    clt_text_printf(&out, "%s%.*s", i ? " " : "", (int)n, words[i]);
    left -= n;
  }
  print_status(end->status, status, sizeof status);
  clt_text_add(&out, left == 0 ? "..." : "");
  if (!end->started)
    clt_text_printf(&out, ": %s", end->why);
  else
    clt_text_printf(&out, " %s", end->expired ? "was stopped at its time limit" : status);
  if (n_printed > 0)
    clt_text_printf(&out, "\nstandard output:\n%s",
                    printed + (n_printed > ANSWERS_SHOWN ? n_printed - ANSWERS_SHOWN : 0));
  if (n_errors > 0)
    clt_text_printf(&out, "\nstandard error:\n%s", errors + (n_errors > ANSWERS_SHOWN ? n_errors - ANSWERS_SHOWN : 0));
  while (out.n > 0 && out.bytes[out.n - 1] == '\n') out.bytes[--out.n] = 0;
  return clt_text_take(&text, &out, NULL) ? NULL : text;
}
