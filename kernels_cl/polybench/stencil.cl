/* stencil.cl - jacobi-2d, 2dconv, 3dconv: each inner point becomes the weighted sum of the 3 x 3 (x 3) points
 * about it. A field is width x height (x depth) inner points with a border of one point. A work-item computes `rows`
 * vectors, wg_y rows apart; with use_local, the work-group's points and those about them are brought into local
 * memory first. */
#include "vectors.h"

#ifdef depth
#define BORDER_Z 1
#else
#define BORDER_Z 0
#endif
#ifdef jacobi
#define WEIGHT(x, y, z) ((x) * (x) + (y) * (y) <= 1 ? 0.2f : 0.0f)
#else
#define WEIGHT(x, y, z) (0.05f + 0.1f * (x)-0.2f * (y) + 0.3f * (x) * (y) + 0.4f * (z))
#endif

#define TILE_X (wg_x * vec + 2)
#define TILE_Y (wg_y * rows + 2)
#define TILE_Z (1 + 2 * BORDER_Z)
#if use_local
#define SPACE __local
#define LINE TILE_X
#define PLANE (TILE_X * TILE_Y)
#else
#define SPACE __global
#define LINE (width + 2)
#define PLANE ((width + 2) * (height + 2))
#endif

static floatv weighted_sum(SPACE const float *point) {
  floatv sum = 0;
#pragma unroll
  for (int z = -BORDER_Z; z <= BORDER_Z; z++)
#pragma unroll
    for (int y = -1; y <= 1; y++)
#pragma unroll
      for (int x = -1; x <= 1; x++)
        if (WEIGHT(x, y, z) != 0) sum += WEIGHT(x, y, z) * VLOAD(point + z * PLANE + y * LINE + x);
  return sum;
}

KERNEL(wg_x, wg_y) void stencil(RESULT out, INPUT in) {
  const int first_x = get_group_id(0) * wg_x * vec, first_y = get_group_id(1) * wg_y * rows, z = get_global_id(2);
#if use_local
  __local float tile[TILE_X * TILE_Y * TILE_Z];
  for (int i = get_local_id(1) * wg_x + get_local_id(0); i < TILE_X * TILE_Y * TILE_Z; i += wg_x * wg_y) {
    const int line = i / TILE_X, plane = line / TILE_Y;
    const int x = min(first_x + i - line * TILE_X, width + 1), y = min(first_y + line - plane * TILE_Y, height + 1);
    tile[i] = in[((z + plane) * (height + 2) + y) * (width + 2) + x];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
#endif
  const int x = get_local_id(0) * vec + 1;
#pragma unroll unroll
  for (int r = 0; r < rows; r++) {
    const int y = get_local_id(1) + r * wg_y + 1;
    const int place = ((z + BORDER_Z) * (height + 2) + first_y + y) * (width + 2) + first_x + x;
    if (first_x + x > width || first_y + y > height) continue;
#if use_local
    VSTORE(weighted_sum(tile + BORDER_Z * PLANE + y * LINE + x), out + place);
#else
    VSTORE(weighted_sum(in + place), out + place);
#endif
  }
}
