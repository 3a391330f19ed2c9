/* references.c - the references of the problems in this folder, as the definitions have them: matrices lie row by
 * row, A' is the transpose of A. Sums are taken in double. */
#include <clatune/module.h>
#include <math.h>

static float *array(const clt_module_call *call, const char *name) { return clt_module_find(call, name)->data; }
static int size(const clt_module_call *call, const char *name) { return (int)clt_module_value(call, name, 0); }

/* --- products of matrices --- */

/* C = alpha A B + beta C; A has m x depth elements, B depth x n. */
static void product(float *c, const float *a, const float *b, int m, int n, int depth, double alpha, double beta) {
#pragma omp parallel for
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) {
      double sum = 0;
      for (int k = 0; k < depth; k++) sum += (double)a[i * depth + k] * b[k * n + j];
      c[i * n + j] = (float)(alpha * sum + (beta == 0 ? 0 : beta * c[i * n + j]));
    }
}

/* C = alpha A B + beta C */
int gemm(const clt_module_call *call) {
  product(array(call, "c"), array(call, "a"), array(call, "b"), size(call, "ni"), size(call, "nj"), size(call, "nk"),
          clt_module_value(call, "alpha", 0), clt_module_value(call, "beta", 0));
  return 0;
}

/* D = alpha A B C + beta D; ab is alpha A B */
int mm2(const clt_module_call *call) {
  float *ab = array(call, "ab");
  const int ni = size(call, "ni"), nj = size(call, "nj");
  product(ab, array(call, "a"), array(call, "b"), ni, nj, size(call, "nk"), clt_module_value(call, "alpha", 0), 0);
  product(array(call, "d"), ab, array(call, "c"), ni, size(call, "nl"), nj, 1, clt_module_value(call, "beta", 0));
  return 0;
}

/* G = E F, E = A B, F = C D */
int mm3(const clt_module_call *call) {
  float *e = array(call, "e"), *f = array(call, "f");
  const int ni = size(call, "ni"), nj = size(call, "nj"), nl = size(call, "nl");
  product(e, array(call, "a"), array(call, "b"), ni, nj, size(call, "nk"), 1, 0);
  product(f, array(call, "c"), array(call, "d"), nj, nl, size(call, "nm"), 1, 0);
  product(array(call, "g"), e, f, ni, nl, nj, 1, 0);
  return 0;
}

/* C = alpha (A B' + B A') / 2 + beta C on and below the diagonal */
static void symmetric_product(const clt_module_call *call, const float *a, const float *b, double alpha) {
  float *c = array(call, "c");
  const int n = size(call, "n"), m = size(call, "m");
  const double beta = clt_module_value(call, "beta", 0);
#pragma omp parallel for schedule(dynamic)
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++) {
      double sum = 0;
      for (int k = 0; k < m; k++) sum += (double)a[i * m + k] * b[j * m + k] + (double)b[i * m + k] * a[j * m + k];
      c[i * n + j] = (float)(alpha / 2 * sum + beta * c[i * n + j]);
    }
}

/* C = alpha A A' + beta C, the lower triangle */
int syrk(const clt_module_call *call) {
  symmetric_product(call, array(call, "a"), array(call, "a"), clt_module_value(call, "alpha", 0));
  return 0;
}

/* C = alpha (A B' + B A') + beta C, the lower triangle */
int syr2k(const clt_module_call *call) {
  symmetric_product(call, array(call, "a"), array(call, "b"), 2 * clt_module_value(call, "alpha", 0));
  return 0;
}

/* --- statistics --- */

