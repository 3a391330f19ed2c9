/* eval/evaluators.h - the evaluators of the table. */
#ifndef CLT_EVAL_EVALUATORS_H
#define CLT_EVAL_EVALUATORS_H

#include <clatune/sys/evaluator.h>

extern const clt_evaluator_type clt_evaluator_opencl;
extern const clt_evaluator_type clt_evaluator_inprocess;
extern const clt_evaluator_type clt_evaluator_synthetic;
extern const clt_evaluator_type clt_evaluator_replay;  /* answers from a recording */
extern const clt_evaluator_type clt_evaluator_command; /* runs programs */

/* All evaluators, built-in ones first; index < clt_n_evaluators(). */
size_t clt_n_evaluators(void);
const clt_evaluator_type *clt_evaluator_at(size_t index);

#endif
