#include "opencl/clock.h"

#include <math.h>

#include "base/clock.h"

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

static bool copy_round(const clt_executor *executor, cl_mem from, cl_mem to, double *device_s, double *host_s) {
  cl_event event = NULL;
  double started = clt_now_s();
  if (clEnqueueCopyBuffer(executor->queue, from, to, 0, 0, JUDGE_BYTES, 0, NULL, &event) != CL_SUCCESS) return false;
  bool finished = clFinish(executor->queue) == CL_SUCCESS;
  *host_s = clt_now_s() - started;
  *device_s = clt_event_seconds(event);
  clReleaseEvent(event);
  return finished;
}

static bool copies_agree(const clt_executor *executor, cl_mem from, cl_mem to) {
  double device_s, host_s, least_device_s = INFINITY, least_host_s = INFINITY;
  for (int i = 0; i < JUDGE_ROUNDS; i++) {
    if (!copy_round(executor, from, to, &device_s, &host_s) || !clt_clock_possible(device_s, host_s)) return false;
    least_device_s = fmin(least_device_s, device_s);
    least_host_s = fmin(least_host_s, host_s);
  }
  return clt_clock_agrees(least_device_s, least_host_s);
}

clt_clock clt_clock_judge(const clt_executor *executor) {
  cl_command_queue_properties properties = 0;
  clGetCommandQueueInfo(executor->queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties, NULL);
  if (!(properties & CL_QUEUE_PROFILING_ENABLE) || !(executor->info.timer_resolution_s > 0)) return CLT_CLOCK_HOST;
  cl_mem from = clCreateBuffer(executor->context, CL_MEM_READ_WRITE, JUDGE_BYTES, NULL, NULL);
  cl_mem to = clCreateBuffer(executor->context, CL_MEM_READ_WRITE, JUDGE_BYTES, NULL, NULL);
  bool agree = from && to && copies_agree(executor, from, to);
  if (from) clReleaseMemObject(from);
  if (to) clReleaseMemObject(to);
  return agree ? CLT_CLOCK_DEVICE : CLT_CLOCK_HOST;
}
