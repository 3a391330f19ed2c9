#include "base/fail.h"
#include "opencl/executor.h"

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
