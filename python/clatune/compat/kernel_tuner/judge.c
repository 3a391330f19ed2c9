/* The functions that a problem of clatune.compat.kernel_tuner names: `judge` has what a configuration wrote judged by the Python
 * process whose socket CLATUNE_JUDGE names, and `keep` is the reference that such a judge does without.
 * Sent are, for each array, a line "NAME BYTES" and the bytes, then an empty line. The answer is a line: empty if the
 * result is correct, else why it is incorrect. */
#include <clatune/module.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int keep(const clt_module_call *call) {
  (void)call;
  return 0;
}

static int send_all(int to, const char *bytes, size_t n) {
  while (n > 0) {
    ssize_t sent = send(to, bytes, n, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return -1;
    bytes += sent;
    n -= (size_t)sent;
  }
  return 0;
}

static int ask(int to, const clt_module_call *call) {
  for (size_t i = 0; i < call->n_arrays; i++) {
    const clt_module_array *array = &call->arrays[i];
    char line[320];
    int n = snprintf(line, sizeof line, "%s %zu\n", array->name, array->bytes);
    if (n < 0 || (size_t)n >= sizeof line || send_all(to, line, (size_t)n) || send_all(to, array->data, array->bytes)) return -1;
  }
  if (send_all(to, "\n", 1)) return -1;
  size_t n = 0;
  char answer[CLT_MODULE_MESSAGE_BYTES];
  for (;;) {
    ssize_t got = recv(to, answer + n, sizeof answer - n, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return -1;
    n += (size_t)got;
    char *end = memchr(answer, '\n', n);
    if (end == NULL && n < sizeof answer) continue;
    *(end ? end : &answer[sizeof answer - 1]) = '\0';
    memcpy(call->message, answer, sizeof answer);
    return answer[0] != '\0';
  }
}

int judge(const clt_module_call *call) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  const char *path = getenv("CLATUNE_JUDGE");
  int to = -1, wrong = -1;
  if (path && strlen(path) < sizeof address.sun_path && (to = socket(AF_UNIX, SOCK_STREAM, 0)) >= 0) {
    strcpy(address.sun_path, path);
    if (connect(to, (const struct sockaddr *)&address, sizeof address) == 0) wrong = ask(to, call);
  }
  if (to >= 0) close(to);
  if (wrong < 0) strcpy(call->message, "the Python function that judges results cannot be reached");
  return wrong;
}
