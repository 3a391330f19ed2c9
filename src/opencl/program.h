/* opencl/program.h - a plan's program: what the device allows, building, kernels, and the limits of the built kernels.
 */
#ifndef CLT_OPENCL_PROGRAM_H
#define CLT_OPENCL_PROGRAM_H

#include "opencl/context.h"

typedef struct clt_program {
  cl_program program;
  cl_kernel *kernels; /* one a launch: each keeps its own arguments */
  size_t n_kernels;
} clt_program;

/* All three: 0, CLT_REJECTED or an error. */

/* Before building: sizes that do not fit together are an error, what the device cannot do is device-limit. */
int clt_program_check_limits(const clt_executor *executor, const clt_plan *plan, clt_measurement *m, clt_error *error);
/* Builds, with the log kept where that fails. On PoCL with the declarations that the source mentions
 * (opencl/declarations.h); where that fails, in the driver's own way, and from then on only so if that succeeds. */
int clt_program_build(clt_program *out, clt_executor *executor, const clt_plan *plan, clt_measurement *m,
                      clt_error *error);
/* The built kernels' limits; asked before arguments are set, since drivers differ in whether they count local
 * arguments. */
int clt_program_check_kernels(const clt_program *program, const clt_executor *executor, const clt_plan *plan,
                              clt_measurement *m);
void clt_program_release(clt_program *program);

#endif
