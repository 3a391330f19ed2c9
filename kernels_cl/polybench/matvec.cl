/* matvec.cl - atax, bicg, mvt, gesummv, gemver: products of a matrix a of ROWS x COLUMNS, or of its transpose, with a
 * vector. `out` may be `other`, which is not read where beta is 0. */
#include "vectors.h"

/* out = alpha a x + beta other. row_x work-items share row_tile rows. */
KERNEL(row_x, row_y) void by_rows(RESULT out, INPUT a, INPUT x, __global const float *other, float alpha, float beta) {
  __local floatv shared[row_x * row_y];
  const int first = get_global_id(1) * row_tile;
  floatv sums[row_tile];
  for (int r = 0; r < row_tile; r++) sums[r] = 0;
#pragma unroll unroll
  for (int j = get_local_id(0) * vec; j < COLUMNS; j += row_x * vec) {
    const floatv factor = VLOAD(x + j);
    for (int r = 0; r < row_tile; r++) sums[r] += VLOAD(a + min(first + r, ROWS - 1) * COLUMNS + j) * factor;
  }
  for (int r = 0; r < row_tile; r++) {
    float parts[vec], sum = 0;
    VSTORE(add_up(sums[r], shared, get_local_id(0), row_x, 1), parts);
    for (int i = 0; i < vec; i++) sum += parts[i];
    if (get_local_id(0) == 0 && first + r < ROWS)
      out[first + r] = alpha * sum + (beta == 0 ? 0 : beta * other[first + r]);
  }
}

#ifdef column_x
/* out = alpha a' x + beta other. column_y work-items share `vec` columns. */
KERNEL(column_x, column_y) void by_columns(RESULT out, INPUT a, INPUT x, __global const float *other, float alpha,
                                           float beta) {
  __local floatv shared[column_x * column_y];
  const int column = get_global_id(0) * vec, end = column < COLUMNS ? ROWS : 0;
  floatv sum = 0;
#pragma unroll unroll
  for (int i = get_local_id(1); i < end; i += column_y) sum += x[i] * VLOAD(a + i * COLUMNS + column);
  sum = alpha * add_up(sum, shared, get_local_id(1), column_y, column_x);
  if (get_local_id(1) > 0 || column >= COLUMNS) return;
  VSTORE(beta == 0 ? sum : sum + beta * VLOAD(other + column), out + column);
}

/* a += u1 v1' + u2 v2'. */
KERNEL(column_x, column_y) void add_rank_two(RESULT a, INPUT u1, INPUT v1, INPUT u2, INPUT v2) {
  const int row = get_global_id(1), column = get_global_id(0) * vec;
  RESULT place = a + row * COLUMNS + column;
  if (row < ROWS && column < COLUMNS)
    VSTORE(VLOAD(place) + u1[row] * VLOAD(v1 + column) + u2[row] * VLOAD(v2 + column), place);
}
#endif
