/* Which clock may be trusted, running the launches of a plan, timing a prepared configuration, energy of its runs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/fail.h"
#include "device/device.h"
#include "measurement/statistics.h"
#include "opencl/internal.h"

/* --- clocks --- */

/* 5 % for clocks that drift apart, 50 us for their grain. */
#define DRIFT 1.05
#define GRAIN_S 50e-6
/* Launching takes its time, but on no driver two thirds of the whole and 20 ms on top. */
#define OVERHEAD_FACTOR 3.0
#define OVERHEAD_S 20e-3

/* A run that takes so many ticks of the device's clock is known to one per cent. */
#define TICKS 100
#define MAX_TICK_S 10e-3 /* coarser ones than these are no clocks */

enum { JUDGE_BYTES = 4 << 20, JUDGE_ROUNDS = 5, MOST_JUDGE_ROUNDS = 1000 };
#define JUDGE_S 0.05 /* until a coarse clock has ticked a few times */

/* false where the driver gives no times. */
static bool event_times(cl_event event, cl_ulong *start_ns, cl_ulong *end_ns) {
  *start_ns = *end_ns = 0;
  return clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof *start_ns, start_ns, NULL) == CL_SUCCESS &&
         clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof *end_ns, end_ns, NULL) == CL_SUCCESS;
}

