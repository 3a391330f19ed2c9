#include <clatune/module.h>

int twice(const clt_module_call *call) {
  const clt_module_array *in = clt_module_find(call, "in"), *out = clt_module_find(call, "out");
  if (in == NULL || out == NULL) return 1;
  for (size_t i = 0; i < in->bytes / sizeof(float); i++) ((float *)out->data)[i] = 2 * ((const float *)in->data)[i];
  return 0;
}
