/* sparse.h - what the solvers share. A matrix has its rows one behind the other (CSR). A vector's elements are taken in
 * units of `block` (1 where blocks are not inverted), either by turns or, with `chunked`, in stretches. A scalar
 * product is left as one number of each work-group, which the next launch adds up. */
#define KERNEL __kernel __attribute__((reqd_work_group_size(wg, 1, 1)))
#define ID ((int)get_local_id(0))
#define INPUT __global const float *restrict
#define VECTOR __global float *restrict
#define MATRIX __global const int *restrict first, __global const int *restrict column, INPUT value
#define SHARED __local float shared[wg]
#define UNITS(n) (((n) + block - 1) / block)
#if chunked
#define EACH_UNIT(unit, n)                                                                                            \
  (int unit = (int)get_global_id(0) * stretch(n), past_##unit = min(UNITS(n), unit + stretch(n)); unit < past_##unit; \
   unit++)
static int stretch(int n) { return (UNITS(n) + (int)get_global_size(0) - 1) / (int)get_global_size(0); }
#else
#define EACH_UNIT(unit, n) (int unit = get_global_id(0); unit < UNITS(n); unit += get_global_size(0))
#endif

/* Where all numbers are 0, the solution was found before. */
static float ratio(float a, float b) { return b != 0 ? a / b : 0; }

/* All work-items call it. */
static void write_sum(__global float *sums, float mine, __local float *shared) {
  shared[ID] = mine;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (ID == 0) {
    float sum = 0;
    for (int i = 0; i < wg; i++) sum += shared[i];
    sums[get_group_id(0)] = sum;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
}

static float read_sum(__global const float *sums) {
  float sum = 0;
  for (int i = 0; i < groups; i++) sum += sums[i];
  return sum;
}

/* result = matrix vector; `team` work-items share a row. Returns this work-item's part of (result . other, result .
 * result). All work-items call it. */
static float2 multiply(MATRIX, INPUT vector, VECTOR result, INPUT other, int n, __local float *shared) {
  float2 part = 0;
  for (int start = (int)get_group_id(0) * (wg / team); start < n; start += (int)get_num_groups(0) * (wg / team)) {
    const int row = start + ID / team, end = row < n ? first[row + 1] : 0;
    float sum = 0;
#pragma unroll unroll
    for (int e = row < n ? first[row] + ID % team : 0; e < end; e += team) sum += value[e] * vector[column[e]];
#if team > 1
    shared[ID] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (ID % team == 0)
      for (int k = 1; k < team; k++) sum += shared[ID + k];
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    if (ID % team == 0 && row < n) {
      result[row] = sum;
      part += (float2)(sum * other[row], sum * sum);
    }
  }
  return part;
}

#if approximate
/* The first two terms of the series of the inverse, on the matrix's own pattern: D^-1 - D^-1 (A - D) D^-1. */
KERNEL void find_diagonal(MATRIX, VECTOR diagonal, int n) {
  for (int i = get_global_id(0); i < n; i += get_global_size(0))
    for (int e = first[i]; e < first[i + 1]; e++)
      if (column[e] == i) diagonal[i] = value[e];
}

KERNEL void invert(MATRIX, INPUT diagonal, VECTOR inverse, int n) {
  for (int i = get_global_id(0); i < n; i += get_global_size(0))
    for (int e = first[i]; e < first[i + 1]; e++)
      inverse[e] = column[e] == i ? 1 / diagonal[i] : -value[e] / (diagonal[i] * diagonal[column[e]]);
}
#else
/* The inverses of the blocks along the diagonal, by elimination without pivots; the last block may end in unit rows. */
KERNEL void invert(MATRIX, VECTOR inverse, int n) {
  for
    EACH_UNIT(unit, n) {
      float a[block * block];
      for (int k = 0; k < block * block; k++) a[k] = k % (block + 1) == 0 && unit * block + k / block >= n;
      for (int k = 0; k < block && unit * block + k < n; k++)
        for (int e = first[unit * block + k]; e < first[unit * block + k + 1]; e++)
          if (column[e] / block == unit) a[k * block + column[e] % block] = value[e];
      for (int p = 0; p < block; p++) {
        const float pivot = 1 / a[p * block + p];
        a[p * block + p] = 1;
        for (int j = 0; j < block; j++) a[p * block + j] *= pivot;
        for (int i = 0; i < block; i++) {
          const float factor = a[i * block + p];
          if (i == p) continue;
          a[i * block + p] = 0;
          for (int j = 0; j < block; j++) a[i * block + j] -= factor * a[p * block + j];
        }
      }
      for (int k = 0; k < block * block; k++) inverse[unit * block * block + k] = a[k];
    }
}

/* result = inverse of the unit's block * rest; returns result . rest. */
static float precondition(INPUT inverse, const float *rest, VECTOR result, int unit, int n) {
  float part = 0;
  for (int k = 0; k < block && unit * block + k < n; k++) {
    float sum = 0;
    for (int l = 0; l < block; l++) sum += inverse[(unit * block + k) * block + l] * rest[l];
    result[unit * block + k] = sum;
    part += sum * rest[k];
  }
  return part;
}
#endif
