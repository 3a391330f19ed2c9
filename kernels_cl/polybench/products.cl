/* products.cl - gemm, 2mm, 3mm: each launch computes result = alpha left right + beta result. The indices i, j, k, l, m of a
 * problem run to ni, nj, nk, nl, nm. */
#include "product.h"

static void product(RESULT result, INPUT left, INPUT right, int height, int width, int depth, float alpha, float beta,
                    __local float *tiles) {
  floatv sums[rows];
  clear(sums);
  add_product(sums, AS_STORED(left, height, depth), AS_STORED(right, depth, width), depth, tiles);
  for (int r = 0; r < rows; r++) {
    RESULT place = result + ROW(r) * width + COLUMN;
    if (ROW(r) >= height || COLUMN >= width) continue;
    VSTORE(beta == 0 ? alpha * sums[r] : alpha * sums[r] + beta * VLOAD(place), place);
  }
}

KERNEL(wg_x, wg_y) void ij_over_k(RESULT result, INPUT left, INPUT right, float alpha, float beta) {
  ROOM_FOR_TILES;
  product(result, left, right, ni, nj, nk, alpha, beta, tiles);
}

#ifdef nl
KERNEL(wg_x, wg_y) void il_over_j(RESULT result, INPUT left, INPUT right, float alpha, float beta) {
  ROOM_FOR_TILES;
  product(result, left, right, ni, nl, nj, alpha, beta, tiles);
}
#endif

#ifdef nm
KERNEL(wg_x, wg_y) void jl_over_m(RESULT result, INPUT left, INPUT right, float alpha, float beta) {
  ROOM_FOR_TILES;
  product(result, left, right, nj, nl, nm, alpha, beta, tiles);
}
#endif
