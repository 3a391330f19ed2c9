/* base/memory.h - allocation with overflow checks. */
#ifndef CLT_BASE_MEMORY_H
#define CLT_BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/print.h"

/* Computes a * b. False: it overflows. */
bool clt_size_multiply(size_t *out, size_t a, size_t b);

static inline size_t clt_min(size_t a, size_t b) { return a < b ? a : b; }
static inline size_t clt_max(size_t a, size_t b) { return a > b ? a : b; }

/* Allocates n zeroed elements. NULL: overflow, or out of memory. n = 0 gives one element, so NULL always means failure.
 */
void *clt_new_array(size_t n, size_t element_bytes);

/* Makes *array large enough for `need` elements of element_bytes each; array is the address of a pointer. If it must
 * grow, *capacity at least doubles. CLT_E_MEMORY: *array stays as it was. */
int clt_grow(void *array, size_t *capacity, size_t need, size_t element_bytes);

#endif
