/* bicgstab.cl - BiCGStab with a preconditioner on the right: y = inverse p, z = inverse s. The shadow is b. sums has
 * b . r of this iteration and of the next by turns, then b . v, t . s, t . t. An iteration is five launches; with an
 * approximate inverse, which is a matrix of its own, seven. */
#include "sparse.h"

#define BR(iteration) (sums + ((iteration)&1) * groups)
#define BV (sums + 2 * groups)
#define TS (sums + 3 * groups)
#define TT (sums + 4 * groups)

KERNEL void start(INPUT b, VECTOR x, VECTOR r, __global float *sums, int n) {
  SHARED;
  float part = 0;
  for
    EACH_UNIT(unit, n)
  for (int i = unit * block; i < min(n, unit * block + block); i++) {
    x[i] = 0, r[i] = b[i];
    part += b[i] * b[i];
  }
  write_sum(BR(0), part, shared);
}

#if approximate
KERNEL void apply_inverse(MATRIX, INPUT given, VECTOR result, int n) {
  SHARED;
  multiply(first, column, value, given, result, given, n, shared);
}
#endif

KERNEL void direct(INPUT r, VECTOR p, INPUT v, VECTOR y, INPUT inverse, __global const float *sums, int n,
                   int iteration) {
  float beta = 0, omega = 0;
  if (iteration > 0) {
    const float before = read_sum(BR(iteration - 1)), alpha = ratio(before, read_sum(BV));
    omega = ratio(read_sum(TS), read_sum(TT));
    beta = ratio(read_sum(BR(iteration)), before) * ratio(alpha, omega);
  }
  for
    EACH_UNIT(unit, n) {
      float now[block];
      for (int k = 0; k < block; k++) {
        const int i = unit * block + k;
        now[k] = i >= n ? 0 : iteration > 0 ? r[i] + beta * (p[i] - omega * v[i]) : r[i];
        if (i < n) p[i] = now[k];
      }
#if !approximate
      precondition(inverse, now, y, unit, n);
#endif
    }
}

KERNEL void multiply_first(MATRIX, INPUT y, VECTOR v, INPUT b, __global float *sums, int n) {
  SHARED;
  write_sum(BV, multiply(first, column, value, y, v, b, n, shared).x, shared);
}

KERNEL void halfway(INPUT r, INPUT v, VECTOR s, VECTOR z, INPUT inverse, __global const float *sums, int n,
                    int iteration) {
  const float alpha = ratio(read_sum(BR(iteration)), read_sum(BV));
  for
    EACH_UNIT(unit, n) {
      float now[block];
      for (int k = 0; k < block; k++) {
        const int i = unit * block + k;
        now[k] = i < n ? r[i] - alpha * v[i] : 0;
        if (i < n) s[i] = now[k];
      }
#if !approximate
      precondition(inverse, now, z, unit, n);
#endif
    }
}

KERNEL void multiply_second(MATRIX, INPUT z, VECTOR t, INPUT s, __global float *sums, int n) {
  SHARED;
  const float2 parts = multiply(first, column, value, z, t, s, n, shared);
  write_sum(TS, parts.x, shared);
  write_sum(TT, parts.y, shared);
}

KERNEL void finish(INPUT b, VECTOR x, VECTOR r, INPUT y, INPUT z, INPUT s, INPUT t, __global float *sums, int n,
                   int iteration) {
  SHARED;
  const float alpha = ratio(read_sum(BR(iteration)), read_sum(BV)), omega = ratio(read_sum(TS), read_sum(TT));
  float part = 0;
  for
    EACH_UNIT(unit, n)
  for (int i = unit * block; i < min(n, unit * block + block); i++) {
    x[i] += alpha * y[i] + omega * z[i];
    r[i] = s[i] - omega * t[i];
    part += b[i] * r[i];
  }
  write_sum(BR(iteration + 1), part, shared);
}
