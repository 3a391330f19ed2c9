/* sliced.cl - y = A x, `vec` rows of A beside each other in columns: all rows as wide as the longest (ELL), or slices of
 * `chunk` rows, each as wide as its own longest (SELL-C-sigma). Places without a nonzero hold column 0 and value 0. */
#include "../vectors.h"

/* The sums of `vec` rows whose columns are `stride` apart; to `width`, or with `stop` as far as the longest of them goes. */
floatv multiply(INPUT(int) places, INPUT(float) a, INPUT(float) x, INPUT(int) lengths, const int n_lengths, const int width,
                const int stride) {
  floatv sum = 0;
  int end = width;
#if stop
  end = 0;
  for (int i = 0; i < vec; i++) end = max(end, i < n_lengths ? lengths[i] : 0);
#endif
#pragma unroll unroll
  for (int j = 0; j < end; j++) {
    const intv place = VLOAD(places + j * stride);
    floatv from;
    for (int i = 0; i < vec; i++) ((float *)&from)[i] = x[((const int *)&place)[i]];
    sum += VLOAD(a + j * stride) * from;
  }
  return sum;
}

#ifndef chunk

__kernel __attribute__((reqd_work_group_size(wg, 1, 1))) void ell(INPUT(int) lengths, INPUT(int) places, INPUT(float) a,
                                                                  INPUT(float) x, __global float *restrict y, const int n_rows,
                                                                  const int width) {
  const int stride = (n_rows + 15) / 16 * 16, item = get_global_id(0), items = get_global_size(0);
  for (int r = 0; r < rows; r++) {
    const int row = (interleave ? item + r * items : item * rows + r) * vec;
    if (row < n_rows) {
      const floatv sum = multiply(places + row, a + row, x, lengths + row, n_rows - row, width, stride);
      for (int i = 0; i < vec; i++)
        if (row + i < n_rows) y[row + i] = ((const float *)&sum)[i];
    }
  }
}

#else

#define NUMBER_OF_CHUNK (chunk == 4 ? 0 : chunk == 16 ? 1 : 2)
#define NUMBER_OF_SIGMA (sigma == 1 ? 0 : sigma == 256 ? 1 : 2)

__kernel __attribute__((reqd_work_group_size(wg, 1, 1))) void sell(INPUT(int) all_slices, INPUT(int) orders,
                                                                   INPUT(int) all_lengths, INPUT(int) places, INPUT(float) a,
                                                                   INPUT(float) x, __global float *restrict y,
                                                                   const int n_rows) {
  INPUT(int) slices = all_slices + (NUMBER_OF_CHUNK * 3 + NUMBER_OF_SIGMA) * (n_rows / 4 + 2);
  INPUT(int) order = orders + NUMBER_OF_SIGMA * n_rows;
  INPUT(int) lengths = all_lengths + NUMBER_OF_SIGMA * n_rows;
  const int first = get_global_id(0) * vec, slice = first / chunk;
  if (first < n_rows) {
    const int place = slices[slice] + first - slice * chunk, width = (slices[slice + 1] - slices[slice]) / chunk;
    const floatv sum = multiply(places + place, a + place, x, lengths + first, n_rows - first, width, chunk);
    for (int i = 0; i < vec; i++)
      if (first + i < n_rows) y[sigma == 1 ? first + i : order[first + i]] = ((const float *)&sum)[i];
  }
}

#endif
