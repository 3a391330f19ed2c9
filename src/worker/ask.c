/* Requests to a separate worker process: which devices there are, and what a kernel file contains. The driver or the
 * compiler may crash or hang. */
#include <clatune/device.h>

#include "base/base.h"
#include "base/file.h"
#include "device/device.h"
#include "worker/process.h"

#define PATIENCE_S 60 /* for a compiler, in seconds */
#define LISTING_S 20  /* time until a driver that hangs while listing devices is noticed */
#define MAX_DEVICES 1024

struct clt_inspector {
  clt_run_folder folder;
  clt_process process;
};

void clt_inspector_free(clt_inspector *inspector) {
  if (inspector == NULL) return;
  clt_process_stop(&inspector->process, false, NULL);
  clt_run_folder_remove(&inspector->folder);
  free(inspector);
}

/* Sends a request to the worker *kept, and keeps that worker. If kept is NULL or *kept is, it starts a new one; with
 * kept NULL, the worker ends afterwards. Takes over request (NULL: out of memory). Returns the error that the worker
 * reports, or CLT_E_WORKER if it ends or exceeds its time; then it is not kept. */
static int ask_worker(json_t **reply, clt_inspector **kept, json_t *request, double patience_s, clt_error *error) {
  const clt_deadlines limits = {patience_s, patience_s, patience_s};
  clt_inspector *worker = kept ? *kept : NULL;
  char *path = NULL;
  int rc = CLT_OK;
  if (worker == NULL) {
    worker = calloc(1, sizeof *worker);
    rc = worker ? clt_worker_path(&path, error) : clt_fail_memory(error);
    if (worker) worker->folder.lock_fd = -1;
    if (rc == CLT_OK) rc = clt_run_folder_new(&worker->folder, error);
    const clt_process_setup setup = {.path = path, .folder = rc ? NULL : worker->folder.path};
    if (rc == CLT_OK) rc = clt_process_begin(&worker->process, &setup, &limits, error);
  }
  const bool begun = rc == CLT_OK;
  if (rc == CLT_OK) rc = clt_process_request(&worker->process, json_incref(request), CLT_PHASE_VERIFY, &limits, error);
  if (rc == CLT_OK) rc = clt_process_await(&worker->process, reply, error);
  json_decref(request);
  const bool stays = kept && begun && rc != CLT_E_WORKER;
  if (!stays) clt_inspector_free(worker);
  if (kept) *kept = stays ? worker : NULL;
  free(path);
  return rc;
}

int clt_devices(clt_device_info **out, size_t *n, clt_error *error) {
  json_t *reply = NULL;
  int rc = ask_worker(&reply, NULL, json_pack("{s:s}", "request", "devices"), LISTING_S, error);
  if (rc) return rc;
  const json_t *list = json_object_get(reply, "devices");
  size_t count = json_array_size(list);
  clt_device_info *devices = count <= MAX_DEVICES ? clt_new_array(count, sizeof *devices) : NULL;
  if (!json_is_array(list) || count > MAX_DEVICES)
    rc = clt_fail(
        error, CLT_E_FORMAT,
        "the worker sent an invalid list of devices; check that clatune and clatune-worker are from the same build");
  else if (devices == NULL)
    rc = clt_fail_memory(error);
  for (size_t i = 0; rc == CLT_OK && i < count; i++) rc = clt_device_read(&devices[i], json_array_get(list, i), error);
  json_decref(reply);
  if (rc) {
    free(devices);
    return rc;
  }
  *out = devices;
  *n = count;
  return CLT_OK;
}

int clt_inspect(clt_kernel_info **out, size_t *n, clt_inspector **kept, const clt_device_info *device, const char *text,
                const char *options, clt_error *error) {
  json_t *reply = NULL;
  if (2 * strlen(text) > CLT_MAX_FRAME_BYTES) /* JSON may double its length */
    return clt_fail(error, CLT_E_RANGE, "the kernel source is larger than %d bytes", (int)CLT_MAX_FRAME_BYTES / 2);
  json_t *request = json_pack("{s:s, s:i, s:i, s:o, s:s}", "request", "inspect", "platform", device->platform_index,
                              "device", device->device_index, "text", clt_json_text(text), "options", options);
  int rc = ask_worker(&reply, kept, request, PATIENCE_S, error);
  if (rc == CLT_OK) rc = clt_message_to_kernels(out, n, json_object_get(reply, "kernels"), error);
  json_decref(reply);
  return rc;
}
