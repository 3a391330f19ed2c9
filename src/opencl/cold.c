/* Cold caches. A kernel reads other memory, twice as much as the caches hold, and so pushes out what earlier runs
 * left there. It runs on all compute units, because they have caches of their own. It reads and does not write, so
 * that nothing is written back while the next run is timed. */
#include "device/device.h"
#include "opencl/internal.h"

/* Never writes, because all numbers are zeros, but no compiler can know that. */
#define OTHER                                        \
  "kernel void clatune_other(global uint4 *all) {\n" \
  "  const size_t i = get_global_id(0);\n"           \
  "  const uint4 x = all[i];\n"                      \
  "  if (x.x | x.y | x.z | x.w) all[i] = x + 1;\n"   \
  "}\n"

void clt_executor_free_other(clt_executor *executor) {
  if (executor->other.kernel) clReleaseKernel(executor->other.kernel);
  if (executor->other.memory) clReleaseMemObject(executor->other.memory);
  executor->other.kernel = NULL;
  executor->other.memory = NULL;
}

static int make_other(clt_executor *executor, clt_measurement *m, clt_error *error) {
  const cl_uint zero = 0;
  const size_t group = 1024 * sizeof(cl_uint4), wanted = (size_t)clt_cold_bytes(&executor->info);
  const size_t bytes = wanted < group ? group : wanted / group * group;
  cl_int status = CL_SUCCESS;
  executor->other.kernel = clt_own_kernel(executor, OTHER, "clatune_other", &status);
  if (status == CL_SUCCESS)
    executor->other.memory = clCreateBuffer(executor->context, CL_MEM_READ_WRITE, bytes, NULL, &status);
  if (status == CL_SUCCESS)
    status = clEnqueueFillBuffer(executor->queue, executor->other.memory, &zero, sizeof zero, 0, bytes, 0, NULL, NULL);
  if (status == CL_SUCCESS)
    status = clSetKernelArg(executor->other.kernel, 0, sizeof executor->other.memory, &executor->other.memory);
  executor->other.n_items = bytes / sizeof(cl_uint4);
  if (status == CL_SUCCESS) return CLT_OK;
  clt_executor_free_other(executor);
  return clt_cl_out_of_memory(status)
             ? clt_reject_cl(m, CLT_REASON_OUT_OF_MEMORY, status, "allocating memory to empty the caches")
             : clt_fail_cl(error, status, "empty the caches");
}

int clt_executor_cool(clt_executor *executor, clt_measurement *m, clt_error *error) {
  int rc = executor->other.kernel ? CLT_OK : make_other(executor, m, error);
  if (rc) return rc;
  cl_int status = clEnqueueNDRangeKernel(executor->queue, executor->other.kernel, 1, NULL, &executor->other.n_items,
                                         NULL, 0, NULL, NULL);
  const cl_int ended = clFinish(executor->queue);
  if (status == CL_SUCCESS) status = ended;
  return status == CL_SUCCESS ? CLT_OK
                              : clt_reject_cl(m, CLT_REASON_RUN_ERROR, status, "emptying the caches after a run");
}
