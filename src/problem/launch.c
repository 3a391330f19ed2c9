/* Global and local sizes. */
#include <math.h>

#include "base/fail.h"
#include "base/memory.h"
#include "problem/parts.h"

#define MAX_SIZE 0x1p53

/* Work-groups of Kernel Tuner's grid: the problem size by the divisor, rounded up. */
static int divide(const clt_instance *instance, const clt_launch *launch, size_t d, const clt_value *slots,
                  size_t *groups, clt_error *error) {
  double divisor = 1;
  clt_expression_id id = launch->divisor.id[d];
  if (d >= launch->divisor.n || id == CLT_NO_EXPRESSION) return CLT_OK;
  int rc = clt_evaluate_number(instance, id, slots, &divisor, error);
  if (rc) return rc;
  const clt_expression *expression = &instance->problem->expressions[id];
  if (!(divisor > 0))
    return clt_key_fail(&instance->problem->source, expression->key, CLT_E_RANGE, error, "needs a divisor above 0: %s",
                        expression->text);
  *groups = (size_t)ceil((double)*groups / divisor);
  return CLT_OK;
}

static int global_size(const clt_instance *instance, const clt_launch *launch, size_t d, const clt_value *slots,
                       size_t *global, size_t local, clt_error *error) {
  int rc = launch->grid == CLT_GRID_DIVIDED ? divide(instance, launch, d, slots, global, error) : CLT_OK;
  if (rc || local == 0) return rc; /* a local size of 0 is for the driver to refuse */
  size_t groups = launch->grid == CLT_GRID_ITEMS ? *global / local + (*global % local != 0) : *global;
  if (!clt_size_multiply(global, groups, local))
    return clt_key_fail(&instance->problem->source, launch->key, CLT_E_RANGE, error, "the global size exceeds 2^64");
  return CLT_OK;
}

/* Sizes in work-items or work-groups: "width / tile" is rounded up. */
static int stated_size(const clt_instance *instance, const clt_extent *extent, const clt_value *slots, size_t out[3],
                       clt_error *error) {
  for (size_t d = 0; d < 3; d++) {
    double number = 1;
    int rc = d < extent->n ? clt_evaluate_number(instance, extent->id[d], slots, &number, error) : CLT_OK;
    if (rc) return rc;
    if (!(number >= 0 && number <= MAX_SIZE)) {
      const clt_expression *expression = &instance->problem->expressions[extent->id[d]];
      return clt_key_fail(&instance->problem->source, expression->key, CLT_E_RANGE, error,
                          "needs a number from 0 to 2^53 and gives %.10g: %s", number, expression->text);
    }
    out[d] = (size_t)ceil(number);
  }
  return CLT_OK;
}

int clt_launch_sizes(const clt_instance *instance, const clt_launch *launch, const clt_value *slots,
                     clt_plan_launch *out, clt_error *error) {
  size_t global[3] = {0}, local[3] = {0};
  int rc = stated_size(instance, &launch->global, slots, global, error);
  if (rc == CLT_OK) rc = clt_evaluate_extent(instance, &launch->local, slots, 0, 1, local, error);
  for (size_t d = 0; rc == CLT_OK && d < 3; d++)
    rc = global_size(instance, launch, d, slots, &global[d], local[d], error);
  if (rc) return rc;
  out->n_dimensions = (unsigned)(launch->global.n > launch->local.n ? launch->global.n : launch->local.n);
  out->has_local = launch->local.n > 0;
  for (size_t d = 0; d < 3; d++) out->global[d] = global[d], out->local[d] = out->has_local ? local[d] : 0;
  return CLT_OK;
}
