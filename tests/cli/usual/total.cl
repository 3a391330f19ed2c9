// In the manner of KTT: a sum of each group's share, by a tree in local memory or by the first work-item.
#ifndef ITEMS_PER_THREAD
#define ITEMS_PER_THREAD 4
#endif
__kernel void total(__global const float *in, __global float *out, int n) {
  __local float part[WORK_GROUP_SIZE_X];
  int local_id = get_local_id(0), first = get_group_id(0) * WORK_GROUP_SIZE_X * ITEMS_PER_THREAD + local_id;
  float sum = 0;
  for (int i = 0; i < ITEMS_PER_THREAD; i++)
    if (first + i * WORK_GROUP_SIZE_X < n) sum += in[first + i * WORK_GROUP_SIZE_X];
  part[local_id] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
#if USE_TREE
  for (int half_size = WORK_GROUP_SIZE_X / 2; half_size > 0; half_size /= 2) {
    if (local_id < half_size) part[local_id] += part[local_id + half_size];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (local_id == 0) out[get_group_id(0)] = part[0];
#else
  if (local_id == 0) {
    for (int i = 1; i < WORK_GROUP_SIZE_X; i++) sum += part[i];
    out[get_group_id(0)] = sum;
  }
#endif
}
