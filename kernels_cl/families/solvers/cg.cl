/* cg.cl - conjugate gradients with a preconditioner: z = inverse r. sums has r . z of this iteration and of the next by
 * turns, then p . q. An iteration is three launches; with an approximate inverse, which is a matrix of its own, four.
 */
#include "sparse.h"

#define RZ(iteration) (sums + ((iteration)&1) * groups)
#define PQ (sums + 2 * groups)

KERNEL void start(INPUT b, VECTOR x, VECTOR r, VECTOR z, INPUT inverse, __global float *sums, int n) {
  SHARED;
  float part = 0;
  for
    EACH_UNIT(unit, n) {
      float rest[block];
      for (int k = 0; k < block; k++) {
        const int i = unit * block + k;
        rest[k] = i < n ? b[i] : 0;
        if (i < n) x[i] = 0, r[i] = rest[k];
      }
#if !approximate
      part += precondition(inverse, rest, z, unit, n);
#endif
    }
  write_sum(RZ(0), part, shared);
}

#if approximate
KERNEL void apply_inverse(MATRIX, INPUT r, VECTOR z, __global float *sums, int n, int iteration) {
  SHARED;
  write_sum(RZ(iteration + 1), multiply(first, column, value, r, z, r, n, shared).x, shared);
}
#endif

KERNEL void direct(VECTOR p, INPUT z, __global const float *sums, int n, int iteration) {
  const float beta = iteration > 0 ? ratio(read_sum(RZ(iteration)), read_sum(RZ(iteration - 1))) : 0;
  for
    EACH_UNIT(unit, n)
  for (int i = unit * block; i < min(n, unit * block + block); i++) p[i] = iteration > 0 ? z[i] + beta * p[i] : z[i];
}

KERNEL void multiply_by_matrix(MATRIX, INPUT p, VECTOR q, __global float *sums, int n) {
  SHARED;
  write_sum(PQ, multiply(first, column, value, p, q, p, n, shared).x, shared);
}

KERNEL void advance(VECTOR x, VECTOR r, VECTOR z, INPUT p, INPUT q, INPUT inverse, __global float *sums, int n,
                    int iteration) {
#if !approximate
  SHARED;
  float part = 0;
#endif
  const float alpha = ratio(read_sum(RZ(iteration)), read_sum(PQ));
  for
    EACH_UNIT(unit, n) {
      float rest[block];
      for (int k = 0; k < block; k++) {
        const int i = unit * block + k;
        rest[k] = i < n ? r[i] - alpha * q[i] : 0;
        if (i < n) x[i] += alpha * p[i], r[i] = rest[k];
      }
#if !approximate
      part += precondition(inverse, rest, z, unit, n);
#endif
    }
#if !approximate
  write_sum(RZ(iteration + 1), part, shared);
#endif
}
