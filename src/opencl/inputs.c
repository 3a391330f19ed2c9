#include "opencl/inputs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/fail.h"
#include "base/hash.h"
#include "base/memory.h"

enum { SAMPLES = 64, SAMPLE_BYTES = 64 };

/* A hash of blocks spread evenly over the content: 4 KiB of it, first and last bytes included. */
static uint64_t fingerprint(const unsigned char *bytes, size_t n) {
  unsigned char sample[SAMPLES * SAMPLE_BYTES];
  if (n <= sizeof sample) return clt_hash64(bytes, n);
  for (size_t i = 0; i < SAMPLES; i++)
    memcpy(sample + i * SAMPLE_BYTES, bytes + (n - SAMPLE_BYTES) / (SAMPLES - 1) * i, SAMPLE_BYTES);
  memcpy(sample + sizeof sample - SAMPLE_BYTES, bytes + n - SAMPLE_BYTES, SAMPLE_BYTES);
  return clt_hash64(sample, sizeof sample);
}

static void make_key(clt_input_key *key, const clt_data *data, const clt_array *array, const clt_plan_arg *arg,
                     clt_content content) {
  memset(key, 0, sizeof *key); /* padding too: keys are compared as bytes */
  key->data = data;
  key->bytes = content == CLT_CONTENT_INPUT ? array->data : array->reference;
  key->seed = data->seed;
  key->fingerprint = fingerprint(key->bytes, array->bytes);
  key->content = content;
  key->image = clt_arg_is_image(arg->kind) ? arg->kind : CLT_ARG_BUFFER;
  key->base = arg->element.base;
  key->components = arg->element.components;
  key->channel = arg->channel;
  key->border_mode = arg->border_mode;
  memcpy(key->extent, arg->extent, sizeof key->extent);
  memcpy(key->border, arg->border, sizeof key->border);
}

/* The reference, wrong everywhere. */
static unsigned char *wrong_copy(const clt_array *array) {
  unsigned char *copy = malloc(array->bytes);
  size_t width = clt_element_base_bytes(array->element.base);
  if (copy == NULL) return NULL;
  memcpy(copy, array->reference, array->bytes);
  for (size_t i = width - 1; i < array->bytes; i += width) copy[i] ^= 0x80;
  return copy;
}

/* Makes the stored array and writes it to the device. */
static cl_int upload(clt_input *input, clt_executor *executor, const clt_plan_arg *arg, const void *logical) {
  bool bordered = arg->border[0] | arg->border[1] | arg->border[2];
  void *stored = bordered ? malloc(arg->bytes) : NULL;
  if (bordered && stored == NULL) return CL_OUT_OF_HOST_MEMORY;
  if (bordered) clt_array_store(stored, arg, logical);
  const void *content = bordered ? stored : logical;
  input->hash = clt_hash64(content, arg->bytes);
  cl_int status = clt_object_new(&input->object, executor, arg, CL_MEM_READ_ONLY);
  if (status == CL_SUCCESS) status = clt_object_write(executor, &input->object, content);
  free(stored);
  return status;
}

static void drop(clt_executor *executor, clt_input *input) {
  DL_DELETE(executor->inputs.first, input);
  executor->inputs.bytes -= input->object.bytes;
  clt_object_release(&input->object);
  free(input);
}

void clt_inputs_shrink(clt_executor *executor, size_t limit_bytes) {
  clt_input_cache *cache = &executor->inputs;
  while (cache->bytes > limit_bytes) {
    clt_input *oldest = NULL, *input;
    DL_FOREACH(cache->first, input)
    if (input->users == 0) oldest = input;
    if (oldest == NULL) return;
    drop(executor, oldest);
  }
}

void clt_inputs_clear(clt_executor *executor) {
  while (executor->inputs.first) drop(executor, executor->inputs.first);
}

static clt_input *find(clt_executor *executor, const clt_input_key *key) {
  clt_input *input;
  DL_FOREACH(executor->inputs.first, input)
  /* Keys are made in zeroed memory: NOLINTNEXTLINE(bugprone-suspicious-memory-comparison,cert-exp42-c,cert-flp37-c) */
  if (!input->stale && memcmp(&input->key, key, sizeof *key) == 0) return input;
  return NULL;
}

static int refuse(const clt_plan_arg *arg, cl_int status, clt_measurement *m, clt_error *error) {
  char what[300];
  snprintf(what, sizeof what, "upload argument '%s'", arg->name);
  if (clt_cl_out_of_memory(status)) return clt_reject_cl(m, CLT_REASON_OUT_OF_MEMORY, status, what);
  return clt_fail_cl(error, status, what);
}

int clt_inputs_get(clt_input **out, clt_executor *executor, const clt_data *data, const clt_array *array,
                   const clt_plan_arg *arg, clt_content content, clt_measurement *m, clt_error *error) {
  clt_input_key key;
  make_key(&key, data, array, arg, content);
  clt_input *input = find(executor, &key);
  if (input) {
    DL_DELETE(executor->inputs.first, input);
  } else {
    input = clt_new_array(1, sizeof *input);
    unsigned char *copy = content == CLT_CONTENT_WRONG ? wrong_copy(array) : NULL;
    cl_int status = CL_OUT_OF_HOST_MEMORY;
    if (input && (copy || content == CLT_CONTENT_INPUT)) {
      input->key = key;
      status = upload(input, executor, arg, copy ? copy : array->data);
    }
    free(copy);
    if (status != CL_SUCCESS) {
      if (input) clt_object_release(&input->object);
      free(input);
      return refuse(arg, status, m, error);
    }
    executor->inputs.bytes += input->object.bytes;
  }
  DL_PREPEND(executor->inputs.first, input);
  input->users++;
  clt_inputs_shrink(executor, executor->inputs.limit_bytes);
  *out = input;
  return CLT_OK;
}

void clt_inputs_put(clt_executor *executor, clt_input *input) {
  if (--input->users > 0) return;
  if (input->stale)
    drop(executor, input);
  else
    clt_inputs_shrink(executor, executor->inputs.limit_bytes);
}

cl_int clt_input_check(bool *intact, clt_executor *executor, const clt_input *input) {
  clt_view view;
  cl_int status = clt_object_view(&view, executor, &input->object);
  if (status != CL_SUCCESS) return status;
  *intact = clt_hash64(view.bytes, input->object.bytes) == input->hash;
  clt_object_close(executor, &input->object, &view);
  return CL_SUCCESS;
}

void clt_executor_forget(clt_executor *executor, const clt_data *data) {
  clt_input *input, *next;
  DL_FOREACH_SAFE(executor->inputs.first, input, next) {
    if (data && input->key.data != data) continue;
    input->stale = true;
    if (input->users == 0) drop(executor, input);
  }
}
