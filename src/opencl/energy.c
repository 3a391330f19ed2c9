/* The energy of a run. Counters move every millisecond (powercap) to every tenth of a second (NVML), so it is the mean
 * over many runs: those that are done without waiting between them, unless inputs have to be restored before each. */
#include <math.h>

#include "base/clock.h"
#include "device/energy.h"
#include "opencl/prepared.h"

#define GROUP_S 0.02 /* of runs, between two looks at the clock; and so often deadlines begin anew */
#define MOST_IN_GROUP 256
#define PATIENCE 10 /* times the window, for a counter that does not move */

static size_t group_size(double time_s) {
  double n = time_s > 0 ? GROUP_S / time_s : 1;
  return n < 1 ? 1 : n > MOST_IN_GROUP ? MOST_IN_GROUP : (size_t)n;
}

static int run_group(clt_prepared *prepared, size_t n, bool restore, clt_measurement *m, clt_error *error) {
  clt_executor *executor = prepared->executor;
  int rc = CLT_OK;
  if (restore) rc = clt_bindings_restore(&prepared->bindings, executor, CLT_RESTORE_INPUTS, m, error);
  clt_executor_announce(executor, CLT_PHASE_RUNNING);
  return rc ? rc : clt_launch_runs(executor, &prepared->program, prepared->plan, n, m);
}

static int read_meter(clt_executor *executor, double *energy_J, clt_error *error) {
  int rc = executor->meter ? 0 : clt_energy_open(&executor->meter, &executor->info, error);
  return rc ? rc : clt_energy_read(executor->meter, energy_J, error);
}

int clt_prepared_energy(clt_prepared *prepared, double energy_s, clt_measurement *m, clt_error *error) {
  clt_executor *executor = prepared->executor;
  bool restore = clt_bindings_change_inputs(&prepared->bindings);
  size_t group = restore ? 1 : group_size(m->time_s), n_runs = 0; /* restoring may take long */
  double before_J = 0, after_J = 0, elapsed_s = 0;
  int rc = read_meter(executor, &before_J, error);
  double started_s = clt_now_s();
  after_J = before_J;
  while (rc == 0 && (elapsed_s < energy_s || (after_J <= before_J && elapsed_s < PATIENCE * energy_s))) {
    rc = run_group(prepared, group, restore, m, error);
    n_runs += group;
    elapsed_s = clt_now_s() - started_s;
    if (rc == 0 && elapsed_s >= energy_s) rc = read_meter(executor, &after_J, error);
  }
  m->phases.runs_s += elapsed_s;
  if (rc == 0) m->energy_J = after_J > before_J ? (after_J - before_J) / (double)n_runs : NAN;
  return rc;
}
