/* fdtd-2d.cl - the electric field (ex, ey) and the magnetic one (hz) of a wave in the plane, by turns. hz has nx
 * rows of ny points, ex a column and ey a row more. A work-item computes `rows` vectors, wg_y rows apart. */
#include "vectors.h"

#define ROW(r) ((int)get_group_id(1) * wg_y * rows + (int)get_local_id(1) + (r)*wg_y)
#define COLUMN ((int)get_global_id(0) * vec)
#define EXISTS(r) (ROW(r) < nx && COLUMN < ny)

/* The first row of ey is the wave's source. */
static void update_ey(RESULT ey, INPUT hz, INPUT source, int step, int row, int column) {
  RESULT place = ey + row * ny + column;
  INPUT field = hz + row * ny + column;
  VSTORE(row == 0 ? (floatv)source[step] : VLOAD(place) - 0.5f * (VLOAD(field) - VLOAD(field - ny)), place);
}

/* The first column of ex keeps its value. */
static void update_ex(RESULT ex, INPUT hz, int row, int column) {
  RESULT place = ex + row * (ny + 1) + column;
  INPUT field = hz + row * ny + column;
  float before[vec];
  for (int i = 0; i < vec; i++) before[i] = field[column + i > 0 ? i - 1 : 0];
  VSTORE(VLOAD(place) - 0.5f * (VLOAD(field) - VLOAD(before)), place);
}

KERNEL(wg_x, wg_y) void electric(RESULT ex, RESULT ey, INPUT hz, INPUT source, int step) {
#pragma unroll unroll
  for (int r = 0; r < rows; r++) {
    if (!EXISTS(r)) continue;
    update_ey(ey, hz, source, step, ROW(r), COLUMN);
    update_ex(ex, hz, ROW(r), COLUMN);
  }
}

KERNEL(wg_x, wg_y) void electric_y(RESULT ey, INPUT hz, INPUT source, int step) {
#pragma unroll unroll
  for (int r = 0; r < rows; r++)
    if (EXISTS(r)) update_ey(ey, hz, source, step, ROW(r), COLUMN);
}

KERNEL(wg_x, wg_y) void electric_x(RESULT ex, INPUT hz) {
#pragma unroll unroll
  for (int r = 0; r < rows; r++)
    if (EXISTS(r)) update_ex(ex, hz, ROW(r), COLUMN);
}

KERNEL(wg_x, wg_y) void magnetic(RESULT hz, INPUT ex, INPUT ey) {
#pragma unroll unroll
  for (int r = 0; r < rows; r++) {
    INPUT x = ex + ROW(r) * (ny + 1) + COLUMN;
    INPUT y = ey + ROW(r) * ny + COLUMN;
    RESULT place = hz + ROW(r) * ny + COLUMN;
    if (EXISTS(r)) VSTORE(VLOAD(place) - 0.7f * (VLOAD(x + 1) - VLOAD(x) + VLOAD(y + ny) - VLOAD(y)), place);
  }
}
