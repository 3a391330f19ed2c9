/* eval/evaluators.h - the evaluators of the table. */
#ifndef CLT_EVAL_EVALUATORS_H
#define CLT_EVAL_EVALUATORS_H

#include <clatune/sys/evaluator.h>

extern const clt_evaluator_type clt_evaluator_opencl;
extern const clt_evaluator_type clt_evaluator_inprocess;
extern const clt_evaluator_type clt_evaluator_synthetic;
extern const clt_evaluator_type clt_evaluator_replay;  /* answers from a recording */
extern const clt_evaluator_type clt_evaluator_command; /* runs programs */

/* What may be why a kernel's result is wrong: warns, where the kernel's arguments have the names of the problem's, but
 * stand in another order. Builds the configuration once more; says nothing where that fails. */
void clt_check_arguments(const clt_instance *instance, clt_config config, clt_log_fn log, void *log_user);

#endif
