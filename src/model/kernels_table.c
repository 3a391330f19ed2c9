/* Which inner loops this processor can run, and the memory that they work on. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "model/kernels.h"

extern const clt_kernels clt_kernels_plain;
#ifdef __x86_64__
extern const clt_kernels clt_kernels_avx2, clt_kernels_avx512;
#endif

const clt_kernels *clt_kernels_at(size_t index) {
  if (index == 0) return &clt_kernels_plain;
#ifdef __x86_64__
  bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (index == 1 && avx2) return &clt_kernels_avx2;
  if (index == 2 && avx2 && __builtin_cpu_supports("avx512f")) return &clt_kernels_avx512;
#endif
  return NULL;
}

const clt_kernels *clt_kernels_best(void) {
  const clt_kernels *best = clt_kernels_at(0);
  for (size_t i = 1; clt_kernels_at(i); i++) best = clt_kernels_at(i);
  return best;
}

size_t clt_shape_n_weights(const clt_shape *shape) {
  size_t n = 0, n_in = shape->n_inputs;
  for (size_t i = 0; i < shape->n_layers; i++) {
    n += shape->width[i] * (n_in + 1);
    n_in = shape->width[i];
  }
  return n;
}

/* Activations and derivatives of a strip of up to CLT_BLOCK_ROWS rows, and a vector for every weight. */
size_t clt_gradient_scratch(const clt_shape *shape) {
  size_t units = 0;
  for (size_t i = 0; i < shape->n_layers; i++) units += shape->width[i];
  return 2 * units * CLT_BLOCK_ROWS * sizeof(float) + clt_shape_n_weights(shape) * CLT_LANES * sizeof(float);
}

void *clt_vector_memory(size_t n, size_t element_bytes) {
  const size_t vector_bytes = CLT_LANES * sizeof(float);
  size_t bytes;
  if (!clt_size_multiply(&bytes, n, element_bytes) || bytes > SIZE_MAX - 2 * vector_bytes) return NULL;
  bytes = (bytes / vector_bytes + 1) * vector_bytes;
  void *memory = aligned_alloc(vector_bytes, bytes);
  if (memory) memset(memory, 0, bytes);
  return memory;
}
