#include "worker/child/serve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "worker/kernel_message.h"
#include "opencl/inspect.h"
#include "worker/child/fault.h"
#include "worker/child/slots.h"

typedef struct server {
  int fd;
  clt_frame_reader reader;
  clt_worker *worker;
  bool gate;  /* the first launch of this request waits for leave */
  bool ended; /* the parent is gone */
} server;

static void reply(server *s, json_t *message) {
  if (message == NULL || clt_frame_send(s->fd, message, NULL)) s->ended = true;
  json_decref(message);
}

static json_t *receive(server *s) {
  json_t *message = NULL;
  int taken;
  while ((taken = clt_frame_take(&s->reader, &message, NULL)) == 0)
    if (clt_frame_receive(&s->reader, s->fd, true) == CLT_FRAME_CLOSED) return NULL;
  return taken > 0 ? message : NULL;
}

/* A parent that goes away while a worker waits here needs no answer any more. */
static void await_leave(server *s) {
  json_t *message = receive(s);
  if (message == NULL || strcmp(clt_message_string(message, "request"), "go") != 0) _Exit(1);
  json_decref(message);
  s->gate = false;
}

static void on_phase(void *user, clt_phase phase) {
  static const clt_worker_phase names[] = {[CLT_PHASE_BUILD] = CLT_AT_BUILD,
                                           [CLT_PHASE_LAUNCH] = CLT_AT_LAUNCH,
                                           [CLT_PHASE_RUNNING] = CLT_AT_RUNNING,
                                           [CLT_PHASE_VERIFY] = CLT_AT_VERIFY,
                                           [CLT_PHASE_DONE] = CLT_AT_DONE};
  server *s = user;
  if (phase == CLT_PHASE_LAUNCH) clt_worker_watch_faults_again();
  reply(s, clt_message_phase(names[phase]));
  if (phase == CLT_PHASE_LAUNCH && s->gate) await_leave(s);
}

/* --- the requests --- */

static int device_list(json_t **out, clt_error *error) {
  clt_device_info *devices = NULL;
  size_t n = 0;
  json_t *list = json_array();
  int rc = list ? clt_opencl_devices(&devices, &n, error) : clt_fail_memory(error);
  for (size_t i = 0; rc == 0 && i < n; i++) {
    char *text = NULL;
    rc = clt_device_to_json(&text, &devices[i], error);
    if (rc == 0 && json_array_append_new(list, json_loads(text, 0, NULL))) rc = clt_fail_memory(error);
    free(text);
  }
  free(devices);
  if (rc) {
    json_decref(list);
    return rc;
  }
  *out = list;
  return CLT_OK;
}

static int serve_devices(server *s, const json_t *request, json_t **out, clt_error *error) {
  json_t *list;
  (void)s;
  (void)request;
  int rc = device_list(&list, error);
  if (rc == 0) *out = json_pack("{s:s, s:o}", "reply", "devices", "devices", list);
  return rc;
}

static int serve_inspect(server *s, const json_t *request, json_t **out, clt_error *error) {
  int64_t platform, device;
  clt_kernel_info *kernels = NULL;
  size_t n = 0;
  (void)s;
  int rc = clt_message_integer(&platform, request, "platform", 0, INT32_MAX, error);
  if (rc == 0) rc = clt_message_integer(&device, request, "device", 0, INT32_MAX, error);
  if (rc == 0)
    rc = clt_opencl_inspect(&kernels, &n, (int)platform, (int)device, clt_message_string(request, "text"),
                            clt_message_string(request, "options"), error);
  if (rc == 0) *out = json_pack("{s:s, s:o}", "reply", "kernels", "kernels", clt_message_from_kernels(kernels, n));
  free(kernels);
  return rc;
}

static json_t *ok(void) { return json_pack("{s:s}", "reply", "ok"); }

static int serve_open(server *s, const json_t *request, json_t **out, clt_error *error) {
  int rc = clt_worker_open(s->worker, request, on_phase, s, error);
  if (rc == 0) *out = ok();
  return rc;
}

static int serve_data(server *s, const json_t *request, json_t **out, clt_error *error) {
  double quality = NAN;
  int rc = clt_worker_load(s->worker, request, &quality, error);
  if (rc) return rc;
  *out = ok();
  if (!isnan(quality) && clt_message_add_quality(*out, quality)) rc = clt_fail_memory(error);
  return rc;
}

static int serve_release(server *s, const json_t *request, json_t **out, clt_error *error) {
  int rc = clt_worker_release(s->worker, request, error);
  if (rc == 0) *out = ok();
  return rc;
}

typedef int (*measure_fn)(clt_worker *worker, const json_t *request, clt_measurement *out, clt_error *error);

static int measure(server *s, const json_t *request, measure_fn step, json_t **out, clt_error *error) {
  clt_measurement m;
  s->gate = json_is_true(json_object_get(request, "gate"));
  int rc = step(s->worker, request, &m, error);
  s->gate = false;
  if (rc) return rc;
  *out = json_pack("{s:s, s:o}", "reply", "measurement", "measurement", clt_message_from_measurement(&m));
  clt_measurement_release(&m);
  return CLT_OK;
}

static int serve_prepare(server *s, const json_t *request, json_t **out, clt_error *error) {
  return measure(s, request, clt_worker_prepare, out, error);
}

static int serve_time(server *s, const json_t *request, json_t **out, clt_error *error) {
  return measure(s, request, clt_worker_time, out, error);
}

static int serve_verify(server *s, const json_t *request, json_t **out, clt_error *error) {
  return measure(s, request, clt_worker_verify, out, error);
}

static const struct {
  const char *name;
  int (*serve)(server *s, const json_t *request, json_t **out, clt_error *error);
} table[] = {{"devices", serve_devices}, {"inspect", serve_inspect}, {"open", serve_open}, {"data", serve_data},
             {"prepare", serve_prepare}, {"time", serve_time}, {"verify", serve_verify},
             {"release", serve_release}};

static void serve(server *s, const json_t *request) {
  clt_error error = {0};
  json_t *answer = NULL;
  const char *name = clt_message_string(request, "request");
  int rc = CLT_E_ARGUMENT;
  size_t i = 0, n = sizeof table / sizeof *table;
  while (i < n && strcmp(table[i].name, name) != 0) i++;
  if (i < n) {
    rc = table[i].serve(s, request, &answer, &error);
  } else {
    clt_fail(&error, rc, "there is no request '%s'", name);
  }
  if (rc && error.code == 0) clt_fail(&error, rc, "%s", clt_error_text(rc));
  reply(s, rc ? clt_message_from_error(&error) : answer);
}

int clt_worker_serve(int fd) {
  server s = {.fd = fd, .worker = clt_new_array(1, sizeof(clt_worker))};
  if (s.worker == NULL) return 1;
  reply(&s,
        json_pack("{s:s, s:i, s:s}", "reply", "hello", "protocol", CLT_PROTOCOL_VERSION, "version", CLATUNE_VERSION));
  for (json_t *request; !s.ended && (request = receive(&s)); json_decref(request)) serve(&s, request);
  return 0;
}