/* Brings the data, n observations of m variables, to a mean of 0 and, with `normalise`, to a deviation of 1 / sqrt(n). */
static int statistics(const clt_module_call *call, int normalise) {
  float *data = array(call, "data"), *mean = array(call, "mean"), *scale = array(call, "scale"),
        *result = array(call, "result");
  const int n = size(call, "n"), m = size(call, "m");
#pragma omp parallel for
  for (int j = 0; j < m; j++) {
    double sum = 0, squares = 0;
    for (int i = 0; i < n; i++) sum += data[i * m + j];
    for (int i = 0; i < n; i++) squares += (data[i * m + j] - sum / n) * (data[i * m + j] - sum / n);
    mean[j] = (float)(sum / n);
    scale[j] = (float)(1 / sqrt(!normalise ? n - 1 : squares > 0 ? squares : n));
    for (int i = 0; i < n; i++) data[i * m + j] = (float)((data[i * m + j] - sum / n) * scale[j]);
  }
#pragma omp parallel for
  for (int i = 0; i < m; i++)
    for (int j = 0; j < m; j++) {
      double sum = 0;
      for (int k = 0; k < n; k++) sum += (double)data[k * m + i] * data[k * m + j];
      result[i * m + j] = (float)sum;
    }
  return 0;
}

/* sum over observations of (x_i - mean_i) (x_j - mean_j), divided by n - 1 */
int covariance(const clt_module_call *call) { return statistics(call, 0); }

/* the same, divided by n and by both standard deviations */
int correlation(const clt_module_call *call) { return statistics(call, 1); }

/* --- products of a matrix and a vector --- */

/* out = alpha A x + beta other; A has m x n elements */
static void by_rows(float *out, const float *a, const float *x, const float *other, int m, int n, double alpha,
                    double beta) {
#pragma omp parallel for
  for (int i = 0; i < m; i++) {
    double sum = 0;
    for (int j = 0; j < n; j++) sum += (double)a[i * n + j] * x[j];
    out[i] = (float)(alpha * sum + (beta == 0 ? 0 : beta * other[i]));
  }
}

/* out = alpha A' x + beta other */
static void by_columns(float *out, const float *a, const float *x, const float *other, int m, int n, double alpha,
                       double beta) {
#pragma omp parallel for
  for (int j = 0; j < n; j++) {
    double sum = 0;
    for (int i = 0; i < m; i++) sum += (double)a[i * n + j] * x[i];
    out[j] = (float)(alpha * sum + (beta == 0 ? 0 : beta * other[j]));
  }
}

/* y = A' A x; ax is A x */
int atax(const clt_module_call *call) {
  float *a = array(call, "a"), *ax = array(call, "ax");
  const int m = size(call, "m"), n = size(call, "n");
  by_rows(ax, a, array(call, "x"), ax, m, n, 1, 0);
  by_columns(array(call, "y"), a, ax, ax, m, n, 1, 0);
  return 0;
}

/* q = A p, s = A' r */
int bicg(const clt_module_call *call) {
  float *a = array(call, "a"), *p = array(call, "p"), *r = array(call, "r");
  const int m = size(call, "m"), n = size(call, "n");
  by_rows(array(call, "q"), a, p, p, m, n, 1, 0);
  by_columns(array(call, "s"), a, r, r, m, n, 1, 0);
  return 0;
}

/* x1 = x1 + A y1, x2 = x2 + A' y2 */
int mvt(const clt_module_call *call) {
  float *a = array(call, "a"), *x1 = array(call, "x1"), *x2 = array(call, "x2");
  const int n = size(call, "n");
  by_rows(x1, a, array(call, "y1"), x1, n, n, 1, 1);
  by_columns(x2, a, array(call, "y2"), x2, n, n, 1, 1);
  return 0;
}

/* y = alpha A x + beta B x */
int gesummv(const clt_module_call *call) {
  float *x = array(call, "x"), *y = array(call, "y");
  const int n = size(call, "n");
  by_rows(y, array(call, "a"), x, y, n, n, clt_module_value(call, "alpha", 0), 0);
  by_rows(y, array(call, "b"), x, y, n, n, clt_module_value(call, "beta", 0), 1);
  return 0;
}

