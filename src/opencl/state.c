/* The state of the device while it is timed: how long an empty launch takes, and how fast its clock runs.
 *
 * The clock is observed by a kernel of one work-item that does a fixed chain of operations, each of which needs the
 * result of the one before: its time, without the launch, is inversely proportional to the clock. Unlike the figures
 * that drivers report, it is of the moment, costs some 0.05 ms, and exists on every device with usable events. */
#include "base/base.h"
#include "measurement/measurement.h"
#include "opencl/internal.h"

/* Xorshift never makes 0 of another number, but no compiler knows that. */
#define PROBES                                                       \
  "kernel void clatune_probe(void) {}\n"                             \
  "kernel void clatune_steps(global uint *sink, uint n, uint x) {\n" \
  "  for (uint i = 0; i < n; i++) {\n"                               \
  "    x ^= x << 13;\n"                                              \
  "    x ^= x >> 17;\n"                                              \
  "    x ^= x << 5;\n"                                               \
  "  }\n"                                                            \
  "  if (x == 0) *sink = n;\n"                                       \
  "}\n"

enum { LAUNCHES = 7, TOGETHER = 256 /* if the clock is too coarse for one */, TICKS = 100 };
enum { LEAST_STEPS = 512, MOST_STEPS = 1 << 20 };
#define STEPS_S 40e-6   /* several times a launch */
#define MAX_TICK_S 1e-6 /* of a clock that resolves the steps */
#define STEADY_S 0.02   /* a clock that has not risen for so long is steady; GPUs need tens of milliseconds to wake */
#define FIRST_S 0.2     /* the same if the usual clock is not known yet: once in a tuning */
#define MOST_WAKING_S 0.6
#define ANNOUNCED_S 0.1 /* below the shortest deadline of a run */
#define RISEN 1.02      /* a clock this many times as fast has risen */
#define AWAKE 0.9       /* of the usual clock: the device was not idle before */
#define YIELDS 8.0      /* a clock that stays slower is the usual one after about so many measurements */
/* The rule of NVIDIA's nvbench (options --throttle-threshold and --throttle-recovery-delay). */
#define THROTTLED 0.75
#define RECOVERY_S 0.05

static void forget_steps(clt_executor *executor) {
  if (executor->probe.steps) clReleaseKernel(executor->probe.steps);
  if (executor->probe.sink) clReleaseMemObject(executor->probe.sink);
  executor->probe.steps = NULL;
  executor->probe.sink = NULL;
}

void clt_state_prepare(clt_executor *executor, bool with_kernels) {
  cl_int status = CL_SUCCESS;
  cl_program program = NULL;
  const cl_uint seed = 1;
  if (!executor->probe.metered) executor->probe.frequency = clt_frequency_open(&executor->info);
  executor->probe.metered = true;
  if (executor->probe.sought || !with_kernels) return;
  executor->probe.sought = true;
  executor->probe.empty = clt_own_kernel(executor, PROBES, "clatune_probe", &status);
  if (executor->probe.empty == NULL ||
      clGetKernelInfo(executor->probe.empty, CL_KERNEL_PROGRAM, sizeof program, &program, NULL) != CL_SUCCESS)
    return;
  if (executor->info.type == CLT_DEVICE_CPU || executor->clock == CLT_CLOCK_HOST || executor->tick_s > MAX_TICK_S)
    return;
  executor->probe.sink = clCreateBuffer(executor->context, CL_MEM_READ_WRITE, sizeof seed, NULL, &status);
  cl_kernel steps = executor->probe.sink ? clCreateKernel(program, "clatune_steps", &status) : NULL;
  executor->probe.steps = steps;
  if (steps == NULL || clSetKernelArg(steps, 0, sizeof executor->probe.sink, &executor->probe.sink) != CL_SUCCESS ||
      clSetKernelArg(steps, 2, sizeof seed, &seed) != CL_SUCCESS)
    forget_steps(executor);
}

void clt_state_free(clt_executor *executor) {
  forget_steps(executor);
  if (executor->probe.empty) clReleaseKernel(executor->probe.empty);
  clt_frequency_close(executor->probe.frequency);
}

/* The shortest of some runs of an own kernel, each of n launches in a row, per launch, by the executor's clock. NaN: it
 * does not run, or the clock shows nothing. */
static double time_own(clt_executor *executor, cl_kernel kernel, size_t n, int n_runs) {
  clt_plan_launch launch = {.kernel = "clatune_probe", .n_dimensions = 1, .global = {1, 1, 1}, .repeat = 1};
  const clt_plan plan = {.launches = &launch, .n_launches = 1};
  const clt_program program = {.kernels = &kernel, .n_kernels = 1};
  double least_s = INFINITY;
  clt_run run;
  executor->exact_end = true;
  for (int i = 0; i < n_runs; i++) {
    if (clt_launch_run(&run, executor, &program, &plan, n, NULL)) return NAN;
    least_s = fmin(least_s, executor->clock == CLT_CLOCK_DEVICE ? run.device_s : run.host_s);
  }
  return least_s > 0 ? least_s / (double)n : NAN;
}

static void measure_launch(clt_executor *executor) {
  double s = time_own(executor, executor->probe.empty, 1, LAUNCHES);
  if (executor->clock == CLT_CLOCK_DEVICE && !(s >= TICKS * executor->tick_s))
    s = time_own(executor, executor->probe.empty, TOGETHER, LAUNCHES);
  executor->probe.launch_s = s;
}

