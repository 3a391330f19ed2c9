/* Chooses the clock, and runs a plan's launches. */
#include "base/base.h"
#include "opencl/internal.h"

/* --- clocks --- */

/* Tolerances when two clocks are compared: 5 % for drift, and, beyond a tick, for the time that asking takes. */
#define DRIFT 1.05
#define GRAIN_S 2e-6
/* The overhead of a launch is on no driver more than two thirds of the host's time plus 20 ms. */
#define OVERHEAD_FACTOR 3.0
#define OVERHEAD_S 20e-3

#define MAX_TICK_S 10e-3 /* a clock with a coarser tick is not used */
#define LEAST_TICK_NS 8  /* a smaller common divisor may come from rounding */

enum { JUDGE_BYTES = 1 << 20, JUDGE_ROUNDS = 5, JUDGE_CHANCES = 30, MOST_JUDGE_ROUNDS = 1000 };
#define JUDGE_S 0.05 /* time for a coarse clock to tick a few times */

/* False: the driver reports no times. */
static bool event_times(cl_event event, cl_ulong *start_ns, cl_ulong *end_ns) {
  *start_ns = *end_ns = 0;
  return clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof *start_ns, start_ns, NULL) == CL_SUCCESS &&
         clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof *end_ns, end_ns, NULL) == CL_SUCCESS;
}

/* The greatest common divisor. */
static cl_ulong common_divisor(cl_ulong a, cl_ulong b) { return b ? common_divisor(b, a % b) : a; }

bool clt_clock_possible(double device_s, double host_s) { return device_s > 0 && device_s <= DRIFT * host_s + GRAIN_S; }

bool clt_clock_agrees(double device_s, double host_s) { return host_s <= OVERHEAD_FACTOR * device_s + OVERHEAD_S; }

/* Some clocks tick every 32 us or every millisecond, whatever the driver reports; NVIDIA's every 32 ns, reported as
 * 1 us. The tick is the common divisor of all differences between timestamps. If a clock's ticks were rounded to whole
 * nanoseconds, that divisor would be 1 or 2 ns, and the reported resolution counts. */
clt_clock clt_judge_clock(clt_executor *executor) {
  if (!(executor->info.timer_resolution_s > 0)) return CLT_CLOCK_HOST;
  cl_mem from = clCreateBuffer(executor->context, CL_MEM_READ_WRITE, JUDGE_BYTES, NULL, NULL);
  cl_mem to = clCreateBuffer(executor->context, CL_MEM_READ_WRITE, JUDGE_BYTES, NULL, NULL);
  double least_device_s = INFINITY, least_host_s = INFINITY, sum_s = 0, most_ahead_s = -INFINITY;
  const double began_s = clt_now_s();
  bool possible = from && to, odd = false;
  cl_ulong last_ns = 0, tick_ns = 0;
  int n_steps = 0, i = 0;
  /* On a busy machine a few rounds may all end late. */
  while (possible && (i < JUDGE_ROUNDS || (i < JUDGE_CHANCES && !clt_clock_agrees(least_device_s, least_host_s)) ||
                      (n_steps < JUDGE_ROUNDS && i < MOST_JUDGE_ROUNDS && clt_now_s() - began_s < JUDGE_S))) {
    cl_event event = NULL;
    cl_ulong start_ns, end_ns;
    double started = clt_now_s();
    possible = clEnqueueCopyBuffer(executor->queue, from, to, 0, 0, JUDGE_BYTES, 0, NULL, &event) == CL_SUCCESS;
    if (!possible) break;
    bool finished = clFinish(executor->queue) == CL_SUCCESS;
    double host_s = clt_now_s() - started;
    possible = event_times(event, &start_ns, &end_ns) && finished && (end_ns >= start_ns || !odd);
    clReleaseEvent(event);
    odd = odd || end_ns < start_ns;
    if (!possible) break;
    if (end_ns < start_ns) continue; /* a single one is tolerated */
    double device_s = 1e-9 * (double)(end_ns - start_ns);
    if (i++ == 0) last_ns = start_ns;
    n_steps += (start_ns != last_ns) + (end_ns != start_ns);
    tick_ns = common_divisor(tick_ns, start_ns > last_ns ? start_ns - last_ns : last_ns - start_ns);
    tick_ns = common_divisor(tick_ns, end_ns - start_ns);
    last_ns = end_ns;
    sum_s += device_s;
    least_device_s = fmin(least_device_s, device_s);
    least_host_s = fmin(least_host_s, host_s);
    most_ahead_s = fmax(most_ahead_s, device_s - DRIFT * host_s);
  }
  if (from) clReleaseMemObject(from);
  if (to) clReleaseMemObject(to);
  const double found_s = 1e-9 * (double)tick_ns, stated_s = executor->info.timer_resolution_s;
  const double tick_s = executor->tick_s = tick_ns >= LEAST_TICK_NS ? found_s : fmax(stated_s, found_s);
  return possible && sum_s > 0 && tick_s <= MAX_TICK_S && most_ahead_s <= GRAIN_S + tick_s &&
                 clt_clock_agrees(least_device_s + tick_s, least_host_s)
             ? CLT_CLOCK_DEVICE
             : CLT_CLOCK_HOST;
}

