/* A box blur over 2 * radius + 1 pixels each way, of which each work-item makes `pixels` in a row. */
__kernel void blur(__global const float *restrict in, __global float *restrict out) {
  const int y = get_global_id(1), first = get_global_id(0) * pixels;
  if (y >= height) return;
  for (int x = first; x < min(first + pixels, width); x++) {
    float sum = 0;
#if unroll
#pragma unroll
#endif
    for (int dy = -radius; dy <= radius; dy++)
      for (int dx = -radius; dx <= radius; dx++)
        sum += in[clamp(y + dy, 0, height - 1) * width + clamp(x + dx, 0, width - 1)];
    out[y * width + x] = sum / ((2 * radius + 1) * (2 * radius + 1));
  }
}
