/* What a device can do: each work-item does one thing so often (src/session/probe.c counts it), so that the time of a
 * launch is a rate. Results are written where they are what they cannot be: no compiler leaves the work out. */

kernel void nothing(global int *data) {}

#define SIZED __attribute__((reqd_work_group_size(wg, 1, 1)))

/* The first half to the second. */
kernel SIZED void stream(global int *data) {
  global int4 *all = (global int4 *)data;
  const size_t i = get_global_id(0);
  all[i + elements / 8] = all[i];
}

kernel SIZED void gather(global int *data) {
  uint at = (uint)get_global_id(0) * 2654435761u;
  int sum = 0;
  for (int i = 0; i < 128; i++) {
    at = at * 1664525u + 1013904223u;
    sum += data[mul_hi(at ^ at >> 15, (uint)elements)];
  }
  if (sum == 123456789) data[0] = sum;
}

kernel SIZED void read_local(global int *data) {
  local int4 tile[wg];
  const uint me = get_local_id(0);
  int4 sum = 0;
  tile[me] = (int4)(me);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = 0; i < 1024; i++) sum += tile[(me + i) % wg];
  if (sum.x + sum.y + sum.z + sum.w == 123456789) data[0] = sum.x;
}

/* Independent chains of multiply-adds in so many lanes that neither latency nor width is left unused. */
#define MULTIPLY_ADD(real, rounds)                                                                       \
  const real##16 start = (real)get_global_id(0), x = (real)0.99f, y = (real)0.01f;                       \
  real##16 a = start, b = start + (real)1, c = start + (real)2, d = start + (real)3;                     \
  for (int i = 0; i < rounds; i++) a = a * x + y, b = b * x + y, c = c * x + y, d = d * x + y; \
  const real##16 sum = a + b + c + d;                                                                    \
  const real##8 eight = sum.lo + sum.hi;                                                                 \
  const real##4 four = eight.lo + eight.hi;                                                              \
  if (four.x + four.y + four.z + four.w == (real)-1) data[0] = 1;

kernel SIZED void single_mad(global int *data) { MULTIPLY_ADD(float, 512) }

#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
kernel SIZED void double_mad(global int *data) { MULTIPLY_ADD(double, 256) }
#endif

/* As histograms do: many counters, neighbours at different ones. */
kernel SIZED void global_atomic(volatile global int *data) {
  const uint me = (uint)get_global_id(0) * 40503u;
  for (uint i = 0; i < 128; i++) atomic_inc(&data[(me + i * 97) % 1024]);
}

kernel SIZED void local_atomic(global int *data) {
  volatile local int bins[256];
  const uint me = get_local_id(0);
  for (uint i = me; i < 256; i += wg) bins[i] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = 0; i < 512; i++) atomic_inc(&bins[(me * 40503u + i * 97) % 256]);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (bins[me % 256] == -1) data[0] = 1;
}

/* Two barriers a round. */
kernel SIZED void barriers(global int *data) {
  local int tile[wg];
  const uint me = get_local_id(0);
  int x = (int)me;
  for (int i = 0; i < 1024; i++) {
    tile[me] = x;
    barrier(CLK_LOCAL_MEM_FENCE);
    x += tile[(me + 1) % wg];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (x == 123456789) data[0] = x;
}
