/* syrk.cl - syrk: c = alpha a a' + beta c; syr2k: c = alpha (a b' + b a') + beta c. a and b have n rows and m
 * columns; of c, only the triangle below the diagonal, and the diagonal, is computed. */
#include "product.h"

static void store_lower(RESULT c, const floatv *sums, float alpha, float beta) {
  for (int r = 0; r < rows; r++) {
    float sum[vec];
    VSTORE(sums[r], sum);
    for (int i = 0; i < vec; i++) {
      RESULT place = c + ROW(r) * n + COLUMN + i;
      if (ROW(r) < n && COLUMN + i <= ROW(r)) *place = alpha * sum[i] + beta * *place;
    }
  }
}

KERNEL(wg_x, wg_y) void syrk(RESULT c, INPUT a, float alpha, float beta) {
  ROOM_FOR_TILES;
  floatv sums[rows];
  clear(sums);
  add_product(sums, AS_STORED(a, n, m), TRANSPOSED(a, n, m), DEPTH_OF_LOWER(m), tiles);
  store_lower(c, sums, alpha, beta);
}

KERNEL(wg_x, wg_y) void syr2k(RESULT c, INPUT a, INPUT b, float alpha, float beta) {
  ROOM_FOR_TILES;
  floatv sums[rows];
  clear(sums);
  add_product(sums, AS_STORED(a, n, m), TRANSPOSED(b, n, m), DEPTH_OF_LOWER(m), tiles);
  add_product(sums, AS_STORED(b, n, m), TRANSPOSED(a, n, m), DEPTH_OF_LOWER(m), tiles);
  store_lower(c, sums, alpha, beta);
}
