/* solvers.c - the family's inputs, iterations, reference, judge and features. */
#include <stdio.h>

#include "methods.h"

/* Between -1 and 1, times a power of two of either sign that goes by the seed: the iterations that were counted suffice
 * for each of them, since all that a method computes is scaled alike. */
static void make_right_side(double *b, int n, uint64_t seed) {
  const input in = {.seed = 1};
  const double scale = ldexp(seed % 2 ? 1 : -1, (int)(seed / 2 % 8));
  for (int i = 0; i < n; i++) b[i] = scale * (float)(2 * draw(&in, i, 0, 6) - 1);
}

/* --- inputs --- */

/* unknowns, nonzeros, and iterations: of CG, then of BiCGStab, with blocks of 1 (Jacobi), 2, 4, 8, and with the
 * approximate inverse. One more than MOST_ITERATIONS where that many do not suffice, which a device's result shows
 * then, and 1 of CG where the matrix is not symmetric. */
int count(const clt_module_call *call) {
  static const int blocks[] = {1, 2, 4, 8, 0};
  input in;
  system_t s;
  double *out = call->target->data;
  if (read_input(&in, call) || make_system(&s, &in)) return 1;
  double *b = malloc(2 * (size_t)s.n * sizeof *b);
  int rc = b == NULL;
  if (b) make_right_side(b, s.n, 1);
  out[0] = s.n, out[1] = s.nonzeros;
  for (int i = 0; i < 5 && rc == 0; i++) {
    preconditioner p;
    rc = make_preconditioner(&p, &s, blocks[i]);
    if (rc) break;
    out[2 + i] = in.kind >= CONVECTION ? 1 : solve_by_cg(b + s.n, &s, &p, b, TOLERANCE, RESERVE, MOST_ITERATIONS);
    out[7 + i] = solve_by_bicgstab(b + s.n, &s, &p, b, TOLERANCE, RESERVE, MOST_ITERATIONS);
    rc = out[2 + i] == 0 || out[7 + i] == 0;
    free(p.value);
  }
  free(b);
  release_system(&s);
  return rc;
}

static int fill_from(const clt_module_call *call, int which) {
  input in;
  system_t s;
  if (read_input(&in, call) || make_system(&s, &in)) return 1;
  const int is_right =
      s.n == (int)clt_module_value(call, "unknowns", 0) && s.nonzeros == (int)clt_module_value(call, "nonzeros", 0);
  const void *const parts[] = {s.first, s.column, s.value};
  if (is_right) memcpy(call->target->data, parts[which], call->target->bytes);
  release_system(&s);
  return !is_right;
}

int fill_first(const clt_module_call *call) { return fill_from(call, 0); }
int fill_column(const clt_module_call *call) { return fill_from(call, 1); }
int fill_value(const clt_module_call *call) { return fill_from(call, 2); }

int fill_b(const clt_module_call *call) {
  const int n = (int)call->target->extent[0];
  double *b = malloc((size_t)n * sizeof *b);
  if (b == NULL) return 1;
  make_right_side(b, n, call->seed);
  for (int i = 0; i < n; i++) ((float *)call->target->data)[i] = (float)b[i];
  free(b);
  return 0;
}

/* --- the result --- */

static system_t find_system(const clt_module_call *call) {
  return (system_t){(int)clt_module_value(call, "unknowns", 0), (int)clt_module_value(call, "nonzeros", 0),
                    clt_module_find(call, "first")->data, clt_module_find(call, "column")->data,
                    clt_module_find(call, "value")->data};
}

