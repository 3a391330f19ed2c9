/* Hashes of contents. A GPU makes those of large buffers itself, so that the contents need not travel to the host: 16
 * MiB take it some microseconds, and the host milliseconds, during which no other process may time anything. */
#include "base/hash.h"
#include "opencl/internal.h"
#include "opencl/memory.h"

/* With less, reading the content takes no longer than starting the kernel. */
enum { LEAST_BYTES = 256 << 10, PAIR_BYTES = 16, GROUP = 64, N_GROUPS = 1024, TRIAL_BYTES = (LEAST_BYTES << 1) + 12 };

#define TEXT_OF_(x) #x
#define TEXT_OF(x) TEXT_OF_(x)
#define SUM_TEXT \
  "kernel void clatune_sum(global const ulong2 *pairs, ulong n, ulong salt, global ulong *sums) {\n"                            \
  "  local ulong parts[64];\n"                                                                                     \
  "  const uint own = get_local_id(0);\n"                                                                          \
  "  ulong sum = 0;\n"                                                                                             \
  "  for (ulong i = get_global_id(0); i < n; i += get_global_size(0)) {\n"                                         \
  "    ulong x = pairs[i].x, y = pairs[i].y;\n" TEXT_OF(CLT_SUM_MIX) "    sum += x;\n"                                               \
  "  }\n"                                                                                                          \
  "  parts[own] = sum;\n"                                                                                          \
  "  for (uint step = 32; step > 0; step /= 2) {\n"                                                                \
  "    barrier(CLK_LOCAL_MEM_FENCE);\n"                                                                            \
  "    if (own < step) parts[own] += parts[own + step];\n"                                                         \
  "  }\n"                                                                                                          \
  "  if (own == 0) sums[get_group_id(0)] = parts[0] + salt;\n"                                                            \
  "}\n"

void clt_sum_free(clt_executor *executor) {
  if (executor->sum.kernel) clReleaseKernel(executor->sum.kernel);
  if (executor->sum.parts) clReleaseMemObject(executor->sum.parts);
  executor->sum = (clt_sum){.tried = false};
}

/* The sum of a buffer's content, by the device; waits. The salt differs each time: the sums of an earlier run, left
 * there by one that failed unnoticed, are not taken for this one's. */
static cl_int sum_buffer(uint64_t *out, clt_executor *executor, cl_mem memory, size_t bytes) {
  static const size_t global = (size_t)GROUP * N_GROUPS, local = GROUP;
  const cl_ulong n = bytes / PAIR_BYTES;
  const size_t whole = (size_t)n * PAIR_BYTES;
  const cl_ulong salt = ++executor->sum.turn * 0x9e3779b97f4a7c15ul;
  cl_ulong parts[N_GROUPS];
  unsigned char rest[PAIR_BYTES];
  cl_kernel kernel = executor->sum.kernel;
  cl_int status = clSetKernelArg(kernel, 0, sizeof memory, &memory);
  if (status == CL_SUCCESS) status = clSetKernelArg(kernel, 1, sizeof n, &n);
  if (status == CL_SUCCESS) status = clSetKernelArg(kernel, 2, sizeof salt, &salt);
  if (status == CL_SUCCESS) status = clSetKernelArg(kernel, 3, sizeof executor->sum.parts, &executor->sum.parts);
  if (status == CL_SUCCESS)
    status = clEnqueueNDRangeKernel(executor->queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL);
  if (status == CL_SUCCESS && bytes > whole)
    status = clEnqueueReadBuffer(executor->queue, memory, CL_TRUE, whole, bytes - whole, rest, 0, NULL, NULL);
  if (status == CL_SUCCESS)
    status = clEnqueueReadBuffer(executor->queue, executor->sum.parts, CL_TRUE, 0, sizeof parts, parts, 0, NULL, NULL);
  *out = bytes > whole ? clt_sum64(rest, bytes - whole, n) : 0;
  for (size_t i = 0; status == CL_SUCCESS && i < N_GROUPS; i++) *out += parts[i] - salt;
  return status;
}

/* Whether the device's sum of a trial buffer is the host's: a driver that errs here is not believed elsewhere. */
static bool sums_agree(clt_executor *executor) {
  unsigned char *content = malloc(TRIAL_BYTES);
  uint64_t sum = 0;
  cl_int status = CL_OUT_OF_HOST_MEMORY;
  if (content == NULL) return false;
  for (size_t i = 0; i < TRIAL_BYTES; i++) content[i] = (unsigned char)(i * i >> 5);
  cl_mem trial =
      clCreateBuffer(executor->context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, TRIAL_BYTES, content, &status);
  if (status == CL_SUCCESS) status = sum_buffer(&sum, executor, trial, TRIAL_BYTES);
  if (trial) clReleaseMemObject(trial);
  const bool agree = status == CL_SUCCESS && sum == clt_sum64(content, TRIAL_BYTES, 0);
  free(content);
  return agree;
}

void clt_sum_prepare(clt_executor *executor, size_t bytes) {
  cl_int status = CL_SUCCESS;
  if (executor->sum.tried || bytes < LEAST_BYTES || executor->info.type == CLT_DEVICE_CPU) return;
  executor->sum.tried = true;
  executor->sum.kernel = clt_own_kernel(executor, SUM_TEXT, "clatune_sum", &status);
  if (status == CL_SUCCESS)
    executor->sum.parts =
        clCreateBuffer(executor->context, CL_MEM_READ_WRITE, N_GROUPS * sizeof(cl_ulong), NULL, &status);
  if (status == CL_SUCCESS && sums_agree(executor)) return;
  clt_sum_free(executor);
  executor->sum.tried = true;
}

static bool is_summed(clt_executor *executor, const clt_object *object) {
  clt_sum_prepare(executor, object->bytes);
  return executor->sum.kernel && !object->is_image && object->bytes >= LEAST_BYTES;
}

uint64_t clt_object_hash_of(clt_executor *executor, const clt_object *object, const void *content) {
  return is_summed(executor, object) ? clt_sum64(content, object->bytes, 0) : clt_hash64(content, object->bytes);
}

cl_int clt_object_hash(uint64_t *out, clt_view *view, clt_executor *executor, const clt_object *object) {
  *view = (clt_view){0};
  if (is_summed(executor, object)) return sum_buffer(out, executor, object->memory, object->bytes);
  const cl_int status = clt_object_view(view, executor, object);
  if (status == CL_SUCCESS) *out = clt_hash64(view->bytes, object->bytes);
  return status;
}
