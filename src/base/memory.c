#include "base/base.h"

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

struct clt_arena_block {
  struct clt_arena_block *next;
};

void *clt_arena_array(clt_arena *arena, size_t n, size_t element_bytes) {
  const size_t extra = sizeof(struct clt_arena_block) + 2 * CLT_VECTOR_BYTES; /* for the block, alignment and padding */
  size_t bytes;
  const bool fits = clt_size_multiply(&bytes, n, element_bytes) && bytes <= SIZE_MAX - extra;
  struct clt_arena_block *block = fits ? calloc(1, bytes + extra) : NULL;
  if (block == NULL) {
    arena->failed = true;
    return NULL;
  }
  block->next = arena->blocks;
  arena->blocks = block;
  const uintptr_t first = (uintptr_t)(block + 1), past = first % CLT_VECTOR_BYTES;
  return (char *)(block + 1) + (past ? CLT_VECTOR_BYTES - past : 0);
}

int clt_arena_check(const clt_arena *arena, clt_error *error) {
  return arena->failed ? clt_fail_memory(error) : CLT_OK;
}

void clt_arena_release(clt_arena *arena) {
  for (struct clt_arena_block *block = arena->blocks, *next; block; block = next) {
    next = block->next;
    free(block);
  }
  *arena = (clt_arena){0};
}
