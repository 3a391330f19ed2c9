/* matvec.cl - atax, bicg, mvt, gesummv, gemver: products of a matrix of ROWS x COLUMNS, or of its transpose, with a
 * vector. `result` may be `other`, which is not read where other_factor is 0. */
#include "vectors.h"

/* result = factor matrix vector + other_factor other. row_x work-items share row_tile rows. */
KERNEL(row_x, row_y) void by_rows(RESULT result, INPUT matrix, INPUT vector, __global const float *other, float factor,
                                  float other_factor) {
  __local floatv shared[row_x * row_y];
  const int first = get_global_id(1) * row_tile;
  floatv sums[row_tile];
  for (int r = 0; r < row_tile; r++) sums[r] = 0;
#pragma unroll unroll
  for (int j = get_local_id(0) * vec; j < COLUMNS; j += row_x * vec) {
    const floatv values = VLOAD(vector + j);
    for (int r = 0; r < row_tile; r++) sums[r] += VLOAD(matrix + min(first + r, ROWS - 1) * COLUMNS + j) * values;
  }
  for (int r = 0; r < row_tile; r++) {
    float parts[vec], sum = 0;
    VSTORE(add_up(sums[r], shared, get_local_id(0), row_x, 1), parts);
    for (int i = 0; i < vec; i++) sum += parts[i];
    if (get_local_id(0) == 0 && first + r < ROWS)
      result[first + r] = factor * sum + (other_factor == 0 ? 0 : other_factor * other[first + r]);
  }
}

#ifdef column_x
/* result = factor matrix' vector + other_factor other. column_y work-items share `vec` columns. */
KERNEL(column_x, column_y) void by_columns(RESULT result, INPUT matrix, INPUT vector, __global const float *other,
                                           float factor, float other_factor) {
  __local floatv shared[column_x * column_y];
  const int column = get_global_id(0) * vec, end = column < COLUMNS ? ROWS : 0;
  floatv sum = 0;
#pragma unroll unroll
  for (int i = get_local_id(1); i < end; i += column_y) sum += vector[i] * VLOAD(matrix + i * COLUMNS + column);
  sum = factor * add_up(sum, shared, get_local_id(1), column_y, column_x);
  if (get_local_id(1) > 0 || column >= COLUMNS) return;
  VSTORE(other_factor == 0 ? sum : sum + other_factor * VLOAD(other + column), result + column);
}

/* matrix = matrix + u1 v1' + u2 v2'. */
KERNEL(column_x, column_y) void add_rank_two(RESULT matrix, INPUT u1, INPUT v1, INPUT u2, INPUT v2) {
  const int row = get_global_id(1), column = get_global_id(0) * vec;
  RESULT place = matrix + row * COLUMNS + column;
  if (row < ROWS && column < COLUMNS)
    VSTORE(VLOAD(place) + u1[row] * VLOAD(v1 + column) + u2[row] * VLOAD(v2 + column), place);
}
#endif
