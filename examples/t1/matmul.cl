/* c = a * b, n x n. A work-group computes a tile of c, each work-item tile_x * tile_y elements of it. */
__kernel void matmul(__global float *c, __global const float *a, __global const float *b, const int n) {
  const int x = get_group_id(0) * block_size_x * tile_x + get_local_id(0);
  const int y = get_group_id(1) * block_size_y * tile_y + get_local_id(1);
  float sum[tile_y][tile_x];
  for (int i = 0; i < tile_y; i++)
    for (int j = 0; j < tile_x; j++) sum[i][j] = 0;
#if unroll
#pragma unroll 4
#endif
  for (int k = 0; k < n; k++)
    for (int i = 0; i < tile_y; i++)
      for (int j = 0; j < tile_x; j++)
        sum[i][j] += a[(y + i * block_size_y) * n + k] * b[k * n + x + j * block_size_x];
  for (int i = 0; i < tile_y; i++)
    for (int j = 0; j < tile_x; j++) c[(y + i * block_size_y) * n + x + j * block_size_x] = sum[i][j];
}