/* --- launches --- */

enum { BATCH = 256 };     /* events kept before a wait */
#define QUEUED_S 1.0      /* of queued work before a wait, if a watchdog ends runs of some seconds */
#define MANY_GROUPS 65535 /* per dimension: Mesa's drivers refuse more, NVIDIA's do in all dimensions but the first */

/* The pause between two polls of a command's state: a fraction of the time since the first poll, within limits. */
enum { PAUSE_SHARE = 32, MIN_PAUSE_NS = 20 * 1000, MAX_PAUSE_NS = 1000 * 1000 };

typedef struct batch {
  cl_event events[BATCH];
  cl_uint n, most;           /* events in the batch; the number at which it is harvested */
  double begun_s;            /* when the first launch was queued */
  double device_s;           /* sum of the durations; negative: an event had no time */
  cl_ulong start_ns, end_ns; /* start of the first launch and end of the last; 0: none yet */
} batch;

cl_int clt_cl_await(cl_event event, cl_int wanted) {
  for (const double began_s = clt_now_s();;) {
    cl_int state = CL_COMPLETE;
    cl_int status = clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL);
    if (status < 0) return status;
    if (state <= wanted) return state < 0 ? state : CL_SUCCESS;
    const double pause_ns = 1e9 * (clt_now_s() - began_s) / PAUSE_SHARE;
    nanosleep(&(struct timespec){0, (long)fmin(fmax(pause_ns, MIN_PAUSE_NS), MAX_PAUSE_NS)}, NULL);
  }
}

static int reject_run(const clt_executor *executor, cl_int status, clt_measurement *m) {
  clt_reject(m, CLT_REASON_RUN_ERROR, "the run ended with %s (%d)", clt_cl_status_name(status), status);
  clt_tell_fault(executor, m);
  return CLT_REJECTED;
}

/* Ends a batch: waits, adds up the durations, releases the events. A failure appears in the wait or in an event's
 * status, and is reported before anything is released. m NULL: a failure was reported already. */
