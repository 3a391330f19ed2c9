#include "base/memory.h"

#include <clatune/error.h>
#include <stdlib.h>
#include <string.h>

bool clt_size_multiply(size_t *out, size_t a, size_t b) { return !__builtin_mul_overflow(a, b, out); }

void *clt_new_array(size_t n, size_t element_bytes) {
  if (n == 0) n = 1;
  return calloc(n, element_bytes ? element_bytes : 1);
}

int clt_grow(void *array, size_t *capacity, size_t need, size_t element_bytes) {
  if (need <= *capacity) return CLT_OK;
  size_t wanted = *capacity < 8 ? 8 : *capacity, bytes;
  while (wanted < need)
    if (__builtin_mul_overflow(wanted, (size_t)2, &wanted)) return CLT_E_MEMORY;
  if (!clt_size_multiply(&bytes, wanted, element_bytes)) return CLT_E_MEMORY;
  void *old, *grown;
  memcpy(&old, array, sizeof old);
  grown = realloc(old, bytes);
  if (grown == NULL) return CLT_E_MEMORY;
  memcpy(array, &grown, sizeof grown);
  *capacity = wanted;
  return CLT_OK;
}
