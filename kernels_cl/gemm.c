/* gemm.c - reference of the problem `gemm` (see gemm.json). */
#include <clatune/module.h>
#include <stdlib.h>

enum { BAND = 8 }; /* rows of C at a time, so that a row of B, once read, serves all of them */

/* Reference: C = A B, with sums in double. */
int matrix_product(const clt_module_call *call) {
  const float *a = clt_module_find(call, "a")->data, *b = clt_module_find(call, "b")->data;
  float *c = clt_module_find(call, "c")->data;
  const size_t m = (size_t)clt_module_value(call, "m", 0), n = (size_t)clt_module_value(call, "n", 0);
  const size_t k = (size_t)clt_module_value(call, "k", 0);
  int failed = 0;
#pragma omp parallel for schedule(dynamic) reduction(+ : failed)
  for (size_t top = 0; top < m; top += BAND) {
    const size_t height = m - top < BAND ? m - top : BAND;
    double *sums = calloc(height * n, sizeof *sums);
    failed += sums == NULL;
    for (size_t p = 0; sums && p < k; p++)
      for (size_t r = 0; r < height; r++) {
        const double factor = a[(top + r) * k + p];
        for (size_t j = 0; j < n; j++) sums[r * n + j] += factor * b[p * n + j];
      }
    for (size_t i = 0; sums && i < height * n; i++) c[top * n + i] = (float)sums[i];
    free(sums);
  }
  return failed ? -1 : 0;
}
