/* An executor: a device with its context and queue, OpenCL's status codes, and which clock may be trusted. */
#include "opencl/internal.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/memory.h"
#include "device/energy.h"
#include "opencl/declarations.h"

enum { CACHE_SHARE = 8 }; /* of the device's memory */
#define CACHE_MIN_BYTES ((size_t)64 << 20)

/* --- status codes --- */

/* In the order of the numbers: from 0, and from CL_INVALID_VALUE, down. */
const char *clt_cl_status_name(cl_int status) {
  static const char *const failures[] = {"CL_SUCCESS",
                                         "CL_DEVICE_NOT_FOUND",
                                         "CL_DEVICE_NOT_AVAILABLE",
                                         "CL_COMPILER_NOT_AVAILABLE",
                                         "CL_MEM_OBJECT_ALLOCATION_FAILURE",
                                         "CL_OUT_OF_RESOURCES",
                                         "CL_OUT_OF_HOST_MEMORY",
                                         "CL_PROFILING_INFO_NOT_AVAILABLE",
                                         "CL_MEM_COPY_OVERLAP",
                                         "CL_IMAGE_FORMAT_MISMATCH",
                                         "CL_IMAGE_FORMAT_NOT_SUPPORTED",
                                         "CL_BUILD_PROGRAM_FAILURE",
                                         "CL_MAP_FAILURE",
                                         "CL_MISALIGNED_SUB_BUFFER_OFFSET",
                                         "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST",
                                         "CL_COMPILE_PROGRAM_FAILURE",
                                         "CL_LINKER_NOT_AVAILABLE",
                                         "CL_LINK_PROGRAM_FAILURE",
                                         "CL_DEVICE_PARTITION_FAILED",
                                         "CL_KERNEL_ARG_INFO_NOT_AVAILABLE"};
  static const char *const invalid[] = {"CL_INVALID_VALUE",           "CL_INVALID_DEVICE_TYPE",
                                        "CL_INVALID_PLATFORM",        "CL_INVALID_DEVICE",
                                        "CL_INVALID_CONTEXT",         "CL_INVALID_QUEUE_PROPERTIES",
                                        "CL_INVALID_COMMAND_QUEUE",   "CL_INVALID_HOST_PTR",
                                        "CL_INVALID_MEM_OBJECT",      "CL_INVALID_IMAGE_FORMAT_DESCRIPTOR",
                                        "CL_INVALID_IMAGE_SIZE",      "CL_INVALID_SAMPLER",
                                        "CL_INVALID_BINARY",          "CL_INVALID_BUILD_OPTIONS",
                                        "CL_INVALID_PROGRAM",         "CL_INVALID_PROGRAM_EXECUTABLE",
                                        "CL_INVALID_KERNEL_NAME",     "CL_INVALID_KERNEL_DEFINITION",
                                        "CL_INVALID_KERNEL",          "CL_INVALID_ARG_INDEX",
                                        "CL_INVALID_ARG_VALUE",       "CL_INVALID_ARG_SIZE",
                                        "CL_INVALID_KERNEL_ARGS",     "CL_INVALID_WORK_DIMENSION",
                                        "CL_INVALID_WORK_GROUP_SIZE", "CL_INVALID_WORK_ITEM_SIZE",
                                        "CL_INVALID_GLOBAL_OFFSET",   "CL_INVALID_EVENT_WAIT_LIST",
                                        "CL_INVALID_EVENT",           "CL_INVALID_OPERATION",
                                        "CL_INVALID_GL_OBJECT",       "CL_INVALID_BUFFER_SIZE",
                                        "CL_INVALID_MIP_LEVEL",       "CL_INVALID_GLOBAL_WORK_SIZE",
                                        "CL_INVALID_PROPERTY",        "CL_INVALID_IMAGE_DESCRIPTOR",
                                        "CL_INVALID_COMPILER_OPTIONS"};
  enum { N_FAILURES = sizeof failures / sizeof *failures, N_INVALID = sizeof invalid / sizeof *invalid };
  if (status <= 0 && status > -N_FAILURES) return failures[-status];
  int place = CL_INVALID_VALUE - status;
  return place >= 0 && place < N_INVALID ? invalid[place] : "an unknown status";
}

bool clt_cl_out_of_memory(cl_int status) {
  return status == CL_MEM_OBJECT_ALLOCATION_FAILURE || status == CL_OUT_OF_RESOURCES || status == CL_OUT_OF_HOST_MEMORY;
}

int clt_fail_cl(clt_error *error, cl_int status, const char *what) {
  return clt_fail(error, CLT_E_OPENCL, "cannot %s: %s (%d)", what, clt_cl_status_name(status), status);
}

int clt_reject(clt_measurement *m, clt_reason reason, const char *format, ...) {
  char *log = NULL;
  va_list arguments;
  va_start(arguments, format);
  if (vasprintf(&log, format, arguments) < 0) log = NULL;
  va_end(arguments);
  clt_measurement_fail(m, reason, log);
  free(log);
  return CLT_REJECTED;
}

int clt_reject_cl(clt_measurement *m, clt_reason reason, cl_int status, const char *what) {
  if (clt_cl_out_of_memory(status)) reason = CLT_REASON_OUT_OF_MEMORY;
  return clt_reject(m, reason, "%s: %s (%d)", what, clt_cl_status_name(status), status);
}

/* --- clocks --- */

/* 5 % for clocks that drift apart, 50 us for their grain. */
#define DRIFT 1.05
#define GRAIN_S 50e-6
/* Launching takes its time, but on no driver two thirds of the whole and 20 ms on top. */
#define OVERHEAD_FACTOR 3.0
#define OVERHEAD_S 20e-3

