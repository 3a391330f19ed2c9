#include "base/base.h"

#include <stdlib.h>
#include <string.h>

bool clt_size_multiply(size_t *out, size_t a, size_t b) { return !__builtin_mul_overflow(a, b, out); }

void *clt_new_array(size_t n, size_t element_bytes) {
  if (n == 0) n = 1;
  return calloc(n, element_bytes ? element_bytes : 1);
}

int clt_grow(void *array, size_t *capacity, size_t need, size_t element_bytes) {
  if (need <= *capacity) return CLT_OK;
  size_t wanted = *capacity < 4 ? 8 : 2 * *capacity; /* cannot overflow: half of it is allocated */
  if (wanted < need) wanted = need;
  void *old, *grown;
  memcpy(&old, array, sizeof old);
  grown = reallocarray(old, wanted, element_bytes);
  if (grown == NULL) return CLT_E_MEMORY;
  memcpy(array, &grown, sizeof grown);
  *capacity = wanted;
  return CLT_OK;
}
