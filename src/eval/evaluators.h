/* eval/evaluators.h - the evaluators of the table. */
#ifndef CLT_EVAL_EVALUATORS_H
#define CLT_EVAL_EVALUATORS_H

#include <clatune/sys/evaluator.h>

extern const clt_evaluator_type clt_evaluator_opencl;
extern const clt_evaluator_type clt_evaluator_inprocess;
extern const clt_evaluator_type clt_evaluator_synthetic;
extern const clt_evaluator_type clt_evaluator_replay;  /* answers from a recording */
extern const clt_evaluator_type clt_evaluator_command; /* runs programs */

#endif
