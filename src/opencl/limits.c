/* Limits: what the device states, checked before a build is spent, and what the built kernel states, checked before the
 * first launch (PoCL ends the process with an assertion where these are exceeded). */
#include <stdlib.h>

#include "base/fail.h"
#include "base/memory.h"
#include "opencl/object.h"
#include "opencl/program.h"

static bool is_memory(const clt_plan_arg *arg) {
  return arg->kind == CLT_ARG_BUFFER || arg->kind == CLT_ARG_CONSTANT || clt_arg_is_image(arg->kind);
}

static int check_stored_size(const clt_plan_arg *arg, clt_error *error) {
  size_t bytes = arg->element.bytes;
  for (int d = 0; d < 3; d++) {
    size_t extent;
    bool overflow = __builtin_add_overflow(arg->border[d], arg->border[d], &extent) ||
                    __builtin_add_overflow(extent, arg->extent[d], &extent) ||
                    !clt_size_multiply(&bytes, bytes, extent);
    if (overflow) return clt_fail(error, CLT_E_RANGE, "argument '%s' is too large to address", arg->name);
  }
  if (bytes == 0) return clt_fail(error, CLT_E_ARGUMENT, "argument '%s' has no elements", arg->name);
  if (bytes == arg->bytes) return CLT_OK;
  return clt_fail(error, CLT_E_ARGUMENT, "argument '%s' is said to have %zu bytes, but its extents make %zu", arg->name,
                  arg->bytes, bytes);
}

static int check_image(const clt_executor *executor, const clt_plan_arg *arg, clt_measurement *m) {
  const clt_device_info *device = &executor->info;
  bool volume = arg->kind == CLT_ARG_IMAGE3D;
  uint64_t max[3] = {volume ? device->image3d_max_width : device->image2d_max_width,
                     volume ? device->image3d_max_height : device->image2d_max_height,
                     volume ? device->image3d_max_depth : 1};
  cl_image_format format;
  if (!device->images) return clt_reject(m, CLT_REASON_DEVICE_LIMIT, "the device has no images ('%s')", arg->name);
  if (arg->kind == CLT_ARG_IMAGE1D_BUFFER && arg->bytes / arg->element.bytes > device->image1d_buffer_max_width)
    return clt_reject(m, CLT_REASON_DEVICE_LIMIT, "image '%s' has %zu elements, the device allows %llu", arg->name,
                      arg->bytes / arg->element.bytes, (unsigned long long)device->image1d_buffer_max_width);
  for (int d = 0; arg->kind != CLT_ARG_IMAGE1D_BUFFER && d < 3; d++)
    if (arg->extent[d] + 2 * arg->border[d] > max[d])
      return clt_reject(m, CLT_REASON_DEVICE_LIMIT,
                        "image '%s' is %zu elements in dimension %d, the device allows %llu", arg->name,
                        arg->extent[d] + 2 * arg->border[d], d, (unsigned long long)max[d]);
  if (!clt_image_format(&format, arg) || !clt_image_supported(executor, arg, &format))
    return clt_reject(m, CLT_REASON_DEVICE_LIMIT, "the device has no images with the elements of argument '%s'",
                      arg->name);
  return CLT_OK;
}

static int check_arg(const clt_executor *executor, const clt_plan_arg *arg, clt_measurement *m, clt_error *error) {
  const clt_device_info *device = &executor->info;
  if (!is_memory(arg)) return CLT_OK;
  int rc = check_stored_size(arg, error);
  if (rc) return rc;
  if (clt_arg_is_image(arg->kind)) return check_image(executor, arg, m);
  uint64_t max = arg->kind == CLT_ARG_CONSTANT ? device->max_constant_bytes : device->max_allocation_bytes;
  if (max == 0 || arg->bytes <= max) return CLT_OK;
  return clt_reject(m, CLT_REASON_DEVICE_LIMIT, "argument '%s' takes %zu bytes, the device allows %llu", arg->name,
                    arg->bytes, (unsigned long long)max);
}

static uint64_t work_group_size(const clt_plan_launch *launch) {
  size_t product = 1;
  for (unsigned d = 0; d < launch->n_dimensions; d++)
    if (!clt_size_multiply(&product, product, launch->local[d])) return SIZE_MAX;
  return product;
}

static uint64_t local_argument_bytes(const clt_plan *plan, const clt_plan_launch *launch) {
  uint64_t bytes = 0;
  for (size_t i = 0; i < launch->n_args; i++) {
    const clt_plan_arg *arg = &plan->args[launch->args[i]];
    if (arg->kind == CLT_ARG_LOCAL) bytes += arg->bytes;
  }
  return bytes;
}

