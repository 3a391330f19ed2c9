#include "opencl/program.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"

#define MAX_LOG_READ_BYTES ((size_t)64 << 20)

/* The driver's log, NULL where there is none. Caller frees. */
static char *build_log(cl_program program, cl_device_id device) {
  size_t n = 0;
  if (clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, NULL, &n) != CL_SUCCESS) return NULL;
  if (n <= 1 || n > MAX_LOG_READ_BYTES) return NULL;
  char *log = clt_new_array(n + 1, 1);
  if (log && clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, n, log, NULL) == CL_SUCCESS) return log;
  free(log);
  return NULL;
}

static int reject_build(const clt_program *built, const clt_executor *executor, cl_int status, clt_measurement *m) {
  if (clt_cl_out_of_memory(status)) return clt_reject_cl(m, CLT_REASON_OUT_OF_MEMORY, status, "building");
  char *log = build_log(built->program, executor->device);
  int rc = log ? clt_reject(m, CLT_REASON_COMPILE_ERROR, "%s", log)
               : clt_reject_cl(m, CLT_REASON_COMPILE_ERROR, status, "building");
  free(log);
  return rc;
}

static int make_kernels(clt_program *built, const clt_plan *plan, clt_measurement *m, clt_error *error) {
  built->kernels = clt_new_array(plan->n_launches, sizeof *built->kernels);
  if (built->kernels == NULL) return clt_fail_memory(error);
  for (size_t i = 0; i < plan->n_launches; i++) {
    cl_int status;
    built->kernels[i] = clCreateKernel(built->program, plan->launches[i].kernel, &status);
    if (built->kernels[i] == NULL && clt_cl_out_of_memory(status))
      return clt_reject_cl(m, CLT_REASON_OUT_OF_MEMORY, status, "making a kernel");
    if (built->kernels[i] == NULL)
      return clt_reject(m, CLT_REASON_COMPILE_ERROR, "the program has no kernel '%s': %s", plan->launches[i].kernel,
                        clt_cl_status_name(status));
    built->n_kernels++;
  }
  return CLT_OK;
}

int clt_program_build(clt_program *out, const clt_executor *executor, const clt_plan *plan, clt_measurement *m,
                      clt_error *error) {
  clt_program built = {0};
  cl_int status;
  int rc;
  const char *source = plan->source;
  built.program = clCreateProgramWithSource(executor->context, 1, &source, NULL, &status);
  if (built.program == NULL) return clt_fail_cl(error, status, "make a program");
  status = clBuildProgram(built.program, 1, &executor->device, plan->options ? plan->options : "", NULL, NULL);
  rc = status == CL_SUCCESS ? make_kernels(&built, plan, m, error) : reject_build(&built, executor, status, m);
  if (rc)
    clt_program_release(&built);
  else
    *out = built;
  return rc;
}

void clt_program_release(clt_program *program) {
  for (size_t i = 0; i < program->n_kernels; i++) clReleaseKernel(program->kernels[i]);
  free(program->kernels);
  if (program->program) clReleaseProgram(program->program);
  *program = (clt_program){0};
}
