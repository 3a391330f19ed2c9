#include "eval/evaluators.h"

#include <string.h>

#include "base/fail.h"

#define MOST_EVALUATORS 32

static const clt_evaluator_type *table[MOST_EVALUATORS] = {&clt_evaluator_opencl, &clt_evaluator_inprocess,
                                                           &clt_evaluator_synthetic, &clt_evaluator_replay,
                                                           &clt_evaluator_command};

size_t clt_n_evaluators(void) {
  size_t n = 0;
  while (n < MOST_EVALUATORS && table[n]) n++;
  return n;
}

const clt_evaluator_type *clt_evaluator_at(size_t index) { return table[index]; }

const clt_evaluator_type *clt_evaluator_find(const char *name) {
  for (size_t i = 0; i < clt_n_evaluators(); i++)
    if (strcmp(table[i]->name, name) == 0) return table[i];
  return NULL;
}

int clt_evaluator_register(const clt_evaluator_type *type, clt_error *error) {
  size_t n = clt_n_evaluators();
  if (type->abi != CLT_EVALUATOR_ABI)
    return clt_fail(error, CLT_E_ARGUMENT, "the evaluator was built for ABI %u; this is %u", (unsigned)type->abi,
                    CLT_EVALUATOR_ABI);
  if (clt_evaluator_find(type->name))
    return clt_fail(error, CLT_E_ARGUMENT, "there is an evaluator '%s' already", type->name);
  if (n == MOST_EVALUATORS) return clt_fail(error, CLT_E_ARGUMENT, "there are %zu evaluators already", n);
  table[n] = type;
  return CLT_OK;
}

int clt_run_options_policy(clt_timing_policy *out, const clt_run_options *o, clt_error *error) {
  if (o->min_runs > o->max_runs)
    return clt_fail(error, CLT_E_ARGUMENT, "option 'min-runs' (%lld) is more than 'max-runs' (%lld)",
                    (long long)o->min_runs, (long long)o->max_runs);
  *out = (clt_timing_policy){.min_runs = (unsigned)o->min_runs,
                             .max_runs = (unsigned)o->max_runs,
                             .max_total_s = o->max_total_s,
                             .steady_relative = o->steady,
                             .abandon_factor = o->abandon_factor,
                             .warm_up = true};
  return CLT_OK;
}
