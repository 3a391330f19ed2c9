/* worker/message.h - messages between the tuner and its workers (src/worker/PROTOCOL.md): a length (4 bytes,
 * big-endian), then a JSON object.
 *
 * Neither side trusts the other's bytes, because a kernel may have overwritten its process's memory: the length is
 * checked before anything is read or parsed, then the type and range of every member. */
#pragma once

#include <clatune/measurement.h>
#include <clatune/problem.h>
#include <jansson.h>

#include "base/json.h"
#include "device/device.h"
#include "opencl/timing.h"
#include "problem/data.h"

#define CLT_MAX_FRAME_BYTES ((size_t)1 << 20)
#define CLT_PROTOCOL_VERSION 3
#define CLT_WORKER_FD 3                /* the worker's end of the socket pair */
#define CLT_COMMAND_TRADE "--commands" /* the argument of a worker that runs programs */
#define CLT_WORKER_SLOTS 64            /* prepared configurations that a worker can keep */

/* --- frames --- */

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

/* Waits for the next message, without a limit of time; NULL if the other side is gone or sends no valid message. */
json_t *clt_frame_await(clt_frame_reader *reader, int fd);

/* Sends a whole message, without SIGPIPE. CLT_E_WORKER: the other side has closed; CLT_E_RANGE: it is too long. */
int clt_frame_send(int fd, const json_t *message, clt_error *error);

/* The bytes of a message, malloc'ed; NULL when out of memory or too long. */
char *clt_frame_bytes(size_t *n, const json_t *message);

/* --- contents of messages. New references are NULL when out of memory --- */

const char *clt_phase_name(clt_phase phase);
int clt_phase_parse(clt_phase *out, const char *name); /* CLT_E_FORMAT: none */
json_t *clt_message_phase(clt_phase phase);

json_t *clt_message_hello(void);

/* A whole number of a message; CLT_E_FORMAT if it is missing or has another type or range. */
int clt_message_integer(int64_t *out, const json_t *message, const char *key, int64_t min, int64_t max,
                        clt_error *error);

/* *out is initialised here, and owned by the caller on success. */
json_t *clt_message_from_measurement(const clt_measurement *m);
int clt_message_to_measurement(clt_measurement *out, const json_t *message, clt_error *error);

json_t *clt_message_from_timing(const clt_timing_policy *timing);
int clt_message_to_timing(clt_timing_policy *out, const json_t *message, clt_error *error);

/* A configuration's values as text if the space gave its number out at first sight, so that it means nothing in another
 * process; otherwise null. With null, clt_message_to_config leaves the number *config as it is. */
json_t *clt_message_from_config(const clt_space *space, clt_config config);
int clt_message_to_config(clt_config *config, const json_t *values, const clt_space *space, clt_error *error);

/* out->only is borrowed from the message. */
json_t *clt_message_from_recipe(const clt_recipe *recipe, const clt_space *space);
int clt_message_to_recipe(clt_recipe *out, const json_t *message, const clt_space *space, clt_error *error);

/* clt_message_to_error copies the other side's error to *error and returns its code (never 0). */
json_t *clt_message_from_error(const clt_error *error);
int clt_message_to_error(const json_t *message, clt_error *error);

/* The problem's figure of quality, from the reply of the worker that made the data; NaN if there is none. CLT_E_FORMAT
 * if it is neither a finite number nor null. */
int clt_message_to_quality(double *out, const json_t *reply, clt_error *error);

json_t *clt_message_from_kernels(const clt_kernel_info *kernels, size_t n);
int clt_message_to_kernels(clt_kernel_info **out, size_t *n, const json_t *list, clt_error *error);

/* What a worker must know before it can work: the problem, its sizes, the device, and hashes that show whether the
 * files have changed since the tuner read them (CLT_E_FORMAT). The instance needs a device. On success the caller also
 * owns the instance's problem, which has no reference if "reference" is false. */
int clt_message_from_instance(json_t **out, const clt_instance *instance, clt_error *error);
int clt_message_to_instance(clt_instance **out, const json_t *request, clt_error *error);