/* The greatest common divisor. */
static cl_ulong common_divisor(cl_ulong a, cl_ulong b) {
  while (b) {
    cl_ulong rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

bool clt_clock_possible(double device_s, double host_s) { return device_s > 0 && device_s <= DRIFT * host_s + GRAIN_S; }

bool clt_clock_agrees(double device_s, double host_s) { return host_s <= OVERHEAD_FACTOR * device_s + OVERHEAD_S; }

/* Some clocks tick every 32 us or every millisecond, whatever the driver says: what all timestamps differ by multiples
 * of is the tick. */
clt_clock clt_judge_clock(clt_executor *executor) {
  if (!(executor->info.timer_resolution_s > 0)) return CLT_CLOCK_HOST;
  cl_mem from = clCreateBuffer(executor->context, CL_MEM_READ_WRITE, JUDGE_BYTES, NULL, NULL);
  cl_mem to = clCreateBuffer(executor->context, CL_MEM_READ_WRITE, JUDGE_BYTES, NULL, NULL);
  double least_device_s = INFINITY, least_host_s = INFINITY, sum_s = 0, most_ahead_s = -INFINITY;
  const double began_s = clt_now_s();
  bool possible = from && to, odd = false;
  cl_ulong last_ns = 0, tick_ns = 0;
  int n_steps = 0, i = 0;
  while (possible &&
         (i < JUDGE_ROUNDS || (n_steps < JUDGE_ROUNDS && i < MOST_JUDGE_ROUNDS && clt_now_s() - began_s < JUDGE_S))) {
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
    if (end_ns < start_ns) continue; /* once is chance */
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
  const double tick_s = executor->tick_s = fmax(executor->info.timer_resolution_s, 1e-9 * (double)tick_ns);
  return possible && sum_s > 0 && tick_s <= MAX_TICK_S && most_ahead_s <= GRAIN_S + tick_s &&
                 clt_clock_agrees(least_device_s + tick_s, least_host_s)
             ? CLT_CLOCK_DEVICE
             : CLT_CLOCK_HOST;
}

/* --- launches --- */

enum { BATCH = 256 };     /* events held at a time */
#define QUEUED_S 1.0      /* of work without a wait, where a watchdog ends what runs for some seconds */
#define MANY_GROUPS 65535 /* in a dimension: more are refused by Mesa's drivers, by NVIDIA's in all but the first */

/* Between two looks at whether a command has got so far: such a part of the time since the first. */
enum { PAUSE_SHARE = 32, MIN_PAUSE_NS = 20 * 1000, MAX_PAUSE_NS = 1000 * 1000 };

typedef struct batch {
  cl_event events[BATCH];
  cl_uint n, most;           /* held; launches before the next wait */
  double begun_s;            /* when the first of them was queued */
  double device_s;           /* negative: an event gave no time */
  cl_ulong start_ns, end_ns; /* of the first launch and the last; 0: there was none yet */
} batch;

/* Not in a call of the driver, which may keep a processor busy. Some drivers never say that a command runs. */
static cl_int await_state(cl_event event, cl_int wanted) {
  for (const double began_s = clt_now_s();;) {
    cl_int state = CL_COMPLETE;
    cl_int status = clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL);
    if (status < 0 || state <= wanted) return status < 0 ? status : state < 0 ? state : CL_SUCCESS;
    const double pause_ns = 1e9 * (clt_now_s() - began_s) / PAUSE_SHARE;
    nanosleep(&(struct timespec){0, (long)fmin(fmax(pause_ns, MIN_PAUSE_NS), MAX_PAUSE_NS)}, NULL);
  }
}

static int reject_run(const clt_executor *executor, cl_int status, clt_measurement *m) {
  clt_reject(m, CLT_REASON_RUN_ERROR, "the run ended with %s (%d)", clt_cl_status_name(status), status);
  clt_tell_fault(executor, m);
  return CLT_REJECTED;
}

/* Ends a batch: waits, adds up the durations, releases. A failed event is found in the wait or in its own status, and
 * told before anything is released. m: NULL: that it failed is known. */
static int harvest_batch(batch *b, const clt_executor *executor, clt_measurement *m) {
  const bool looks = b->n % BATCH && !executor->exact_end && executor->info.type != CLT_DEVICE_CPU;
  cl_int status = looks ? clFlush(executor->queue) : CL_SUCCESS;
  double batch_s = 0;
  if (looks && status == CL_SUCCESS) status = await_state(b->events[b->n - 1], CL_COMPLETE);
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
    b->most = launch_s * BATCH < QUEUED_S ? BATCH : launch_s < QUEUED_S ? (cl_uint)(QUEUED_S / launch_s) : 1;
  }
  b->n = 0;
  return status < 0 ? CLT_REJECTED : CLT_OK;
}

/* One launch, added to the batch. */
static int enqueue_launch(batch *b, const clt_executor *executor, cl_kernel kernel, const clt_plan *plan,
                          const clt_plan_launch *launch, unsigned repetition, clt_measurement *m) {
  cl_int status = CL_SUCCESS;
  if (b->n == b->most && harvest_batch(b, executor, m)) return CLT_REJECTED;
  if (b->n == 0) b->begun_s = clt_now_s();
  /* Scalars that count the repetitions get their value; OpenCL takes it over when the launch is enqueued. */
  for (size_t j = 0; status == CL_SUCCESS && j < launch->n_args; j++) {
    const clt_plan_arg *arg = &plan->args[launch->args[j]];
    unsigned char value[sizeof arg->scalar];
    if (!arg->is_repetition) continue;
    for (size_t at = 0; at < arg->bytes; at += clt_element_base_bytes(arg->element.base))
      clt_store_value(value + at, arg->element.base, (clt_value){.type = CLT_INT, .integer = repetition});
    status = clSetKernelArg(kernel, (cl_uint)j, arg->bytes, value);
  }
  bool chained = executor->out_of_order && b->n;
  const size_t *global = launch->global, *local = launch->local;
  if (status == CL_SUCCESS)
    status = clEnqueueNDRangeKernel(executor->queue, kernel, launch->n_dimensions, NULL, global,
                                    launch->has_local ? local : NULL, chained, chained ? &b->events[b->n - 1] : NULL,
                                    &b->events[b->n]);
  if (status == CL_SUCCESS) return b->n++, CLT_OK;
  if (status != CL_OUT_OF_RESOURCES && clt_cl_out_of_memory(status))
    return clt_reject_cl(m, CLT_REASON_OUT_OF_MEMORY, status, launch->kernel);
  char hint[100] = "";
  for (unsigned d = 0; d < launch->n_dimensions && launch->has_local; d++) {
    const size_t n_groups = local[d] ? global[d] / local[d] : 0;
    if (n_groups <= MANY_GROUPS) continue;
    snprintf(hint, sizeof hint, "; %zu work-groups in a dimension, and some drivers take at most %d", n_groups,
             MANY_GROUPS);
  }
  /* Where a kernel is launched, that is no lack of memory: on NVIDIA too many registers for such a work-group. */
  const clt_reason reason = status == CL_OUT_OF_RESOURCES ? CLT_REASON_LAUNCH_RESOURCES : CLT_REASON_LAUNCH;
  bool second = launch->n_dimensions > 1, third = launch->n_dimensions > 2, has_local = launch->has_local;
  clt_reject(m, reason, "'%s' with global size %zu x %zu x %zu and local size %zu x %zu x %zu: %s (%d)%s",
             launch->kernel, global[0], second ? global[1] : 1, third ? global[2] : 1, has_local ? local[0] : 0,
             has_local && second ? local[1] : 0, has_local && third ? local[2] : 0, clt_cl_status_name(status), status,
             hint);
  if (reason == CLT_REASON_LAUNCH) clt_tell_fault(executor, m);
  return CLT_REJECTED;
}

/* Where the group of launches ends that are repeated as one with the launch at `first`. */
static size_t end_of_group(const clt_plan *plan, size_t first) {
  return first + (plan->launches[first].together > 1 ? plan->launches[first].together : 1);
}

int clt_launch_run(clt_run *out, const clt_executor *executor, const clt_program *program, const clt_plan *plan,
                   size_t n_runs, clt_measurement *m) {
  /* Several runs are short ones. */
  batch b = {.most = executor->watchdog && n_runs == 1 ? 1 : BATCH};
  double started = clt_now_s();
  int rc = CLT_OK;
  for (size_t run = 0; rc == 0 && run < n_runs; run++) {
    if (run > 0 && run % BATCH == 0) clt_executor_announce(executor, CLT_PHASE_RUNNING); /* the deadline is of a run */
    for (size_t i = 0; rc == 0 && i < plan->n_launches; i = end_of_group(plan, i))
      for (unsigned r = 0; rc == 0 && r < plan->launches[i].repeat; r++)
        for (size_t j = i; rc == 0 && j < end_of_group(plan, i); j++)
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
  for (size_t i = 0; rc == 0 && i < plan->n_launches; i = end_of_group(plan, i)) {
    batch b = {.most = executor->watchdog ? 1 : BATCH};
    for (unsigned r = 0; rc == 0 && r < plan->launches[i].repeat; r++)
      for (size_t j = i; rc == 0 && j < end_of_group(plan, i); j++) {
        if (r == 0) clt_executor_announce(executor, CLT_PHASE_LAUNCH);
        rc = enqueue_launch(&b, executor, program->kernels[j], plan, &plan->launches[j], r, m);
        if (rc || r > 0) continue;
        cl_int status = clFlush(executor->queue);
        if (status == CL_SUCCESS) status = await_state(b.events[0], CL_RUNNING);
        if (status < 0) rc = reject_run(executor, status, m);
        clt_executor_announce(executor, CLT_PHASE_RUNNING);
        double began_s = clt_now_s();
        b.device_s = 0;
        const int ended = harvest_batch(&b, executor, rc ? NULL : m);
        *least_s += fmax(0, fmin(b.device_s, clt_now_s() - began_s));
        if (rc == 0) rc = ended;
      }
    const int ended = harvest_batch(&b, executor, rc ? NULL : m);
    if (rc == 0) rc = ended;
  }
  return rc;
}

/* --- timing --- */

#define LONG_RUN_S 1.0 /* gains nothing from a warm-up */
#define FAR_BEHIND 4.0 /* times too slow: a first run has cold caches and pages that nobody touched yet */
#define SHORT_S 0.01   /* runs of less in all are cheap, and all of them may have been disturbed by the same thing */
#define CHANCES 4      /* so many of those are made before a configuration is left alone */
#define GROUP_S 0.02   /* of runs for energy, between two looks at the clock; and so often deadlines begin anew */
#define MOST_IN_GROUP 256
#define SPARE_RUNS 3 /* with senseless timestamps, beyond as many as make sense */
#define PATIENCE 10  /* times the window, for a counter that does not move */

/* How runs become long enough for the device's clock: a fifth longer than that needs, in steps while little is known.
 * One that takes a quarter of what there is for all of them is not made longer. */
#define LONGER 1.2
#define MOST_LONGER 16.0
#define LONGEST_SHARE 0.25

/* Of every four timed runs three begin with other poison in the outputs and are looked at afterwards, the first of them
 * always. The fourth, drawn at random, finds the output of the run before: a kernel that goes by that is found by its
 * time. After two of a series (with the first launch and the warm-up they have seen all kinds of poison) this may take
 * so large a part of the time that the configuration took so far: half of the tenth that verification may cost. */
#define RUNS_OF_A_DRAW 4
#define VERIFICATION_SHARE 0.05
/* A run that takes so many times as long with poison is suspect. Of pairs of runs, with poison and with the right
 * output, at least three decide; more of them where they are short, since then they are easily disturbed. */
#define SUSPECT 1.5
enum { MIN_PAIRS = 3, MAX_PAIRS = 8 };

/* The runs of one call, by both clocks: which of them counts is known at the end. */
typedef struct series {
  double host_s[CLT_MAX_RUNS], device_s[CLT_MAX_RUNS];
  bool poisoned[CLT_MAX_RUNS], cold;
  size_t n, n_odd; /* runs, and those whose timestamps make no sense */
  clt_clock clock;
} series;

void clt_timing_policy_init(clt_timing_policy *policy) {
  *policy = (clt_timing_policy){.min_runs = CLT_TIMING_MIN_RUNS,
                                .max_runs = CLT_TIMING_MAX_RUNS,
                                .max_total_s = CLT_TIMING_MAX_TOTAL_S,
                                .steady_relative = CLT_TIMING_STEADY,
                                .abandon_factor = CLT_TIMING_ABANDON,
                                .warm_up = true};
}

clt_timing_policy clt_timing_turn(size_t n_runs, const clt_timing_policy *search) {
  return (clt_timing_policy){.min_runs = (unsigned)n_runs,
                             .max_runs = (unsigned)n_runs,
                             .max_total_s = LONG_RUN_S,
                             .warm_up = true,
                             .cold = search->cold,
                             .energy_s = search->energy_s};
}

static const double *runs_of(const series *s) { return s->clock == CLT_CLOCK_DEVICE ? s->device_s : s->host_s; }

static double least_of(const double *values, size_t n) {
  double min = INFINITY;
  for (size_t i = 0; i < n; i++) min = fmin(min, values[i]);
  return min;
}

/* One run, or the mean of several at once, looked at afterwards where it began with poison; what restoring, cooling and
 * looking take is not timed. */
static int time_run(series *s, clt_prepared *prepared, clt_restore level, size_t n_together, clt_measurement *m,
                    clt_error *error) {
  clt_executor *executor = prepared->executor;
  clt_run run;
  for (bool odd = true; odd;) {
    double started = clt_now_s();
    int rc = clt_bindings_restore(&prepared->bindings, executor, level, m, error);
    if (rc == 0 && s->cold) rc = clt_executor_cool(executor, m, error);
    m->phases.verify_s += clt_now_s() - started;
    if (rc) return rc;
    clt_executor_announce(executor, CLT_PHASE_RUNNING);
    executor->exact_end = s->clock == CLT_CLOCK_HOST;
    rc = clt_launch_run(&run, executor, &prepared->program, prepared->plan, n_together, m);
    if (rc) return rc;
    m->phases.runs_s += run.host_s;
    /* A short run is done again; where that is usual, the clock is not to be trusted. 0: less than a tick. */
    bool possible = s->clock == CLT_CLOCK_HOST || clt_clock_possible(run.device_s, run.host_s + executor->tick_s);
    odd = !possible && run.device_s != 0 && run.host_s < 10 * SHORT_S && s->n_odd++ < SPARE_RUNS + s->n;
    if (!possible && !odd) s->clock = CLT_CLOCK_HOST;
  }
  s->host_s[s->n] = run.host_s / (double)n_together;
  s->device_s[s->n] = run.device_s / (double)n_together;
  s->poisoned[s->n++] = level != CLT_RESTORE_INPUTS;
  return level == CLT_RESTORE_INPUTS ? CLT_OK : clt_bindings_verify(&prepared->bindings, executor, false, m);
}

/* Whether a run takes longer where its output is not there already. Runs after poison do so for other reasons too (what
 * fills the outputs leaves other caches behind), so that pairs decide whose outputs were written in the same way. */
static int compare_contents(const series *s, clt_prepared *prepared, const clt_timing_policy *policy,
                            clt_measurement *m, clt_error *error) {
  /* Only the first of several runs at once finds what was there: those are compared one by one, by the host's clock. */
  const bool several = prepared->n_together > 1;
  series c = {.clock = several ? CLT_CLOCK_HOST : s->clock, .cold = s->cold};
  double least_s[2] = {INFINITY, INFINITY}, wrong_s[MAX_PAIRS], right_s[MAX_PAIRS], begun_s = clt_now_s();
  for (size_t i = 0; i < s->n; i++) least_s[s->poisoned[i]] = fmin(least_s[s->poisoned[i]], runs_of(s)[i]);
  if (!several && (isinf(least_s[0]) || least_s[1] <= SUSPECT * least_s[0])) return CLT_OK;
  size_t n = 0;
  while (n < MIN_PAIRS || (n < MAX_PAIRS && clt_now_s() - begun_s < policy->max_total_s)) {
    for (int right = 0; right <= 1; right++) {
      int rc = clt_bindings_preset(&prepared->bindings, prepared->executor, right, m, error);
      if (rc == CLT_OK) rc = time_run(&c, prepared, CLT_RESTORE_INPUTS, 1, m, error);
      if (rc) return rc;
    }
    n++;
    for (size_t i = 0; i < n; i++) wrong_s[i] = runs_of(&c)[2 * i], right_s[i] = runs_of(&c)[2 * i + 1];
    if (n >= MIN_PAIRS && least_of(wrong_s, n) <= SUSPECT * least_of(right_s, n)) return CLT_OK;
  }
  double ratio = least_of(wrong_s, n) / clt_median(right_s, n);
  for (size_t i = 0; i < n; i++) ratio = least_of(wrong_s, n) > right_s[i] ? ratio : 0; /* some differ by chance */
  if (!(ratio > SUSPECT)) return CLT_OK;
  return clt_reject(m, CLT_REASON_WRONG_OUTPUT, "a run takes %.1f times as long where its output is not there already",
                    ratio);
}

/* Whether a run is too short for the device's clock and is from now on timed with others. By the host's clock, which
 * *clock then says, where inputs have to be restored or caches emptied in between, or where that takes too long. */
static bool lengthen_run(const series *s, clt_prepared *prepared, double max_total_s, clt_clock *clock) {
  const double tick_s = prepared->executor->tick_s, n = (double)prepared->n_together;
  const double device_s = s->device_s[0] * n, wanted_s = TICKS * tick_s;
  if (*clock == CLT_CLOCK_HOST || device_s < 0 || device_s >= wanted_s) return false;
  const bool stands = device_s == 0 && n > 1; /* the clock, maybe */
  if (s->cold || clt_bindings_change_inputs(&prepared->bindings) ||
      s->host_s[0] * n >= (stands ? wanted_s : LONGEST_SHARE * max_total_s))
    return *clock = CLT_CLOCK_HOST, false;
  prepared->n_together = 1 + (size_t)(n * fmin(MOST_LONGER, LONGER * wanted_s / fmax(device_s, tick_s)));
  return true;
}

/* Scratch is given other content before the first of these runs and not again, outputs before most of them: a kernel
 * whose later runs do less than its first leaves poison or a wrong result behind. */
static int time_series(series *s, clt_prepared *prepared, const clt_timing_policy *policy, clt_measurement *m,
                       clt_error *error) {
  clt_clock clock = s->clock;
  const double limit_s = policy->best_s > 0 ? policy->abandon_factor * policy->best_s : INFINITY;
  const size_t room = CLT_MAX_RUNS - m->n_runs, most = policy->max_runs < room ? policy->max_runs : room;
  bool enough = false;
  size_t unpoisoned = 0, n_poisoned = 0;
  if (policy->warm_up) {
    do {
      s->n = 0;
      s->clock = clock;
      int rc = time_run(s, prepared, CLT_RESTORE_ALL, prepared->n_together, m, error);
      if (rc) return rc;
    } while (lengthen_run(s, prepared, policy->max_total_s, &clock));
    if (clock == CLT_CLOCK_HOST) s->clock = clock;
    /* A warm-up that shows that no run is worth repeating, or takes all the time that there is for runs, is the run: a
     * run so long gains little from being warm. */
    double run_s = runs_of(s)[0];
    enough = run_s >= policy->max_total_s || (run_s > 1.1 * limit_s && run_s >= SHORT_S);
    if (!enough) s->n = 0, s->clock = clock;
  }
  const double started = clt_now_s(), before_s = m->phases.runs_s;
  const double *verify_s = &m->phases.verify_s, verified_s = *verify_s;
  while (!enough) {
    size_t place = s->n % RUNS_OF_A_DRAW;
    if (place == 0) unpoisoned = 1 + clt_rng_below(&prepared->rng, RUNS_OF_A_DRAW - 1);
    double all_s = m->phases.build_s + m->phases.first_launch_s + m->phases.runs_s;
    bool dear = n_poisoned >= 2 && *verify_s - verified_s > VERIFICATION_SHARE * all_s;
    const clt_restore poison = s->n == 0 && !policy->warm_up ? CLT_RESTORE_ALL : CLT_RESTORE_OUTPUTS;
    const clt_restore level = place == unpoisoned || dear ? CLT_RESTORE_INPUTS : poison;
    n_poisoned += level != CLT_RESTORE_INPUTS;
    int rc = time_run(s, prepared, level, prepared->n_together, m, error);
    if (rc) return rc;
    const double *runs = runs_of(s), elapsed_s = clt_now_s() - started;
    /* Where we were kept from noticing that a run had ended, a few more show which clock is right. */
    bool kept = s->clock == CLT_CLOCK_DEVICE && s->n < CHANCES &&
                !clt_clock_agrees(least_of(s->device_s, s->n), least_of(s->host_s, s->n));
    bool cheap = kept || m->phases.runs_s - before_s < SHORT_S;
    bool behind = least_of(runs, s->n) > limit_s;
    enough = s->n >= most || elapsed_s >= policy->max_total_s || (behind && (s->n >= CHANCES || !cheap)) ||
             (s->n >= policy->min_runs && !cheap && clt_runs_steady(runs, s->n, policy->steady_relative));
  }
  if (!clt_clock_agrees(least_of(s->device_s, s->n), least_of(s->host_s, s->n))) s->clock = CLT_CLOCK_HOST;
  return compare_contents(s, prepared, policy, m, error);
}

/* --- energy --- */

/* The energy of one run: counters move every millisecond (powercap) to every tenth of a second (NVML), so it is the
 * mean over many, those that fill energy_s (at least one). They are done without waiting between them, unless inputs
 * have to be restored before each. NaN where the counter does not move. */
static int measure_energy(clt_prepared *prepared, double energy_s, clt_measurement *m, clt_error *error) {
  clt_executor *executor = prepared->executor;
  const bool restore = clt_bindings_change_inputs(&prepared->bindings);
  double of_time = m->time_s > 0 ? fmin(fmax(GROUP_S / m->time_s, 1), MOST_IN_GROUP) : 1;
  size_t group = restore ? 1 : (size_t)of_time, n_runs = 0; /* restoring may take long */
  double before_J = 0, after_J = 0, elapsed_s = 0;
  int rc = executor->meter ? CLT_OK : clt_energy_open(&executor->meter, &executor->info, error);
  if (rc == 0) rc = clt_energy_read(executor->meter, &before_J, error);
  double started_s = clt_now_s();
  executor->exact_end = true; /* until that is noticed the device idles */
  after_J = before_J;
  while (rc == 0 && (elapsed_s < energy_s || (after_J <= before_J && elapsed_s < PATIENCE * energy_s))) {
    clt_run run;
    if (restore) rc = clt_bindings_restore(&prepared->bindings, executor, CLT_RESTORE_INPUTS, m, error);
    clt_executor_announce(executor, CLT_PHASE_RUNNING);
    if (rc == 0) rc = clt_launch_run(&run, executor, &prepared->program, prepared->plan, group, m);
    n_runs += group;
    elapsed_s = clt_now_s() - started_s;
    if (rc == 0 && elapsed_s >= energy_s) rc = clt_energy_read(executor->meter, &after_J, error);
  }
  m->phases.runs_s += elapsed_s;
  if (rc == 0) m->energy_J = after_J > before_J ? (after_J - before_J) / (double)n_runs : NAN;
  return rc;
}

/* --- all of it --- */

int clt_executor_time(clt_executor *executor, clt_prepared *prepared, const clt_timing_policy *policy,
                      clt_measurement *measurement, clt_error *error) {
  series s = {.clock = executor->clock, .cold = policy->cold};
  int rc = clt_executor_usable(executor, error);
  if (rc) return rc;
  if (policy->min_runs < 1 || policy->min_runs > policy->max_runs || policy->max_runs > CLT_MAX_RUNS)
    return clt_fail(error, CLT_E_ARGUMENT, "cannot make %u to %u runs; 1 to %d are possible", policy->min_runs,
                    policy->max_runs, CLT_MAX_RUNS);
  if (measurement->n_runs >= CLT_MAX_RUNS)
    return clt_fail(error, CLT_E_ARGUMENT, "the measurement has all of its runs already");
  /* A first run that took many times the best, caches cold or not, is not repeated at all, unless that is cheap: the
   * more often it runs, the more of its faults show. */
  if (policy->best_s > 0 && prepared->first_run_s >= SHORT_S &&
      prepared->first_run_s > FAR_BEHIND * policy->abandon_factor * policy->best_s &&
      executor->clock == CLT_CLOCK_DEVICE && measurement->n_runs == 0 && policy->warm_up)
    s.host_s[0] = s.device_s[0] = prepared->first_run_s, s.n = 1;
  else
    rc = time_series(&s, prepared, policy, measurement, error);
  if (rc == 0) {
    /* Runs by two clocks cannot stand side by side: those of the device go where it turned out not to be trusted. */
    if (measurement->n_runs && measurement->clock == CLT_CLOCK_HOST) s.clock = CLT_CLOCK_HOST;
    if (measurement->clock != s.clock) measurement->n_runs = 0;
    memcpy(measurement->runs_s + measurement->n_runs, runs_of(&s), s.n * sizeof *measurement->runs_s);
    measurement->n_runs += s.n;
    measurement->clock = s.clock;
    measurement->time_s = least_of(measurement->runs_s, measurement->n_runs);
  }
  if (rc == 0 && policy->energy_s > 0) rc = measure_energy(prepared, policy->energy_s, measurement, error);
  if (rc == 0) rc = clt_bindings_verify(&prepared->bindings, executor, true, measurement);
  executor->exact_end = false;
  if (rc == CLT_REJECTED) clt_executor_fault(executor, &prepared->bindings, measurement);
  clt_executor_announce(executor, CLT_PHASE_DONE);
  return rc == CLT_REJECTED ? CLT_OK : rc;
}
