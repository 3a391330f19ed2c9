/* opencl/timing.h - the phases of a measurement, and how often a prepared configuration is run. The evaluators' options
 * take their defaults from here. Calls no OpenCL. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Chosen, not fitted: three runs show whether a time repeats, 16 runs and one second limit the cost of a configuration,
 * 2 % is the noise floor of an idle machine, and a configuration whose first run takes 1.5 times the best time does not
 * become the best. Literals, because options have their defaults as text. */
#define CLT_TIMING_MIN_RUNS 3
#define CLT_TIMING_MAX_RUNS 16
#define CLT_TIMING_MAX_TOTAL_S 1
#define CLT_TIMING_STEADY 0.02
#define CLT_TIMING_ABANDON 1.5
#define CLT_TIMING_TEXT(x) CLT_TIMING_TEXT_(x) /* "16": CLT_TIMING_TEXT(CLT_TIMING_MAX_RUNS) */
#define CLT_TIMING_TEXT_(x) #x

typedef struct clt_timing_policy {
  unsigned min_runs, max_runs; /* 1 .. CLT_MAX_RUNS */
  double max_total_s;          /* no run begins after so long */
  double steady_relative;      /* steady if the second shortest run is within this fraction of the shortest */
  double best_s;               /* the best so far; 0: none */
  double abandon_factor;       /* a configuration with a run above factor * best_s is not repeated */
  bool warm_up;
  bool cold;                     /* empty the device's caches before each run; not with energy_s */
  double launch_s, usual_step_s; /* what other processes found (clt_device_state); 0: not known */
  double energy_s;               /* seconds of repeated runs, afterwards, over which energy is measured; 0: it is not */
} clt_timing_policy;

/* The defaults above, with a warm-up. */
void clt_timing_policy_init(clt_timing_policy *policy);

/* The policy for a finalist in its turn: n_runs runs after a warm-up; a single run, without warm-up, if that is long.
 */
clt_timing_policy clt_timing_turn(size_t n_runs, const clt_timing_policy *search);

/* The current step of a configuration; deadlines and the blame for a crash depend on it. */
typedef enum clt_phase {
  CLT_PHASE_GENERATE, /* the problem's program writes the source, with a limit of its own */
  CLT_PHASE_BUILD,
  CLT_PHASE_LAUNCH,
  CLT_PHASE_RUNNING,
  CLT_PHASE_VERIFY,
  CLT_PHASE_COMPARE, /* the device is idle; the host compares what it has read back */
  CLT_PHASE_DONE,
  CLT_N_PHASES
} clt_phase;
