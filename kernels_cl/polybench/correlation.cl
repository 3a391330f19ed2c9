/* correlation.cl - correlation and covariance of m variables in n observations (a row each): `moments`, then
 * `centre`, which brings the data to a mean of 0 and, by scale, to what makes the product of the data with itself the
 * result. */
#include "product.h"

/* wg_y work-items share wg_x * vec columns. With `correlation`, the scale is 1 / (standard deviation sqrt(n)), and
 * 1 / sqrt(n) where the variable is constant; else 1 / sqrt(n - 1). */
KERNEL(wg_x, wg_y) void moments(RESULT mean, RESULT scale, INPUT data) {
  __local floatv shared[wg_x * wg_y];
  const int end = COLUMN < m ? n : 0;
  floatv sum = 0, squares = 0;
#pragma unroll unroll
  for (int i = get_local_id(1); i < end; i += wg_y) sum += VLOAD(data + i * m + COLUMN);
  sum = add_up(sum, shared, get_local_id(1), wg_y, wg_x) / n;
#if correlation
#pragma unroll unroll
  for (int i = get_local_id(1); i < end; i += wg_y) {
    const floatv off = VLOAD(data + i * m + COLUMN) - sum;
    squares += off * off;
  }
  squares = add_up(squares, shared, get_local_id(1), wg_y, wg_x);
#endif
  if (get_local_id(1) > 0 || COLUMN >= m) return;
  VSTORE(sum, mean + COLUMN);
#if correlation
  VSTORE(squares > 0 ? rsqrt(squares) : rsqrt((floatv)n), scale + COLUMN);
#else
  VSTORE((floatv)rsqrt(n - 1.0f), scale + COLUMN);
#endif
}

KERNEL(wg_x, wg_y) void centre(RESULT data, INPUT mean, INPUT scale) {
  if (COLUMN >= m) return;
#pragma unroll unroll
  for (int r = 0; r < rows; r++) {
    RESULT place = data + ROW(r) * m + COLUMN;
    if (ROW(r) < n) VSTORE((VLOAD(place) - VLOAD(mean + COLUMN)) * VLOAD(scale + COLUMN), place);
  }
}

/* The lower triangle, each element also at its mirror's place. */
KERNEL(wg_x, wg_y) void products(RESULT result, INPUT data) {
  ROOM_FOR_TILES;
  floatv sums[rows];
  clear(sums);
  add_product(sums, TRANSPOSED(data, n, m), AS_STORED(data, n, m), DEPTH_OF_LOWER(n), tiles);
  for (int r = 0; r < rows; r++) {
    float sum[vec];
    VSTORE(sums[r], sum);
    for (int i = 0; i < vec; i++)
      if (ROW(r) < m && COLUMN + i <= ROW(r))
        result[ROW(r) * m + COLUMN + i] = result[(COLUMN + i) * m + ROW(r)] = sum[i];
  }
}