/* A = A + u1 v1' + u2 v2', x = beta A' y + z, w = alpha A x */
int gemver(const clt_module_call *call) {
  float *a = array(call, "a"), *x = array(call, "x");
  const float *u1 = array(call, "u1"), *v1 = array(call, "v1"), *u2 = array(call, "u2"), *v2 = array(call, "v2");
  const int n = size(call, "n");
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) a[i * n + j] += u1[i] * v1[j] + u2[i] * v2[j];
  by_columns(x, a, array(call, "y"), array(call, "z"), n, n, clt_module_value(call, "beta", 0), 1);
  by_rows(array(call, "w"), a, x, x, n, n, clt_module_value(call, "alpha", 0), 0);
  return 0;
}

/* --- fields --- */

static double convolution_weight(int x, int y, int z) { return 0.05 + 0.1 * x - 0.2 * y + 0.3 * x * y + 0.4 * z; }
static double jacobi_weight(int x, int y, int z) { return x * x + y * y + z * z <= 1 ? 0.2 : 0; }

/* Each inner point of `out` becomes the weighted sum of the 3 x 3 (x 3) points of `in` about it. */
static void stencil(float *out, const float *in, const clt_module_call *call, double weight(int, int, int)) {
  const int width = size(call, "width"), height = size(call, "height"), depth = size(call, "depth");
  const int line = width + 2, plane = line * (height + 2), border = depth > 0;
  for (int z = border; z < (depth > 0 ? depth : 1) + border; z++)
#pragma omp parallel for
    for (int y = 1; y <= height; y++)
      for (int x = 1; x <= width; x++) {
        const int point = z * plane + y * line + x;
        double sum = 0;
        for (int dz = -border; dz <= border; dz++)
          for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++) {
              const double w = weight(dx, dy, dz);
              if (w != 0) sum += w * in[point + dz * plane + dy * line + dx];
            }
        out[point] = (float)sum;
      }
}

/* out(x, y, z) = sum over dx, dy, dz in -1 .. 1 of w(dx, dy, dz) in(x + dx, y + dy, z + dz), where
 * w = 0.05 + 0.1 dx - 0.2 dy + 0.3 dx dy + 0.4 dz; without a depth, z and dz are 0 */
int convolution(const clt_module_call *call) {
  stencil(array(call, "out"), array(call, "in"), call, convolution_weight);
  return 0;
}

/* `steps` times: b = the mean of a at each inner point and its four neighbours, then a = that of b */
int jacobi_2d(const clt_module_call *call) {
  float *a = array(call, "a"), *b = array(call, "b");
  for (int step = 0; step < size(call, "steps"); step++) {
    stencil(b, a, call, jacobi_weight);
    stencil(a, b, call, jacobi_weight);
  }
  return 0;
}

/* `steps` times: the electric field from the magnetic one, the first row of ey from the source; then the reverse */
int fdtd_2d(const clt_module_call *call) {
  float *ex = array(call, "ex"), *ey = array(call, "ey"), *hz = array(call, "hz");
  const float *source = array(call, "source");
  const int nx = size(call, "nx"), ny = size(call, "ny"), wide = ny + 1;
  for (int step = 0; step < size(call, "steps"); step++) {
    for (int j = 0; j < ny; j++) ey[j] = source[step];
#pragma omp parallel for
    for (int i = 0; i < nx; i++)
      for (int j = 0; j < ny; j++) {
        if (i > 0) ey[i * ny + j] -= 0.5f * (hz[i * ny + j] - hz[(i - 1) * ny + j]);
        ex[i * wide + j] -= 0.5f * (hz[i * ny + j] - hz[i * ny + (j > 0 ? j - 1 : 0)]);
      }
#pragma omp parallel for
    for (int i = 0; i < nx; i++)
      for (int j = 0; j < ny; j++)
        hz[i * ny + j] -= 0.7f * (ex[i * wide + j + 1] - ex[i * wide + j] + ey[(i + 1) * ny + j] - ey[i * ny + j]);
  }
  return 0;
}
