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

const char *clt_cl_status_name(cl_int status) {
#define STATUS(id) \
  { id, #id }
  static const struct {
    cl_int status;
    const char *name;
  } names[] = {
      STATUS(CL_SUCCESS),
      STATUS(CL_DEVICE_NOT_FOUND),
      STATUS(CL_DEVICE_NOT_AVAILABLE),
      STATUS(CL_COMPILER_NOT_AVAILABLE),
      STATUS(CL_MEM_OBJECT_ALLOCATION_FAILURE),
      STATUS(CL_OUT_OF_RESOURCES),
      STATUS(CL_OUT_OF_HOST_MEMORY),
      STATUS(CL_PROFILING_INFO_NOT_AVAILABLE),
      STATUS(CL_MEM_COPY_OVERLAP),
      STATUS(CL_IMAGE_FORMAT_MISMATCH),
      STATUS(CL_IMAGE_FORMAT_NOT_SUPPORTED),
      STATUS(CL_BUILD_PROGRAM_FAILURE),
      STATUS(CL_MAP_FAILURE),
      STATUS(CL_MISALIGNED_SUB_BUFFER_OFFSET),
      STATUS(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST),
      STATUS(CL_INVALID_VALUE),
      STATUS(CL_INVALID_DEVICE_TYPE),
      STATUS(CL_INVALID_PLATFORM),
      STATUS(CL_INVALID_DEVICE),
      STATUS(CL_INVALID_CONTEXT),
      STATUS(CL_INVALID_QUEUE_PROPERTIES),
      STATUS(CL_INVALID_COMMAND_QUEUE),
      STATUS(CL_INVALID_HOST_PTR),
      STATUS(CL_INVALID_MEM_OBJECT),
      STATUS(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR),
      STATUS(CL_INVALID_IMAGE_SIZE),
      STATUS(CL_INVALID_SAMPLER),
      STATUS(CL_INVALID_BINARY),
      STATUS(CL_INVALID_BUILD_OPTIONS),
      STATUS(CL_INVALID_PROGRAM),
      STATUS(CL_INVALID_PROGRAM_EXECUTABLE),
      STATUS(CL_INVALID_KERNEL_NAME),
      STATUS(CL_INVALID_KERNEL_DEFINITION),
      STATUS(CL_INVALID_KERNEL),
      STATUS(CL_INVALID_ARG_INDEX),
      STATUS(CL_INVALID_ARG_VALUE),
      STATUS(CL_INVALID_ARG_SIZE),
      STATUS(CL_INVALID_KERNEL_ARGS),
      STATUS(CL_INVALID_WORK_DIMENSION),
      STATUS(CL_INVALID_WORK_GROUP_SIZE),
      STATUS(CL_INVALID_WORK_ITEM_SIZE),
      STATUS(CL_INVALID_GLOBAL_OFFSET),
      STATUS(CL_INVALID_EVENT_WAIT_LIST),
      STATUS(CL_INVALID_EVENT),
      STATUS(CL_INVALID_OPERATION),
      STATUS(CL_INVALID_BUFFER_SIZE),
      STATUS(CL_INVALID_GLOBAL_WORK_SIZE),
      STATUS(CL_INVALID_PROPERTY),
      STATUS(CL_INVALID_IMAGE_DESCRIPTOR),
      STATUS(CL_INVALID_COMPILER_OPTIONS),
  };
#undef STATUS
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (names[i].status == status) return names[i].name;
  return "an unknown status";
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
  cl_command_queue_properties properties = 0;
  clGetCommandQueueInfo(executor->queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties, NULL);
  if (!(properties & CL_QUEUE_PROFILING_ENABLE) || !(executor->info.timer_resolution_s > 0)) return CLT_CLOCK_HOST;
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

/* What is known of the device, and how much of its memory inputs may stay in. */
static int describe_executor(clt_executor *executor, clt_error *error) {
  int rc = clt_cl_describe(&executor->info, executor->device, error);
  size_t share = (size_t)(executor->info.global_memory_bytes / CACHE_SHARE);
  executor->inputs.limit_bytes = share > CACHE_MIN_BYTES ? share : CACHE_MIN_BYTES;
  if (rc == CLT_OK) executor->clock = judge_clock(executor);
  return rc;
}

int clt_executor_new(clt_executor **out, int platform_index, int device_index, clt_error *error) {
  cl_int status = CL_SUCCESS;
  clt_executor *executor = clt_new_array(1, sizeof *executor);
  if (executor == NULL) return clt_fail_memory(error);
  int rc = clt_cl_find(&executor->device, platform_index, device_index, error);
  if (rc) goto done;
  executor->context = clCreateContext(NULL, 1, &executor->device, NULL, NULL, &status);
  if (executor->context == NULL) {
    rc = clt_fail_cl(error, status, "make an OpenCL context");
    goto done;
  }
  executor->queue = clCreateCommandQueue(executor->context, executor->device, CL_QUEUE_PROFILING_ENABLE, &status);
  if (executor->queue == NULL) /* a device may lack profiling in spite of the standard */
    executor->queue = clCreateCommandQueue(executor->context, executor->device, 0, &status);
  if (executor->queue == NULL) {
    rc = clt_fail_cl(error, status, "make a command queue");
    goto done;
  }
  rc = describe_executor(executor, error);
  executor->info.platform_index = platform_index;
  executor->info.device_index = device_index;
done:
  if (rc) {
    clt_executor_free(executor);
    return rc;
  }
  *out = executor;
  return CLT_OK;
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
  int rc = describe_executor(executor, error);
  if (rc)
    clt_executor_free(executor);
  else
    *out = executor;
  return rc;
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
