#include "dataset/folds.h"

void clt_folds(uint32_t *fold, size_t n, size_t k, clt_rng *rng) {
  for (size_t i = 0; i < n; i++) {
    size_t j = (size_t)clt_rng_below(rng, i + 1);
    if (j != i) fold[i] = fold[j]; /* inside-out shuffle of 0, 1, .. k-1, 0, 1 .. */
    fold[j] = (uint32_t)(i % k);
  }
}