static int harvest_batch(batch *b, const clt_executor *executor, clt_measurement *m) {
  const bool looks = b->n % BATCH && !executor->exact_end && executor->info.type != CLT_DEVICE_CPU;
  cl_int status = looks ? clFlush(executor->queue) : CL_SUCCESS;
  double batch_s = 0;
  if (looks && status == CL_SUCCESS) status = clt_cl_await(b->events[b->n - 1], CL_COMPLETE);
  if (b->n > 0 && status == CL_SUCCESS) status = clFinish(executor->queue);
  for (cl_uint i = 0; status >= 0 && i < b->n; i++) {
    cl_int state = CL_COMPLETE;
    status = clGetEventInfo(b->events[i], CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL);
    if (status >= 0 && state < 0) status = state;
  }
  if (status < 0 && m) reject_run(executor, status, m);
  for (cl_uint i = 0; i < b->n; i++) {
    cl_ulong start_ns, end_ns;
    bool sane = event_times(b->events[i], &start_ns, &end_ns) && end_ns >= start_ns;
    if (sane) batch_s += 1e-9 * (double)(end_ns - start_ns);
    b->device_s = sane && b->device_s >= 0 ? b->device_s + 1e-9 * (double)(end_ns - start_ns) : -1;
    if (b->start_ns == 0) b->start_ns = start_ns;
    b->end_ns = end_ns;
    clReleaseEvent(b->events[i]);
  }
  if (b->n > 0 && b->most < BATCH) {
    double launch_s = fmax(clt_now_s() - b->begun_s, batch_s) / b->n;
    b->most = launch_s < QUEUED_S ? (cl_uint)fmin(QUEUED_S / launch_s, BATCH) : 1;
  }
  b->n = 0;
  return status < 0 ? CLT_REJECTED : CLT_OK;
}

/* Adds a launch to the batch. */
static int enqueue_launch(batch *b, const clt_executor *executor, cl_kernel kernel, const clt_plan *plan,
                          const clt_plan_launch *launch, unsigned repetition, clt_measurement *m) {
  cl_int status = CL_SUCCESS;
  if (b->n == b->most && harvest_batch(b, executor, m)) return CLT_REJECTED;
  if (b->n == 0) b->begun_s = clt_now_s();
  /* Scalars that count the repetitions get the current number; OpenCL copies it when the launch is enqueued. */
  for (size_t j = 0; status == CL_SUCCESS && j < launch->n_args; j++) {
    const clt_plan_arg *arg = &plan->args[launch->args[j]];
    unsigned char value[sizeof arg->scalar];
    if (!arg->is_repetition) continue;
    for (size_t at = 0; at < arg->bytes; at += clt_element_base_bytes(arg->element.base))
      clt_store_value(value + at, arg->element.base, (clt_value){.type = CLT_INT, .integer = repetition});
    status = clSetKernelArg(kernel, (cl_uint)j, arg->bytes, value);
  }
  const cl_event *before = executor->out_of_order && b->n ? &b->events[b->n - 1] : NULL;
  const size_t *global = launch->global, *local = launch->has_local ? launch->local : NULL;
  if (status == CL_SUCCESS)
    status = clEnqueueNDRangeKernel(executor->queue, kernel, launch->n_dimensions, NULL, global, local, before != NULL,
                                    before, &b->events[b->n]);
  if (status == CL_SUCCESS) {
    b->n++;
    return CLT_OK;
  }
  if (status != CL_OUT_OF_RESOURCES && clt_cl_out_of_memory(status))
    return clt_reject_cl(m, CLT_REASON_OUT_OF_MEMORY, status, launch->kernel);
  char hint[100] = "";
  size_t sizes[2][3] = {{1, 1, 1}, {0, 0, 0}}; /* global and local */
  for (unsigned d = 0; d < launch->n_dimensions; d++) {
    sizes[0][d] = global[d];
    sizes[1][d] = local ? local[d] : 0;
    const size_t n_groups = sizes[1][d] ? global[d] / local[d] : 0;
    if (n_groups <= MANY_GROUPS) continue;
    snprintf(hint, sizeof hint, "; it has %zu work-groups in one dimension, and some drivers allow at most %d",
             n_groups, MANY_GROUPS);
  }
  /* At a launch, CL_OUT_OF_RESOURCES is no lack of memory: on NVIDIA, the work-group needs too many registers. */
  const clt_reason reason = status == CL_OUT_OF_RESOURCES ? CLT_REASON_LAUNCH_RESOURCES : CLT_REASON_LAUNCH;
  clt_reject(m, reason, "'%s' with global size %zu x %zu x %zu and local size %zu x %zu x %zu: %s (%d)%s",
             launch->kernel, sizes[0][0], sizes[0][1], sizes[0][2], sizes[1][0], sizes[1][1], sizes[1][2],
             clt_cl_status_name(status), status, hint);
  if (reason == CLT_REASON_LAUNCH) clt_tell_fault(executor, m);
  return CLT_REJECTED;
}

