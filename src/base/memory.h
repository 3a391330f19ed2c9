/* base/memory.h - allocation with overflow checks. */
#ifndef CLT_BASE_MEMORY_H
#define CLT_BASE_MEMORY_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

/* a * b, and whether it overflowed. */
bool clt_size_multiply(size_t *out, size_t a, size_t b);

/* n zeroed elements; NULL on overflow or when out of memory. n = 0 gives one element, so NULL always means failure. */
void *clt_new_array(size_t n, size_t element_bytes);

/* Grows *array (element_bytes each) so that it holds at least `need` elements: at least doubles *capacity. Returns 0 or
 * CLT_E_MEMORY, leaving *array as it was. */
int clt_grow(void *array, size_t *capacity, size_t need, size_t element_bytes);

/* printf into a malloc'ed string, in every locale with points in numbers; NULL when out of memory. */
char *clt_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *clt_vformat(const char *format, va_list arguments) __attribute__((format(printf, 1, 0)));

#endif
