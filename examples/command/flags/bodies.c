/* Bodies that attract each other: how fast this is hangs on what the compiler makes of one loop. Prints the seconds of the
 * quickest of some repetitions, or fails where the result is wrong. */
#include <math.h>
#include <stdio.h>
#include <time.h>

#define N 768
#define REPETITIONS 20

static float x[N], y[N], z[N], mass[N], ax[N], ay[N], az[N];

static float distance_term(float dx, float dy, float dz) {
  float square = dx * dx + dy * dy + dz * dz + 0.01f;
  return 1 / (square * sqrtf(square));
}

static void attract(void) {
  for (int i = 0; i < N; i++) {
    float sx = 0, sy = 0, sz = 0;
    for (int j = 0; j < N; j++) {
      float dx = x[j] - x[i], dy = y[j] - y[i], dz = z[j] - z[i];
      float pull = mass[j] * distance_term(dx, dy, dz);
      sx += dx * pull;
      sy += dy * pull;
      sz += dz * pull;
    }
    ax[i] = sx;
    ay[i] = sy;
    az[i] = sz;
  }
}

static double now_s(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The same in double precision, for the last body. */
static int is_right(void) {
  double sx = 0, length = sqrt((double)ax[N - 1] * ax[N - 1] + (double)ay[N - 1] * ay[N - 1] + (double)az[N - 1] * az[N - 1]);
  for (int j = 0; j < N; j++) {
    double dx = (double)x[j] - x[N - 1], dy = (double)y[j] - y[N - 1], dz = (double)z[j] - z[N - 1];
    double square = dx * dx + dy * dy + dz * dz + 0.01;
    sx += dx * mass[j] / (square * sqrt(square));
  }
  return fabs(sx - ax[N - 1]) <= 1e-3 * length;
}

int main(void) {
  double best_s = 1e9;
  unsigned seed = 1;
  float *const arrays[] = {x, y, z, mass};
  for (int a = 0; a < 4; a++)
    for (int i = 0; i < N; i++) {
      seed = seed * 1664525u + 1013904223u;
      arrays[a][i] = (float)(seed >> 8) / 16777216.0f;
    }
  for (int r = 0; r < REPETITIONS; r++) {
    double start_s = now_s();
    attract();
    double s = now_s() - start_s;
    if (s < best_s) best_s = s;
  }
  if (!is_right()) {
    fprintf(stderr, "the result is wrong\n");
    return 1;
  }
  printf("seconds %.9f\n", best_s);
  return 0;
}
