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
  if (rc == 0) { /* arguments, and the first launch */
    double started = clt_now_s();
    rc = clt_bindings_init(&prepared->bindings, executor, plan, data, compare, m, error);
    if (rc == 0) rc = clt_bindings_restore(&prepared->bindings, executor, CLT_RESTORE_ALL, m, error);
    if (rc == 0) rc = clt_bindings_set(&prepared->bindings, &prepared->program, plan, m);
    if (rc == 0) {
      rc = clt_launch_first(&prepared->first_run_s, executor, &prepared->program, plan, m);
      clt_prepared_fault(executor, &prepared->bindings, m);
    }
    m->phases.first_launch_s += clt_now_s() - started;
  }
  if (rc == 0) rc = clt_bindings_verify(&prepared->bindings, executor, true, m);
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

/* The prepared arguments are left as they were. */
int clt_executor_verify(clt_executor *executor, clt_prepared *prepared, const clt_data *data,
                        clt_measurement *measurement, clt_error *error) {
  const clt_plan *plan = prepared->plan;
  clt_bindings bindings = {0};
  clt_measurement ignored;
  int rc = clt_executor_usable(executor, error);
  if (rc) return rc;
  double started = clt_now_s();
  rc = clt_bindings_init(&bindings, executor, plan, data, true, measurement, error);
  if (rc == 0) rc = clt_bindings_restore(&bindings, executor, CLT_RESTORE_ALL, measurement, error);
  if (rc == 0) rc = clt_bindings_set(&bindings, &prepared->program, plan, measurement);
  if (rc == 0) {
    clt_run run;
    clt_executor_announce(executor, CLT_PHASE_RUNNING);
    rc = clt_launch_run(&run, executor, &prepared->program, plan, 1, measurement);
    clt_prepared_fault(executor, &bindings, measurement);
  }
  if (rc == 0) {
    measurement->phases.verify_s += clt_now_s() - started;
    rc = clt_bindings_verify(&bindings, executor, true, measurement);
  }
  clt_measurement_init(&ignored, plan->config);
  clt_bindings_set(&prepared->bindings, &prepared->program, plan, &ignored);
  clt_measurement_release(&ignored);
  clt_bindings_release(&bindings, executor);
  clt_executor_announce(executor, CLT_PHASE_DONE);
  return rc == CLT_REJECTED ? CLT_OK : rc;
}

/* --- references --- */

/* The logical result of an output, malloc'ed. */
static int read_result(void **out, clt_executor *executor, const clt_binding *binding, clt_error *error) {
  const clt_object *object = binding->object.memory ? &binding->object : &binding->input->object;
  clt_view view;
  void *result = malloc(binding->array->bytes);
  if (result == NULL) return clt_fail_memory(error);
  cl_int status = clt_object_view(&view, executor, object);
  if (status != CL_SUCCESS) {
    free(result);
    return clt_fail_cl(error, status, "read back the reference");
  }
  clt_array_unstore(result, binding->arg, view.bytes);
  clt_object_close(executor, object, &view);
  *out = result;
  return CLT_OK;
}

static bool lacks_reference(const clt_binding *binding) {
  return binding->arg->verified && binding->array && binding->array->verified && binding->array->reference == NULL;
}

int clt_executor_reference(clt_executor *executor, const clt_plan *plan, clt_data *data, clt_error *error) {
  clt_prepared *prepared = NULL;
  clt_measurement m;
  clt_measurement_init(&m, plan->config);
  int rc = clt_prepared_new(&prepared, executor, plan, data, false, &m, error);
  if (rc == CLT_REJECTED)
    rc = clt_fail(error, CLT_E_OPENCL, "the reference cannot be computed, %s: %.900s", clt_reason_text(m.reason),
                  m.log ? m.log : "the driver gives no reason");
  /* All results are read before the first is given to data, so that a failure leaves data as it was. */
  void **results = clt_new_array(plan->n_args, sizeof *results);
  if (rc == 0 && results == NULL) rc = clt_fail_memory(error);
  for (size_t i = 0; rc == 0 && i < plan->n_args; i++)
    if (lacks_reference(&prepared->bindings.items[i]))
      rc = read_result(&results[i], executor, &prepared->bindings.items[i], error);
  for (size_t i = 0; results && i < plan->n_args; i++) {
    if (rc == 0 && results[i] && lacks_reference(&prepared->bindings.items[i]))
      clt_data_find(data, plan->args[i].name)->reference = results[i];
    else
      free(results[i]);
  }
  free(results);
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
  if (rc) return clt_data_free(data), rc;
  *out = data;
  return CLT_OK;
}
