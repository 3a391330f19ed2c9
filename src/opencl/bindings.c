#include "opencl/bindings.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/memory.h"

static bool is_memory(const clt_plan_arg *arg) {
  return arg->kind == CLT_ARG_BUFFER || arg->kind == CLT_ARG_CONSTANT || clt_arg_is_image(arg->kind);
}

static bool is_integer(clt_element_base base) {
  return base != CLT_ELEMENT_HALF && base != CLT_ELEMENT_FLOAT && base != CLT_ELEMENT_DOUBLE;
}

static int check_array(const clt_array *array, const clt_plan_arg *arg, clt_error *error) {
  size_t bytes = arg->element.bytes * arg->extent[0] * arg->extent[1] * arg->extent[2];
  if (array->element.base == arg->element.base && array->element.components == arg->element.components &&
      array->bytes == bytes)
    return CLT_OK;
  return clt_fail(error, CLT_E_ARGUMENT, "argument '%s' is of another type or size than its data", arg->name);
}

/* Finds the argument's data, and whether its result is to be compared. */
static int attach_data(clt_binding *binding, const clt_data *data, bool verify, clt_error *error) {
  const clt_plan_arg *arg = binding->arg;
  binding->array = data ? clt_data_find(data, arg->name) : NULL;
  if (binding->array) {
    int rc = check_array(binding->array, arg, error);
    if (rc) return rc;
  }
  if (data && arg->has_data && (binding->array == NULL || binding->array->data == NULL))
    return clt_fail(error, CLT_E_ARGUMENT, "there is no data for the argument '%s'", arg->name);
  if (data == NULL || !verify || !arg->verified) return CLT_OK;
  if (binding->array && !binding->array->verified) return CLT_OK;
  if (binding->array == NULL || binding->array->reference == NULL)
    return clt_fail(error, CLT_E_ARGUMENT, "there is no reference for the argument '%s'", arg->name);
  binding->verified = true;
  return CLT_OK;
}

static int make_sampler(clt_binding *binding, const clt_executor *executor, clt_measurement *m) {
  const clt_plan_arg *arg = binding->arg;
  cl_int status;
  binding->sampler = clCreateSampler(executor->context, arg->sampler_normalised ? CL_TRUE : CL_FALSE,
                                     arg->sampler_clamp_to_edge ? CL_ADDRESS_CLAMP_TO_EDGE : CL_ADDRESS_CLAMP,
                                     arg->sampler_linear ? CL_FILTER_LINEAR : CL_FILTER_NEAREST, &status);
  if (binding->sampler) return CLT_OK;
  return clt_reject_cl(m, CLT_REASON_DEVICE_LIMIT, status, "making a sampler");
}

static int make_object(clt_binding *binding, clt_executor *executor, clt_measurement *m, clt_error *error) {
  const clt_plan_arg *arg = binding->arg;
  cl_mem_flags flags = arg->access == CLT_READ_ONLY    ? CL_MEM_READ_ONLY
                       : arg->access == CLT_WRITE_ONLY ? CL_MEM_WRITE_ONLY
                                                       : CL_MEM_READ_WRITE;
  cl_int status = clt_object_new(&binding->object, executor, arg, flags);
  if (status == CL_SUCCESS) return CLT_OK;
  char what[300];
  snprintf(what, sizeof what, "make room for argument '%s'", arg->name);
  if (clt_cl_out_of_memory(status)) return clt_reject_cl(m, CLT_REASON_OUT_OF_MEMORY, status, what);
  if (status == CL_INVALID_BUFFER_SIZE || status == CL_INVALID_IMAGE_SIZE || status == CL_IMAGE_FORMAT_NOT_SUPPORTED)
    return clt_reject_cl(m, CLT_REASON_DEVICE_LIMIT, status, what);
  return clt_fail_cl(error, status, what);
}

static int bind(clt_binding *binding, clt_executor *executor, const clt_data *data, bool verify, clt_measurement *m,
                clt_error *error) {
  const clt_plan_arg *arg = binding->arg;
  if (arg->kind == CLT_ARG_SAMPLER) return make_sampler(binding, executor, m);
  if (!is_memory(arg)) return CLT_OK;
  int rc = attach_data(binding, data, verify, error);
  if (rc) return rc;
  bool given = arg->has_data && binding->array;
  if (given) {
    rc = clt_inputs_get(&binding->input, executor, data, binding->array, arg, CLT_CONTENT_INPUT, m, error);
  } else if (binding->verified && is_integer(arg->element.base)) {
    rc = clt_inputs_get(&binding->input, executor, data, binding->array, arg, CLT_CONTENT_WRONG, m, error);
  }
  if (rc || (given && arg->access == CLT_READ_ONLY)) return rc;
  return make_object(binding, executor, m, error);
}

int clt_bindings_init(clt_bindings *out, clt_executor *executor, const clt_plan *plan, const clt_data *data,
                      bool verify, clt_measurement *m, clt_error *error) {
  int rc = CLT_OK;
  *out = (clt_bindings){clt_new_array(plan->n_args, sizeof *out->items), 0};
  if (out->items == NULL) return clt_fail_memory(error);
  for (; rc == 0 && out->n < plan->n_args; out->n++) {
    out->items[out->n].arg = &plan->args[out->n];
    rc = bind(&out->items[out->n], executor, data, verify, m, error);
  }
  return rc;
}

void clt_bindings_release(clt_bindings *bindings, clt_executor *executor) {
  for (size_t i = 0; i < bindings->n; i++) {
    clt_object_release(&bindings->items[i].object);
    if (bindings->items[i].input) clt_inputs_put(executor, bindings->items[i].input);
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

static cl_int restore(const clt_binding *binding, clt_executor *executor, clt_restore level) {
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
    status = restore(&bindings->items[i], executor, level);
  if (status == CL_SUCCESS) status = clFinish(executor->queue);
  if (status == CL_SUCCESS) return CLT_OK;
  if (clt_cl_out_of_memory(status)) return clt_reject_cl(m, CLT_REASON_OUT_OF_MEMORY, status, "filling the arguments");
  return clt_fail_cl(error, status, "fill the arguments");
}

void clt_bindings_distrust(const clt_bindings *bindings) {
  for (size_t i = 0; i < bindings->n; i++)
    if (bindings->items[i].input) bindings->items[i].input->stale = true;
}
