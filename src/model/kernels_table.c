#include <stdbool.h>

#include "model/kernels.h"
#include "model/lockstep.h"

extern const clt_kernels clt_kernels_plain;
#ifdef __x86_64__
extern const clt_kernels clt_kernels_avx2, clt_kernels_avx512;

static bool has_avx2(void) { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }
static bool has_avx512(void) { return has_avx2() && __builtin_cpu_supports("avx512f"); }
#endif

const clt_kernels *clt_kernels_at(size_t index) {
  if (index == 0) return &clt_kernels_plain;
#ifdef __x86_64__
  if (index == 1 && has_avx2()) return &clt_kernels_avx2;
  if (index == 2 && has_avx512()) return &clt_kernels_avx512;
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

/* Activations and derivatives of a block, and a vector for every weight. */
size_t clt_gradient_scratch(const clt_shape *shape) {
  size_t units = 0;
  for (size_t i = 0; i < shape->n_layers; i++) units += shape->width[i];
  return 2 * units * CLT_BLOCK_ROWS * sizeof(float) + clt_shape_n_weights(shape) * CLT_LANES * sizeof(float);
}

/* Position, gradient, direction, trial and its gradient, and the pairs. */
size_t clt_lockstep_scratch(size_t n_inputs, size_t n_hidden) {
  return (5 + 2 * CLT_LOCKSTEP_PAIRS) * clt_lockstep_n_weights(n_inputs, n_hidden) * CLT_LANES * sizeof(float);
}
