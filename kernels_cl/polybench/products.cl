/* products.cl - gemm, 2mm, 3mm: each launch computes c = alpha a b + beta c. The indices i, j, k, l, m of a
 * problem run to ni, nj, nk, nl, nm. */
#include "product.h"

static void product(RESULT c, INPUT a, INPUT b, int height, int width, int depth, float alpha, float beta,
                    __local float *tiles) {
  floatv sums[rows];
  clear(sums);
  add_product(sums, AS_STORED(a, height, depth), AS_STORED(b, depth, width), tiles);
  for (int r = 0; r < rows; r++) {
    RESULT place = c + ROW(r) * width + COLUMN;
    if (ROW(r) >= height || COLUMN >= width) continue;
    VSTORE(beta == 0 ? alpha * sums[r] : alpha * sums[r] + beta * VLOAD(place), place);
  }
}

KERNEL(wg_x, wg_y) void ij_over_k(RESULT c, INPUT a, INPUT b, float alpha, float beta) {
  ROOM_FOR_TILES;
  product(c, a, b, ni, nj, nk, alpha, beta, tiles);
}

#ifdef nl
KERNEL(wg_x, wg_y) void il_over_j(RESULT c, INPUT a, INPUT b, float alpha, float beta) {
  ROOM_FOR_TILES;
  product(c, a, b, ni, nl, nj, alpha, beta, tiles);
}
#endif

#ifdef nm
KERNEL(wg_x, wg_y) void jl_over_m(RESULT c, INPUT a, INPUT b, float alpha, float beta) {
  ROOM_FOR_TILES;
  product(c, a, b, nj, nl, nm, alpha, beta, tiles);
}
#endif
