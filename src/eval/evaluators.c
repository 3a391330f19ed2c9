#include "eval/evaluators.h"

#include <string.h>

static const clt_evaluator_type *const table[] = {&clt_evaluator_opencl, &clt_evaluator_inprocess,
                                                  &clt_evaluator_synthetic, &clt_evaluator_replay,
                                                  &clt_evaluator_command};

size_t clt_n_evaluators(void) { return sizeof table / sizeof *table; }

const clt_evaluator_type *clt_evaluator_at(size_t index) { return table[index]; }

const clt_evaluator_type *clt_evaluator_find(const char *name) {
  for (size_t i = 0; i < clt_n_evaluators(); i++)
    if (strcmp(table[i]->name, name) == 0) return table[i];
  return NULL;
}
