#include "worker/child/command.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "worker/frame.h"
#include "worker/message.h"
#include "worker/child/descendants.h"

/* A program that runs. */
typedef struct running {
  pid_t child; /* leads a process group of its own */
  int end_fd;  /* readable once it has ended */
  double start_s, limit_s;
} running;

/* --- starting --- */

/* The texts of a list, borrowed from it, ended by a NULL. NULL when out of memory. */
static char **texts_of(const json_t *list) {
  size_t n = json_array_size(list);
  char **out = clt_new_array(n + 1, sizeof *out);
  for (size_t i = 0; out && i < n; i++) {
    const char *text = json_string_value(json_array_get(list, i));
    out[i] = (char *)(text ? text : "");
  }
  return out;
}

static void set_environment(const json_t *list) {
  for (size_t i = 0; i < json_array_size(list); i++) {
    char *entry = strdup(json_string_value(json_array_get(list, i)));
    char *equals = entry ? strchr(entry, '=') : NULL;
    if (equals) *equals = 0, setenv(entry, equals + 1, 1);
    free(entry);
  }
}

/* In the child. Whoever kills the worker itself ends at least the program. */
static void become(const json_t *request, char **words, int failure_fd) {
  const char *input = clt_message_string(request, "input");
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  setpgid(0, 0);
  int fd = input[0] ? open(input, O_RDONLY) : -1;
  bool ready = chdir(clt_message_string(request, "folder")) == 0 && (input[0] == 0 || fd >= 0);
  if (ready && fd >= 0) dup2(fd, STDIN_FILENO), close(fd);
  if (ready) {
    set_environment(json_object_get(request, "environment"));
    execvp(words[0], words);
  }
  int why = errno;
  ssize_t told = write(failure_fd, &why, sizeof why);
  (void)told;
  _exit(127);
}

/* errno of a program that could not be started, 0 where it could: the pipe then closes without a word. */
static int failure_of(int fd) {
  int why = 0;
  ssize_t got;
  do got = read(fd, &why, sizeof why);
  while (got < 0 && errno == EINTR);
  return got == sizeof why ? why : 0;
}

static int start(running *r, const json_t *request, char **words) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC)) return errno;
  r->child = fork();
  if (r->child == 0) become(request, words, ends[1]);
  int failure = r->child < 0 ? errno : 0;
  close(ends[1]);
  if (failure == 0) failure = failure_of(ends[0]);
  close(ends[0]);
  r->start_s = clt_now_s();
  if (failure && r->child > 0) waitpid(r->child, NULL, 0);
  if (failure) return failure;
  setpgid(r->child, r->child);
  r->end_fd = (int)syscall(SYS_pidfd_open, r->child, 0);
  return r->end_fd < 0 ? (clt_end_descendants(r->child), errno) : 0;
}

/* --- waiting --- */

typedef enum why { ENDED, EXPIRED, UNWANTED, ORPHANED } why;

/* Anything that the parent says meanwhile means that the program shall end; so does its own end. */
static why await(const running *r, int fd) {
  struct pollfd watched[] = {{.fd = r->end_fd, .events = POLLIN}, {.fd = fd, .events = POLLIN}};
  for (;;) {
    double left_s = r->limit_s > 0 ? r->start_s + r->limit_s - clt_now_s() : 60;
    if (left_s <= 0) return EXPIRED;
    int n = poll(watched, 2, (int)fmin(ceil(left_s * 1e3), 60e3));
    if (n > 0 && watched[0].revents) return ENDED;
    if (n <= 0 || watched[1].revents == 0) continue;
    char byte;
    return recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0 ? UNWANTED : ORPHANED;
  }
}

static double seconds(struct timeval t) { return (double)t.tv_sec + 1e-6 * (double)t.tv_usec; }

static json_t *report(const running *r, why because) {
  int status = 0;
  struct rusage used = {0};
  double wall_s = clt_now_s() - r->start_s;
  if (because != ENDED) kill(-r->child, SIGKILL);
  while (wait4(r->child, &status, 0, &used) < 0 && errno == EINTR) continue;
  clt_end_descendants(r->child);
  return json_pack("{s:s, s:i, s:b, s:f, s:f, s:f, s:f}", "reply", "ended", "status", status, "expired",
                   because == EXPIRED, "wall_s", wall_s, "user_s", seconds(used.ru_utime), "system_s",
                   seconds(used.ru_stime), "memory_bytes", 1024.0 * (double)used.ru_maxrss);
}

/* NULL: the parent is gone. */
static json_t *run(const json_t *request, int fd) {
  running r = {.limit_s = json_number_value(json_object_get(request, "limit_s"))};
  char **words = texts_of(json_object_get(request, "words"));
  int failure = words == NULL ? ENOMEM : words[0] == NULL ? ENOENT : start(&r, request, words);
  json_t *answer = NULL;
  if (failure) {
    answer = json_pack("{s:s, s:o}", "reply", "not-started", "why", clt_message_text(strerror(failure)));
  } else {
    why because = await(&r, fd);
    answer = report(&r, because);
    close(r.end_fd);
    if (because == ORPHANED) json_decref(answer), answer = NULL;
  }
  free(words);
  return answer;
}

/* --- serving --- */

static json_t *receive(clt_frame_reader *reader, int fd) {
  json_t *message = NULL;
  int taken;
  while ((taken = clt_frame_take(reader, &message, NULL)) == 0)
    if (clt_frame_receive(reader, fd, true) == CLT_FRAME_CLOSED) return NULL;
  return taken > 0 ? message : NULL;
}

static bool send_message(int fd, json_t *message) {
  bool sent = message && clt_frame_send(fd, message, NULL) == 0;
  json_decref(message);
  return sent;
}

int clt_worker_run_commands(int fd, pid_t parent) {
  clt_frame_reader reader = {0};
  if (getppid() != parent) return 1;
  clt_adopt_descendants();
  bool going = send_message(
      fd, json_pack("{s:s, s:i, s:s}", "reply", "hello", "protocol", CLT_PROTOCOL_VERSION, "version", CLATUNE_VERSION));
  while (going) {
    json_t *request = receive(&reader, fd);
    /* "end" that comes after the program ended by itself has nothing to do. */
    bool wanted = request && strcmp(clt_message_string(request, "request"), "command") == 0;
    going = request && (!wanted || send_message(fd, run(request, fd)));
    json_decref(request);
  }
  return 0;
}
