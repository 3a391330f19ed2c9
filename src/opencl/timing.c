/* Chooses the clock, runs a plan's launches, times prepared configurations, and measures their energy. */
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

/* Tolerances when two clocks are compared: 5 % for drift, 50 us for their resolution. */
#define DRIFT 1.05
#define GRAIN_S 50e-6
/* The overhead of a launch is on no driver more than two thirds of the host's time plus 20 ms. */
#define OVERHEAD_FACTOR 3.0
#define OVERHEAD_S 20e-3

/* With this many ticks of the device's clock, a run is known to 1 %. */
#define TICKS 100
#define MAX_TICK_S 10e-3 /* a clock with a coarser tick is not used */
#define LEAST_TICK_NS 8  /* a smaller common divisor may come from rounding */

enum { JUDGE_BYTES = 4 << 20, JUDGE_ROUNDS = 5, MOST_JUDGE_ROUNDS = 1000 };
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
    b->most = launch_s * BATCH < QUEUED_S ? BATCH : launch_s < QUEUED_S ? (cl_uint)(QUEUED_S / launch_s) : 1;
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
    snprintf(hint, sizeof hint, "; it has %zu work-groups in one dimension, and some drivers allow at most %d",
             n_groups, MANY_GROUPS);
  }
  /* At a launch, CL_OUT_OF_RESOURCES is no lack of memory: on NVIDIA, the work-group needs too many registers. */
  const clt_reason reason = status == CL_OUT_OF_RESOURCES ? CLT_REASON_LAUNCH_RESOURCES : CLT_REASON_LAUNCH;
  bool second = launch->n_dimensions > 1, third = launch->n_dimensions > 2, has_local = launch->has_local;
  clt_reject(m, reason, "'%s' with global size %zu x %zu x %zu and local size %zu x %zu x %zu: %s (%d)%s",
             launch->kernel, global[0], second ? global[1] : 1, third ? global[2] : 1, has_local ? local[0] : 0,
             has_local && second ? local[1] : 0, has_local && third ? local[2] : 0, clt_cl_status_name(status), status,
             hint);
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
  for (size_t run = 0; rc == 0 && run < n_runs; run++) {
    if (run > 0 && run % BATCH == 0) clt_executor_announce(executor, CLT_PHASE_RUNNING); /* a new deadline */
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
        if (status == CL_SUCCESS) status = clt_cl_await(b.events[0], CL_RUNNING);
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

#define LONG_RUN_S 1.0 /* a run this long gains nothing from a warm-up */
#define FAR_BEHIND 4.0 /* times the abandon limit, as a first run has cold caches and untouched memory pages */
#define SHORT_S 0.01   /* repeating runs is cheap up to this total; a single disturbance can affect all of them */
#define CHANCES 4      /* cheap runs that are made before a configuration is given up as slow */
#define GROUP_S 0.02   /* seconds of runs for energy between two readings of the clock; deadlines restart as often */
#define MOST_IN_GROUP 256
#define SPARE_RUNS 3 /* runs with impossible timestamps that are tolerated, beyond the number of good ones */
#define PATIENCE 10  /* times energy_s, if the counter does not change */

/* Runs that are too short for the device's clock are timed together: 1.2 times as many as needed, at most 16 times
 * as many as in the step before. A run that takes a quarter of the time for all runs is not lengthened. */
#define LONGER 1.2
#define MOST_LONGER 16.0
#define LONGEST_SHARE 0.25

/* Three of every four timed runs begin with new poison in the outputs and are verified afterwards; the first run
 * always is. The fourth, drawn at random, finds the output of the run before: a kernel that skips work if the output
 * is there is exposed by its time. After two poisoned runs in a series (with the first launch and the warm-up the
 * kernel has then met every kind of poison), poisoning stops when it exceeds this share of the configuration's time:
 * half of the tenth that verification may cost. */
#define RUNS_OF_A_DRAW 4
#define VERIFICATION_SHARE 0.05
/* A run that takes this many times as long with poison is suspect. At least three pairs of runs, with a wrong and
 * with the correct output beforehand, decide; more if runs are short, because these are easily disturbed. */
#define SUSPECT 1.5
enum { MIN_PAIRS = 3, MAX_PAIRS = 8 };

/* The runs of one call with both clocks; the clock that counts is known at the end. */
typedef struct run_series {
  double host_s[CLT_MAX_RUNS], device_s[CLT_MAX_RUNS];
  bool poisoned[CLT_MAX_RUNS], cold;
  size_t n, n_odd; /* runs, and runs with impossible timestamps */
  clt_clock clock;
} run_series;

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

static const double *runs_of(const run_series *s) { return s->clock == CLT_CLOCK_DEVICE ? s->device_s : s->host_s; }

static double least_of(const double *values, size_t n) {
  double min = INFINITY;
  for (size_t i = 0; i < n; i++) min = fmin(min, values[i]);
  return min;
}

/* Makes one run, or the mean of several, and verifies it if it began with poison. Only the runs are timed. */
static int time_run(run_series *s, clt_prepared *prepared, clt_restore level, size_t n_together, clt_measurement *m,
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
    /* A short run with impossible timestamps is repeated; after too many, the host's clock counts. 0: below a tick. */
    bool possible = s->clock == CLT_CLOCK_HOST || clt_clock_possible(run.device_s, run.host_s + executor->tick_s);
    odd = !possible && run.device_s != 0 && run.host_s < 10 * SHORT_S && s->n_odd++ < SPARE_RUNS + s->n;
    if (!possible && !odd) s->clock = CLT_CLOCK_HOST;
  }
  s->host_s[s->n] = run.host_s / (double)n_together;
  s->device_s[s->n] = run.device_s / (double)n_together;
  s->poisoned[s->n++] = level != CLT_RESTORE_INPUTS;
  return level == CLT_RESTORE_INPUTS ? CLT_OK : clt_bindings_verify(&prepared->bindings, executor, false, m);
}

