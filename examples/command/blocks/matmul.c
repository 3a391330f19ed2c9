/* A matrix product in blocks of BI x BJ x BK. Prints the milliseconds of the quickest of some repetitions as JSON, and
 * writes a checksum to sum.txt. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define N 240
#define REPETITIONS 20

static float a[N][N], b[N][N], c[N][N];

static int least(int x, int y) { return x < y ? x : y; }

static void block(int i0, int j0, int k0) {
  for (int i = i0; i < least(i0 + BI, N); i++)
    for (int k = k0; k < least(k0 + BK, N); k += UNROLL)
      for (int j = j0; j < least(j0 + BJ, N); j++) {
        float sum = c[i][j];
        for (int u = 0; u < UNROLL && k + u < N; u++) sum += a[i][k + u] * b[k + u][j];
        c[i][j] = sum;
      }
}

static void multiply(void) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) c[i][j] = 0;
  for (int i0 = 0; i0 < N; i0 += BI)
    for (int k0 = 0; k0 < N; k0 += BK)
      for (int j0 = 0; j0 < N; j0 += BJ) block(i0, j0, k0);
}

static double now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

int main(void) {
  double best_ms = 1e9, sum = 0;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      a[i][j] = (float)((i + 2 * j) % 7);
      b[i][j] = (float)((3 * i + j) % 5);
    }
  for (int r = 0; r < REPETITIONS; r++) {
    double start_ms = now_ms();
    multiply();
    double ms = now_ms() - start_ms;
    if (ms < best_ms) best_ms = ms;
  }
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) sum += c[i][j] * (1 + (i * N + j) % 3);
  FILE *file = fopen("sum.txt", "w");
  if (file == NULL || fprintf(file, "%.0f\n", sum) < 0 || fclose(file) != 0) return EXIT_FAILURE;
  printf("{\"ms\": %.6f}\n", best_ms);
  return EXIT_SUCCESS;
}
