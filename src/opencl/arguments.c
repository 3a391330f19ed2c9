/* Inputs that stay on the device from one configuration to the next, and the arguments of a plan. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/fail.h"
#include "base/hash.h"
#include "base/memory.h"
#include "opencl/internal.h"

/* --- inputs --- */

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

static void drop_input(clt_executor *executor, clt_input *input) {
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
    drop_input(executor, oldest);
  }
}

static int get_input(clt_input **out, clt_executor *executor, const clt_data *data, const clt_array *array,
                     const clt_plan_arg *arg, clt_content content, clt_measurement *m, clt_error *error) {
  clt_input_key key;
  make_key(&key, data, array, arg, content);
  clt_input *input;
  DL_FOREACH(executor->inputs.first, input)
  /* Keys are made in zeroed memory: NOLINTNEXTLINE(bugprone-suspicious-memory-comparison,cert-exp42-c,cert-flp37-c) */
  if (!input->stale && memcmp(&input->key, &key, sizeof key) == 0) break;
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
      char what[300];
      snprintf(what, sizeof what, "upload argument '%s'", arg->name);
      return clt_cl_out_of_memory(status) ? clt_reject_cl(m, CLT_REASON_OUT_OF_MEMORY, status, what)
                                          : clt_fail_cl(error, status, what);
    }
    executor->inputs.bytes += input->object.bytes;
  }
  DL_PREPEND(executor->inputs.first, input);
  input->users++;
  clt_inputs_shrink(executor, executor->inputs.limit_bytes);
  *out = input;
  return CLT_OK;
}

static void put_input(clt_executor *executor, clt_input *input) {
  if (--input->users > 0) return;
  if (input->stale)
    drop_input(executor, input);
  else
    clt_inputs_shrink(executor, executor->inputs.limit_bytes);
}

void clt_executor_forget(clt_executor *executor, const clt_data *data) {
  clt_input *input, *next;
  DL_FOREACH_SAFE(executor->inputs.first, input, next) {
    if (data && input->key.data != data) continue;
    input->stale = true;
    if (input->users == 0) drop_input(executor, input);
  }
}

/* --- arguments --- */

static int make_sampler(clt_binding *binding, const clt_executor *executor, clt_measurement *m) {
  const clt_plan_arg *arg = binding->arg;
  cl_int status;
  binding->sampler = clCreateSampler(executor->context, arg->sampler_normalised ? CL_TRUE : CL_FALSE,
                                     arg->sampler_clamp_to_edge ? CL_ADDRESS_CLAMP_TO_EDGE : CL_ADDRESS_CLAMP,
                                     arg->sampler_linear ? CL_FILTER_LINEAR : CL_FILTER_NEAREST, &status);
  if (binding->sampler) return CLT_OK;
  return clt_reject_cl(m, CLT_REASON_DEVICE_LIMIT, status, "making a sampler");
}

/* Finds an argument's data, decides whether its result is to be compared, and makes what the kernel is given. */
static int bind_argument(clt_binding *binding, clt_executor *executor, const clt_data *data, bool verify,
                         clt_measurement *m, clt_error *error) {
  const clt_plan_arg *arg = binding->arg;
  const clt_element_base base = arg->element.base;
  if (arg->kind == CLT_ARG_SAMPLER) return make_sampler(binding, executor, m);
  if (!clt_arg_is_memory(arg)) return CLT_OK;

  const clt_array *array = data ? clt_data_find(data, arg->name) : NULL;
  if (array && (array->element.base != base || array->element.components != arg->element.components ||
                array->bytes != arg->element.bytes * arg->extent[0] * arg->extent[1] * arg->extent[2]))
    return clt_fail(error, CLT_E_ARGUMENT, "argument '%s' is of another type or size than its data", arg->name);
  if (data && arg->has_data && (array == NULL || array->data == NULL))
    return clt_fail(error, CLT_E_ARGUMENT, "there is no data for the argument '%s'", arg->name);
  binding->array = array;
  binding->verified = data && verify && arg->verified && !(array && !array->verified);
  if (binding->verified && (array == NULL || array->reference == NULL))
    return clt_fail(error, CLT_E_ARGUMENT, "there is no reference for the argument '%s'", arg->name);

  bool given = arg->has_data && array,
       whole = base != CLT_ELEMENT_HALF && base != CLT_ELEMENT_FLOAT && base != CLT_ELEMENT_DOUBLE;
  int rc = CLT_OK;
  if (given || (binding->verified && whole))
    rc =
        get_input(&binding->input, executor, data, array, arg, given ? CLT_CONTENT_INPUT : CLT_CONTENT_WRONG, m, error);
  if (rc || (given && arg->access == CLT_READ_ONLY)) return rc;

  cl_mem_flags flags = arg->access == CLT_READ_ONLY    ? CL_MEM_READ_ONLY
                       : arg->access == CLT_WRITE_ONLY ? CL_MEM_WRITE_ONLY
                                                       : CL_MEM_READ_WRITE;
  cl_int status = clt_object_new(&binding->object, executor, arg, flags);
  if (status == CL_SUCCESS) return CLT_OK;
  char what[300];
  snprintf(what, sizeof what, "make room for argument '%s'", arg->name);
  if (clt_cl_out_of_memory(status) || status == CL_INVALID_BUFFER_SIZE || status == CL_INVALID_IMAGE_SIZE ||
      status == CL_IMAGE_FORMAT_NOT_SUPPORTED)
    return clt_reject_cl(m, CLT_REASON_DEVICE_LIMIT, status, what); /* or out-of-memory */
  return clt_fail_cl(error, status, what);
}

