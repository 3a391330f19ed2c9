/* out = 2 * in; `fault` makes it misbehave in the ways that kernels under tuning do. */
#define FAR (1 << 28)

#if fault == 3
#include "bomb.h" /* 2^60 times */
#endif
#if fault == 5
this does not compile
#endif

__kernel void scale(__global const float *in, __global float *out) {
  const int first = get_global_id(0) * per_item;
#if fault == 4
  __local float big[1 << 24];
  big[get_local_id(0)] = in[first];
  barrier(CLK_LOCAL_MEM_FENCE);
  out[first] = big[get_local_id(0) ^ 1];
#endif
#if fault == 2
  volatile __global float *spin = out;
  while (1) spin[first] += 1;
#endif
#if fault == 1
  out[first + FAR] = 1;
#endif
#if fault != 6
  for (int i = first; i < first + per_item && i < n; i++) out[i] = 2 * in[i];
#endif
}