/* Detects kernels that are slower if the output is not there already. Poison alone, and what the host did just before,
 * also slow a run down; so pairs of runs decide whose outputs were written in the same way, in both orders. */
static int compare_contents(const run_series *s, clt_prepared *prepared, const clt_timing_policy *policy,
                            clt_measurement *m, clt_error *error) {
  /* Of runs that are timed together, only the first finds the prepared output, so single runs are compared. */
  const bool several = prepared->n_together > 1;
  run_series c = {.clock = several ? CLT_CLOCK_HOST : s->clock, .cold = s->cold};
  double least_s[2] = {INFINITY, INFINITY}, wrong_s[MAX_PAIRS], right_s[MAX_PAIRS], begun_s = clt_now_s();
  for (size_t i = 0; i < s->n; i++) least_s[s->poisoned[i]] = fmin(least_s[s->poisoned[i]], runs_of(s)[i]);
  if (!several && (isinf(least_s[0]) || least_s[1] <= SUSPECT * least_s[0])) return CLT_OK;
  size_t n = 0;
  while (n < MIN_PAIRS || (n < MAX_PAIRS && clt_now_s() - begun_s < policy->max_total_s)) {
    for (size_t i = n; i < n + 2; i++) { /* right contents where i is odd */
      int rc = clt_bindings_preset(&prepared->bindings, prepared->executor, i % 2, m, error);
      if (rc == CLT_OK) rc = time_run(&c, prepared, CLT_RESTORE_INPUTS, 1, m, error);
      if (rc) return rc;
    }
    n++;
    for (size_t i = 0; i < n; i++) wrong_s[i] = runs_of(&c)[2 * i + i % 2], right_s[i] = runs_of(&c)[2 * i + 1 - i % 2];
    if (n >= MIN_PAIRS && least_of(wrong_s, n) <= SUSPECT * least_of(right_s, n)) return CLT_OK;
  }
  double ratio = least_of(wrong_s, n) / clt_median(right_s, n);
  for (size_t i = 0; i < n; i++) ratio = least_of(wrong_s, n) > right_s[i] ? ratio : 0; /* all pairs must agree */
  if (!(ratio > SUSPECT)) return CLT_OK;
  return clt_reject(m, CLT_REASON_WRONG_OUTPUT,
                    "a run takes %.1f times as long if the output buffers do not already hold the result", ratio);
}

