#include "worker/reference.h"

#include "base/fail.h"

static int make_plan(clt_plan **out, const clt_instance *instance, clt_reference_kind kind, clt_error *error) {
  if (kind == CLT_REFERENCE_KERNEL) return clt_plan_new_reference(out, instance, error);
  return clt_plan_new(out, instance, clt_instance_reference_configuration(instance), error);
}

int clt_reference_data(clt_data **out, clt_executor *executor, const clt_instance *instance, uint64_t seed,
                       clt_error *error) {
  clt_data *data = NULL;
  clt_plan *plan = NULL;
  clt_reference_kind kind = clt_instance_reference_kind(instance);
  int rc = clt_data_new(&data, instance, seed, error);
  if (rc) return rc;
  if (kind == CLT_REFERENCE_KERNEL || kind == CLT_REFERENCE_DEFAULT) {
    rc = make_plan(&plan, instance, kind, error);
    if (rc == 0) rc = clt_executor_reference(executor, plan, data, error);
    clt_plan_free(plan);
  }
  if (rc) {
    clt_data_free(data);
    return rc;
  }
  *out = data;
  return CLT_OK;
}
