/* The functions that a problem names whose results Python computes or judges, in the process whose socket CLATUNE_JUDGE names: `judge`
 * has what a configuration wrote judged, `keep` is the reference that such a judge does without, and `answer` is a reference.
 * Sent are, for each array and scalar, a line "NAME TYPE X Y Z BYTES" and the bytes, then an empty line. A judge answers
 * with a line: empty if the result is correct, else why it is incorrect. A reference answers with "NAME BYTES" and the
 * bytes of each output, then an empty line. */
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

static int send_item(int to, const char *name, const char *type, const size_t extent[3], const void *bytes, size_t n) {
  char line[400];
  int length = snprintf(line, sizeof line, "%s %s %zu %zu %zu %zu\n", name, type, extent[0], extent[1], extent[2], n);
  if (length < 0 || (size_t)length >= sizeof line || send_all(to, line, (size_t)length)) return -1;
  return send_all(to, bytes, n);
}

/* Sends a call; returns a stream with the reply, NULL: Python cannot be reached. */
static FILE *ask(const clt_module_call *call) {
  static const size_t one[3] = {1, 1, 1};
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  const char *path = getenv("CLATUNE_JUDGE");
  int to = path && strlen(path) < sizeof address.sun_path ? socket(AF_UNIX, SOCK_STREAM, 0) : -1, rc = to < 0;
  if (rc == 0) strcpy(address.sun_path, path);
  rc = rc || connect(to, (const struct sockaddr *)&address, sizeof address);
  for (size_t i = 0; rc == 0 && i < call->n_scalars; i++)
    rc = send_item(to, call->scalars[i].name, "scalar", one, &call->scalars[i].value, sizeof call->scalars[i].value);
  for (size_t i = 0; rc == 0 && i < call->n_arrays; i++) {
    const clt_module_array *a = &call->arrays[i];
    rc = send_item(to, a->name, a->type, a->extent, a->data, a->bytes);
  }
  rc = rc || send_all(to, "\n", 1);
  FILE *reply = rc ? NULL : fdopen(to, "r");
  if (reply == NULL && to >= 0) close(to);
  return reply;
}

int judge(const clt_module_call *call) {
  FILE *reply = ask(call);
  if (reply == NULL || fgets(call->message, CLT_MODULE_MESSAGE_BYTES, reply) == NULL)
    strcpy(call->message, "the Python function that judges results cannot be reached");
  if (reply) fclose(reply);
  call->message[strcspn(call->message, "\n")] = '\0';
  return call->message[0] != '\0';
}

int answer(const clt_module_call *call) {
  FILE *reply = ask(call);
  char line[400] = "", name[300];
  size_t n;
  while (reply && fgets(line, sizeof line, reply) && line[0] != '\n') {
    const clt_module_array *array = sscanf(line, "%299s %zu", name, &n) == 2 ? clt_module_find(call, name) : NULL;
    if (array == NULL || array->bytes != n || fread(array->data, 1, n, reply) != n) break;
  }
  if (reply) fclose(reply);
  return line[0] == '\n' ? 0 : -1;
}
