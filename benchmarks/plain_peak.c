/* The CPU's maximum: chains of fused multiply-adds that need no memory. */
#include <omp.h>

#include "plain_loops.h"

/* Chains enough for every pipeline; a vector is as wide as the widest registers, compilers split it if they are not.
 */
enum { CHAINS = 12, LANES = 16, ROUNDS = 400000 };
typedef float lanes __attribute__((vector_size(LANES * sizeof(float))));

static float chain_together(void) {
  lanes sums[CHAINS], factor, term;
  float total = 0;
  for (int l = 0; l < LANES; l++) factor[l] = 0.999f, term[l] = 1e-6f;
  for (int i = 0; i < CHAINS; i++) sums[i] = term * (float)i;
  for (int n = 0; n < ROUNDS; n++)
#pragma GCC unroll 12
    for (int i = 0; i < CHAINS; i++) sums[i] = sums[i] * factor + term;
  for (int i = 0; i < CHAINS; i++)
    for (int l = 0; l < LANES; l++) total += sums[i][l];
  return total;
}

float plain_multiply_add(double *operations, double *time_s) {
  float total = 0;
  const double start = omp_get_wtime();
#pragma omp parallel reduction(+ : total)
  total += chain_together();
  *time_s = omp_get_wtime() - start;
  *operations = 2.0 * CHAINS * LANES * ROUNDS * omp_get_max_threads();
  return total;
}