enum { JUDGE_BYTES = 4 << 20, JUDGE_ROUNDS = 5 };

double clt_event_seconds(cl_event event) {
  cl_ulong start = 0, end = 0;
  if (clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL) != CL_SUCCESS ||
      clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL) != CL_SUCCESS || end <= start)
    return -1;
  return 1e-9 * (double)(end - start);
}

bool clt_clock_possible(double device_s, double host_s) { return device_s > 0 && device_s <= DRIFT * host_s + GRAIN_S; }

bool clt_clock_agrees(double device_s, double host_s) { return host_s <= OVERHEAD_FACTOR * device_s + OVERHEAD_S; }

/* Times a few copies on the device with both clocks. Leaves nothing behind. */
static clt_clock judge_clock(const clt_executor *executor) {
  if (!(executor->info.timer_resolution_s > 0)) return CLT_CLOCK_HOST;
  cl_mem from = clCreateBuffer(executor->context, CL_MEM_READ_WRITE, JUDGE_BYTES, NULL, NULL);
  cl_mem to = clCreateBuffer(executor->context, CL_MEM_READ_WRITE, JUDGE_BYTES, NULL, NULL);
  double least_device_s = INFINITY, least_host_s = INFINITY;
  bool possible = from && to;
  for (int i = 0; possible && i < JUDGE_ROUNDS; i++) {
    cl_event event = NULL;
    double started = clt_now_s();
    possible = clEnqueueCopyBuffer(executor->queue, from, to, 0, 0, JUDGE_BYTES, 0, NULL, &event) == CL_SUCCESS;
    if (!possible) break;
    bool finished = clFinish(executor->queue) == CL_SUCCESS;
    double host_s = clt_now_s() - started, device_s = clt_event_seconds(event);
    clReleaseEvent(event);
    possible = finished && clt_clock_possible(device_s, host_s);
    least_device_s = fmin(least_device_s, device_s);
    least_host_s = fmin(least_host_s, host_s);
  }
  if (from) clReleaseMemObject(from);
  if (to) clReleaseMemObject(to);
  return possible && clt_clock_agrees(least_device_s, least_host_s) ? CLT_CLOCK_DEVICE : CLT_CLOCK_HOST;
}

/* --- executors --- */

void clt_executor_announce(const clt_executor *executor, clt_phase phase) {
  if (executor->phase) executor->phase(executor->phase_user, phase);
}

int clt_executor_usable(const clt_executor *executor, clt_error *error) {
  if (!executor->broken) return CLT_OK;
  return clt_fail(error, CLT_E_OPENCL, "the device '%s' stopped answering after a fault; it has to be opened again",
                  executor->info.name);
}

int clt_executor_new(clt_executor **out, int platform_index, int device_index, clt_error *error) {
  cl_device_id device;
  cl_int status = CL_SUCCESS;
  int rc = clt_cl_find(&device, platform_index, device_index, error);
  if (rc) return rc;
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
  if (context == NULL) return clt_fail_cl(error, status, "make an OpenCL context");
  cl_command_queue queue = clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE, &status);
  if (queue == NULL) /* a device may lack profiling in spite of the standard */
    queue = clCreateCommandQueue(context, device, 0, &status);
  rc = queue ? clt_executor_new_on(out, context, device, queue, error)
             : clt_fail_cl(error, status, "make a command queue");
  if (queue) clReleaseCommandQueue(queue);
  clReleaseContext(context);
  return rc;
}

int clt_executor_new_on(clt_executor **out, cl_context context, cl_device_id device, cl_command_queue queue,
                        clt_error *error) {
  cl_context of_queue = NULL;
  cl_int status = clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof of_queue, &of_queue, NULL);
  if (status != CL_SUCCESS) return clt_fail_cl(error, status, "use the command queue");
  if (of_queue != context) return clt_fail(error, CLT_E_ARGUMENT, "the command queue belongs to another context");
  clt_executor *executor = clt_new_array(1, sizeof *executor);
  if (executor == NULL) return clt_fail_memory(error);
  cl_command_queue_properties properties = 0;
  clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties, NULL);
  executor->out_of_order = properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
  executor->device = device;
  if (clRetainContext(context) == CL_SUCCESS) executor->context = context;
  if (clRetainCommandQueue(queue) == CL_SUCCESS) executor->queue = queue;
  int rc = clt_cl_describe(&executor->info, device, error);
  if (rc) return clt_executor_free(executor), rc;
  size_t share = (size_t)(executor->info.global_memory_bytes / CACHE_SHARE);
  executor->inputs.limit_bytes = share > CACHE_MIN_BYTES ? share : CACHE_MIN_BYTES;
  executor->clock = properties & CL_QUEUE_PROFILING_ENABLE ? judge_clock(executor) : CLT_CLOCK_HOST;
  *out = executor;
  return CLT_OK;
}

void clt_executor_free(clt_executor *executor) {
  if (executor == NULL) return;
  clt_executor_forget(executor, NULL);
  clt_declarations_free(executor->declarations);
  clt_energy_close(executor->meter);
  if (executor->queue) clReleaseCommandQueue(executor->queue);
  if (executor->context) clReleaseContext(executor->context);
  free(executor);
}

const clt_device_info *clt_executor_device(const clt_executor *executor) { return &executor->info; }

void clt_executor_on_phase(clt_executor *executor, clt_phase_fn fn, void *user) {
  executor->phase = fn;
  executor->phase_user = user;
}