static int check_launch(const clt_executor *executor, const clt_plan *plan, const clt_plan_launch *launch,
                        clt_measurement *m, clt_error *error) {
  const clt_device_info *device = &executor->info;
  if (launch->n_dimensions < 1 || launch->n_dimensions > 3 || launch->repeat < 1)
    return clt_fail(error, CLT_E_ARGUMENT, "a launch of '%s' has %u dimensions and is repeated %u times",
                    launch->kernel, launch->n_dimensions, launch->repeat);
  for (size_t i = 0; i < launch->n_args; i++)
    if (launch->args[i] >= plan->n_args)
      return clt_fail(error, CLT_E_ARGUMENT, "argument %zu of '%s' does not exist", i, launch->kernel);
  uint64_t local_bytes = local_argument_bytes(plan, launch);
  if (local_bytes > device->local_memory_bytes)
    return clt_reject(m, CLT_REASON_DEVICE_LIMIT, "'%s' is given %llu bytes of local memory, the device has %llu",
                      launch->kernel, (unsigned long long)local_bytes, (unsigned long long)device->local_memory_bytes);
  if (!launch->has_local) return CLT_OK;
  for (unsigned d = 0; d < launch->n_dimensions; d++)
    if (launch->local[d] < 1 || launch->local[d] > device->max_work_item_sizes[d])
      return clt_reject(m, CLT_REASON_DEVICE_LIMIT,
                        "work-groups of '%s' are %zu in dimension %u, the device allows %llu", launch->kernel,
                        launch->local[d], d, (unsigned long long)device->max_work_item_sizes[d]);
  if (work_group_size(launch) > device->max_work_group_size)
    return clt_reject(m, CLT_REASON_DEVICE_LIMIT, "work-groups of '%s' have %llu work-items, the device allows %llu",
                      launch->kernel, (unsigned long long)work_group_size(launch),
                      (unsigned long long)device->max_work_group_size);
  return CLT_OK;
}

int clt_program_check_limits(const clt_executor *executor, const clt_plan *plan, clt_measurement *m, clt_error *error) {
  int rc = CLT_OK;
  if (plan->n_launches == 0) return clt_fail(error, CLT_E_ARGUMENT, "the plan launches no kernel");
  for (size_t i = 0; rc == 0 && i < plan->n_args; i++) rc = check_arg(executor, &plan->args[i], m, error);
  for (size_t i = 0; rc == 0 && i < plan->n_launches; i++)
    rc = check_launch(executor, plan, &plan->launches[i], m, error);
  return rc;
}

static int check_kernel(cl_kernel kernel, const clt_executor *executor, const clt_plan *plan,
                        const clt_plan_launch *launch, clt_measurement *m) {
  cl_ulong local_bytes = 0;
  size_t max_work_items = 0;
  cl_uint n_args = 0;
  if (clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof n_args, &n_args, NULL) == CL_SUCCESS &&
      n_args != launch->n_args)
    return clt_reject(m, CLT_REASON_LAUNCH, "'%s' has %u parameters, but %zu arguments are given", launch->kernel,
                      n_args, launch->n_args);
  clGetKernelWorkGroupInfo(kernel, executor->device, CL_KERNEL_LOCAL_MEM_SIZE, sizeof local_bytes, &local_bytes, NULL);
  local_bytes += local_argument_bytes(plan, launch);
  if (local_bytes > executor->info.local_memory_bytes)
    return clt_reject(m, CLT_REASON_KERNEL_LIMIT, "'%s' uses %llu bytes of local memory, the device has %llu",
                      launch->kernel, (unsigned long long)local_bytes,
                      (unsigned long long)executor->info.local_memory_bytes);
  if (!launch->has_local) return CLT_OK;
  cl_int status = clGetKernelWorkGroupInfo(kernel, executor->device, CL_KERNEL_WORK_GROUP_SIZE, sizeof max_work_items,
                                           &max_work_items, NULL);
  if (status == CL_SUCCESS && work_group_size(launch) > max_work_items)
    return clt_reject(m, CLT_REASON_KERNEL_LIMIT, "'%s' runs in work-groups of at most %zu work-items, not %llu",
                      launch->kernel, max_work_items, (unsigned long long)work_group_size(launch));
  return CLT_OK;
}

static int check_required_size(cl_kernel kernel, const clt_executor *executor, const clt_plan_launch *launch,
                               clt_measurement *m) {
  size_t required[3] = {0};
  cl_int status = clGetKernelWorkGroupInfo(kernel, executor->device, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof required,
                                           required, NULL);
  if (status != CL_SUCCESS || required[0] == 0) return CLT_OK;
  for (unsigned d = 0; d < launch->n_dimensions; d++)
    if (!launch->has_local || launch->local[d] != required[d])
      return clt_reject(m, CLT_REASON_KERNEL_LIMIT, "'%s' requires work-groups of %zu x %zu x %zu", launch->kernel,
                        required[0], required[1], required[2]);
  return CLT_OK;
}

int clt_program_check_kernels(const clt_program *program, const clt_executor *executor, const clt_plan *plan,
                              clt_measurement *m) {
  int rc = CLT_OK;
  for (size_t i = 0; rc == 0 && i < plan->n_launches; i++) {
    rc = check_kernel(program->kernels[i], executor, plan, &plan->launches[i], m);
    if (rc == 0) rc = check_required_size(program->kernels[i], executor, &plan->launches[i], m);
  }
  return rc;
}
