/* The table of evaluators, and their common parts: how often a configuration is run, and checks of what is asked. */
#include "eval/evaluators.h"
#include "base/base.h"
#include "problem/guidance.h"

int clt_run_options_policy(clt_timing_policy *out, const clt_run_options *o, const clt_evaluator_setup *setup,
                           clt_error *error) {
  const bool cold = clt_problem_guidance(clt_instance_problem(setup->instance))->cold_cache;
  if (cold && setup->energy)
    return clt_fail(
        error, CLT_E_UNSUPPORTED,
        "energy cannot be measured with cold caches, because emptying them between runs uses energy, too; choose "
        "'--cache=warm' or another objective");
  if (o->min_runs > o->max_runs)
    return clt_fail(error, CLT_E_ARGUMENT, "option 'min-runs' (%lld) is greater than 'max-runs' (%lld)",
                    (long long)o->min_runs, (long long)o->max_runs);
  *out = (clt_timing_policy){.min_runs = (unsigned)o->min_runs,
                             .max_runs = (unsigned)o->max_runs,
                             .max_total_s = o->max_total_s,
                             .steady_relative = o->steady,
                             .abandon_factor = o->abandon_factor,
                             .warm_up = true,
                             .cold = cold};
  return CLT_OK;
}

clt_plugins clt_evaluators = {"an evaluator",
                              CLT_EVALUATOR_ABI,
                              offsetof(clt_evaluator_type, options),
                              {&clt_evaluator_opencl, &clt_evaluator_inprocess, &clt_evaluator_synthetic,
                               &clt_evaluator_replay, &clt_evaluator_command}};

const clt_evaluator_type *clt_evaluator_find(const char *name) { return clt_plugin_find(&clt_evaluators, name); }

int clt_evaluator_register(const clt_evaluator_type *type, clt_error *error) {
  return clt_plugin_register(&clt_evaluators, type, true, error);
}
