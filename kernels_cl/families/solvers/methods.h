/* methods.h - the solvers on the host: how many iterations each one takes with each preconditioner. */
#include "matrix.h"

#define TOLERANCE 1e-4 /* of the residual, relative to b: where a solver is done */
#define RESERVE 0.25   /* of iterations, since a device rounds in another way */
#define ACCEPTED 1e-3  /* of what a device has found, whose rounding and b are others */
#define MOST_ITERATIONS 400

/* Blocks along the diagonal, inverted, or (block 0) an approximate inverse on the matrix's pattern. */
typedef struct preconditioner {
  int block;
  double *value;
} preconditioner;

static double dot(const double *a, const double *b, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

static void multiply(const system_t *s, const double *x, double *result) {
  for (int i = 0; i < s->n; i++) {
    double sum = 0;
    for (int e = s->first[i]; e < s->first[i + 1]; e++) sum += s->value[e] * x[s->column[e]];
    result[i] = sum;
  }
}

static void precondition(const system_t *s, const preconditioner *p, const double *x, double *result) {
  for (int i = 0; i < s->n; i++) {
    const int start = p->block ? i / p->block * p->block : 0;
    double sum = 0;
    if (p->block == 0)
      for (int e = s->first[i]; e < s->first[i + 1]; e++) sum += p->value[e] * x[s->column[e]];
    else
      for (int j = start; j < s->n && j < start + p->block; j++)
        sum += p->value[(size_t)i * p->block + j - start] * x[j];
    result[i] = sum;
  }
}

static void invert_block(double *a, int n) {
  for (int p = 0; p < n; p++) {
    const double pivot = 1 / a[p * n + p];
    a[p * n + p] = 1;
    for (int j = 0; j < n; j++) a[p * n + j] *= pivot;
    for (int i = 0; i < n; i++) {
      const double factor = a[i * n + p];
      if (i == p) continue;
      a[i * n + p] = 0;
      for (int j = 0; j < n; j++) a[i * n + j] -= factor * a[p * n + j];
    }
  }
}

static double find_element(const system_t *s, int i, int j) {
  int low = s->first[i], high = s->first[i + 1];
  while (low < high) {
    const int middle = (low + high) / 2;
    if (s->column[middle] < j)
      low = middle + 1;
    else
      high = middle;
  }
  return low < s->first[i + 1] && s->column[low] == j ? s->value[low] : 0;
}

static int make_preconditioner(preconditioner *p, const system_t *s, int block) {
  const int padded = block ? (s->n + block - 1) / block * block : 0;
  *p = (preconditioner){block, calloc(block ? (size_t)padded * (size_t)block : (size_t)s->nonzeros, sizeof *p->value)};
  if (p->value == NULL) return 1;
  for (int i = 0; i < padded; i++)
    for (int k = 0; k < block; k++) {
      const int j = i / block * block + k;
      p->value[i * block + k] = i < s->n && j < s->n ? find_element(s, i, j) : i == j;
    }
  for (int i = 0; i < padded; i += block) invert_block(p->value + (size_t)i * block, block);
  for (int i = 0; block == 0 && i < s->n; i++)
    for (int e = s->first[i]; e < s->first[i + 1]; e++) {
      const int j = s->column[e];
      p->value[e] = i == j ? 1 / s->value[e] : -s->value[e] / (find_element(s, i, i) * find_element(s, j, j));
    }
  return 0;
}

/* When an iteration is over. The residual of BiCGStab goes up and down, and rounding shifts that. */
typedef struct progress {
  double enough; /* square of the residual */
  double reserve;
  int first; /* of the latest iterations in a row that were good enough; 0: none */
} progress;

static int is_done(progress *so_far, int k, double residual) {
  if (!(residual <= so_far->enough))
    so_far->first = 0;
  else if (so_far->first == 0)
    so_far->first = k;
  return so_far->first && k >= so_far->first * (1 + so_far->reserve);
}

/* x and the number of iterations until the residual is at most tolerance * |b| and has stayed so for `reserve` times as
 * many, or `most` + 1; 0 without memory. */
static int solve_by_cg(double *x, const system_t *s, const preconditioner *m, const double *b, double tolerance,
                       double reserve, int most) {
  const size_t n = (size_t)s->n;
  progress so_far = {tolerance * tolerance * dot(b, b, s->n), reserve, 0};
  double *r = malloc(4 * n * sizeof *r), *z = r + n, *p = z + n, *q = p + n, rz = 0;
  int k = 0;
  if (r == NULL) return 0;
  memset(x, 0, n * sizeof *x), memcpy(r, b, n * sizeof *r);
  while (++k <= most) {
    precondition(s, m, r, z);
    const double before = rz;
    rz = dot(r, z, s->n);
    for (size_t i = 0; i < n; i++) p[i] = k > 1 ? z[i] + rz / before * p[i] : z[i];
    multiply(s, p, q);
    const double alpha = rz / dot(p, q, s->n);
    for (size_t i = 0; i < n; i++) x[i] += alpha * p[i], r[i] -= alpha * q[i];
    if (is_done(&so_far, k, dot(r, r, s->n))) break;
  }
  free(r);
  return k;
}

static int solve_by_bicgstab(double *x, const system_t *s, const preconditioner *m, const double *b, double tolerance,
                             double reserve, int most) {
  const size_t n = (size_t)s->n;
  progress so_far = {tolerance * tolerance * dot(b, b, s->n), reserve, 0};
  double *r = malloc(7 * n * sizeof *r), *p = r + n, *v = p + n, *y = v + n, *half = y + n, *z = half + n, *t = z + n;
  double br = 0, alpha = 1, omega = 1;
  int k = 0;
  if (r == NULL) return 0;
  memset(x, 0, n * sizeof *x), memcpy(r, b, n * sizeof *r);
  while (++k <= most) {
    const double before = br;
    br = dot(b, r, s->n);
    for (size_t i = 0; i < n; i++) p[i] = k > 1 ? r[i] + br / before * alpha / omega * (p[i] - omega * v[i]) : r[i];
    precondition(s, m, p, y), multiply(s, y, v);
    alpha = br / dot(b, v, s->n);
    for (size_t i = 0; i < n; i++) half[i] = r[i] - alpha * v[i];
    precondition(s, m, half, z), multiply(s, z, t);
    omega = dot(t, half, s->n) / dot(t, t, s->n);
    for (size_t i = 0; i < n; i++) x[i] += alpha * y[i] + omega * z[i], r[i] = half[i] - omega * t[i];
    if (is_done(&so_far, k, dot(r, r, s->n))) break;
  }
  free(r);
  return k;
}
