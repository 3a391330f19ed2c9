#include "worker/open_request.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/hash.h"
#include "base/memory.h"
#include "worker/message.h"

#define MAX_SIZES 1024

/* A hash over the parameters and their values, so that a configuration's number means the same on both sides. */
static int space_mark(const clt_space *space, char out[33], clt_error *error) {
  clt_hasher *hasher = clt_hasher_new();
  if (hasher == NULL) return clt_fail_memory(error);
  for (size_t p = 0; p < clt_space_n_parameters(space); p++) {
    const clt_parameter *parameter = clt_space_parameter(space, p);
    clt_hasher_add_text(hasher, parameter->name);
    for (size_t v = 0; v < parameter->n_values; v++) {
      char text[512];
      clt_value_print(parameter->values[v], text, sizeof text);
      clt_hasher_add_text(hasher, text);
    }
  }
  clt_hasher_hex(hasher, out);
  clt_hasher_free(hasher);
  return CLT_OK;
}

static int marks(const clt_instance *instance, char key[33], char space[33], clt_error *error) {
  int rc = clt_instance_key(instance, key, error);
  return rc ? rc : space_mark(clt_instance_space(instance), space, error);
}

static json_t *sizes_message(const clt_instance *instance) {
  json_t *sizes = json_object();
  for (size_t i = 0; sizes && i < clt_instance_n_sizes(instance); i++) {
    clt_size size = clt_instance_size(instance, i);
    if (json_object_set_new(sizes, size.name, json_integer(size.value))) {
      json_decref(sizes);
      return NULL;
    }
  }
  return sizes;
}

static int device_message(json_t **out, const clt_device_info *device, clt_error *error) {
  char *text = NULL;
  if (device == NULL) return clt_fail(error, CLT_E_ARGUMENT, "measuring needs a device");
  int rc = clt_device_to_json(&text, device, error);
  if (rc) return rc;
  *out = json_loads(text, 0, NULL);
  free(text);
  return *out ? CLT_OK : clt_fail_memory(error);
}

int clt_open_request_new(json_t **out, const clt_instance *instance, clt_error *error) {
  char key[33], space[33];
  json_t *device = NULL;
  const char *path = clt_problem_path(clt_instance_problem(instance));
  int rc = marks(instance, key, space, error);
  if (rc == 0) rc = device_message(&device, clt_instance_device(instance), error);
  if (rc) return rc;
  char *absolute = realpath(path, NULL);
  if (absolute == NULL) {
    json_decref(device);
    return clt_fail_errno(error, CLT_E_IO, "find", path);
  }
  json_t *request =
      json_pack("{s:s, s:o, s:o, s:o, s:s, s:s}", "request", "open", "problem", clt_message_text(absolute), "sizes",
                sizes_message(instance), "device", device, "key", key, "space", space);
  free(absolute);
  if (request == NULL) return clt_fail_memory(error);
  *out = request;
  return CLT_OK;
}

/* --- in the worker --- */

static int take_sizes(clt_size **out, size_t *n, const json_t *object, clt_error *error) {
  const char *name;
  json_t *value;
  size_t count = json_object_size(object), i = 0;
  if (count > MAX_SIZES) return clt_fail(error, CLT_E_FORMAT, "a message has %zu sizes", count);
  clt_size *sizes = clt_new_array(count, sizeof *sizes);
  if (sizes == NULL) return clt_fail_memory(error);
  json_object_foreach((json_t *)object, name, value) {
    sizes[i++] = (clt_size){.name = name, .value = json_integer_value(value)};
  }
  *out = sizes;
  *n = count;
  return CLT_OK;
}

static int take_device(clt_device_info *out, const json_t *object, clt_error *error) {
  char *text = json_dumps(object, JSON_COMPACT);
  if (text == NULL) return clt_fail(error, CLT_E_FORMAT, "a message lacks the device");
  int rc = clt_device_from_json(out, text, error);
  free(text);
  return rc;
}

static int check_marks(const clt_instance *instance, const json_t *request, clt_error *error) {
  char key[33], space[33];
  int rc = marks(instance, key, space, error);
  if (rc) return rc;
  if (strcmp(key, clt_message_string(request, "key")) == 0 && strcmp(space, clt_message_string(request, "space")) == 0)
    return CLT_OK;
  return clt_fail(error, CLT_E_FORMAT, "'%s' or its kernel has changed since tuning began; start again",
                  clt_message_string(request, "problem"));
}

int clt_open_request_take(clt_problem **problem, clt_instance **instance, const json_t *request, clt_error *error) {
  clt_problem *p = NULL;
  clt_instance *i = NULL;
  clt_size *sizes = NULL;
  size_t n_sizes = 0;
  clt_device_info *device = clt_new_array(1, sizeof *device);
  int rc = device ? take_device(device, json_object_get(request, "device"), error) : clt_fail_memory(error);
  if (rc == 0) rc = take_sizes(&sizes, &n_sizes, json_object_get(request, "sizes"), error);
  if (rc == 0) rc = clt_problem_load(&p, clt_message_string(request, "problem"), error);
  if (rc == 0) rc = clt_instance_new(&i, p, sizes, n_sizes, device, error);
  if (rc == 0) rc = check_marks(i, request, error);
  free(sizes);
  free(device);
  if (rc) {
    clt_instance_free(i);
    clt_problem_free(p);
    return rc;
  }
  *problem = p;
  *instance = i;
  return CLT_OK;
}
