// In the manner of Rodinia: a block size that the build may give by one of several names.
#ifdef RD_WG_SIZE_0_0
#define BLOCK_SIZE RD_WG_SIZE_0_0
#elif defined(RD_WG_SIZE_0)
#define BLOCK_SIZE RD_WG_SIZE_0
#elif defined(RD_WG_SIZE)
#define BLOCK_SIZE RD_WG_SIZE
#else
#define BLOCK_SIZE 16
#endif
#define IN_RANGE(x, min, max) ((x) >= (min) && (x) <= (max))
__kernel void hotspot(int iterations, __global float *power, __global float *before, __global float *after, int grid_cols,
                      int grid_rows, float dt) {
  __local float here[BLOCK_SIZE][BLOCK_SIZE], next[BLOCK_SIZE][BLOCK_SIZE];
  int bx = get_group_id(0), by = get_group_id(1), tx = get_local_id(0), ty = get_local_id(1);
  int x = BLOCK_SIZE * bx + tx, y = BLOCK_SIZE * by + ty;
  bool inside = IN_RANGE(x, 0, grid_cols - 1) && IN_RANGE(y, 0, grid_rows - 1);
  here[ty][tx] = inside ? before[y * grid_cols + x] : 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int k = 0; k < iterations; k++) {
    int w = max(tx - 1, 0), e = min(tx + 1, BLOCK_SIZE - 1), n = max(ty - 1, 0), s = min(ty + 1, BLOCK_SIZE - 1);
    next[ty][tx] = here[ty][tx] + dt * ((inside ? power[y * grid_cols + x] : 0) + here[ty][w] + here[ty][e] + here[n][tx] +
                                          here[s][tx] - 4 * here[ty][tx]);
    barrier(CLK_LOCAL_MEM_FENCE);
    here[ty][tx] = next[ty][tx];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (inside) after[y * grid_cols + x] = here[ty][tx];
}
