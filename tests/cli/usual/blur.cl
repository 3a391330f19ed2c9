// In the manner of Kernel Tuner: a filter whose sizes are macros, with a switch for padding.
#define border (filter_width / 2)
#if use_padding == 1
#define pitch (block_size_x * tile_size_x + 2 * border + 1)
#else
#define pitch (block_size_x * tile_size_x + 2 * border)
#endif
__kernel void blur(__global float *out, __global const float *in, __constant float *weights) {
  __local float rows[block_size_y][pitch];
  int lx = get_local_id(0), ly = get_local_id(1), y = get_group_id(1) * block_size_y + ly;
  int left = get_group_id(0) * block_size_x * tile_size_x;
  float sums[tile_size_x];
  for (int i = 0; i < tile_size_x; i++) sums[i] = 0;
  for (int j = 0; j < filter_height; j++) {
    for (int i = lx; i < block_size_x * tile_size_x + 2 * border; i += block_size_x)
      rows[ly][i] = in[(y + j) * (image_width + 2 * border) + left + i];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < filter_width; k++)
      for (int i = 0; i < tile_size_x; i++)
        sums[i] += rows[ly][lx + i * block_size_x + k] * weights[j * filter_width + k];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (int i = 0; i < tile_size_x; i++) out[y * image_width + left + lx + i * block_size_x] = sums[i];
}
