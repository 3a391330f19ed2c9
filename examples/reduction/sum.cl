/* The sum of n numbers in two launches: partial sums of work-groups, then the sum of those by one work-group.
 * Tuning parameters: wg (work-items of a group), groups, vector (numbers that a work-item reads at once). */
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#if vector == 1
typedef float numbers;
#define LOAD(p, i) (p)[i]
#define SUM(v) (v)
#elif vector == 2
typedef float2 numbers;
#define LOAD(p, i) vload2(i, p)
#define SUM(v) ((v).x + (v).y)
#else
typedef float4 numbers;
#define LOAD(p, i) vload4(i, p)
#define SUM(v) ((v).x + (v).y + (v).z + (v).w)
#endif

/* Every work-item calls it; the sum is work-item 0's result. */
static float sum_of_group(float mine, __local float *scratch) {
  const int l = get_local_id(0);
  scratch[l] = mine;
  for (int step = get_local_size(0) / 2; step > 0; step /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < step) scratch[l] += scratch[l + step];
  }
  return scratch[l];
}

__kernel void partial_sums(__global const float *restrict in, __global float *restrict partial, __local float *scratch) {
  numbers sum = 0;
  float rest = 0;
  for (int i = get_global_id(0); i < n / vector; i += get_global_size(0)) sum += LOAD(in, i);
  for (int i = n / vector * vector + get_global_id(0); i < n; i += get_global_size(0)) rest += in[i];
  const float total = sum_of_group(SUM(sum) + rest, scratch);
  if (get_local_id(0) == 0) partial[get_group_id(0)] = total;
}

__kernel void total(__global const float *restrict partial, __global float *restrict out, __local float *scratch) {
  float sum = 0;
  for (int i = get_local_id(0); i < groups; i += get_local_size(0)) sum += partial[i];
  const float all = sum_of_group(sum, scratch);
  if (get_local_id(0) == 0) *out = all;
}
