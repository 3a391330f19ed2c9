// In the manner of CLTune: a convolution by work-groups of TBX x TBY, each work-item WPTX x WPTY pixels.
#define HFS (3)
#define FS (2 * HFS + 1)
__kernel __attribute__((reqd_work_group_size(TBX, TBY, 1)))
void convolution(const int size_x, const int size_y, const __global float *in, __constant float *weights, __global float *out) {
  const int x0 = get_global_id(0) * WPTX, y0 = get_global_id(1) * WPTY;
#if LOCAL == 1
  __local float kept[FS * FS];
  for (int i = get_local_id(1) * TBX + get_local_id(0); i < FS * FS; i += TBX * TBY) kept[i] = weights[i];
  barrier(CLK_LOCAL_MEM_FENCE);
#endif
  for (int wy = 0; wy < WPTY; wy++) {
    for (int wx = 0; wx < WPTX; wx++) {
      float sum = 0;
#pragma unroll UNROLL_FACTOR
      for (int fy = 0; fy < FS; fy++)
        for (int fx = 0; fx < FS; fx++)
#if LOCAL == 1
          sum += kept[fy * FS + fx] * in[(y0 + wy + fy) * (size_x + 2 * HFS) + x0 + wx + fx];
#else
          sum += weights[fy * FS + fx] * in[(y0 + wy + fy) * (size_x + 2 * HFS) + x0 + wx + fx];
#endif
      if (y0 + wy < size_y && x0 + wx < size_x) out[(y0 + wy) * size_x + x0 + wx] = sum;
    }
  }
}
