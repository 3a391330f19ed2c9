/* Programs from a text: building them, with or without a description of their arguments, and the compiler's log. */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "opencl/internal.h"

#define MAX_LOG_BYTES ((size_t)64 << 20)

char *clt_program_log(cl_program program, cl_device_id device) {
  size_t n = 0;
  if (clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, NULL, &n) != CL_SUCCESS) return NULL;
  if (n <= 1 || n > MAX_LOG_BYTES) return NULL;
  char *log = clt_new_array(n + 1, 1);
  if (log && clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, n, log, NULL) == CL_SUCCESS) return log;
  free(log);
  return NULL;
}

int clt_program_build_text(cl_program *out, cl_int *status, const clt_executor *executor, const char *text,
                           const char *options, clt_error *error) {
  *out = clCreateProgramWithSource(executor->context, 1, &text, NULL, status);
  if (*out == NULL) return clt_fail_cl(error, *status, "create a program");
  *status = clBuildProgram(*out, 1, &executor->device, options, NULL, NULL);
  return CLT_OK;
}

int clt_program_build_described(cl_program *out, cl_int *status, clt_executor *executor, const char *text,
                                const char *options, clt_error *error) {
  char *all = clt_format("%s%s", options, executor->undescribed ? "" : " -cl-kernel-arg-info");
  int rc = all ? clt_program_build_text(out, status, executor, text, all, error) : clt_fail_memory(error);
  free(all);
  if (rc || *status == CL_SUCCESS || executor->undescribed || !clt_cl_is_nvidia(&executor->info)) return rc;
  char *log = clt_program_log(*out, executor->device);
  executor->undescribed = log && strstr(log, "ptxas") && strstr(log, "Parsing error");
  free(log);
  if (!executor->undescribed) return CLT_OK;
  clReleaseProgram(*out);
  return clt_program_build_text(out, status, executor, text, options, error);
}

cl_kernel clt_own_kernel(const clt_executor *executor, const char *text, const char *name, cl_int *status) {
  cl_program program = NULL;
  if (clt_program_build_text(&program, status, executor, text, NULL, NULL)) return NULL;
  cl_kernel kernel = *status == CL_SUCCESS ? clCreateKernel(program, name, status) : NULL;
  clReleaseProgram(program);
  return kernel;
}
