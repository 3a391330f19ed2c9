/* csr.cl - y = A x, the rows of A one behind the other (CSR): one work-item for a row, or `lanes` of them. */
#include "../vectors.h"

#ifndef lanes

__kernel __attribute__((reqd_work_group_size(wg, 1, 1))) void csr_scalar(INPUT(int) starts, INPUT(int) places, INPUT(float) a,
                                                                         INPUT(float) x, __global float *restrict y,
                                                                         const int n_rows) {
  const int item = get_global_id(0), items = get_global_size(0);
  for (int r = 0; r < rows; r++) {
    const int row = interleave ? item + r * items : item * rows + r;
    if (row < n_rows) {
      const int end = starts[row + 1];
      float parts[sums], sum = 0; /* which do not wait for each other */
      int k = starts[row];
      for (int s = 0; s < sums; s++) parts[s] = 0;
#pragma unroll unroll
      for (; k + sums <= end; k += sums)
        for (int s = 0; s < sums; s++) parts[s] += a[k + s] * x[places[k + s]];
      for (; k < end; k++) sum += a[k] * x[places[k]];
      for (int s = 0; s < sums; s++) sum += parts[s];
      y[row] = sum;
    }
  }
}

#else

#define TEAMS (wg / lanes) /* teams of work-items that share a row */
#define HALVE(span)                                                                   \
  for (int r = 0; r < rows; r++)                                                   \
    if (lane < span) parts[r * wg + item] += parts[r * wg + item + span];                \
  barrier(CLK_LOCAL_MEM_FENCE);

__kernel __attribute__((reqd_work_group_size(wg, 1, 1))) void csr_vector(INPUT(int) starts, INPUT(int) places, INPUT(float) a,
                                                                         INPUT(float) x, __global float *restrict y,
                                                                         const int n_rows) {
  __local float parts[rows * wg];
  const int item = get_local_id(0), lane = item & (lanes - 1), first = get_group_id(0) * TEAMS * rows;
  for (int r = 0; r < rows; r++) {
    const int row = first + r * TEAMS + item / lanes;
    const int start = row < n_rows ? starts[row] : 0, end = row < n_rows ? starts[row + 1] : 0;
    const int whole = start + (end - start) / vec * vec;
    floatv part = 0;
    float sum = 0;
    for (int k = start + lane * vec; k < whole; k += lanes * vec) {
      const intv place = VLOAD(places + k);
      floatv from;
      for (int i = 0; i < vec; i++) ((float *)&from)[i] = x[((const int *)&place)[i]];
      part += VLOAD(a + k) * from;
    }
    for (int k = whole + lane; k < end; k += lanes) sum += a[k] * x[places[k]];
    for (int i = 0; i < vec; i++) sum += ((float *)&part)[i];
    parts[r * wg + item] = sum;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
#if tree
#if lanes > 32
  HALVE(32)
#endif
#if lanes > 16
  HALVE(16)
#endif
#if lanes > 8
  HALVE(8)
#endif
#if lanes > 4
  HALVE(4)
#endif
#if lanes > 2
  HALVE(2)
#endif
  for (int r = 0; r < rows; r++) {
    const int row = first + r * TEAMS + item / lanes;
    if (lane == 0 && row < n_rows) y[row] = parts[r * wg + item] + parts[r * wg + item + 1];
  }
#else
  for (int team = item; team < TEAMS * rows; team += wg) {
    float sum = 0;
    for (int i = 0; i < lanes; i++) sum += parts[team * lanes + i];
    if (first + team < n_rows) y[first + team] = sum;
  }
#endif
}

#endif
