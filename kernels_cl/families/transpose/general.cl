/* general.cl - c2r, r2c: transposition in place of matrices of any shape. A work-group takes a row, or `width`
 * neighbouring columns, to memory of its own and back, row after row. */
#include "permutation.h"

#define ROW_OR_COLUMNS (CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#define KERNEL __kernel __attribute__((reqd_work_group_size(wg, 1, 1)))
#define MATRIX __global float *matrix, uint m, uint n, uint common, __global float *scratch, __local float *tile
#if column_local
#define COLUMN_MEMORY __local
#define COLUMN_TILE tile
#else
#define COLUMN_MEMORY __global
#define COLUMN_TILE (scratch + get_group_id(0) * m * width)
#endif
#if row_local
#define ROW_MEMORY __local
#define ROW_TILE tile
#else
#define ROW_MEMORY __global
#define ROW_TILE (scratch + get_group_id(0) * n)
#endif

static void write_columns(__global float *matrix, const COLUMN_MEMORY float *kept, uint m, uint n, uint first) {
  barrier(ROW_OR_COLUMNS);
#pragma unroll unroll
  for (uint k = get_local_id(0); k < m * width; k += wg)
    if (first + k % width < n) matrix[k / width * n + first + k % width] = kept[k];
  barrier(ROW_OR_COLUMNS);
}

KERNEL void rotate_columns(MATRIX) {
  const view v = make_view(m, n, common);
  COLUMN_MEMORY float *kept = COLUMN_TILE;
  for (uint first = get_group_id(0) * width; first < n; first += get_num_groups(0) * width) {
#pragma unroll unroll
    for (uint k = get_local_id(0); k < m * width; k += wg) {
      const uint j = first + k % width;
      if (j < n) kept[k] = matrix[rotated_from(v, k / width, j) * n + j];
    }
    write_columns(matrix, kept, m, n, first);
  }
}

KERNEL void shuffle_columns(MATRIX) {
  const view v = make_view(m, n, common);
  COLUMN_MEMORY float *kept = COLUMN_TILE;
  for (uint first = get_group_id(0) * width; first < n; first += get_num_groups(0) * width) {
#pragma unroll unroll
    for (uint k = get_local_id(0); k < m * width; k += wg) {
      const uint i = k / width, j = first + k % width;
      if (j >= n) continue;
#if inverse
      kept[other_row(v, i, j) * width + k % width] = matrix[i * n + j];
#else
      kept[k] = matrix[other_row(v, i, j) * n + j];
#endif
    }
    write_columns(matrix, kept, m, n, first);
  }
}

KERNEL void shuffle_rows(MATRIX) {
  const view v = make_view(m, n, common);
  ROW_MEMORY float *kept = ROW_TILE;
  for (uint i = get_group_id(0); i < m; i += get_num_groups(0)) {
#pragma unroll unroll
    for (uint j = get_local_id(0); j < n; j += wg) {
#if inverse
      kept[j] = matrix[i * n + other_column(v, i, j)];
#else
      kept[other_column(v, i, j)] = matrix[i * n + j];
#endif
    }
    barrier(ROW_OR_COLUMNS);
#pragma unroll unroll
    for (uint j = get_local_id(0); j < n; j += wg) matrix[i * n + j] = kept[j];
    barrier(ROW_OR_COLUMNS);
  }
}