/* The end of the group of launches that begins at `first` and is repeated together. */
static size_t end_of_group(const clt_plan *plan, size_t first) {
  return first + (plan->launches[first].together > 1 ? plan->launches[first].together : 1);
}

int clt_launch_run(clt_run *out, const clt_executor *executor, const clt_program *program, const clt_plan *plan,
                   size_t n_runs, clt_measurement *m) {
  /* Only short runs are timed together, so the watchdog matters for single runs alone. */
  batch b = {.most = executor->watchdog && n_runs == 1 ? 1 : BATCH};
  double started = clt_now_s();
  int rc = CLT_OK;
  for (size_t run = 0; rc == CLT_OK && run < n_runs; run++) {
    if (run > 0 && run % BATCH == 0) clt_executor_announce(executor, CLT_PHASE_RUNNING); /* a new deadline */
    for (size_t i = 0; rc == CLT_OK && i < plan->n_launches; i = end_of_group(plan, i))
      for (unsigned r = 0; rc == CLT_OK && r < plan->launches[i].repeat; r++)
        for (size_t j = i; rc == CLT_OK && j < end_of_group(plan, i); j++)
          rc = enqueue_launch(&b, executor, program->kernels[j], plan, &plan->launches[j], r, m);
  }
  const int ended = harvest_batch(&b, executor, rc ? NULL : m);
  out->host_s = clt_now_s() - started;
  out->device_s = b.device_s;
  if (n_runs > 1 && b.device_s >= 0) out->device_s = b.end_ns > b.start_ns ? 1e-9 * (double)(b.end_ns - b.start_ns) : 0;
  return rc ? rc : ended;
}

int clt_launch_first(double *least_s, const clt_executor *executor, const clt_program *program, const clt_plan *plan,
                     clt_measurement *m) {
  int rc = CLT_OK;
  *least_s = 0;
  for (size_t i = 0; rc == CLT_OK && i < plan->n_launches; i = end_of_group(plan, i)) {
    batch b = {.most = executor->watchdog ? 1 : BATCH};
    double began_s = 0;
    for (unsigned r = 0; rc == CLT_OK && r < plan->launches[i].repeat; r++)
      for (size_t j = i; rc == CLT_OK && j < end_of_group(plan, i); j++) {
        if (r == 0) clt_executor_announce(executor, CLT_PHASE_LAUNCH);
        rc = enqueue_launch(&b, executor, program->kernels[j], plan, &plan->launches[j], r, m);
        if (rc || r > 0) continue;
        cl_int status = clFlush(executor->queue);
        if (status == CL_SUCCESS) status = clt_cl_await(b.events[0], CL_RUNNING);
        if (status < 0) rc = reject_run(executor, status, m);
        clt_executor_announce(executor, CLT_PHASE_RUNNING);
        began_s = clt_now_s();
        b.device_s = 0;
        const int ended = harvest_batch(&b, executor, rc ? NULL : m);
        *least_s += fmax(0, fmin(b.device_s, clt_now_s() - began_s));
        if (rc == CLT_OK) rc = ended;
        began_s = clt_now_s();
        b.device_s = 0; /* of the repetitions that follow */
      }
    const int ended = harvest_batch(&b, executor, rc ? NULL : m);
    *least_s += fmax(0, fmin(b.device_s, clt_now_s() - began_s));
    if (rc == CLT_OK) rc = ended;
  }
  return rc;
}
