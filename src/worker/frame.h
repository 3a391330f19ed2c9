/* worker/frame.h - messages between the tuner and its workers: a length (4 bytes, big-endian), then a JSON object.
 *
 * Both sides distrust each other's bytes (a kernel may have scribbled over its process): the length is checked before
 * anything is read or parsed. */
#ifndef CLT_WORKER_FRAME_H
#define CLT_WORKER_FRAME_H

#include <clatune/error.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define CLT_MAX_FRAME_BYTES ((size_t)1 << 20)
#define CLT_PROTOCOL_VERSION 1
#define CLT_WORKER_FD 3                /* the worker's end of the socket pair */
#define CLT_COMMAND_TRADE "--commands" /* the argument of a worker that runs programs */
#define CLT_WORKER_SLOTS 64            /* prepared configurations that a worker can keep */

/* Bytes received and not yet taken as messages. Zeroed before use. */
typedef struct clt_frame_reader {
  unsigned char *bytes;
  size_t n, capacity;
} clt_frame_reader;
void clt_frame_reader_release(clt_frame_reader *reader);

typedef enum clt_frame_input { CLT_FRAME_CLOSED = -1, CLT_FRAME_NOTHING = 0, CLT_FRAME_BYTES = 1 } clt_frame_input;

/* Receives once from a socket. With wait: blocks until something comes. */
clt_frame_input clt_frame_receive(clt_frame_reader *reader, int fd, bool wait);

/* Takes the next whole message: 1 and *out (owned by the caller), 0 if there is none yet, CLT_E_FORMAT for a frame that
 * is too long or no JSON object. */
int clt_frame_take(clt_frame_reader *reader, json_t **out, clt_error *error);

/* Sends a message whole, without SIGPIPE. CLT_E_WORKER where nobody listens, CLT_E_RANGE where it is too long. */
int clt_frame_send(int fd, const json_t *message, clt_error *error);

#endif
