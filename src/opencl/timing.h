/* opencl/timing.h - the phases of a measurement, how often a prepared configuration is run, and the one table of what
 * is done where nobody says otherwise: the evaluators' options take their defaults from here. Calls no OpenCL. */
#ifndef CLT_OPENCL_TIMING_H
#define CLT_OPENCL_TIMING_H

#include <stdbool.h>
#include <stddef.h>

/* Chosen, not fitted: three runs show whether a time repeats, 16 and one second bound what a configuration may cost, 2
 * % is the noise floor of an idle machine, and a first run half as slow again as the best does not come back within it.
 * Literals, since options are given their defaults as text. */
#define CLT_TIMING_MIN_RUNS 3
#define CLT_TIMING_MAX_RUNS 16
#define CLT_TIMING_MAX_TOTAL_S 1
#define CLT_TIMING_STEADY 0.02
#define CLT_TIMING_ABANDON 1.5
#define CLT_TIMING_TEXT(x) CLT_TIMING_TEXT_(x) /* "16": CLT_TIMING_TEXT(CLT_TIMING_MAX_RUNS) */
#define CLT_TIMING_TEXT_(x) #x

typedef struct clt_timing_policy {
  unsigned min_runs, max_runs; /* 1 .. CLT_MAX_RUNS */
  double max_total_s;          /* stop repeating after this long */
  double steady_relative;      /* steady when the spread of the best runs is under this fraction */
  double best_s;               /* best so far (0: none): */
  double abandon_factor;       /* ... one run slower than factor * best_s is not repeated */
  bool warm_up;
  bool cold;       /* before each run the device's caches are filled with something else; not with energy_s */
  double energy_s; /* afterwards the energy of a run is measured over so long; 0: it is not */
} clt_timing_policy;

/* The defaults above, with a warm-up. */
void clt_timing_policy_init(clt_timing_policy *policy);

/* Of a finalist that takes its turn, after a search: so many runs, and a single one where that is long, as it gains
 * nothing from a warm-up. */
clt_timing_policy clt_timing_turn(size_t n_runs, const clt_timing_policy *search);

/* What a configuration is at; deadlines and the blame for a crash depend on it. */
typedef enum clt_phase {
  CLT_PHASE_BUILD,
  CLT_PHASE_LAUNCH,
  CLT_PHASE_RUNNING,
  CLT_PHASE_VERIFY,
  CLT_PHASE_DONE,
  CLT_N_PHASES
} clt_phase;

#endif
