/* dia.cl - y = A x, the diagonals of A one behind the other (DIA), each as long as A has rows. Where a diagonal is outside
 * of A its values are 0; x is stored with zeros around it (`pad_x`), or such places are not looked at. */
#include "../vectors.h"

#if constant_offsets
#define OFFSETS __constant int *
#else
#define OFFSETS INPUT(int)
#endif

__kernel __attribute__((reqd_work_group_size(wg, 1, 1))) void dia(OFFSETS offsets, INPUT(float) a, INPUT(float) x,
                                                                  __global float *restrict y, const int n_rows, const int count) {
  const int stride = (n_rows + 15) / 16 * 16, item = get_global_id(0), items = get_global_size(0);
  for (int r = 0; r < rows; r++) {
    const int row = (interleave ? item + r * items : item * rows + r) * vec;
    if (row < n_rows) {
      floatv sum = 0;
#pragma unroll unroll
      for (int d = 0; d < count; d++) {
        const int column = row + offsets[d];
        floatv from;
#if pad_x
        from = VLOAD(x + (n_rows + 16) + column);
#else
        for (int i = 0; i < vec; i++) {
          const int c = column + i;
          ((float *)&from)[i] = c >= 0 && c < n_rows ? x[c] : 0;
        }
#endif
        sum += VLOAD(a + d * stride + row) * from;
      }
      for (int i = 0; i < vec; i++)
        if (row + i < n_rows) y[row + i] = ((const float *)&sum)[i];
    }
  }
}
