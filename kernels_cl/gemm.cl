/* gemm.cl - C = A B for matrices of floats that lie row by row: A has m x k elements, B k x n.
 *
 * Every tuning and problem parameter is a macro. A work-group of wg_x x wg_y work-items computes a tile of C, which is
 * TILE_M rows high and TILE_N columns wide; each work-item keeps rows x vectors sums of `vec` neighbours in registers.
 * It goes along k in steps of tile_k. stage_a and stage_b copy what a step needs of A and B into local memory first;
 * two `buffers` there let the next step's elements be on their way while this step's are multiplied. Nothing is assumed
 * of m, n and k: what lies outside of the matrices is neither read nor written. */
#include "polybench/vectors.h"

#if vec_a == 1
typedef float floata;
#define VLOAD_A(place) (*(place))
#define VSTORE_A(value, place) (*(place) = (value))
#else
#ifndef JOIN
#define JOINED(a, b) a##b
#define JOIN(a, b) JOINED(a, b)
#endif
typedef JOIN(float, vec_a) floata;
#define VLOAD_A(place) JOIN(vload, vec_a)(0, place)
#define VSTORE_A(value, place) JOIN(vstore, vec_a)(value, 0, place)
#endif

#define TILE_M (wg_y * rows)
#define TILE_N (wg_x * vectors * vec)
#define LAST_START ((k - 1) / tile_k * tile_k) /* of the last step, which may have fewer than tile_k */
#define LAST_DEPTH (k - LAST_START)

/* `unroll` is a parameter's name and a pragma's: take its value, then free the name. */
#if unroll == 1
#define UNROLL_DEPTH _Pragma("unroll 1")
#elif unroll == 2
#define UNROLL_DEPTH _Pragma("unroll 2")
#elif unroll == 4
#define UNROLL_DEPTH _Pragma("unroll 4")
#else
#define UNROLL_DEPTH _Pragma("unroll 8")
#endif
#undef unroll
#define UNROLL_ALL _Pragma("unroll") /* an array stays in registers only where the loops over it are unrolled */

/* The rows and vectors of the tile that a work-item computes: neighbours, or one work-group apart. */
#if interleave_y
#define ROW(r) ((int)get_local_id(1) + (r)*wg_y)
#else
#define ROW(r) ((int)get_local_id(1) * rows + (r))
#endif
#if interleave_x
#define COLUMN(v) (((int)get_local_id(0) + (v)*wg_x) * vec)
#else
#define COLUMN(v) (((int)get_local_id(0) * vectors + (v)) * vec)
#endif

/* PoCL 3.1 lets work-groups share local memory if a function that takes it is not inlined. */
#define INLINE static inline __attribute__((always_inline))

/* In local memory A's part lies column by column, because work-items read neighbouring rows; `pad` elements between two
 * columns let them be written without conflicts of banks. B's part lies row by row. */
#define A_LINE (TILE_M + pad)
#define A_PART (tile_k * A_LINE)
#define B_PART (tile_k * TILE_N / vec)
#define A_PIECES (TILE_M * tile_k / vec_a)
#define B_PIECES B_PART
#define GROUP (wg_x * wg_y)
#define A_SHARE ((A_PIECES + GROUP - 1) / GROUP)
#define B_SHARE ((B_PIECES + GROUP - 1) / GROUP)

/* Defines the function name(matrix, height, width, y, x, inside): `length` neighbours from row y and column x on, 0
 * where the matrix ends. Vectors are aligned where their length divides the rows. inside: all of them exist. */
#define DEFINE_READ(name, type, length, LOAD)                                                                 \
  static type name(__global const float *restrict matrix, int height, int width, int y, int x, bool inside) { \
    float parts[length];                                                                                      \
    __global const float *from = matrix + y * width + x;                                                      \
    if (width % length == 0 && (inside || (y < height && x < width))) return *(__global const type *)from;    \
    if (width % length != 0 && (inside || (y < height && x + length <= width))) return LOAD(from);            \
    for (int i = 0; i < length; i++) parts[i] = y < height && x + i < width ? from[i] : 0;                    \
    return LOAD(parts);                                                                                       \
  }
#if stage_a
DEFINE_READ(read_a, floata, vec_a, VLOAD_A)
#endif
DEFINE_READ(read_b, floatv, vec, VLOAD)

/* --- copies into local memory: piece i of a step is read, and then stored --- */

#if stage_a
static floata piece_of_a(__global const float *restrict a, int top, int start, int i) {
  const int y = i / (tile_k / vec_a), x = i % (tile_k / vec_a) * vec_a;
  return read_a(a, m, k, top + y, start + x, (m % TILE_M == 0) & (k % tile_k == 0));
}

INLINE void store_a(__local float *part, floata piece, int i) {
  const int y = i / (tile_k / vec_a), x = i % (tile_k / vec_a) * vec_a;
  float parts[vec_a];
  VSTORE_A(piece, parts);
  UNROLL_ALL
  for (int p = 0; p < vec_a; p++) part[(x + p) * A_LINE + y] = parts[p];
}
#endif

#if stage_b
static floatv piece_of_b(__global const float *restrict b, int start, int left, int i) {
  const int y = i / (TILE_N / vec), x = i % (TILE_N / vec) * vec;
  return read_b(b, k, n, start + y, left + x, (n % TILE_N == 0) & (k % tile_k == 0));
}
#endif

