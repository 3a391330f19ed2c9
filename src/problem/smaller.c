/* A problem at smaller sizes, for checks of a configuration beside the measurements. */
#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/json.h"
#include "base/memory.h"
#include "problem/parts.h"

/* The same values in another instance's space, whose positions may differ. CLT_CONFIG_NONE: it is not valid there. */
static clt_config translate_config(const clt_space *to, const clt_space *from, clt_config config) {
  uint32_t positions[CLT_MAX_PARAMETERS] = {0};
  for (size_t p = 0; p < clt_space_n_parameters(from); p++) {
    const clt_parameter *parameter = clt_space_parameter(to, p);
    const clt_value value = clt_space_value(from, config, p);
    while (positions[p] < parameter->n_values && !clt_value_equal(parameter->values[positions[p]], value))
      positions[p]++;
    if (positions[p] == parameter->n_values) return CLT_CONFIG_NONE;
  }
  config = clt_space_from_positions(to, positions);
  return clt_space_contains(to, config) ? clt_space_canonical(to, config) : CLT_CONFIG_NONE;
}

/* The work-items of all launches; NaN where the configuration cannot be launched. */
static double count_items(const clt_instance *instance, clt_config config) {
  clt_plan *plan = NULL;
  double n = 0;
  if (clt_plan_new(&plan, instance, config, NULL)) return NAN;
  for (size_t l = 0; l < plan->n_launches; l++) {
    const clt_plan_launch *launch = &plan->launches[l];
    n += (double)launch->global[0] * (double)launch->global[1] * (double)launch->global[2] * launch->repeat;
  }
  clt_plan_free(plan);
  return n;
}

int clt_instance_new_smaller(clt_instance **out, clt_config *out_config, const clt_instance *instance,
                             clt_config config, const clt_device_info *device, double most_items, clt_error *error) {
  const clt_problem *problem = instance->problem;
  const size_t n = problem->n_passed;
  clt_size *sizes = clt_new_array(n, sizeof *sizes), *tried = clt_new_array(n, sizeof *tried);
  double items = INFINITY;
  bool again = true;
  *out = NULL;
  if (sizes == NULL || tried == NULL) return free(sizes), free(tried), clt_fail_memory(error);
  for (size_t i = 0; i < n; i++) sizes[i] = clt_instance_size(instance, i);
  while (again && (*out == NULL || items > most_items)) {
    again = false;
    /* All sizes are halved at once; where the configuration is not valid then, each by itself. */
    for (size_t step = 0; step <= n && !(step == 1 && again); step++) {
      clt_instance *made = NULL;
      bool changed = false;
      for (size_t i = 0; i < n; i++) {
        const int64_t half = sizes[i].value / 2;
        const bool halved = (step == 0 || step == i + 1) && half >= 1 && half >= problem->sizes[i].min;
        tried[i] = halved ? (clt_size){sizes[i].name, half} : sizes[i];
        changed = changed || halved;
      }
      if (!changed || clt_instance_new(&made, problem, tried, n, device, NULL)) continue;
      const clt_config translated = translate_config(made->space, instance->space, config);
      const double n_items = translated == CLT_CONFIG_NONE ? NAN : count_items(made, translated);
      if (isnan(n_items)) {
        clt_instance_free(made);
        continue;
      }
      clt_instance_free(*out);
      *out = made;
      *out_config = translated;
      items = n_items;
      again = true;
      for (size_t i = 0; i < n; i++) sizes[i] = tried[i];
    }
  }
  int rc = CLT_OK;
  if (*out == NULL) rc = clt_instance_new(out, problem, sizes, n, device, error);
  if (rc == CLT_OK && isinf(items)) {
    *out_config = translate_config((*out)->space, instance->space, config);
    if (*out_config == CLT_CONFIG_NONE) rc = clt_fail(error, CLT_E_NO_VALID, "the configuration is not valid there");
  }
  if (rc) clt_instance_free(*out), *out = NULL;
  free(sizes);
  free(tried);
  return rc;
}
