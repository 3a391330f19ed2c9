#include "eval/evaluators.h"

clt_plugins clt_evaluators = {"an evaluator",
                              CLT_EVALUATOR_ABI,
                              offsetof(clt_evaluator_type, options),
                              {&clt_evaluator_opencl, &clt_evaluator_inprocess, &clt_evaluator_synthetic,
                               &clt_evaluator_replay, &clt_evaluator_command}};

const clt_evaluator_type *clt_evaluator_find(const char *name) { return clt_plugin_find(&clt_evaluators, name); }

int clt_evaluator_register(const clt_evaluator_type *type, clt_error *error) {
  return clt_plugin_register(&clt_evaluators, type, true, error);
}
