/* From a configuration to what can be timed: plan, build, arguments, first launch, verification; on other data; and the
 * references that others are compared with. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/memory.h"
#include "opencl/internal.h"

int clt_executor_plan(clt_plan **out, const clt_instance *instance, clt_config config, clt_measurement *measurement,
                      clt_error *error) {
  clt_error own = {0};
  char text[2048];
  int rc = clt_plan_new(out, instance, config, &own);
  if (rc == CLT_OK) return CLT_OK;
  clt_error_format(&own, text, sizeof text);
  if (rc != CLT_E_RANGE && rc != CLT_E_EXPRESSION) {
    if (error && error->code == 0) *error = own;
    return rc;
  }
  *out = NULL;
  clt_measurement_fail(measurement, CLT_REASON_LAUNCH, text);
  return CLT_OK;
}

void clt_prepared_fault(clt_executor *executor, const clt_bindings *bindings, const clt_measurement *m) {
  if (m->reason == CLT_REASON_NONE) return;
  clt_bindings_distrust(bindings);
  if (clt_reason_invalidity(m->reason) != CLT_RUNTIME) return;
  cl_event event = NULL; /* whether the device still answers */
  cl_int status = clEnqueueMarkerWithWaitList(executor->queue, 0, NULL, &event);
  if (status == CL_SUCCESS) status = clWaitForEvents(1, &event);
  if (event) clReleaseEvent(event);
  if (status != CL_SUCCESS) executor->broken = true;
}

/* From arguments on the device to a checked result. first_run_s: of a program's first run; NULL: it has run before. */
static int run_on_data(clt_bindings *bindings, double *first_run_s, clt_executor *executor, const clt_program *program,
                       const clt_plan *plan, const clt_data *data, bool compare, clt_measurement *m, clt_error *error) {
  clt_run run;
  double started = clt_now_s();
  int rc = clt_bindings_init(bindings, executor, plan, data, compare, m, error);
  if (rc == 0) rc = clt_bindings_restore(bindings, executor, CLT_RESTORE_ALL, m, error);
  if (rc == 0) rc = clt_bindings_set(bindings, program, plan, m);
  if (rc == 0) {
    if (first_run_s == NULL) clt_executor_announce(executor, CLT_PHASE_RUNNING);
    rc = first_run_s ? clt_launch_first(first_run_s, executor, program, plan, m)
                     : clt_launch_run(&run, executor, program, plan, 1, m);
    clt_prepared_fault(executor, bindings, m);
  }
  *(first_run_s ? &m->phases.first_launch_s : &m->phases.verify_s) += clt_now_s() - started;
  return rc ? rc : clt_bindings_verify(bindings, executor, true, m);
}

int clt_prepared_new(clt_prepared **out, clt_executor *executor, const clt_plan *plan, const clt_data *data,
                     bool compare, clt_measurement *m, clt_error *error) {
  int rc = clt_executor_usable(executor, error);
  if (rc) return rc;
  clt_prepared *prepared = clt_new_array(1, sizeof *prepared);
  if (prepared == NULL) return clt_fail_memory(error);
  prepared->executor = executor;
  prepared->plan = plan;
  clt_executor_announce(executor, CLT_PHASE_BUILD);
  rc = clt_program_check_limits(executor, plan, m, error);
  if (rc == 0) {
    double started = clt_now_s();
    rc = clt_program_build(&prepared->program, executor, plan, m, error);
    m->phases.build_s += clt_now_s() - started;
  }
  if (rc == 0) rc = clt_program_check_kernels(&prepared->program, executor, plan, m);
  if (rc == 0)
    rc = run_on_data(&prepared->bindings, &prepared->first_run_s, executor, &prepared->program, plan, data, compare, m,
                     error);
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
  int rc = clt_prepared_new(&prepared, executor, plan, data, data != NULL, measurement, error);
  if (rc < 0) return rc;
  *out = prepared;
  return CLT_OK;
}

void clt_prepared_free(clt_prepared *prepared) {
  if (prepared == NULL) return;
  clt_bindings_release(&prepared->bindings, prepared->executor);
  clt_program_release(&prepared->program);
  free(prepared);
}

int clt_executor_verify(clt_executor *executor, clt_prepared *prepared, const clt_data *data,
                        clt_measurement *measurement, clt_error *error) {
  const clt_plan *plan = prepared->plan;
  clt_bindings bindings = {0};
  clt_measurement ignored;
  int rc = clt_executor_usable(executor, error);
  if (rc) return rc;
  rc = run_on_data(&bindings, NULL, executor, &prepared->program, plan, data, true, measurement, error);
  clt_measurement_init(&ignored, plan->config); /* the prepared arguments are left as they were */
  clt_bindings_set(&prepared->bindings, &prepared->program, plan, &ignored);
  clt_measurement_release(&ignored);
  clt_bindings_release(&bindings, executor);
  clt_executor_announce(executor, CLT_PHASE_DONE);
  return rc == CLT_REJECTED ? CLT_OK : rc;
}

/* --- references --- */

int clt_executor_reference(clt_executor *executor, const clt_plan *plan, clt_data *data, clt_error *error) {
  clt_prepared *prepared = NULL;
  clt_measurement m;
  clt_measurement_init(&m, plan->config);
  int rc = clt_prepared_new(&prepared, executor, plan, data, false, &m, error);
  if (rc == CLT_REJECTED)
    rc = clt_fail(error, CLT_E_OPENCL, "the reference cannot be computed, %s: %.900s", clt_reason_text(m.reason),
                  m.log ? m.log : "the driver gives no reason");
  for (size_t i = 0; rc == 0 && i < plan->n_args; i++) {
    const clt_plan_arg *arg = &plan->args[i];
    clt_array *array = clt_data_find(data, arg->name);
    clt_view view;
    if (!arg->verified || array == NULL || !array->verified || array->reference) continue;
    const clt_object *object = clt_binding_object(&prepared->bindings.items[i]);
    cl_int status = clt_object_view(&view, executor, object);
    if (status == CL_SUCCESS) {
      array->reference = malloc(array->bytes);
      if (array->reference == NULL)
        rc = clt_fail_memory(error);
      else
        clt_array_unstore(array->reference, arg, view.bytes);
    } else {
      rc = clt_fail_cl(error, status, "read back the reference");
    }
    clt_object_close(executor, object, &view);
  }
  clt_prepared_free(prepared);
  clt_measurement_release(&m);
  return rc;
}

int clt_reference_data(clt_data **out, clt_executor *executor, const clt_instance *instance, uint64_t seed,
                       clt_error *error) {
  clt_data *data = NULL;
  clt_plan *plan = NULL;
  clt_reference_kind kind = clt_instance_reference_kind(instance);
  int rc = clt_data_new(&data, instance, seed, error);
  if (rc) return rc;
  if (kind == CLT_REFERENCE_KERNEL)
    rc = clt_plan_new_reference(&plan, instance, error);
  else if (kind == CLT_REFERENCE_DEFAULT)
    rc = clt_plan_new(&plan, instance, clt_instance_reference_configuration(instance), error);
  if (rc == 0 && plan) rc = clt_executor_reference(executor, plan, data, error);
  clt_plan_free(plan);
  if (rc) {
    clt_executor_forget(executor, data);
    clt_data_free(data);
    return rc;
  }
  *out = data;
  return CLT_OK;
}
