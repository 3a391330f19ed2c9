/* base/arena.h - arrays that are released together. */
#ifndef CLT_BASE_ARENA_H
#define CLT_BASE_ARENA_H

#include <clatune/error.h>
#include <stdbool.h>
#include <stddef.h>

#define CLT_VECTOR_BYTES 64 /* arrays begin at multiples of this, and are padded to one with zeros */

/* The owner of any number of arrays. Zeroed before use. */
typedef struct clt_arena {
  struct clt_arena_block *blocks;
  bool failed; /* an array could not be allocated */
} clt_arena;

/* An array of n zeroed elements, until clt_arena_release. NULL: out of memory, or an overflow. */
void *clt_arena_array(clt_arena *arena, size_t n, size_t element_bytes);

/* CLT_OK, or CLT_E_MEMORY if any of the arrays could not be allocated. */
int clt_arena_check(const clt_arena *arena, clt_error *error);

void clt_arena_release(clt_arena *arena); /* leaves it empty */

#endif
