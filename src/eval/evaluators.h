/* eval/evaluators.h - the built-in evaluators, and the options that several of them share. */
#pragma once

#include <clatune/sys/evaluator.h>

#include "base/plugin.h"
#include "opencl/timing.h"
#include "worker/pool.h"

extern const clt_evaluator_type clt_evaluator_opencl;
extern const clt_evaluator_type clt_evaluator_inprocess;
extern const clt_evaluator_type clt_evaluator_synthetic;
extern const clt_evaluator_type clt_evaluator_replay;  /* answers from a recording */
extern const clt_evaluator_type clt_evaluator_command; /* runs programs */

/* The members that all evaluators' structs have in common. */
#define CLT_EVALUATOR(TABLE, OPTIONS, STATE) \
  .abi = CLT_EVALUATOR_ABI, CLT_OPTIONS(TABLE, OPTIONS), .state_size = sizeof(STATE)

/* How often a configuration is run: options of several evaluators. The macro gives their entries for the option
 * table of a struct `of`, whose member `runs` holds them; max_total is the default of max-run-time. */
typedef struct clt_run_options {
  int64_t min_runs, max_runs;
  double max_total_s, steady, abandon_factor;
} clt_run_options;
/* clang-format off */
#define CLT_RUN_OPTIONS(of, max_total)                                                                                \
  {"min-runs", CLT_OPTION_INT, CLT_TIMING_TEXT(CLT_TIMING_MIN_RUNS), 1, CLT_MAX_RUNS, offsetof(of, runs.min_runs),    \
   "minimum timed runs per configuration"},                                                                           \
  {"max-runs", CLT_OPTION_INT, CLT_TIMING_TEXT(CLT_TIMING_MAX_RUNS), 1, CLT_MAX_RUNS, offsetof(of, runs.max_runs),    \
   "maximum timed runs per configuration"},                                                                           \
  {"max-run-time", CLT_OPTION_SECONDS, max_total, 0, 1e6, offsetof(of, runs.max_total_s),                             \
   "time after which runs are not repeated, in seconds"},                                                             \
  {"steady", CLT_OPTION_REAL, CLT_TIMING_TEXT(CLT_TIMING_STEADY), 0, 1, offsetof(of, runs.steady),                    \
   "relative difference of the two shortest runs at which timing ends"},                                              \
  {"abandon-factor", CLT_OPTION_REAL, CLT_TIMING_TEXT(CLT_TIMING_ABANDON), 0, 1e9, offsetof(of, runs.abandon_factor), \
   "a configuration is not run again if its first run takes this many times the best; 0: no limit"}
/* clang-format on */

/* The timing policy that the options describe, with a warm-up, and with cold caches if the problem asks for them.
 * CLT_E_ARGUMENT if the options contradict each other, CLT_E_UNSUPPORTED for cold caches with energy. */
int clt_run_options_policy(clt_timing_policy *out, const clt_run_options *options, const clt_evaluator_setup *setup,
                           clt_error *error);

extern clt_plugins clt_evaluators; /* of clt_evaluator_type */
