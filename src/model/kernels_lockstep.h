/* model/kernels_lockstep.h - the name that this instruction set's lockstep trainer has, for the table in kernels.c. */
#ifndef CLT_MODEL_KERNELS_LOCKSTEP_H
#define CLT_MODEL_KERNELS_LOCKSTEP_H

struct clt_lockstep_task;

#define CLT_JOIN2(a, b) a##b
#define CLT_JOIN(a, b) CLT_JOIN2(a, b)
#define CLT_LOCKSTEP CLT_JOIN(CLT_KERNELS, _lockstep)

void CLT_LOCKSTEP(const struct clt_lockstep_task *task, float *weights, void *scratch);

#endif
