/* What a kernel file holds, asked of a worker: a compiler may crash or hang. */
#include <clatune/inspect.h>
#include <string.h>

#include "base/fail.h"
#include "worker/ask.h"
#include "worker/frame.h"
#include "worker/kernel_message.h"

int clt_inspect(clt_kernel_info **out, size_t *n, const clt_device_info *device, const char *text, const char *options,
                clt_error *error) {
  json_t *reply = NULL;
  if (2 * strlen(text) > CLT_MAX_FRAME_BYTES) /* escaped */
    return clt_fail(error, CLT_E_RANGE, "the kernel's text is larger than %d bytes", (int)CLT_MAX_FRAME_BYTES / 2);
  json_t *request = json_pack("{s:s, s:i, s:i, s:o, s:s}", "request", "inspect", "platform", device->platform_index,
                              "device", device->device_index, "text", clt_message_text(text), "options", options);
  int rc = clt_ask_worker(&reply, request, CLT_AT_VERIFY, error);
  if (rc == CLT_OK) rc = clt_message_to_kernels(out, n, json_object_get(reply, "kernels"), error);
  json_decref(reply);
  return rc;
}
