/* The devices, asked of a worker. */
#include <clatune/device.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "worker/ask.h"

#define MAX_DEVICES 1024

static int take_device(clt_device_info *out, const json_t *message, clt_error *error) {
  char *text = json_dumps(message, JSON_COMPACT);
  if (text == NULL) return clt_fail(error, CLT_E_FORMAT, "the worker's list of devices makes no sense");
  int rc = clt_device_from_json(out, text, error);
  free(text);
  return rc;
}

static int take_devices(clt_device_info **out, size_t *n, const json_t *reply, clt_error *error) {
  const json_t *list = json_object_get(reply, "devices");
  size_t count = json_array_size(list);
  if (!json_is_array(list) || count > MAX_DEVICES)
    return clt_fail(error, CLT_E_FORMAT, "the worker's list of devices makes no sense");
  clt_device_info *devices = clt_new_array(count, sizeof *devices);
  int rc = devices ? CLT_OK : clt_fail_memory(error);
  for (size_t i = 0; rc == 0 && i < count; i++) rc = take_device(&devices[i], json_array_get(list, i), error);
  if (rc) {
    free(devices);
    return rc;
  }
  *out = devices;
  *n = count;
  return CLT_OK;
}

int clt_devices(clt_device_info **out, size_t *n, clt_error *error) {
  json_t *reply = NULL;
  int rc = clt_ask_worker(&reply, json_pack("{s:s}", "request", "devices"), CLT_AT_VERIFY, error);
  if (rc == 0) rc = take_devices(out, n, reply, error);
  json_decref(reply);
  return rc;
}
