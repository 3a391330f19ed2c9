// In the manner of Kernel Tuner: a matrix product in tiles, several elements a work-item.
__kernel void product(__global float *c, __global const float *a, __global const float *b) {
  __local float rows[block_size_y * tile_size_y][block_size_x];
  __local float columns[block_size_x][block_size_x * tile_size_x];
  int lx = get_local_id(0), ly = get_local_id(1);
  int left = get_group_id(0) * block_size_x * tile_size_x, top = get_group_id(1) * block_size_y * tile_size_y;
  float sums[tile_size_y][tile_size_x];
  for (int j = 0; j < tile_size_y; j++)
    for (int i = 0; i < tile_size_x; i++) sums[j][i] = 0;
  for (int k = 0; k < WIDTH; k += block_size_x) {
    for (int j = 0; j < tile_size_y; j++)
      rows[ly + j * block_size_y][lx] = a[(top + ly + j * block_size_y) * WIDTH + k + lx];
    for (int r = ly; r < block_size_x; r += block_size_y)
      for (int i = 0; i < tile_size_x; i++)
        columns[r][lx + i * block_size_x] = b[(k + r) * WIDTH + left + lx + i * block_size_x];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int m = 0; m < block_size_x; m++)
      for (int j = 0; j < tile_size_y; j++)
        for (int i = 0; i < tile_size_x; i++)
          sums[j][i] += rows[ly + j * block_size_y][m] * columns[m][lx + i * block_size_x];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (int j = 0; j < tile_size_y; j++)
    for (int i = 0; i < tile_size_x; i++)
      c[(top + ly + j * block_size_y) * WIDTH + left + lx + i * block_size_x] = sums[j][i];
}
