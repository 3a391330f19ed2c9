/* eval/evaluators.h - the evaluators of the table. */
#ifndef CLT_EVAL_EVALUATORS_H
#define CLT_EVAL_EVALUATORS_H

#include <clatune/sys/evaluator.h>

#include "base/plugin.h"
#include "opencl/timing.h"

extern const clt_evaluator_type clt_evaluator_opencl;
extern const clt_evaluator_type clt_evaluator_inprocess;
extern const clt_evaluator_type clt_evaluator_synthetic;
extern const clt_evaluator_type clt_evaluator_replay;  /* answers from a recording */
extern const clt_evaluator_type clt_evaluator_command; /* runs programs */

/* What their tables have in common. */
#define CLT_EVALUATOR(TABLE, OPTIONS, STATE)                                             \
  .abi = CLT_EVALUATOR_ABI, .options = TABLE, .n_options = sizeof TABLE / sizeof *TABLE, \
  .options_size = sizeof(OPTIONS), .state_size = sizeof(STATE)

/* How often a configuration is run: options that several evaluators have. The macro is their entries in the table of a
 * struct of the given type, where they are the member `runs`. */
typedef struct clt_run_options {
  int64_t min_runs, max_runs;
  double max_total_s, steady, abandon_factor;
} clt_run_options;
/* clang-format off */
#define CLT_RUN_OPTIONS(of, max_total)                                                                                \
  {"min-runs", CLT_OPTION_INT, CLT_TIMING_TEXT(CLT_TIMING_MIN_RUNS), 1, CLT_MAX_RUNS, offsetof(of, runs.min_runs),    \
   "Timed runs of a configuration at least."},                                                                        \
  {"max-runs", CLT_OPTION_INT, CLT_TIMING_TEXT(CLT_TIMING_MAX_RUNS), 1, CLT_MAX_RUNS, offsetof(of, runs.max_runs),    \
   "Timed runs of a configuration at most."},                                                                         \
  {"max-run-time", CLT_OPTION_SECONDS, max_total, 0, 1e6, offsetof(of, runs.max_total_s),                                \
   "Seconds after which runs are not repeated."},                                                                     \
  {"steady", CLT_OPTION_REAL, CLT_TIMING_TEXT(CLT_TIMING_STEADY), 0, 1, offsetof(of, runs.steady),                    \
   "Relative spread of the best runs under which a result counts as known."},                                         \
  {"abandon-factor", CLT_OPTION_REAL, CLT_TIMING_TEXT(CLT_TIMING_ABANDON), 0, 1e9, offsetof(of, runs.abandon_factor), \
   "A configuration whose first run is this many times the best so far is not repeated; 0: all are."}
/* clang-format on */

/* What they say, with a warm-up, and with cold caches where the problem says so. CLT_E_ARGUMENT where they do not fit
 * together, CLT_E_UNSUPPORTED for cold caches and energy. */
int clt_run_options_policy(clt_timing_policy *out, const clt_run_options *options, const clt_evaluator_setup *setup,
                           clt_error *error);

extern clt_plugins clt_evaluators; /* of clt_evaluator_type */

#endif