int clt_bindings_init(clt_bindings *out, clt_executor *executor, const clt_plan *plan, const clt_data *data,
                      bool verify, clt_measurement *m, clt_error *error) {
  int rc = CLT_OK;
  *out = (clt_bindings){clt_new_array(plan->n_args, sizeof *out->items), 0};
  if (out->items == NULL) return clt_fail_memory(error);
  for (; rc == 0 && out->n < plan->n_args; out->n++) {
    out->items[out->n].arg = &plan->args[out->n];
    rc = bind_argument(&out->items[out->n], executor, data, verify, m, error);
  }
  return rc;
}

void clt_bindings_release(clt_bindings *bindings, clt_executor *executor) {
  for (size_t i = 0; i < bindings->n; i++) {
    clt_object_release(&bindings->items[i].object);
    if (bindings->items[i].input) put_input(executor, bindings->items[i].input);
    if (bindings->items[i].sampler) clReleaseSampler(bindings->items[i].sampler);
  }
  free(bindings->items);
  *bindings = (clt_bindings){0};
}

static cl_int set_argument(cl_kernel kernel, cl_uint index, const clt_binding *binding) {
  const clt_plan_arg *arg = binding->arg;
  const clt_object *object = binding->object.memory || !binding->input ? &binding->object : &binding->input->object;
  switch (arg->kind) {
    case CLT_ARG_SCALAR: return clSetKernelArg(kernel, index, arg->bytes, arg->scalar);
    case CLT_ARG_LOCAL: return clSetKernelArg(kernel, index, arg->bytes, NULL);
    case CLT_ARG_SAMPLER: return clSetKernelArg(kernel, index, sizeof binding->sampler, &binding->sampler);
    case CLT_ARG_IMAGE1D_BUFFER: return clSetKernelArg(kernel, index, sizeof object->view, &object->view);
    default: return clSetKernelArg(kernel, index, sizeof object->memory, &object->memory);
  }
}

int clt_bindings_set(const clt_bindings *bindings, const clt_program *program, const clt_plan *plan,
                     clt_measurement *m) {
  for (size_t i = 0; i < plan->n_launches; i++) {
    const clt_plan_launch *launch = &plan->launches[i];
    for (size_t j = 0; j < launch->n_args; j++) {
      const clt_binding *binding = &bindings->items[launch->args[j]];
      cl_int status = set_argument(program->kernels[i], (cl_uint)j, binding);
      if (status == CL_SUCCESS) continue;
      char what[400];
      snprintf(what, sizeof what, "argument %zu ('%s') of '%s'", j, binding->arg->name, launch->kernel);
      return clt_reject_cl(m, CLT_REASON_LAUNCH, status, what);
    }
  }
  return CLT_OK;
}

static cl_int restore_argument(const clt_binding *binding, clt_executor *executor, clt_restore level) {
  const clt_plan_arg *arg = binding->arg;
  if (binding->object.memory == NULL) return CL_SUCCESS;
  clt_restore needed = arg->has_data ? CLT_RESTORE_INPUTS : binding->verified ? CLT_RESTORE_OUTPUTS : CLT_RESTORE_ALL;
  if (needed > level) return CL_SUCCESS;
  if (binding->input) return clt_object_copy(executor, &binding->object, &binding->input->object);
  if (arg->has_data) return clt_object_zero(executor, &binding->object);
  return clt_object_poison(executor, &binding->object, arg->element.base);
}

bool clt_bindings_change_inputs(const clt_bindings *bindings) {
  for (size_t i = 0; i < bindings->n; i++)
    if (bindings->items[i].object.memory && bindings->items[i].arg->has_data) return true;
  return false;
}

int clt_bindings_restore(const clt_bindings *bindings, clt_executor *executor, clt_restore level, clt_measurement *m,
                         clt_error *error) {
  cl_int status = CL_SUCCESS;
  for (size_t i = 0; status == CL_SUCCESS && i < bindings->n; i++)
    status = restore_argument(&bindings->items[i], executor, level);
  if (status == CL_SUCCESS) status = clFinish(executor->queue);
  if (status == CL_SUCCESS) return CLT_OK;
  if (clt_cl_out_of_memory(status)) return clt_reject_cl(m, CLT_REASON_OUT_OF_MEMORY, status, "filling the arguments");
  return clt_fail_cl(error, status, "fill the arguments");
}

void clt_bindings_distrust(const clt_bindings *bindings) {
  for (size_t i = 0; i < bindings->n; i++)
    if (bindings->items[i].input) bindings->items[i].input->stale = true;
}
