/* Partial sums, of which each configuration writes as many as it has work-groups: no element has one correct value, but
 * all together do. */
#include <clatune/module.h>
#include <math.h>
#include <stdio.h>

/* The reference: the sum of all numbers, in the first element. */
int whole_sum(const clt_module_call *call) {
  const clt_module_array *in = clt_module_find(call, "in"), *partial = clt_module_find(call, "partial");
  double sum = 0;
  for (size_t i = 0; i < in->extent[0]; i++) sum += ((const float *)in->data)[i];
  memset(partial->data, 0, partial->bytes);
  *(float *)partial->data = (float)sum;
  return 0;
}

/* Judges a configuration: the sums of its groups add up to that. Rounding grows with the magnitude of what is added. */
int same_sum(const clt_module_call *call) {
  const clt_module_array *in = clt_module_find(call, "in"), *partial = clt_module_find(call, "partial");
  const double expected = *(const float *)clt_module_find_reference(call, "partial")->data;
  const size_t groups = (size_t)clt_module_value(call, "groups", 0);
  double sum = 0, magnitude = 0;
  for (size_t i = 0; i < groups; i++) sum += ((const float *)partial->data)[i];
  for (size_t i = 0; i < in->extent[0]; i++) magnitude += fabs(((const float *)in->data)[i]);
  if (fabs(sum - expected) <= 1e-4 * magnitude) return 0;
  snprintf(call->message, CLT_MODULE_MESSAGE_BYTES, "the sums of %zu groups add up to %g in place of %g", groups, sum,
           expected);
  return 1;
}