/* True if a run is too short for the device's clock; more runs are then timed together. *clock becomes the host's if
 * inputs must be restored or caches emptied in between, or if that would take too long. */
static bool lengthen_run(const run_series *s, clt_prepared *prepared, double max_total_s, clt_clock *clock) {
  const double tick_s = prepared->executor->tick_s, n = (double)prepared->n_together;
  const double device_s = s->device_s[0] * n, wanted_s = TICKS * tick_s;
  if (*clock == CLT_CLOCK_HOST || device_s < 0 || device_s >= wanted_s) return false;
  const bool stands = device_s == 0 && n > 1; /* the clock may have stopped */
  if (s->cold || clt_bindings_change_inputs(&prepared->bindings) ||
      s->host_s[0] * n >= (stands ? wanted_s : LONGEST_SHARE * max_total_s))
    return *clock = CLT_CLOCK_HOST, false;
  prepared->n_together = 1 + (size_t)(n * fmin(MOST_LONGER, LONGER * wanted_s / fmax(device_s, tick_s)));
  return true;
}

/* Scratch memory gets new content before the first of these runs only, outputs before most of them. A kernel whose
 * later runs do less than its first leaves poison or an incorrect result behind. */
static int time_series(run_series *s, clt_prepared *prepared, const clt_timing_policy *policy, clt_measurement *m,
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
    /* The warm-up counts as the run if it shows that repeating is not worthwhile, or if it takes the whole time for
     * runs: a run this long gains little from being warm. */
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
    /* If the end of a run was noticed late, a few more runs show which clock is correct. */
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

/* Measures the energy of one run. Counters are updated every millisecond (powercap) to every tenth of a second
 * (NVML), so this is the mean over the runs that fill energy_s (at least one). They run without waits in between,
 * unless inputs must be restored before each. NaN if the counter does not change. */
static int measure_energy(clt_prepared *prepared, double energy_s, clt_measurement *m, clt_error *error) {
  clt_executor *executor = prepared->executor;
  const bool restore = clt_bindings_change_inputs(&prepared->bindings);
  double of_time = m->time_s > 0 ? fmin(fmax(GROUP_S / m->time_s, 1), MOST_IN_GROUP) : 1;
  size_t group = restore ? 1 : (size_t)of_time, n_runs = 0; /* restoring inputs may take long */
  double before_J = 0, after_J = 0, elapsed_s = 0;
  int rc = executor->meter ? CLT_OK : clt_energy_open(&executor->meter, &executor->info, error);
  if (rc == 0) rc = clt_energy_read(executor->meter, &before_J, error);
  double started_s = clt_now_s();
  executor->exact_end = true; /* the device is idle until the end of the runs is noticed */
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
  run_series s = {.clock = executor->clock, .cold = policy->cold};
  int rc = clt_executor_usable(executor, error);
  if (rc) return rc;
  if (policy->min_runs < 1 || policy->min_runs > policy->max_runs || policy->max_runs > CLT_MAX_RUNS)
    return clt_fail(error, CLT_E_ARGUMENT, "%u to %u runs are not possible; choose from 1 to %d", policy->min_runs,
                    policy->max_runs, CLT_MAX_RUNS);
  if (measurement->n_runs >= CLT_MAX_RUNS)
    return clt_fail(error, CLT_E_ARGUMENT, "the measurement already has the maximum number of runs");
  /* A first run that took many times the best time, even with cold caches, is not repeated, unless it is short.
   * Repeating short runs exposes more of a kernel's faults. */
  if (policy->best_s > 0 && prepared->first_run_s >= SHORT_S &&
      prepared->first_run_s > FAR_BEHIND * policy->abandon_factor * policy->best_s &&
      executor->clock == CLT_CLOCK_DEVICE && measurement->n_runs == 0 && policy->warm_up)
    s.host_s[0] = s.device_s[0] = prepared->first_run_s, s.n = 1;
  else
    rc = time_series(&s, prepared, policy, measurement, error);
  if (rc == 0) {
    /* Runs of different clocks are not mixed: if the device's clock proved unreliable, its runs are dropped. */
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
