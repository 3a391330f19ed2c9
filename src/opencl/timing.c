/* Chooses the clock, runs a plan's launches, times prepared configurations, and measures their energy. */
#include "base/base.h"
#include "device/device.h"
#include "measurement/measurement.h"
#include "opencl/internal.h"

/* With this many ticks of the device's clock, a run is known to 1 %. */
#define TICKS 100
#define LONG_RUN_S 1.0 /* a run this long gains nothing from a warm-up */
#define FAR_BEHIND 4.0 /* times the abandon limit, as a first run has cold caches and untouched memory pages */
#define SHORT_S 0.01   /* repeating runs is cheap up to this total; a single disturbance can affect all of them */
#define CHANCES 4      /* cheap runs that are made before a configuration is given up as slow */
#define GROUP_S 0.02   /* seconds of runs for energy between two readings of the clock; deadlines restart as often */
#define MOST_IN_GROUP 256
#define SPARE_RUNS 3   /* runs with impossible timestamps that are tolerated, beyond the number of good ones */
#define PATIENCE 10    /* times energy_s, if the counter does not change */
#define MOST_REPEATS 5 /* of a series of runs during which the device was slowed down */

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
/* A run that takes this many times as long with poison is suspect. At least three pairs of runs, with an incorrect and
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
                             .launch_s = search->launch_s,
                             .usual_step_s = search->usual_step_s,
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
    if (rc == CLT_OK && s->cold) rc = clt_executor_cool(executor, m, error);
    m->phases.verify_s += clt_now_s() - started;
    if (rc) return rc;
    clt_executor_announce(executor, CLT_PHASE_RUNNING);
    executor->exact_end = s->clock == CLT_CLOCK_HOST;
    prepared->bindings.checked = false;
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
    for (size_t i = n; i < n + 2; i++) { /* correct contents if i is odd */
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
  if (rc == CLT_OK) rc = clt_energy_read(executor->meter, &before_J, error);
  double started_s = clt_now_s();
  executor->exact_end = true; /* the device is idle until the end of the runs is noticed */
  after_J = before_J;
  while (rc == CLT_OK && (elapsed_s < energy_s || (after_J <= before_J && elapsed_s < PATIENCE * energy_s))) {
    clt_run run;
    if (restore) rc = clt_bindings_restore(&prepared->bindings, executor, CLT_RESTORE_INPUTS, m, error);
    clt_executor_announce(executor, CLT_PHASE_RUNNING);
    prepared->bindings.checked = false;
    if (rc == CLT_OK) rc = clt_launch_run(&run, executor, &prepared->program, prepared->plan, group, m);
    n_runs += group;
    elapsed_s = clt_now_s() - started_s;
    if (rc == CLT_OK && elapsed_s >= energy_s) rc = clt_energy_read(executor->meter, &after_J, error);
  }
  m->phases.runs_s += elapsed_s;
  if (rc == CLT_OK) m->energy_J = after_J > before_J ? (after_J - before_J) / (double)n_runs : NAN;
  if (rc == CLT_OK) m->state.busy_share = fmin((double)n_runs * m->time_s / elapsed_s, 1);
  return rc;
}

/* --- all of it --- */

int clt_executor_time(clt_executor *executor, clt_prepared *prepared, const clt_timing_policy *policy,
                      clt_measurement *measurement, clt_error *error) {
  const run_series none = {.clock = executor->clock, .cold = policy->cold};
  run_series s = none;
  int rc = clt_executor_usable(executor, error);
  if (rc) return rc;
  if (policy->min_runs < 1 || policy->min_runs > policy->max_runs || policy->max_runs > CLT_MAX_RUNS)
    return clt_fail(error, CLT_E_ARGUMENT, "%u to %u runs are not possible; choose from 1 to %d", policy->min_runs,
                    policy->max_runs, CLT_MAX_RUNS);
  if (measurement->n_runs >= CLT_MAX_RUNS)
    return clt_fail(error, CLT_E_ARGUMENT, "the measurement already has the maximum number of runs");
  /* A first run that took many times the best time, even with cold caches, is not repeated, unless it is short.
   * Repeating short runs exposes more of a kernel's faults. Nor is one repeated that took the whole time for runs. */
  const bool far_behind =
      policy->best_s > 0 && prepared->first_run_s > FAR_BEHIND * policy->abandon_factor * policy->best_s;
  const bool fills_time =
      policy->min_runs < policy->max_runs && !policy->cold && prepared->first_run_s >= policy->max_total_s;
  if ((far_behind || fills_time) && prepared->first_run_s >= SHORT_S && executor->clock == CLT_CLOCK_DEVICE &&
      measurement->n_runs == 0 && policy->warm_up)
    s.host_s[0] = s.device_s[0] = prepared->first_run_s, s.n = 1;
  bool repeats = s.n == 0;
  for (int i = 0; rc == CLT_OK && repeats; i++) {
    s = none;
    clt_state_begin(executor, policy);
    rc = time_series(&s, prepared, policy, measurement, error);
    repeats = rc == CLT_OK && clt_state_end(executor, measurement, i < MOST_REPEATS);
  }
  if (rc == CLT_OK) {
    /* Runs of different clocks are not mixed: if the device's clock proved unreliable, its runs are dropped. */
    if (measurement->n_runs && measurement->clock == CLT_CLOCK_HOST) s.clock = CLT_CLOCK_HOST;
    if (measurement->clock != s.clock) measurement->n_runs = 0;
    memcpy(measurement->runs_s + measurement->n_runs, runs_of(&s), s.n * sizeof *measurement->runs_s);
    measurement->n_runs += s.n;
    measurement->clock = s.clock;
    measurement->time_s = least_of(measurement->runs_s, measurement->n_runs);
    if (s.clock != executor->clock) measurement->state.launch_s = NAN;
  }
  if (rc == CLT_OK && policy->energy_s > 0) rc = measure_energy(prepared, policy->energy_s, measurement, error);
  if (rc == CLT_OK) rc = clt_bindings_verify(&prepared->bindings, executor, true, measurement);
  executor->exact_end = false;
  if (rc == CLT_REJECTED) clt_executor_fault(executor, &prepared->bindings, measurement);
  clt_executor_announce(executor, CLT_PHASE_DONE);
  return rc == CLT_REJECTED ? CLT_OK : rc;
}
