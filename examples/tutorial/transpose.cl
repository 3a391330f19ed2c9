/* out = in transposed; in has `height` rows of `width` numbers. A work-group moves a tile through local memory. */
#ifndef TILE
#define TILE 16 /* a work-group reads and writes TILE x TILE numbers */
#endif
#ifndef ROWS
#define ROWS 1 /* numbers that a work-item moves */
#endif
#ifndef PAD
#define PAD 1 /* columns more in local memory, against bank conflicts */
#endif

__kernel void transpose(__global const float *in, __global float *out, int width, int height) {
  __local float tile[TILE][TILE + PAD];
  const int lx = get_local_id(0), ly = get_local_id(1);
  const int left = get_group_id(0) * TILE, top = get_group_id(1) * TILE;
  for (int i = ly; i < TILE; i += TILE / ROWS)
    if (left + lx < width && top + i < height) tile[i][lx] = in[(top + i) * width + left + lx];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = ly; i < TILE; i += TILE / ROWS)
    if (top + lx < height && left + i < width) out[(left + i) * height + top + lx] = tile[lx][i];
}
