/* The reference of floats.cl. */
#include <clatune/module.h>

int square(const clt_module_call *call) {
  const clt_module_array *in = clt_module_find(call, "in"), *out = clt_module_find(call, "out");
  if (in == NULL || out == NULL) return 1;
  for (size_t i = 0; i < in->extent[0]; i++) {
    const float x = ((const float *)in->data)[i];
    ((float *)out->data)[i] = x * (x + 2);
  }
  return 0;
}
