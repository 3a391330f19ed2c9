#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/memory.h"
#include "opencl/prepared.h"

int clt_rejected_is_fine(int rc) { return rc == CLT_REJECTED ? CLT_OK : rc; }

int clt_executor_usable(const clt_executor *executor, clt_error *error) {
  if (!executor->broken) return CLT_OK;
  return clt_fail(error, CLT_E_OPENCL, "the device '%s' stopped answering after a fault; it has to be opened again",
                  executor->info.name);
}

void clt_prepared_fault(clt_executor *executor, const clt_bindings *bindings, const clt_measurement *m) {
  if (m->reason == CLT_REASON_NONE) return;
  clt_bindings_distrust(bindings);
  if (clt_reason_invalidity(m->reason) == CLT_RUNTIME) clt_executor_check(executor);
}

static int build(clt_prepared *prepared, clt_executor *executor, clt_measurement *m, clt_error *error) {
  clt_executor_announce(executor, CLT_PHASE_BUILD);
  int rc = clt_program_check_limits(executor, prepared->plan, m, error);
  if (rc) return rc;
  double started = clt_now_s();
  rc = clt_program_build(&prepared->program, executor, prepared->plan, m, error);
  m->phases.build_s += clt_now_s() - started;
  return rc ? rc : clt_program_check_kernels(&prepared->program, executor, prepared->plan, m);
}

/* Arguments, and the first launch. */
static int launch(clt_prepared *prepared, clt_executor *executor, const clt_data *data, bool verify, clt_measurement *m,
                  clt_error *error) {
  double started = clt_now_s();
  const clt_plan *plan = prepared->plan;
  int rc = clt_bindings_init(&prepared->bindings, executor, plan, data, verify, m, error);
  if (rc == 0) rc = clt_bindings_restore(&prepared->bindings, executor, CLT_RESTORE_ALL, m, error);
  if (rc == 0) rc = clt_bindings_set(&prepared->bindings, &prepared->program, plan, m);
  if (rc == 0) {
    rc = clt_launch_first(&prepared->first_run_s, executor, &prepared->program, plan, m);
    clt_prepared_fault(executor, &prepared->bindings, m);
  }
  m->phases.first_launch_s += clt_now_s() - started;
  return rc;
}

static int verify(clt_prepared *prepared, clt_executor *executor, clt_measurement *m) {
  clt_executor_announce(executor, CLT_PHASE_VERIFY);
  double started = clt_now_s();
  int rc = clt_bindings_check(&prepared->bindings, executor, true, m);
  if (rc == 0) rc = clt_bindings_verify(&prepared->bindings, executor, m);
  m->phases.verify_s += clt_now_s() - started;
  return rc;
}

int clt_prepared_new(clt_prepared **out, clt_executor *executor, const clt_plan *plan, const clt_data *data,
                     bool compare, clt_measurement *m, clt_error *error) {
  int rc = clt_executor_usable(executor, error);
  if (rc) return rc;
  clt_prepared *prepared = clt_new_array(1, sizeof *prepared);
  if (prepared == NULL) return clt_fail_memory(error);
  prepared->executor = executor;
  prepared->plan = plan;
  rc = build(prepared, executor, m, error);
  if (rc == 0) rc = launch(prepared, executor, data, compare, m, error);
  if (rc == 0) rc = verify(prepared, executor, m);
  clt_executor_announce(executor, CLT_PHASE_DONE);
  if (rc)
    clt_prepared_free(prepared);
  else
    *out = prepared;
  return rc;
}

int clt_executor_prepare(clt_executor *executor, clt_prepared **out, const clt_plan *plan, const clt_data *data,
                         clt_measurement *measurement, clt_error *error) {
  clt_prepared *prepared = NULL;
  int rc = clt_rejected_is_fine(clt_prepared_new(&prepared, executor, plan, data, data != NULL, measurement, error));
  if (rc == 0) *out = prepared;
  return rc;
}

void clt_prepared_free(clt_prepared *prepared) {
  if (prepared == NULL) return;
  clt_bindings_release(&prepared->bindings, prepared->executor);
  clt_program_release(&prepared->program);
  free(prepared);
}

/* The same program on other data, which leaves the prepared arguments as they were. */
static int run_on(clt_prepared *prepared, clt_bindings *bindings, const clt_data *data, clt_measurement *m,
                  clt_error *error) {
  clt_executor *executor = prepared->executor;
  clt_run run;
  double started = clt_now_s();
  int rc = clt_bindings_init(bindings, executor, prepared->plan, data, true, m, error);
  if (rc == 0) rc = clt_bindings_restore(bindings, executor, CLT_RESTORE_ALL, m, error);
  if (rc == 0) rc = clt_bindings_set(bindings, &prepared->program, prepared->plan, m);
  if (rc) return rc;
  clt_executor_announce(executor, CLT_PHASE_RUNNING);
  rc = clt_launch_run(&run, executor, &prepared->program, prepared->plan, m);
  clt_prepared_fault(executor, bindings, m);
  if (rc) return rc;
  clt_executor_announce(executor, CLT_PHASE_VERIFY);
  rc = clt_bindings_check(bindings, executor, true, m);
  if (rc == 0) rc = clt_bindings_verify(bindings, executor, m);
  m->phases.verify_s += clt_now_s() - started;
  return rc;
}

int clt_executor_verify(clt_executor *executor, clt_prepared *prepared, const clt_data *data,
                        clt_measurement *measurement, clt_error *error) {
  clt_bindings bindings = {0};
  clt_measurement ignored;
  int rc = clt_executor_usable(executor, error);
  if (rc) return rc;
  rc = run_on(prepared, &bindings, data, measurement, error);
  clt_measurement_init(&ignored, prepared->plan->config);
  clt_bindings_set(&prepared->bindings, &prepared->program, prepared->plan, &ignored);
  clt_measurement_release(&ignored);
  clt_bindings_release(&bindings, executor);
  clt_executor_announce(executor, CLT_PHASE_DONE);
  return clt_rejected_is_fine(rc);
}
