#include "worker/kernel_message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "worker/message.h"

#define MAX_KERNELS 256

static json_t *from_argument(const clt_kernel_argument *a) {
  return json_pack("{s:o, s:o, s:i, s:b, s:b, s:b}", "name", clt_message_text(a->name), "type", clt_message_text(a->type),
                   "address", (int)a->address, "const", a->is_const, "reads", a->reads_image, "writes", a->writes_image);
}

static json_t *from_kernel(const clt_kernel_info *k) {
  json_t *arguments = json_array();
  for (size_t i = 0; i < k->n_arguments; i++)
    if (json_array_append_new(arguments, from_argument(&k->arguments[i]))) return json_decref(arguments), NULL;
  return json_pack("{s:o, s:[I,I,I], s:o}", "name", clt_message_text(k->name), "local", (json_int_t)k->local_size[0],
                   (json_int_t)k->local_size[1], (json_int_t)k->local_size[2], "arguments", arguments);
}

json_t *clt_message_from_kernels(const clt_kernel_info *kernels, size_t n) {
  json_t *list = json_array();
  for (size_t i = 0; i < n; i++)
    if (json_array_append_new(list, from_kernel(&kernels[i]))) return json_decref(list), NULL;
  return list;
}

static bool is_name(const char *text) {
  size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
  return n > 0 && text[n] == '\0' && !(text[0] >= '0' && text[0] <= '9');
}

static int to_argument(clt_kernel_argument *out, const json_t *message, clt_error *error) {
  int64_t address;
  int rc = clt_message_integer(&address, message, "address", CLT_ADDRESS_GLOBAL, CLT_ADDRESS_PRIVATE, error);
  if (rc) return rc;
  const char *name = clt_message_string(message, "name"), *type = clt_message_string(message, "type");
  if (!is_name(name) || strlen(name) >= sizeof out->name || strlen(type) >= sizeof out->type)
    return clt_fail(error, CLT_E_FORMAT, "the worker's argument '%.64s' has no usable name or type", name);
  snprintf(out->name, sizeof out->name, "%s", name);
  snprintf(out->type, sizeof out->type, "%s", type);
  out->address = (clt_address)address;
  out->is_const = json_is_true(json_object_get(message, "const"));
  out->reads_image = json_is_true(json_object_get(message, "reads"));
  out->writes_image = json_is_true(json_object_get(message, "writes"));
  return CLT_OK;
}

static int to_kernel(clt_kernel_info *out, const json_t *message, clt_error *error) {
  const json_t *arguments = json_object_get(message, "arguments"), *local = json_object_get(message, "local");
  const char *name = clt_message_string(message, "name");
  if (!is_name(name) || strlen(name) >= sizeof out->name || json_array_size(local) != 3 ||
      json_array_size(arguments) > CLT_MAX_KERNEL_ARGUMENTS)
    return clt_fail(error, CLT_E_FORMAT, "the worker's list of kernels makes no sense");
  snprintf(out->name, sizeof out->name, "%s", name);
  for (size_t d = 0; d < 3; d++) {
    json_int_t size = json_integer_value(json_array_get(local, d));
    out->local_size[d] = size > 0 ? (uint64_t)size : 0;
  }
  int rc = CLT_OK;
  for (; rc == CLT_OK && out->n_arguments < json_array_size(arguments); out->n_arguments++)
    rc = to_argument(&out->arguments[out->n_arguments], json_array_get(arguments, out->n_arguments), error);
  return rc;
}

int clt_message_to_kernels(clt_kernel_info **out, size_t *n, const json_t *list, clt_error *error) {
  size_t count = json_array_size(list);
  if (!json_is_array(list) || count > MAX_KERNELS)
    return clt_fail(error, CLT_E_FORMAT, "the worker's list of kernels makes no sense");
  clt_kernel_info *kernels = clt_new_array(count, sizeof *kernels);
  int rc = kernels ? CLT_OK : clt_fail_memory(error);
  for (size_t i = 0; rc == CLT_OK && i < count; i++) rc = to_kernel(&kernels[i], json_array_get(list, i), error);
  if (rc) {
    free(kernels);
    return rc;
  }
  *out = kernels;
  *n = count;
  return CLT_OK;
}