/* --- the clock --- */

/* Chooses a number of steps that the device's timer resolves. A device on which they take no time has no clock. */
static void choose_steps(clt_executor *executor) {
  const double wanted_s = fmax(STEPS_S, TICKS * executor->tick_s);
  for (cl_uint n = LEAST_STEPS; n <= MOST_STEPS; n *= 2) {
    executor->probe.n_steps = n;
    if (clSetKernelArg(executor->probe.steps, 1, sizeof n, &n) == CL_SUCCESS &&
        time_own(executor, executor->probe.steps, 1, 1) >= wanted_s)
      return;
  }
  forget_steps(executor);
}

/* NaN: not known this time. */
static double time_step(clt_executor *executor) {
  const double launch_s = executor->probe.launch_s > 0 ? executor->probe.launch_s : 0;
  const double s = time_own(executor, executor->probe.steps, 1, 1) - launch_s;
  return s > 0 ? s / executor->probe.n_steps : NAN;
}

/* The same, or the median of three if it is not the usual one: a single one may be disturbed, or its timestamps wrong.
 */
static double observe_step(clt_executor *executor) {
  double s[3] = {time_step(executor)};
  if (fabs(s[0] / executor->probe.usual_step_s - 1) < 1 - AWAKE) return s[0];
  for (int i = 1; i < 3; i++) s[i] = time_step(executor);
  return clt_median(s, 3);
}

/* Keeps the device busy until its clock has not risen for steady_s. */
static void wake_device(clt_executor *executor, double steady_s) {
  const double began_s = clt_now_s();
  double now_s = began_s, since_s = began_s, told_s = 0, least_s = INFINITY;
  do {
    if (now_s - told_s > ANNOUNCED_S) clt_executor_announce(executor, CLT_PHASE_RUNNING), told_s = now_s;
    const double last_s = time_step(executor);
    now_s = clt_now_s();
    if (last_s * RISEN < least_s) least_s = last_s, since_s = now_s;
  } while (now_s - since_s < steady_s && now_s - began_s < MOST_WAKING_S);
}

/* Whether the device's clock is at least this share of the usual one; true if that is not known. */
static bool runs_at(const clt_executor *executor, double share) {
  return !(executor->probe.step_s * share > executor->probe.usual_step_s);
}

/* The fastest clock that was seen is the usual one, but it yields to one that remains slower. */
static void note_step(clt_executor *executor, double step_s, bool remains) {
  double *usual_s = &executor->probe.usual_step_s;
  executor->probe.step_s = step_s;
  if (!(step_s >= *usual_s))
    *usual_s = isnan(step_s) ? *usual_s : step_s;
  else if (remains && !runs_at(executor, AWAKE))
    *usual_s *= pow(step_s / *usual_s, 1 / YIELDS);
}

void clt_state_begin(clt_executor *executor, const clt_timing_policy *policy) {
  const bool knows_launch = policy->launch_s > 0 || executor->probe.launch_s != 0; /* NaN: it cannot be measured */
  if (policy->launch_s > 0) executor->probe.launch_s = policy->launch_s;
  if (policy->usual_step_s > 0) executor->probe.usual_step_s = policy->usual_step_s;
  clt_state_prepare(executor, !knows_launch || executor->info.type != CLT_DEVICE_CPU);
  executor->probe.step_s = NAN;
  if (executor->probe.steps && executor->probe.n_steps == 0) choose_steps(executor);
  if (executor->probe.steps) {
    if (!(executor->probe.usual_step_s > 0)) executor->probe.usual_step_s = NAN, wake_device(executor, FIRST_S);
    if (!knows_launch) measure_launch(executor);
    executor->probe.step_s = observe_step(executor);
    const bool is_idle = !runs_at(executor, AWAKE);
    if (is_idle) wake_device(executor, STEADY_S), executor->probe.step_s = observe_step(executor);
    note_step(executor, executor->probe.step_s, is_idle && runs_at(executor, THROTTLED));
  } else if (!knows_launch && executor->probe.empty) {
    measure_launch(executor);
  }
}

bool clt_state_end(clt_executor *executor, clt_measurement *m, bool may_repeat) {
  const double before_s = executor->probe.step_s;
  if (executor->probe.steps) note_step(executor, observe_step(executor), !may_repeat);
  executor->probe.step_s = fmax(before_s, executor->probe.step_s);
  const bool is_known = executor->probe.step_s > 0, throttled = is_known && !runs_at(executor, THROTTLED);
  if (throttled && may_repeat) {
    clt_executor_announce(executor, CLT_PHASE_RUNNING);
    nanosleep(&(struct timespec){0, (long)(1e9 * RECOVERY_S)}, NULL);
    return true;
  }
  m->state = (clt_device_state){.launch_s = executor->probe.launch_s > 0 ? executor->probe.launch_s : NAN,
                                .step_s = executor->probe.step_s,
                                .usual_step_s = is_known ? executor->probe.usual_step_s : NAN,
                                .clock_mhz = clt_frequency_read(executor->probe.frequency),
                                .throttled = is_known ? throttled : NAN,
                                .busy_share = NAN};
  return false;
}
