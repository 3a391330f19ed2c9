#include "opencl/inspect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "opencl/context.h"

#define MAX_LOG_BYTES (1 << 20)
#define SAID_BYTES 800 /* of the compiler's log; an error has no room for more */

static int fail_build(cl_program program, cl_device_id device, cl_int status, clt_error *error) {
  size_t n = 0;
  char *log = NULL;
  if (clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, NULL, &n) == CL_SUCCESS && n <= MAX_LOG_BYTES)
    log = calloc(n + 1, 1);
  if (log) clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, n, log, NULL);
  int rc = clt_fail(error, CLT_E_OPENCL, "the kernel does not build (%s): %.*s", clt_cl_status_name(status), SAID_BYTES,
                    log ? log : "");
  free(log);
  return rc;
}

static bool arg_text(char *out, size_t capacity, cl_kernel kernel, cl_uint i, cl_kernel_arg_info what) {
  size_t n = 0;
  if (clGetKernelArgInfo(kernel, i, what, 0, NULL, &n) != CL_SUCCESS || n == 0 || n > capacity) return false;
  return clGetKernelArgInfo(kernel, i, what, n, out, NULL) == CL_SUCCESS;
}

static clt_address address_of(cl_kernel_arg_address_qualifier q) {
  switch (q) {
    case CL_KERNEL_ARG_ADDRESS_GLOBAL: return CLT_ADDRESS_GLOBAL;
    case CL_KERNEL_ARG_ADDRESS_CONSTANT: return CLT_ADDRESS_CONSTANT;
    case CL_KERNEL_ARG_ADDRESS_LOCAL: return CLT_ADDRESS_LOCAL;
    default: return CLT_ADDRESS_PRIVATE;
  }
}

static bool read_argument(clt_kernel_argument *out, cl_kernel kernel, cl_uint i) {
  cl_kernel_arg_address_qualifier address = CL_KERNEL_ARG_ADDRESS_PRIVATE;
  cl_kernel_arg_access_qualifier access = CL_KERNEL_ARG_ACCESS_NONE;
  cl_kernel_arg_type_qualifier qualifiers = 0;
  if (!arg_text(out->name, sizeof out->name, kernel, i, CL_KERNEL_ARG_NAME) ||
      !arg_text(out->type, sizeof out->type, kernel, i, CL_KERNEL_ARG_TYPE_NAME))
    return false;
  clGetKernelArgInfo(kernel, i, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof address, &address, NULL);
  clGetKernelArgInfo(kernel, i, CL_KERNEL_ARG_ACCESS_QUALIFIER, sizeof access, &access, NULL);
  clGetKernelArgInfo(kernel, i, CL_KERNEL_ARG_TYPE_QUALIFIER, sizeof qualifiers, &qualifiers, NULL);
  out->address = address_of(address);
  out->is_const = (qualifiers & CL_KERNEL_ARG_TYPE_CONST) != 0 || out->address == CLT_ADDRESS_CONSTANT;
  out->reads_image = access == CL_KERNEL_ARG_ACCESS_READ_ONLY || access == CL_KERNEL_ARG_ACCESS_READ_WRITE;
  out->writes_image = access == CL_KERNEL_ARG_ACCESS_WRITE_ONLY || access == CL_KERNEL_ARG_ACCESS_READ_WRITE;
  return true;
}

static int read_kernel(clt_kernel_info *out, cl_kernel kernel, cl_device_id device, clt_error *error) {
  cl_uint n = 0;
  size_t local[3] = {0};
  memset(out, 0, sizeof *out);
  cl_int status = clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, sizeof out->name, out->name, NULL);
  if (!status) status = clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof n, &n, NULL);
  if (status) return clt_fail_cl(error, status, "ask a kernel for its name and arguments");
  if (n > CLT_MAX_KERNEL_ARGUMENTS)
    return clt_fail(error, CLT_E_RANGE, "kernel '%s' has %u arguments, more than %d", out->name, n,
                    CLT_MAX_KERNEL_ARGUMENTS);
  clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof local, local, NULL);
  for (int d = 0; d < 3; d++) out->local_size[d] = local[d];
  for (cl_uint i = 0; i < n; i++)
    if (!read_argument(&out->arguments[out->n_arguments++], kernel, i))
      return clt_fail(error, CLT_E_UNSUPPORTED,
                      "the driver does not say what the arguments of kernel '%s' are; try another device", out->name);
  return CLT_OK;
}

static int read_program(clt_kernel_info **out, size_t *n_out, cl_program program, cl_device_id device,
                        clt_error *error) {
  cl_uint n = 0;
  cl_int status = clCreateKernelsInProgram(program, 0, NULL, &n);
  if (status) return clt_fail_cl(error, status, "count the kernels");
  cl_kernel *kernels = clt_new_array(n, sizeof *kernels);
  clt_kernel_info *infos = clt_new_array(n, sizeof *infos);
  int rc = kernels && infos ? CLT_OK : clt_fail_memory(error);
  if (rc == CLT_OK && n && (status = clCreateKernelsInProgram(program, n, kernels, NULL)))
    rc = clt_fail_cl(error, status, "make the kernels");
  for (cl_uint i = 0; rc == CLT_OK && i < n; i++) rc = read_kernel(&infos[i], kernels[i], device, error);
  for (cl_uint i = 0; kernels && i < n; i++)
    if (kernels[i]) clReleaseKernel(kernels[i]);
  free(kernels);
  if (rc) {
    free(infos);
    return rc;
  }
  *out = infos;
  *n_out = n;
  return CLT_OK;
}

int clt_opencl_inspect(clt_kernel_info **out, size_t *n, int platform_index, int device_index, const char *text,
                       const char *options, clt_error *error) {
  clt_executor *executor = NULL;
  cl_program program = NULL;
  cl_int status = CL_SUCCESS;
  char *all = clt_format("%s -cl-kernel-arg-info", options);
  int rc = all ? clt_executor_new(&executor, platform_index, device_index, error) : clt_fail_memory(error);
  if (rc == CLT_OK) program = clCreateProgramWithSource(executor->context, 1, &text, NULL, &status);
  if (rc == CLT_OK && program == NULL) rc = clt_fail_cl(error, status, "make a program");
  if (rc == CLT_OK && (status = clBuildProgram(program, 1, &executor->device, all, NULL, NULL)))
    rc = fail_build(program, executor->device, status, error);
  if (rc == CLT_OK) rc = read_program(out, n, program, executor->device, error);
  if (program) clReleaseProgram(program);
  clt_executor_free(executor);
  free(all);
  return rc;
}
