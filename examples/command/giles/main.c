/* A sum over a table, by THREADS-wide strips and with a choice of how partial sums are kept. Writes the seconds that it
 * took to fom.txt. */
#include "params.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define N (1 << 18)

static float data[N], partial[64];

static void add_strips(void) {
  for (int i = 0; i < N; i += STRIP)
    for (int k = 0; k < STRIP && i + k < N; k++) {
#if atomics1
      __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
      partial[k % LANES] += data[i + k];
    }
}

static void scale(void) {
  for (int pass = 0; pass < PASSES; pass++)
    for (int i = pass; i < N; i += PASSES) data[i] = data[i] * 0.5f + CACHE_HINT * 0.25f;
}

static double now_s(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(void) {
  double start_s = now_s();
  scale();
  add_strips();
  double s = now_s() - start_s;
  FILE *file = fopen("fom.txt", "w");
  if (file == NULL || fprintf(file, "%.9f\n", s) < 0 || fclose(file) != 0) return EXIT_FAILURE;
  return partial[0] < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
