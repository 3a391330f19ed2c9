/* Describes the kernels of a program and their arguments as plain data. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/text.h"
#include "opencl/internal.h"

#define MANGLED "_cl_" /* PoCL's, before names that built-in functions have, too, such as length */
#define SAID_BYTES 800 /* of the compiler's log: an error message cannot hold more */

bool clt_cl_argument(clt_kernel_argument *out, cl_kernel kernel, cl_uint i) {
  cl_kernel_arg_address_qualifier address = CL_KERNEL_ARG_ADDRESS_PRIVATE;
  cl_kernel_arg_access_qualifier access = CL_KERNEL_ARG_ACCESS_NONE;
  cl_kernel_arg_type_qualifier qualifiers = 0;
  if (clGetKernelArgInfo(kernel, i, CL_KERNEL_ARG_NAME, sizeof out->name, out->name, NULL) != CL_SUCCESS ||
      clGetKernelArgInfo(kernel, i, CL_KERNEL_ARG_TYPE_NAME, sizeof out->type, out->type, NULL) != CL_SUCCESS)
    return false;
  const size_t n_mangled = strlen(MANGLED);
  if (clt_starts_with(out->name, MANGLED)) memmove(out->name, out->name + n_mangled, strlen(out->name + n_mangled) + 1);
  const size_t n_unsigned = strlen("unsigned ");
  if (clt_starts_with(out->type, "unsigned ")) /* OpenCL's name: uint */
    memmove(out->type + 1, out->type + n_unsigned, strlen(out->type + n_unsigned) + 1);
  clGetKernelArgInfo(kernel, i, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof address, &address, NULL);
  clGetKernelArgInfo(kernel, i, CL_KERNEL_ARG_ACCESS_QUALIFIER, sizeof access, &access, NULL);
  clGetKernelArgInfo(kernel, i, CL_KERNEL_ARG_TYPE_QUALIFIER, sizeof qualifiers, &qualifiers, NULL);
  out->address = CLT_ADDRESS_PRIVATE;
  if (address == CL_KERNEL_ARG_ADDRESS_GLOBAL) out->address = CLT_ADDRESS_GLOBAL;
  if (address == CL_KERNEL_ARG_ADDRESS_CONSTANT) out->address = CLT_ADDRESS_CONSTANT;
  if (address == CL_KERNEL_ARG_ADDRESS_LOCAL) out->address = CLT_ADDRESS_LOCAL;
  out->is_const = (qualifiers & CL_KERNEL_ARG_TYPE_CONST) != 0 || out->address == CLT_ADDRESS_CONSTANT;
  out->reads_image = access == CL_KERNEL_ARG_ACCESS_READ_ONLY || access == CL_KERNEL_ARG_ACCESS_READ_WRITE;
  out->writes_image = access == CL_KERNEL_ARG_ACCESS_WRITE_ONLY || access == CL_KERNEL_ARG_ACCESS_READ_WRITE;
  return true;
}

static int read_kernel(clt_kernel_info *out, cl_kernel kernel, cl_device_id device, clt_error *error) {
  cl_uint n = 0;
  size_t local[3] = {0};
  cl_int status = clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, sizeof out->name, out->name, NULL);
  if (!status) status = clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof n, &n, NULL);
  if (status) return clt_fail_cl(error, status, "ask a kernel for its name and arguments");
  if (n > CLT_MAX_KERNEL_ARGUMENTS)
    return clt_fail(error, CLT_E_RANGE, "kernel '%s' has %u arguments; at most %d are supported", out->name, n,
                    CLT_MAX_KERNEL_ARGUMENTS);
  clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof local, local, NULL);
  for (int d = 0; d < 3; d++) out->local_size[d] = local[d];
  for (cl_uint i = 0; i < n; i++) {
    clt_kernel_argument *argument = &out->arguments[out->n_arguments++];
    if (!clt_cl_argument(argument, kernel, i))
      return clt_fail(error, CLT_E_UNSUPPORTED,
                      "the driver does not describe the arguments of kernel '%s'; try another device", out->name);
    if (argument->name[0] == '\0') snprintf(argument->name, sizeof argument->name, "argument_%u", (unsigned)i + 1);
  }
  return CLT_OK;
}

int clt_opencl_inspect(clt_kernel_info **out, size_t *n_out, clt_executor *executor, const char *text,
                       const char *options, clt_error *error) {
  cl_program program = NULL;
  cl_kernel *kernels = NULL;
  clt_kernel_info *infos = NULL;
  clt_kernel_argument **arguments = NULL;
  size_t n_arguments = 0;
  cl_uint n = 0;
  cl_int status = CL_SUCCESS;
  int rc = clt_program_build_described(&program, &status, executor, text, options, error);
  if (rc) goto done;
  if (status) {
    char *log = clt_program_log(program, executor->device);
    char *explained = log ? clt_explain_build(executor, NULL, text, log) : NULL;
    rc = clt_fail(error, CLT_E_OPENCL, "the kernel does not build (%s): %.*s", clt_cl_status_name(status), SAID_BYTES,
                  explained ? explained : "");
    free(explained);
    free(log);
    goto done;
  }
  status = clCreateKernelsInProgram(program, 0, NULL, &n);
  kernels = clt_new_array(n, sizeof *kernels);
  infos = clt_new_array(n, sizeof *infos);
  if (kernels == NULL || infos == NULL) rc = clt_fail_memory(error);
  if (rc == CLT_OK && status == CL_SUCCESS && n) status = clCreateKernelsInProgram(program, n, kernels, NULL);
  if (rc == CLT_OK && status) rc = clt_fail_cl(error, status, "create the kernels");
  for (cl_uint i = 0; rc == CLT_OK && i < n; i++) rc = read_kernel(&infos[i], kernels[i], executor->device, error);
  arguments = clt_new_array(n, CLT_MAX_KERNEL_ARGUMENTS * sizeof *arguments);
  if (rc == CLT_OK && arguments == NULL) rc = clt_fail_memory(error);
  for (cl_uint i = 0; rc == CLT_OK && i < n; i++)
    for (size_t k = 0; k < infos[i].n_arguments; k++) arguments[n_arguments++] = &infos[i].arguments[k];
  if (rc == CLT_OK) clt_types_resolve(arguments, n_arguments, executor, text, options);
done:
  for (cl_uint i = 0; kernels && i < n; i++)
    if (kernels[i]) clReleaseKernel(kernels[i]);
  if (program) clReleaseProgram(program);
  free(arguments);
  free(kernels);
  if (rc) {
    free(infos);
    return rc;
  }
  *out = infos;
  *n_out = n;
  return CLT_OK;
}