/* The reference: BiCGStab goes on for longer. */
int solve(const clt_module_call *call) {
  system_t s = find_system(call);
  const float *b = clt_module_find(call, "b")->data;
  float *x = clt_module_find(call, "x")->data;
  preconditioner p;
  double *wide = malloc(2 * (size_t)s.n * sizeof *wide);
  if (wide == NULL || make_preconditioner(&p, &s, 4)) return free(wide), 1;
  for (int i = 0; i < s.n; i++) wide[i] = b[i];
  solve_by_bicgstab(wide + s.n, &s, &p, wide, 1e-6, 0, 4 * MOST_ITERATIONS);
  for (int i = 0; i < s.n; i++) x[i] = (float)wide[s.n + i];
  free(p.value), free(wide);
  return 0;
}

/* Judges by the residual: there is no one right x. */
int small_residual(const clt_module_call *call) {
  const system_t s = find_system(call);
  const float *b = clt_module_find(call, "b")->data, *x = clt_module_find(call, "x")->data;
  double off = 0, all = 0;
  for (int i = 0; i < s.n; i++) {
    double sum = b[i];
    for (int e = s.first[i]; e < s.first[i + 1]; e++) sum -= (double)s.value[e] * x[s.column[e]];
    off += sum * sum, all += (double)b[i] * b[i];
  }
  if (off <= ACCEPTED * ACCEPTED * all) return 0;
  snprintf(call->message, CLT_MODULE_MESSAGE_BYTES, "the residual is %g of b; at most %g is accepted", sqrt(off / all),
           ACCEPTED);
  return 1;
}

/* --- features --- */

/* Of a row's elements: mean, standard deviation. */
int row_lengths(const clt_module_call *call) {
  const system_t s = find_system(call);
  double *out = call->target->data, squares = 0;
  const double mean = (double)s.nonzeros / s.n;
  for (int i = 0; i < s.n; i++) squares += (s.first[i + 1] - s.first[i] - mean) * (s.first[i + 1] - s.first[i] - mean);
  out[0] = mean, out[1] = sqrt(squares / s.n);
  return 0;
}

/* Of the diagonal: mean, standard deviation, and the decimal logarithm of how much it exceeds the sum of its row's
 * magnitudes, in the mean and at least. Of the matrix: how far elements are from the diagonal at most, and the largest
 * sum of a row. */
int diagonal(const clt_module_call *call) {
  const system_t s = find_system(call);
  double *out = call->target->data, sum = 0, squares = 0, excess = 0, least = INFINITY, reach = 0, norm = 0;
  for (int i = 0; i < s.n; i++) {
    double own = 0, others = 0;
    for (int e = s.first[i]; e < s.first[i + 1]; e++) {
      if (s.column[e] == i)
        own = fabs(s.value[e]);
      else
        others += fabs(s.value[e]);
      reach = fmax(reach, abs(s.column[e] - i));
    }
    const double here = others > 0 ? fmax(own / others - 1, 1e-6) : 1;
    sum += own, squares += own * own, excess += here;
    least = fmin(least, here), norm = fmax(norm, own + others);
  }
  out[0] = sum / s.n, out[1] = sqrt(fmax(0, squares / s.n - out[0] * out[0]));
  out[2] = log10(excess / s.n), out[3] = log10(least);
  out[4] = reach, out[5] = norm;
  return 0;
}

/* Whether it is symmetric, and the share of what lies off the diagonal that lies in blocks of 2, of 4 and of 8. */
int structure(const clt_module_call *call) {
  const system_t s = find_system(call);
  double *out = call->target->data, all = 0, in_blocks[3] = {0}, asymmetry = 0;
  for (int i = 0; i < s.n; i++)
    for (int e = s.first[i]; e < s.first[i + 1]; e++) {
      const int j = s.column[e];
      if (i == j) continue;
      all += fabs(s.value[e]);
      for (int k = 0; k < 3; k++)
        if (i / (2 << k) == j / (2 << k)) in_blocks[k] += fabs(s.value[e]);
      asymmetry += fabs(s.value[e] - find_element(&s, j, i));
    }
  out[0] = asymmetry <= 1e-6 * all;
  for (int k = 0; k < 3; k++) out[1 + k] = all > 0 ? in_blocks[k] / all : 0;
  return 0;
}
