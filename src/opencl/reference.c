#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "opencl/prepared.h"

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

static bool wanted(const clt_binding *binding) {
  return binding->arg->verified && binding->array && binding->array->verified && binding->array->reference == NULL;
}

/* All results are read before the first is given to data, so that a failure leaves data as it was. */
static int read_results(clt_prepared *prepared, clt_data *data, clt_error *error) {
  const clt_bindings *bindings = &prepared->bindings;
  void **results = clt_new_array(bindings->n, sizeof *results);
  if (results == NULL) return clt_fail_memory(error);
  int rc = CLT_OK;
  for (size_t i = 0; rc == 0 && i < bindings->n; i++)
    if (wanted(&bindings->items[i])) rc = read_result(&results[i], prepared->executor, &bindings->items[i], error);
  for (size_t i = 0; i < bindings->n; i++) {
    if (rc == 0 && results[i] && wanted(&bindings->items[i])) {
      clt_data_find(data, bindings->items[i].arg->name)->reference = results[i];
      results[i] = NULL;
    }
    free(results[i]);
  }
  free(results);
  return rc;
}

int clt_executor_reference(clt_executor *executor, const clt_plan *plan, clt_data *data, clt_error *error) {
  clt_prepared *prepared = NULL;
  clt_measurement m;
  clt_measurement_init(&m, plan->config);
  int rc = clt_prepared_new(&prepared, executor, plan, data, false, &m, error);
  if (rc == CLT_REJECTED)
    rc = clt_fail(error, CLT_E_OPENCL, "the reference cannot be computed, %s: %.900s", clt_reason_text(m.reason),
                  m.log ? m.log : "the driver gives no reason");
  if (rc == 0) rc = read_results(prepared, data, error);
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
