/* opencl/launch.h - running a plan's launches once. */
#ifndef CLT_OPENCL_LAUNCH_H
#define CLT_OPENCL_LAUNCH_H

#include "opencl/program.h"

/* One run: all launches, repeats included. */
typedef struct clt_run {
  double host_s;   /* from before the first was enqueued until all have ended */
  double device_s; /* the sum of the launches' own durations; negative where an event gave none */
} clt_run;

/* The queue must be idle. 0 or CLT_REJECTED. */
int clt_launch_run(clt_run *out, const clt_executor *executor, const clt_program *program, const clt_plan *plan,
                   clt_measurement *m);

/* Several runs, none of which is waited for before the next (but every so often, for the events). The queue must be
 * idle. 0 or CLT_REJECTED. */
int clt_launch_runs(const clt_executor *executor, const clt_program *program, const clt_plan *plan, size_t n_runs,
                    clt_measurement *m);

/* The first run of a program: launches one after the other, and announces for each kernel that it is launched and, once
 * its event says so, that it runs: drivers compile in between. *least_s: what the run took at least, by both clocks
 * from when the driver said that it runs; 0 where that is not known. */
int clt_launch_first(double *least_s, const clt_executor *executor, const clt_program *program, const clt_plan *plan,
                     clt_measurement *m);

#endif
