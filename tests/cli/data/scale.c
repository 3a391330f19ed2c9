#include <clatune/module.h>

int scale(const clt_module_call *call) {
  const clt_module_array *in = clt_module_find(call, "in"), *out = clt_module_find(call, "out");
  if (in == NULL || out == NULL) return 1;
  for (size_t i = 0; i < in->extent[0]; i++) ((float *)out->data)[i] = 2 * ((const float *)in->data)[i];
  return 0;
}

/* How far the results' sum is from the sum expected from the inputs, on top of 0.125; none for a single element. */
int sum_error(const clt_module_call *call) {
  const clt_module_array *in = clt_module_find(call, "in"), *out = clt_module_find(call, "out");
  double sum = 0.125;
  if (in == NULL || out == NULL || call->seed != 1 || in->extent[0] < 2) return 1;
  for (size_t i = 0; i < in->extent[0]; i++) sum += ((float *)out->data)[i] - 2 * ((const float *)in->data)[i];
  *(double *)call->target->data = sum;
  return 0;
}
