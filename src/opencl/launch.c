/* Running a plan's launches. */
#include <math.h>
#include <time.h>

#include "base/clock.h"
#include "opencl/internal.h"
#include "problem/plan.h"

enum { BATCH = 256 }; /* events held at a time */

/* How often a first launch is asked whether it runs: often at first, for kernels that are short. */
enum { MIN_PAUSE_NS = 20 * 1000, MAX_PAUSE_NS = 1000 * 1000 };

typedef struct batch {
  cl_event events[BATCH];
  cl_uint n;
  double device_s; /* negative: an event gave no time */
} batch;

static cl_int enqueue_launch(cl_event *event, const clt_executor *executor, cl_kernel kernel,
                             const clt_plan_launch *launch, const cl_event *after) {
  bool chained = executor->out_of_order && after;
  return clEnqueueNDRangeKernel(executor->queue, kernel, launch->n_dimensions, NULL, launch->global,
                                launch->has_local ? launch->local : NULL, chained ? 1 : 0, chained ? after : NULL,
                                event);
}

static int reject_enqueue(const clt_plan_launch *launch, cl_int status, clt_measurement *m) {
  if (clt_cl_out_of_memory(status)) return clt_reject_cl(m, CLT_REASON_OUT_OF_MEMORY, status, launch->kernel);
  return clt_reject(
      m, CLT_REASON_LAUNCH, "'%s' with global size %zu x %zu x %zu and local size %zu x %zu x %zu: %s (%d)",
      launch->kernel, launch->global[0], launch->n_dimensions > 1 ? launch->global[1] : 1,
      launch->n_dimensions > 2 ? launch->global[2] : 1, launch->has_local ? launch->local[0] : 0,
      launch->has_local && launch->n_dimensions > 1 ? launch->local[1] : 0,
      launch->has_local && launch->n_dimensions > 2 ? launch->local[2] : 0, clt_cl_status_name(status), status);
}

static int reject_run(cl_int status, clt_measurement *m) {
  return clt_reject(m, CLT_REASON_RUN_ERROR, "the run ended with %s (%d)", clt_cl_status_name(status), status);
}

/* Waits for what was enqueued. A failed event is found in the wait or in its own status. */
static cl_int finish_events(const clt_executor *executor, const cl_event *events, cl_uint n) {
  cl_int status = clFinish(executor->queue);
  for (cl_uint i = 0; status >= 0 && i < n; i++) {
    cl_int state = CL_COMPLETE;
    status = clGetEventInfo(events[i], CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL);
    if (status >= 0 && state < 0) status = state;
  }
  return status;
}

/* Ends a batch: waits, adds up the durations, releases. */
static cl_int harvest_batch(batch *b, const clt_executor *executor) {
  cl_int status = finish_events(executor, b->events, b->n);
  for (cl_uint i = 0; i < b->n; i++) {
    double s = clt_event_seconds(b->events[i]);
    b->device_s = s > 0 && b->device_s >= 0 ? b->device_s + s : -1;
    clReleaseEvent(b->events[i]);
  }
  b->n = 0;
  return status;
}

/* Scalars that count the repetitions get their value; OpenCL takes it over when the launch is enqueued. */
static cl_int set_repetition(cl_kernel kernel, const clt_plan *plan, const clt_plan_launch *launch,
                             unsigned repetition) {
  cl_int status = CL_SUCCESS;
  for (size_t j = 0; status == CL_SUCCESS && j < launch->n_args; j++) {
    const clt_plan_arg *arg = &plan->args[launch->args[j]];
    unsigned char value[sizeof arg->scalar];
    const size_t step = clt_element_base_bytes(arg->element.base);
    if (!arg->is_repetition) continue;
    for (size_t at = 0; at < arg->bytes; at += step)
      clt_store_value(value + at, arg->element.base, (clt_value){.type = CLT_INT, .integer = repetition});
    status = clSetKernelArg(kernel, (cl_uint)j, arg->bytes, value);
  }
  return status;
}

static size_t together(const clt_plan_launch *launch) { return launch->together > 1 ? launch->together : 1; }

