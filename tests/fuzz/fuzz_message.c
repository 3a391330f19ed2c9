/* Messages between the tuner and its workers: a stream of frames, and all that may be read from one. */
#include <sys/socket.h>

#include "worker/message.h"
#include "fuzz.h"

static void read_all(const json_t *message) {
  clt_measurement m;
  clt_timing_policy timing;
  clt_phase phase;
  clt_error error = {0};
  double quality;
  int64_t slot;
  if (clt_message_to_measurement(&m, json_object_get(message, "measurement"), NULL) == 0) {
    json_decref(clt_message_from_measurement(&m));
    clt_measurement_release(&m);
  }
  clt_message_to_timing(&timing, json_object_get(message, "timing"), NULL);
  clt_message_to_quality(&quality, message, NULL);
  clt_message_to_error(message, &error);
  clt_message_integer(&slot, message, "slot", 0, 63, NULL);
  clt_phase_parse(&phase, clt_json_string(message, "phase"));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  int ends[2];
  clt_frame_reader reader = {0};
  json_t *message;
  if (size > 60000) return 0; /* the bytes that a socket holds without a reader */
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) abort();
  if (write(ends[0], data, size) != (ssize_t)size) abort();
  close(ends[0]);
  while (clt_frame_receive(&reader, ends[1], true) == CLT_FRAME_BYTES)
    for (int rc; (rc = clt_frame_take(&reader, &message, NULL)) != 0;) {
      if (rc < 0) goto done;
      read_all(message);
      json_decref(message);
    }
done:
  clt_frame_reader_release(&reader);
  close(ends[1]);
  return 0;
}
