/* out = 2 * in, by a kernel with a defect that kernels under tuning have. One `defect` per configuration.
 *
 * `defect` is one of the names below; `n` elements, work-groups of `block`. `state` is scratch memory. */
#define none 0
#define far_after 1
#define far_before 2
#define one_after 3
#define one_before 4
#define input_after 5
#define input_before 6
#define input_changed 7
#define infinite_loop 8
#define divergent_barrier 9
#define unroll_bomb 10
#define memory_bomb 11
#define local_memory 12
#define divide_by_zero 13
#define not_a_number 14
#define partial 15
#define race 16
#define second_launch 17
#define first_launch 18
#define syntax 19
#define slow 20
#define deep_stack 21

#define FAR (1 << 28) /* elements */
#define DEEP (1 << 22) /* 16 MiB: twice as much as a thread has */

#if defect == memory_bomb
#include "bomb.h" /* 2^60 times */
#endif
#if defect == syntax
this does not compile
#endif

#if defect == unroll_bomb
/* Tens of millions of statements once the loops are unrolled. */
float unrolled(global const float *in, int first) {
  float sum = 0;
#pragma unroll 256
  for (int i = 0; i < 256; i++)
#pragma unroll 256
    for (int j = 0; j < 256; j++)
#pragma unroll 256
      for (int k = 0; k < 256; k++) sum = sum * in[(first + i * j + k) % n] + in[(first ^ k) % n];
  return sum;
}
#endif

kernel void twice(global const float *in, global float *out, global int *state) {
  const int i = get_global_id(0), l = get_local_id(0), group = get_group_id(0) * block;
  local float tile[block];
  float result = 2 * in[i];
  tile[l] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);

#if defect == far_after
  if (i == 0) out[FAR] = 1;
#elif defect == far_before
  if (i == 0) out[-FAR] = 1;
#elif defect == one_after
  if (i == 0) out[n] = 1;
#elif defect == one_before
  if (i == 0) out[-1] = 1;
#elif defect == input_after
  if (i == 0) ((global float *)in)[n] = 1;
#elif defect == input_before
  if (i == 0) ((global float *)in)[-1] = 1;
#elif defect == input_changed
  if (i == 0) ((global float *)in)[n / 2] = -1;
#elif defect == infinite_loop
  volatile global float *spin = out;
  while (1) spin[i] += 1;
#elif defect == divergent_barrier
  tile[l] = in[i];
  if (l % 3 == 1) barrier(CLK_LOCAL_MEM_FENCE);
  result = 2 * tile[l];
#elif defect == unroll_bomb
  result += 1e-30f * unrolled(in, i);
#elif defect == local_memory
  local float big[1 << 24];
  big[l] = in[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  result = big[l] + big[l];
#elif defect == divide_by_zero
  const int zero = (int)get_global_size(0) - n;
  result += (float)(7 / zero) + 0.5f;
#elif defect == not_a_number
  if (i == n / 3) result = NAN;
#elif defect == partial
  if (i >= n - block) return;
#elif defect == race
  tile[l] = in[i]; /* no barrier */
  out[group + block - 1 - l] = 2 * tile[block - 1 - l];
  return;
#elif defect == second_launch
  if (state[i] != 42) result = 0;
  state[i] = 42;
#elif defect == first_launch
  if (state[i] == 43) return; /* the last result is still there, or poison is */
  state[i] = 43;
#elif defect == slow
  for (int k = 0; k < 2000000; k++) result = fma(result, 1.0000001f, 1e-7f);
  result = 2 * in[i] + 1e-30f * result;
#elif defect == deep_stack
  volatile float deep[DEEP]; /* from the top, to meet the end of the stack before the memory below */
  for (int k = DEEP - 1; k >= 0; k -= 256) deep[k] = result;
  result = deep[DEEP - 1] + 1;
#endif

  out[i] = result;
}
