/* skinny.cl - wide (C2R), tall (R2C): transposition in place where the memory is seen as at most 64 rows. A work-item
 * takes a whole column; rows, which are long, are shuffled by the whole device, `rows_at_once` of them. */
#include "permutation.h"

#define KERNEL __kernel __attribute__((reqd_work_group_size(wg, 1, 1)))
#define LONGEST 64
#if column_local
#define KEPT(i) tile[(i)*wg + get_local_id(0)]
#else
#define KEPT(i) kept[i]
#endif
/* The t-th column of a work-item. */
#define COLUMN(t) ((uint)get_group_id(0) * wg * items + (t)*wg + (uint)get_local_id(0))

KERNEL void rotate_columns(__global float *matrix, uint m, uint n, uint common, __local float *tile) {
  const view v = make_view(m, n, common);
#if !column_local
  float kept[LONGEST];
#endif
  for (uint t = 0; t < items; t++) {
    const uint j = COLUMN(t);
    if (j >= n) continue;
#pragma unroll unroll
    for (uint i = 0; i < m; i++) KEPT(i) = matrix[rotated_from(v, i, j) * n + j];
#pragma unroll unroll
    for (uint i = 0; i < m; i++) matrix[i * n + j] = KEPT(i);
  }
}

KERNEL void shuffle_columns(__global float *matrix, uint m, uint n, uint common, __local float *tile) {
  const view v = make_view(m, n, common);
#if !column_local
  float kept[LONGEST];
#endif
  for (uint t = 0; t < items; t++) {
    const uint j = COLUMN(t);
    if (j >= n) continue;
#pragma unroll unroll
    for (uint i = 0; i < m; i++) KEPT(i) = matrix[i * n + j];
#pragma unroll unroll
    for (uint i = 0; i < m; i++) {
#if inverse
      matrix[other_row(v, i, j) * n + j] = KEPT(i);
#else
      matrix[i * n + j] = KEPT(other_row(v, i, j));
#endif
    }
  }
}

/* Rows turn * rows_at_once and following go to scratch, and come back in `restore_rows`. */
KERNEL void save_rows(__global const float *matrix, uint m, uint n, uint common, __global float *scratch, int turn) {
  const view v = make_view(m, n, common);
  const uint r = get_global_id(1), i = turn * rows_at_once + r;
#pragma unroll unroll
  for (uint t = 0; t < items; t++) {
    const uint j = COLUMN(t);
    if (i < m && j < n) scratch[r * n + (inverse ? j : other_column(v, i, j))] = matrix[i * n + j];
  }
}

KERNEL void restore_rows(__global float *matrix, uint m, uint n, uint common, __global const float *scratch, int turn) {
  const view v = make_view(m, n, common);
  const uint r = get_global_id(1), i = turn * rows_at_once + r;
#pragma unroll unroll
  for (uint t = 0; t < items; t++) {
    const uint j = COLUMN(t);
    if (i < m && j < n) matrix[i * n + j] = scratch[r * n + (inverse ? other_column(v, i, j) : j)];
  }
}
