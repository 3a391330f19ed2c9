/* opencl/prepared.h - the inside of a prepared configuration. */
#ifndef CLT_OPENCL_PREPARED_H
#define CLT_OPENCL_PREPARED_H

#include "opencl/bindings.h"
#include "opencl/launch.h"

struct clt_prepared {
  clt_executor *executor;
  const clt_plan *plan;
  clt_program program;
  clt_bindings bindings;
  double first_run_s; /* at least so long; 0: not known */
};

/* clt_executor_prepare, which may leave out the comparison, and tells CLT_REJECTED apart. */
int clt_prepared_new(clt_prepared **out, clt_executor *executor, const clt_plan *plan, const clt_data *data,
                     bool compare, clt_measurement *m, clt_error *error);

/* CLT_E_OPENCL after a fault that the device did not survive. */
int clt_executor_usable(const clt_executor *executor, clt_error *error);

/* After a launch: where it failed, shared inputs are no longer trusted, and the device is asked whether it lives. */
void clt_prepared_fault(clt_executor *executor, const clt_bindings *bindings, const clt_measurement *m);

/* energy.c: the energy of one run, the mean over as many as fill energy_s (at least one); NaN where the counter does
 * not move. m has a time. 0, CLT_REJECTED or an error. */
int clt_prepared_energy(clt_prepared *prepared, double energy_s, clt_measurement *m, clt_error *error);

int clt_rejected_is_fine(int rc); /* to the room's callers a failed configuration is a success */

#endif
