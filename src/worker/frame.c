#include "worker/frame.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/fail.h"
#include "base/memory.h"

#define HEADER_BYTES 4
#define CHUNK_BYTES 65536

void clt_frame_reader_release(clt_frame_reader *reader) {
  free(reader->bytes);
  memset(reader, 0, sizeof *reader);
}

clt_frame_input clt_frame_receive(clt_frame_reader *reader, int fd, bool wait) {
  if (reader->n > CLT_MAX_FRAME_BYTES + HEADER_BYTES) return CLT_FRAME_NOTHING; /* to be taken, or refused, first */
  if (clt_grow(&reader->bytes, &reader->capacity, reader->n + CHUNK_BYTES, 1)) return CLT_FRAME_CLOSED;
  ssize_t got;
  do {
    got = recv(fd, reader->bytes + reader->n, CHUNK_BYTES, wait ? 0 : MSG_DONTWAIT);
  } while (got < 0 && errno == EINTR);
  if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return CLT_FRAME_NOTHING;
  if (got <= 0) return CLT_FRAME_CLOSED;
  reader->n += (size_t)got;
  return CLT_FRAME_BYTES;
}

static size_t body_bytes(const unsigned char *header) {
  return (size_t)header[0] << 24 | (size_t)header[1] << 16 | (size_t)header[2] << 8 | header[3];
}

static int parse(json_t **out, const unsigned char *text, size_t n, clt_error *error) {
  json_error_t why;
  json_t *message = json_loadb((const char *)text, n, JSON_REJECT_DUPLICATES, &why);
  if (message == NULL && why.text[0] == '\0') return clt_fail_memory(error);
  if (message == NULL) return clt_fail(error, CLT_E_FORMAT, "a message is not JSON: %s", why.text);
  if (!json_is_object(message)) {
    json_decref(message);
    return clt_fail(error, CLT_E_FORMAT, "a message is not a JSON object");
  }
  *out = message;
  return CLT_OK;
}

int clt_frame_take(clt_frame_reader *reader, json_t **out, clt_error *error) {
  if (reader->n < HEADER_BYTES) return 0;
  size_t n = body_bytes(reader->bytes);
  if (n > CLT_MAX_FRAME_BYTES)
    return clt_fail(error, CLT_E_FORMAT, "a message of %zu bytes is longer than the %zu allowed", n,
                    CLT_MAX_FRAME_BYTES);
  if (reader->n < HEADER_BYTES + n) return 0;
  int rc = parse(out, reader->bytes + HEADER_BYTES, n, error);
  reader->n -= HEADER_BYTES + n;
  memmove(reader->bytes, reader->bytes + HEADER_BYTES + n, reader->n);
  return rc ? rc : 1;
}

static int send_all(int fd, const char *bytes, size_t n, clt_error *error) {
  while (n > 0) {
    ssize_t sent = send(fd, bytes, n, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return clt_fail(error, CLT_E_WORKER, "cannot send a message: %s", strerror(errno));
    bytes += sent;
    n -= (size_t)sent;
  }
  return CLT_OK;
}

int clt_frame_send(int fd, const json_t *message, clt_error *error) {
  size_t n = json_dumpb(message, NULL, 0, JSON_COMPACT);
  if (n == 0 || n > CLT_MAX_FRAME_BYTES)
    return clt_fail(error, CLT_E_RANGE, "a message of %zu bytes cannot be sent", n);
  char *frame = malloc(HEADER_BYTES + n);
  if (frame == NULL) return clt_fail_memory(error);
  for (int i = 0; i < HEADER_BYTES; i++) frame[i] = (char)(n >> (24 - 8 * i) & 255);
  json_dumpb(message, frame + HEADER_BYTES, n, JSON_COMPACT);
  int rc = send_all(fd, frame, HEADER_BYTES + n, error);
  free(frame);
  return rc;
}
