/* model/kernels_vec.h - vectors as wide as the processor's registers, for the files that are compiled once for each
 * instruction set. */
#ifndef CLT_MODEL_KERNELS_VEC_H
#define CLT_MODEL_KERNELS_VEC_H

#include "model/kernels.h"

/* Compiled with -DCLT_KERNELS=<name of the table> and flags for one instruction set. Vectors of the language extension,
 * as wide as the processor's registers, keep the sums in registers, which the vectoriser does not manage for these
 * loops. */
#if defined(__AVX512F__)
#define WIDTH 16
#elif defined(__AVX__)
#define WIDTH 8
#else
#define WIDTH 4
#endif
typedef float vec __attribute__((vector_size(4 * WIDTH), may_alias));
typedef int32_t ivec __attribute__((vector_size(4 * WIDTH)));

#define INLINE static inline __attribute__((always_inline))
#define PARTS (CLT_LANES / WIDTH) /* vectors that hold one number of every lane */

/* Lane by lane: gcc makes a minimum and a maximum of it, but not of comparisons of whole vectors. */
INLINE vec limit(vec x, float bound) {
  for (int i = 0; i < WIDTH; i++) {
    float low = x[i] < bound ? x[i] : bound;
    x[i] = low > -bound ? low : -bound;
  }
  return x;
}

/* exp(x) for |x| <= 80 or so: 2^n by the exponent bits, the rest by Taylor's series (relative error below 2e-7). */
INLINE vec exponential(vec x) {
  vec t = x * 1.442695041f;
  ivec n = __builtin_convertvector(t + 128.5f, ivec) - 128;
  vec f = t - __builtin_convertvector(n, vec);
  vec p = f * 1.540353039e-4f + 1.333355815e-3f;
  p = p * f + 9.618129108e-3f;
  p = p * f + 5.550410866e-2f;
  p = p * f + 2.402265070e-1f;
  p = p * f + 6.931471806e-1f;
  p = p * f + 1.0f;
  return p * (vec)((n + 127) << 23);
}

INLINE vec sigmoid(vec z) { return 1.0f / (1.0f + exponential(-limit(z, CLT_EXPONENT))); }

#endif