/* Calls each(i, s) for the pieces i of this work-item; s counts them. */
#define FOR_SHARE(n_pieces, share, each)                                          \
  for (int s = 0; s < (share); s++) {                                             \
    const int i = (int)get_local_id(1) * wg_x + (int)get_local_id(0) + s * GROUP; \
    if ((n_pieces) % GROUP == 0 || i < (n_pieces)) {                              \
      each;                                                                       \
    }                                                                             \
  }

#if (stage_a || stage_b)
INLINE void copy_parts(__local float *a_part, __local floatv *b_part, __global const float *restrict a,
                       __global const float *restrict b, int top, int left, int start) {
#if stage_a
  FOR_SHARE(A_PIECES, A_SHARE, store_a(a_part, piece_of_a(a, top, start, i), i))
#endif
#if stage_b
  FOR_SHARE(B_PIECES, B_SHARE, b_part[i] = piece_of_b(b, start, left, i))
#endif
}
#endif

/* --- the multiplication --- */

/* Adds the products of `depth` columns of A and rows of B, from `start` on, to the work-item's sums. */
INLINE void add_products(floatv sums[rows][vectors], __global const float *restrict a, __global const float *restrict b,
                         __local const float *a_part, __local const floatv *b_part, int top, int left, int start,
                         int depth) {
  UNROLL_DEPTH
  for (int d = 0; d < depth; d++) {
    floatv right[vectors];
    UNROLL_ALL
    for (int v = 0; v < vectors; v++)
#if stage_b
      right[v] = b_part[d * (TILE_N / vec) + COLUMN(v) / vec];
#else
      right[v] = read_b(b, k, n, start + d, left + COLUMN(v), n % TILE_N == 0);
#endif
    UNROLL_ALL
    for (int r = 0; r < rows; r++) {
#if stage_a
      const float factor = a_part[d * A_LINE + ROW(r)];
#else
      const int row = m % TILE_M == 0 ? top + ROW(r) : min(top + ROW(r), m - 1);
      const float factor = a[row * k + start + d];
#endif
      UNROLL_ALL
      for (int v = 0; v < vectors; v++) sums[r][v] += factor * right[v];
    }
  }
}

static void write_c(__global float *restrict c, floatv value, int row, int column) {
  float parts[vec];
  __global float *to = c + row * n + column;
  if (m % TILE_M != 0 && row >= m) return;
  if ((n % TILE_N == 0) | ((n % vec == 0) & (column < n))) {
    *(__global floatv *)to = value;
  } else if (n % vec != 0 && column + vec <= n) {
    VSTORE(value, to);
  } else {
    VSTORE(value, parts);
    for (int i = 0; i < vec && column + i < n; i++) to[i] = parts[i];
  }
}

__kernel __attribute__((reqd_work_group_size(wg_x, wg_y, 1))) void gemm(__global const float *restrict a,
                                                                        __global const float *restrict b,
                                                                        __global float *restrict c) {
  const int top = (int)get_group_id(1) * TILE_M, left = (int)get_group_id(0) * TILE_N;
#if stage_a
  __local float a_parts[buffers * A_PART];
#else
  __local float *const a_parts = 0;
#endif
#if stage_b
  __local floatv b_parts[buffers * B_PART];
#else
  __local floatv *const b_parts = 0;
#endif
  floatv sums[rows][vectors];
  UNROLL_ALL
  for (int r = 0; r < rows; r++) {
    UNROLL_ALL
    for (int v = 0; v < vectors; v++) sums[r][v] = 0;
  }

#if !(stage_a || stage_b)
  add_products(sums, a, b, a_parts, b_parts, top, left, 0, k);
#elif buffers == 1
  for (int start = 0; start < LAST_START; start += tile_k) {
    copy_parts(a_parts, b_parts, a, b, top, left, start);
    barrier(CLK_LOCAL_MEM_FENCE);
    add_products(sums, a, b, a_parts, b_parts, top, left, start, tile_k);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  copy_parts(a_parts, b_parts, a, b, top, left, LAST_START);
  barrier(CLK_LOCAL_MEM_FENCE);
  add_products(sums, a, b, a_parts, b_parts, top, left, LAST_START, LAST_DEPTH);
#else
  copy_parts(a_parts, b_parts, a, b, top, left, 0);
  int now = 0; /* the buffer that holds this step's elements */
  for (int start = 0; start < LAST_START; start += tile_k, now = 1 - now) {
    barrier(CLK_LOCAL_MEM_FENCE);
#if stage_a
    floata next_a[A_SHARE];
    UNROLL_ALL
    FOR_SHARE(A_PIECES, A_SHARE, next_a[s] = piece_of_a(a, top, start + tile_k, i))
#endif
#if stage_b
    floatv next_b[B_SHARE];
    UNROLL_ALL
    FOR_SHARE(B_PIECES, B_SHARE, next_b[s] = piece_of_b(b, start + tile_k, left, i))
#endif
    add_products(sums, a, b, a_parts + now * A_PART, b_parts + now * B_PART, top, left, start, tile_k);
#if stage_a
    UNROLL_ALL
    FOR_SHARE(A_PIECES, A_SHARE, store_a(a_parts + (1 - now) * A_PART, next_a[s], i))
#endif
#if stage_b
    UNROLL_ALL
    FOR_SHARE(B_PIECES, B_SHARE, b_parts[(1 - now) * B_PART + i] = next_b[s])
#endif
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  add_products(sums, a, b, a_parts + now * A_PART, b_parts + now * B_PART, top, left, LAST_START, LAST_DEPTH);
#endif

  UNROLL_ALL
  for (int r = 0; r < rows; r++) {
    UNROLL_ALL
    for (int v = 0; v < vectors; v++) write_c(c, sums[r][v], top + ROW(r), left + COLUMN(v));
  }
}
