/* Timing a prepared configuration, and the energy of its runs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "device/energy.h"
#include "measurement/statistics.h"
#include "opencl/internal.h"

#define FAR_BEHIND 4.0 /* times too slow: a first run has cold caches and pages that nobody touched yet */
#define SHORT_S 0.01   /* runs of less in all are cheap, and all of them may have been disturbed by the same thing */
#define CHANCES 4      /* so many of those are made before a configuration is left alone */
#define GROUP_S 0.02   /* of runs for energy, between two looks at the clock; and so often deadlines begin anew */
#define MOST_IN_GROUP 256
#define PATIENCE 10 /* times the window, for a counter that does not move */

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

static const double *runs_of(const series *s) { return s->clock == CLT_CLOCK_DEVICE ? s->device_s : s->host_s; }

static double least_of(const double *values, size_t n) {
  double min = INFINITY;
  for (size_t i = 0; i < n; i++) min = fmin(min, values[i]);
  return min;
}

static bool has_enough_runs(const series *s, const clt_timing_policy *policy, size_t capacity, double elapsed_s) {
  const double *runs = runs_of(s);
  if (s->n >= policy->max_runs || s->n >= capacity) return true;
  bool cheap = elapsed_s<SHORT_S, behind = least_of(runs, s->n)> policy->abandon_factor * policy->best_s;
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
  rc = clt_launch_run(run, executor, &prepared->program, prepared->plan, 1, m);
  if (rc == 0) m->phases.runs_s += run->host_s;
  return rc;
}

static void keep_run(series *s, const clt_run *run) {
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
    if (rc == 0) keep_run(s, &run);
    last = rc == 0 && warm_up_suffices(s, policy);
    if (!last) *s = none;
  }
  double started = clt_now_s();
  while (rc == 0 && !last && (s->n == 0 || !has_enough_runs(s, policy, capacity, clt_now_s() - started))) {
    rc = run_once(&run, prepared, level, m, error);
    level = CLT_RESTORE_INPUTS;
    if (rc == 0) keep_run(s, &run);
  }
  if (rc == 0 && !clt_clock_agrees(least_of(s->device_s, s->n), least_of(s->host_s, s->n))) s->clock = CLT_CLOCK_HOST;
  return rc;
}

/* Runs by two clocks cannot stand side by side: those of the device go where it turned out not to be trusted. */
static void append_runs(clt_measurement *m, const series *s) {
  clt_clock clock = m->n_runs && m->clock == CLT_CLOCK_HOST ? CLT_CLOCK_HOST : s->clock;
  if (m->n_runs && m->clock != clock) m->n_runs = 0;
  memcpy(m->runs_s + m->n_runs, clock == CLT_CLOCK_DEVICE ? s->device_s : s->host_s, s->n * sizeof *m->runs_s);
  m->n_runs += s->n;
  m->clock = clock;
  m->time_s = least_of(m->runs_s, m->n_runs);
}

/* --- energy --- */

static int read_meter(clt_executor *executor, double *energy_J, clt_error *error) {
  int rc = executor->meter ? 0 : clt_energy_open(&executor->meter, &executor->info, error);
  return rc ? rc : clt_energy_read(executor->meter, energy_J, error);
}

/* The energy of one run: counters move every millisecond (powercap) to every tenth of a second (NVML), so it is the
 * mean over many, those that fill energy_s (at least one). They are done without waiting between them, unless inputs
 * have to be restored before each. NaN where the counter does not move. */
static int measure_energy(clt_prepared *prepared, double energy_s, clt_measurement *m, clt_error *error) {
  clt_executor *executor = prepared->executor;
  bool restore = clt_bindings_change_inputs(&prepared->bindings);
  double of_time = m->time_s > 0 ? fmin(fmax(GROUP_S / m->time_s, 1), MOST_IN_GROUP) : 1;
  size_t group = restore ? 1 : (size_t)of_time, n_runs = 0; /* restoring may take long */
  double before_J = 0, after_J = 0, elapsed_s = 0;
  int rc = read_meter(executor, &before_J, error);
  double started_s = clt_now_s();
  after_J = before_J;
  while (rc == 0 && (elapsed_s < energy_s || (after_J <= before_J && elapsed_s < PATIENCE * energy_s))) {
    clt_run run;
    if (restore) rc = clt_bindings_restore(&prepared->bindings, executor, CLT_RESTORE_INPUTS, m, error);
    clt_executor_announce(executor, CLT_PHASE_RUNNING);
    if (rc == 0) rc = clt_launch_run(&run, executor, &prepared->program, prepared->plan, group, m);
    n_runs += group;
    elapsed_s = clt_now_s() - started_s;
    if (rc == 0 && elapsed_s >= energy_s) rc = read_meter(executor, &after_J, error);
  }
  m->phases.runs_s += elapsed_s;
  if (rc == 0) m->energy_J = after_J > before_J ? (after_J - before_J) / (double)n_runs : NAN;
  return rc;
}

/* --- all of it --- */

int clt_executor_time(clt_executor *executor, clt_prepared *prepared, const clt_timing_policy *policy,
                      clt_measurement *measurement, clt_error *error) {
  series s = {.clock = executor->clock};
  int rc = clt_executor_usable(executor, error);
  if (rc) return rc;
  if (policy->min_runs < 1 || policy->min_runs > policy->max_runs || policy->max_runs > CLT_MAX_RUNS)
    return clt_fail(error, CLT_E_ARGUMENT, "cannot make %u to %u runs; 1 to %d are possible", policy->min_runs,
                    policy->max_runs, CLT_MAX_RUNS);
  if (measurement->n_runs >= CLT_MAX_RUNS)
    return clt_fail(error, CLT_E_ARGUMENT, "the measurement has all of its runs already");
  if (first_run_suffices(prepared, policy, measurement))
    keep_run(&s, &(clt_run){prepared->first_run_s, prepared->first_run_s});
  else
    rc = run_series(&s, prepared, policy, measurement, error);
  if (rc == 0) append_runs(measurement, &s);
  if (rc == 0 && policy->energy_s > 0) rc = measure_energy(prepared, policy->energy_s, measurement, error);
  if (rc == 0) rc = clt_bindings_verify(&prepared->bindings, executor, false, measurement);
  clt_prepared_fault(executor, &prepared->bindings, measurement);
  clt_executor_announce(executor, CLT_PHASE_DONE);
  return rc == CLT_REJECTED ? CLT_OK : rc;
}
