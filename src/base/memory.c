#include "base/memory.h"

#include <clatune/error.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

bool clt_size_multiply(size_t *out, size_t a, size_t b) { return !__builtin_mul_overflow(a, b, out); }

void *clt_new_array(size_t n, size_t element_bytes) { return calloc(n ? n : 1, element_bytes ? element_bytes : 1); }

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

char *clt_vformat(const char *format, va_list arguments) {
  va_list again;
  va_copy(again, arguments);
  int n = clt_vsnprintf(NULL, 0, format, arguments);
  char *out = n < 0 ? NULL : malloc((size_t)n + 1);
  if (out) clt_vsnprintf(out, (size_t)n + 1, format, again);
  va_end(again);
  return out;
}

char *clt_format(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  char *out = clt_vformat(format, arguments);
  va_end(arguments);
  return out;
}
