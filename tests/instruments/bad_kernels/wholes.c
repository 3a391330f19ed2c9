/* The reference of wholes.cl. */
#include <clatune/module.h>

int count(const clt_module_call *call) {
  const clt_module_array *in = clt_module_find(call, "in"), *ints = clt_module_find(call, "ints"),
                         *uints = clt_module_find(call, "uints"), *bytes = clt_module_find(call, "bytes"),
                         *longs = clt_module_find(call, "longs");
  if (in == NULL || ints == NULL || uints == NULL || bytes == NULL || longs == NULL) return 1;
  for (size_t i = 0; i < in->extent[0]; i++) {
    const int32_t given = ((const int32_t *)in->data)[i], x = given - 500;
    ((int32_t *)ints->data)[i] = x;
    ((uint32_t *)uints->data)[i] = (uint32_t)given * 3u;
    ((uint8_t *)bytes->data)[i] = (uint8_t)(given % 200 + 20);
    ((int64_t *)longs->data)[i] = (int64_t)x * 1000003;
  }
  return 0;
}