/* The launch, or group of launches, at `first`: its repetitions from the given one on. */
static int launch_repeatedly(batch *b, const clt_executor *executor, const clt_program *program, const clt_plan *plan,
                             size_t first, unsigned from, clt_measurement *m) {
  const size_t end = first + together(&plan->launches[first]);
  for (unsigned r = from; r < plan->launches[first].repeat; r++)
    for (size_t i = first; i < end; i++) {
      const clt_plan_launch *launch = &plan->launches[i];
      cl_int status = b->n == BATCH ? harvest_batch(b, executor) : CL_SUCCESS;
      if (status < 0) return reject_run(status, m);
      status = set_repetition(program->kernels[i], plan, launch, r);
      if (status == CL_SUCCESS)
        status =
            enqueue_launch(&b->events[b->n], executor, program->kernels[i], launch, b->n ? &b->events[b->n - 1] : NULL);
      if (status != CL_SUCCESS) return reject_enqueue(launch, status, m);
      b->n++;
    }
  return CLT_OK;
}

int clt_launch_run(clt_run *out, const clt_executor *executor, const clt_program *program, const clt_plan *plan,
                   size_t n_runs, clt_measurement *m) {
  batch b = {.n = 0};
  double started = clt_now_s();
  int rc = CLT_OK;
  for (size_t run = 0; rc == 0 && run < n_runs; run++)
    for (size_t i = 0; rc == 0 && i < plan->n_launches; i += together(&plan->launches[i]))
      rc = launch_repeatedly(&b, executor, program, plan, i, 0, m);
  cl_int status = harvest_batch(&b, executor);
  out->host_s = clt_now_s() - started;
  out->device_s = b.device_s;
  if (rc == 0 && status < 0) rc = reject_run(status, m);
  return rc;
}

/* Returns once the command runs or has ended; some drivers never say that it runs. */
static cl_int wait_until_running(cl_event event) {
  for (long pause_ns = MIN_PAUSE_NS;; pause_ns = pause_ns < MAX_PAUSE_NS / 2 ? 2 * pause_ns : MAX_PAUSE_NS) {
    cl_int state = CL_COMPLETE;
    cl_int status = clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL);
    if (status < 0) return status;
    if (state <= CL_RUNNING) return state < 0 ? state : CL_SUCCESS;
    nanosleep(&(struct timespec){0, pause_ns}, NULL);
  }
}

static int launch_and_watch(double *least_s, const clt_executor *executor, cl_kernel kernel, const clt_plan *plan,
                            const clt_plan_launch *launch, clt_measurement *m) {
  cl_event event = NULL;
  clt_executor_announce(executor, CLT_PHASE_LAUNCH);
  cl_int status = set_repetition(kernel, plan, launch, 0);
  if (status == CL_SUCCESS) status = enqueue_launch(&event, executor, kernel, launch, NULL);
  if (status != CL_SUCCESS) return reject_enqueue(launch, status, m);
  status = clFlush(executor->queue);
  if (status == CL_SUCCESS) status = wait_until_running(event);
  clt_executor_announce(executor, CLT_PHASE_RUNNING);
  double began_s = clt_now_s();
  if (status == CL_SUCCESS) status = finish_events(executor, &event, 1);
  *least_s = fmax(0, fmin(clt_event_seconds(event), clt_now_s() - began_s));
  clReleaseEvent(event);
  return status < 0 ? reject_run(status, m) : CLT_OK;
}

int clt_launch_first(double *least_s, const clt_executor *executor, const clt_program *program, const clt_plan *plan,
                     clt_measurement *m) {
  int rc = CLT_OK;
  *least_s = 0;
  for (size_t i = 0; rc == 0 && i < plan->n_launches; i += together(&plan->launches[i])) {
    batch b = {.n = 0};
    for (size_t j = i; rc == 0 && j < i + together(&plan->launches[i]); j++) {
      double launch_s = 0;
      rc = launch_and_watch(&launch_s, executor, program->kernels[j], plan, &plan->launches[j], m);
      *least_s += launch_s;
    }
    if (rc == 0) rc = launch_repeatedly(&b, executor, program, plan, i, 1, m);
    cl_int status = harvest_batch(&b, executor);
    if (rc == 0 && status < 0) rc = reject_run(status, m);
  }
  return rc;
}
