// In the manner of Kernel Tuner: points in a polygon by one of three methods, in loops that may be unrolled.
__kernel void inside(__global int *found, __global const float2 *points, __constant float2 *corners, int n) {
  int at = get_group_id(0) * block_size_x * tile_size_x + get_local_id(0);
  for (int t = 0; t < tile_size_x; t++, at += block_size_x) {
    if (at >= n) return;
    float2 p = points[at];
    int crossings = 0;
#pragma unroll loop_unroll_factor
    for (int k = 0; k < VERTICES; k++) {
      float2 a = corners[k], b = corners[k + 1 < VERTICES ? k + 1 : 0];
#if use_method == 0
      if ((a.y > p.y) != (b.y > p.y) && p.x < (b.x - a.x) * (p.y - a.y) / (b.y - a.y) + a.x) crossings++;
#elif use_method == 1
      int between = (a.y > p.y) != (b.y > p.y);
      if (between) crossings += p.x < (b.x - a.x) * (p.y - a.y) / (b.y - a.y) + a.x;
#elif use_method == 2
      crossings += ((a.y > p.y) != (b.y > p.y)) & (p.x < (b.x - a.x) * (p.y - a.y) / (b.y - a.y) + a.x);
#endif
    }
    found[at] = crossings & 1;
  }
}
