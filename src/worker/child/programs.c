/* Runs programs for a tuner, and ends them with all their descendants. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "worker/child/child.h"
#include "worker/message.h"

#define END_ROUNDS 1000
#define END_ROUND_NS 1000000

/* Kills a process group, then all remaining descendants (waits for at most a second). The children of killed
 * processes are reparented to this process, which is their subreaper. */
static void end_descendants(pid_t group) {
  const struct timespec pause = {.tv_nsec = END_ROUND_NS};
  char path[64];
  if (group > 1) kill(-group, SIGKILL);
  snprintf(path, sizeof path, "/proc/self/task/%lld/children", (long long)gettid());
  for (int i = 0; i < END_ROUNDS; i++) {
    pid_t got;
    int child;
    while ((got = waitpid(-1, NULL, WNOHANG)) > 0 || (got < 0 && errno == EINTR)) continue;
    if (got != 0) return; /* no children are left */
    FILE *file = fopen(path, "re");
    while (file && fscanf(file, "%d", &child) == 1)
      if (child > 1) kill(child, SIGKILL);
    if (file) fclose(file);
    if (i > 0) nanosleep(&pause, NULL);
  }
}

/* Starts a program in a session of its own; end_fd becomes readable when it has ended. Returns 0, or errno if it
 * cannot be started. */
static int start_program(pid_t *child, int *end_fd, const json_t *request) {
  const json_t *list = json_object_get(request, "words"), *environment = json_object_get(request, "environment");
  const char *input = clt_json_string(request, "input");
  int ends[2], failure = 0;
  ssize_t got;
  size_t n = json_array_size(list);
  char **words = clt_new_array(n + 1, sizeof *words);
  for (size_t i = 0; words && i < n; i++) {
    const char *text = json_string_value(json_array_get(list, i));
    words[i] = (char *)(text ? text : "");
  }
  if (words == NULL || n == 0 || pipe2(ends, O_CLOEXEC)) {
    if (words == NULL)
      failure = ENOMEM;
    else
      failure = n == 0 ? ENOENT : errno;
    free(words);
    return failure;
  }
  *child = fork();
  if (*child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* if the worker is killed, at least the program itself ends */
    setsid();                         /* detached from our terminal and its signals */
    int fd = input[0] ? open(input, O_RDONLY) : -1;
    bool ready = chdir(clt_json_string(request, "folder")) == 0 && (input[0] == 0 || fd >= 0);
    if (ready && fd >= 0) dup2(fd, STDIN_FILENO), close(fd);
    for (size_t i = 0; ready && i < json_array_size(environment); i++)
      putenv(strdup(json_string_value(json_array_get(environment, i))));
    if (ready) execvp(words[0], words);
    failure = errno;
    got = write(ends[1], &failure, sizeof failure);
    _exit(127);
  }
  if (*child < 0) failure = errno;
  free(words);
  close(ends[1]);
  /* The pipe closes without data if exec succeeds. */
  do got = failure ? 0 : read(ends[0], &failure, sizeof failure);
  while (got < 0 && errno == EINTR);
  close(ends[0]);
  if (failure && *child > 0) waitpid(*child, NULL, 0);
  if (failure) return failure;
  *end_fd = (int)syscall(SYS_pidfd_open, *child, 0);
  if (*end_fd >= 0) return 0;
  failure = errno;
  end_descendants(*child);
  return failure;
}

static double seconds(struct timeval t) { return (double)t.tv_sec + 1e-6 * (double)t.tv_usec; }

/* Runs a program to its end or its time limit. Any message from the parent ends the program; so does the end of the
 * parent, and then the result is NULL. */
static json_t *run_program(const json_t *request, int fd) {
  double limit_s = json_number_value(json_object_get(request, "limit_s"));
  pid_t child = -1;
  int end_fd = -1, status = 0;
  int failure = start_program(&child, &end_fd, request);
  if (failure) return json_pack("{s:s, s:o}", "reply", "not-started", "why", clt_json_text(strerror(failure)));
  struct pollfd watched[] = {{.fd = end_fd, .events = POLLIN}, {.fd = fd, .events = POLLIN}};
  double start_s = clt_now_s();
  bool ended = false, expired = false, orphaned = false;
  for (bool unwanted = false; !ended && !expired && !unwanted && !orphaned;) {
    double left_s = limit_s > 0 ? start_s + limit_s - clt_now_s() : 60;
    char byte;
    watched[0].revents = watched[1].revents = 0;
    if (left_s > 0) start_s += clt_poll(watched, 2, left_s);
    if (left_s <= 0)
      expired = true;
    else if (watched[0].revents)
      ended = true;
    else if (watched[1].revents)
      unwanted = true, orphaned = recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) <= 0;
  }
  struct rusage used = {0};
  double wall_s = clt_now_s() - start_s;
  if (!ended) kill(-child, SIGKILL);
  while (wait4(child, &status, 0, &used) < 0 && errno == EINTR) continue;
  end_descendants(child);
  close(end_fd);
  if (orphaned) return NULL;
  return json_pack("{s:s, s:i, s:b, s:f, s:f, s:f, s:f}", "reply", "ended", "status", status, "expired", expired,
                   "wall_s", wall_s, "user_s", seconds(used.ru_utime), "system_s", seconds(used.ru_stime),
                   "memory_bytes", 1024.0 * (double)used.ru_maxrss);
}

int clt_worker_run_commands(int fd, pid_t parent) {
  clt_frame_reader reader = {0};
  if (getppid() != parent) return 1;
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  json_t *message = clt_message_hello();
  while (message && clt_frame_send(fd, message, NULL) == 0) {
    json_t *request;
    json_decref(message);
    message = NULL;
    /* An "end" that arrives after the program's end has no effect. */
    while ((request = clt_frame_await(&reader, fd)) && strcmp(clt_json_string(request, "request"), "command") != 0)
      json_decref(request);
    if (request) message = run_program(request, fd);
    json_decref(request);
  }
  json_decref(message);
  return 0;
}
