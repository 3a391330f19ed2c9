#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "opencl/clock.h"
#include "opencl/prepared.h"

#define FAR_BEHIND 4.0 /* a first run has cold caches and pages that nobody touched yet */
#define SHORT_S 0.01   /* runs of less in all are cheap, and all of them may have been disturbed by the same thing */
#define CHANCES 4      /* so many of those are made before a configuration is left alone */

/* The runs of one call, by both clocks: which of them counts is known at the end. */
typedef struct series {
  double host_s[CLT_MAX_RUNS], device_s[CLT_MAX_RUNS];
  size_t n;
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

static int check_policy(const clt_timing_policy *policy, const clt_measurement *m, clt_error *error) {
  if (policy->min_runs < 1 || policy->min_runs > policy->max_runs || policy->max_runs > CLT_MAX_RUNS)
    return clt_fail(error, CLT_E_ARGUMENT, "cannot make %u to %u runs; 1 to %d are possible", policy->min_runs,
                    policy->max_runs, CLT_MAX_RUNS);
  if (m->n_runs >= CLT_MAX_RUNS) return clt_fail(error, CLT_E_ARGUMENT, "the measurement has all of its runs already");
  return CLT_OK;
}

static const double *runs_of(const series *s) { return s->clock == CLT_CLOCK_DEVICE ? s->device_s : s->host_s; }

static double least(const double *values, size_t n) {
  double min = INFINITY;
  for (size_t i = 0; i < n; i++) min = fmin(min, values[i]);
  return min;
}

static bool enough(const series *s, const clt_timing_policy *policy, size_t capacity, double elapsed_s) {
  const double *runs = runs_of(s);
  if (s->n >= policy->max_runs || s->n >= capacity) return true;
  bool cheap = elapsed_s<SHORT_S, behind = least(runs, s->n)> policy->abandon_factor * policy->best_s;
  if (policy->best_s > 0 && behind && (s->n >= CHANCES || !cheap)) return true;
  if (elapsed_s >= policy->max_total_s) return true;
  /* The estimate is the minimum. */
  return s->n >= policy->min_runs && !cheap && clt_runs_steady(runs, s->n, policy->steady_relative);
}

/* One run with its inputs restored; what restoring takes is not timed. */
static int run_once(clt_run *run, clt_prepared *prepared, clt_restore level, clt_measurement *m, clt_error *error) {
  clt_executor *executor = prepared->executor;
  double started = clt_now_s();
  int rc = clt_bindings_restore(&prepared->bindings, executor, level, m, error);
  m->phases.verify_s += clt_now_s() - started;
  if (rc) return rc;
  clt_executor_announce(executor, CLT_PHASE_RUNNING);
  rc = clt_launch_run(run, executor, &prepared->program, prepared->plan, m);
  if (rc == 0) m->phases.runs_s += run->host_s;
  return rc;
}

static void keep(series *s, const clt_run *run) {
  s->host_s[s->n] = run->host_s;
  s->device_s[s->n++] = run->device_s;
  if (!clt_clock_possible(run->device_s, run->host_s)) s->clock = CLT_CLOCK_HOST;
}

/* A warm-up that shows that no run is worth repeating, or takes all the time that there is for runs, is the run: a run
 * so long gains little from being warm. */
static bool warm_up_suffices(const series *s, const clt_timing_policy *policy) {
  double run_s = runs_of(s)[0];
  bool behind = policy->best_s > 0 && run_s > 1.1 * policy->abandon_factor * policy->best_s;
  return run_s >= policy->max_total_s || (behind && run_s >= SHORT_S);
}

/* A first run that took many times the best, caches cold or not, is not repeated at all. */
static bool first_run_suffices(const clt_prepared *prepared, const clt_timing_policy *policy,
                               const clt_measurement *m) {
  bool counts = prepared->executor->clock == CLT_CLOCK_DEVICE && m->n_runs == 0 && policy->warm_up;
  return counts && policy->best_s > 0 && prepared->first_run_s > FAR_BEHIND * policy->abandon_factor * policy->best_s;
}

/* Outputs are poisoned before the first of these runs and not again, scratch never: a kernel whose later runs do less
 * than its first leaves poison or a wrong result behind. */
static int run_series(series *s, clt_prepared *prepared, const clt_timing_policy *policy, clt_measurement *m,
                      clt_error *error) {
  clt_run run;
  clt_restore level = CLT_RESTORE_OUTPUTS;
  const series none = *s;
  size_t capacity = CLT_MAX_RUNS - m->n_runs;
  bool last = false;
  int rc = CLT_OK;
  if (policy->warm_up) {
    rc = run_once(&run, prepared, level, m, error);
    level = CLT_RESTORE_INPUTS;
    if (rc == 0) keep(s, &run);
    last = rc == 0 && warm_up_suffices(s, policy);
    if (!last) *s = none;
  }
  double started = clt_now_s();
  while (rc == 0 && !last && (s->n == 0 || !enough(s, policy, capacity, clt_now_s() - started))) {
    rc = run_once(&run, prepared, level, m, error);
    level = CLT_RESTORE_INPUTS;
    if (rc == 0) keep(s, &run);
  }
  if (rc == 0 && !clt_clock_agrees(least(s->device_s, s->n), least(s->host_s, s->n))) s->clock = CLT_CLOCK_HOST;
  return rc;
}

/* Runs by two clocks cannot stand side by side: those of the device go where it turned out not to be trusted. */
static void append(clt_measurement *m, const series *s) {
  clt_clock clock = m->n_runs && m->clock == CLT_CLOCK_HOST ? CLT_CLOCK_HOST : s->clock;
  if (m->n_runs && m->clock != clock) m->n_runs = 0;
  memcpy(m->runs_s + m->n_runs, clock == CLT_CLOCK_DEVICE ? s->device_s : s->host_s, s->n * sizeof *m->runs_s);
  m->n_runs += s->n;
  m->clock = clock;
  m->time_s = least(m->runs_s, m->n_runs);
}

static int verify(clt_prepared *prepared, clt_measurement *m) {
  clt_executor *executor = prepared->executor;
  double started = clt_now_s();
  clt_executor_announce(executor, CLT_PHASE_VERIFY);
  int rc = clt_bindings_check(&prepared->bindings, executor, false, m);
  if (rc == 0) rc = clt_bindings_verify(&prepared->bindings, executor, m);
  m->phases.verify_s += clt_now_s() - started;
  return rc;
}

int clt_executor_time(clt_executor *executor, clt_prepared *prepared, const clt_timing_policy *policy,
                      clt_measurement *measurement, clt_error *error) {
  series s = {.clock = executor->clock};
  int rc = clt_executor_usable(executor, error);
  if (rc == 0) rc = check_policy(policy, measurement, error);
  if (rc) return rc;
  if (first_run_suffices(prepared, policy, measurement))
    keep(&s, &(clt_run){prepared->first_run_s, prepared->first_run_s});
  else
    rc = run_series(&s, prepared, policy, measurement, error);
  if (rc == 0) append(measurement, &s);
  if (rc == 0 && policy->energy_s > 0) rc = clt_prepared_energy(prepared, policy->energy_s, measurement, error);
  if (rc == 0) rc = verify(prepared, measurement);
  clt_prepared_fault(executor, &prepared->bindings, measurement);
  clt_executor_announce(executor, CLT_PHASE_DONE);
  return clt_rejected_is_fine(rc);
}
