/* C = A * B for square matrices of n x n floats, row by row.
 * Tuning parameters: wg_x, wg_y (work-group), rows (results per work-item), unroll (of the inner loop). */
__attribute__((reqd_work_group_size(wg_x, wg_y, 1)))
__kernel void matmul(__global const float *restrict a, __global const float *restrict b, __global float *restrict c) {
  const int column = get_global_id(0);
  const int first_row = get_global_id(1) * rows;
  if (column >= n) return;

  float sum[rows];
  for (int r = 0; r < rows; r++) sum[r] = 0;
#pragma unroll unroll
  for (int k = 0; k < n; k++) {
    const float right = b[k * n + column];
    for (int r = 0; r < rows; r++) sum[r] += a[min(first_row + r, n - 1) * n + k] * right;
  }
  for (int r = 0; r < rows; r++)
    if (first_row + r < n) c[(first_row + r) * n + column] = sum[r];
}
