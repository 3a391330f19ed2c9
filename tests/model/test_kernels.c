/* The inner loops, for every instruction set that this processor has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <clatune/rng.h>
#include <cmocka.h>
#include <math.h>

#include "model/network.h"

#define ROWS 150
#define INPUTS 5

#define DECAY 0.01f

static const clt_shape shapes[] = {{INPUTS, 2, {7, 1}}, {INPUTS, 3, {6, 4, 1}}, {INPUTS, 2, {7, 1}, .symmetric = true}};
static const size_t row_counts[] = {ROWS, 64, 33, 1};

struct data {
  float x[ROWS * INPUTS], y[ROWS], weights[128];
  clt_matrix matrix;
  clt_arena memory;
};

static void make_data(struct data *d, size_t n_rows) {
  clt_rng rng;
  size_t all[ROWS];
  clt_rng_init(&rng, 3);
  for (size_t i = 0; i < ROWS; i++) all[i] = i;
  for (size_t i = 0; i < ROWS * INPUTS; i++) d->x[i] = (float)(2 * clt_rng_unit(&rng) - 1);
  for (size_t i = 0; i < ROWS; i++) d->y[i] = (float)clt_rng_normal(&rng);
  for (size_t i = 0; i < 128; i++) d->weights[i] = (float)clt_rng_normal(&rng);
  d->memory = (clt_arena){0};
  assert_int_equal(clt_matrix_init(&d->matrix, &d->memory, d->x, INPUTS, d->y, all, n_rows, NULL), 0);
}

/* The network by the book, in double precision. */
static double by_the_book(const clt_shape *shape, const float *w, const float *x) {
  double in[16], out[16];
  size_t n_in = shape->n_inputs;
  for (size_t i = 0; i < n_in; i++) in[i] = x[i];
  for (size_t layer = 0; layer < shape->n_layers; layer++) {
    for (size_t o = 0; o < shape->width[layer]; o++, w += n_in + 1) {
      double z = w[n_in];
      for (size_t i = 0; i < n_in; i++) z += w[i] * in[i];
      out[o] = layer + 1 < shape->n_layers ? (shape->symmetric ? tanh(z) : 1 / (1 + exp(-z))) : z;
    }
    n_in = shape->width[layer];
    memcpy(in, out, sizeof in);
  }
  return in[0];
}

static double loss_by_the_book(const clt_shape *shape, const float *w, const struct data *d) {
  double loss = 0, squares = 0;
  size_t n = d->matrix.n_rows, n_in = shape->n_inputs;
  for (size_t i = 0; i < n; i++) loss += 0.5 * pow(by_the_book(shape, w, d->x + i * INPUTS) - d->y[i], 2) / (double)n;
  for (size_t layer = 0; layer < shape->n_layers; n_in = shape->width[layer++])
    for (size_t o = 0; o < shape->width[layer]; o++, w += n_in + 1)
      for (size_t i = 0; i < n_in; i++) squares += (double)w[i] * w[i];
  return loss + 0.5 * DECAY * squares;
}

static void outputs_are_right_for(const clt_kernels *kernels, const clt_shape *shape, size_t n_rows) {
  struct data d;
  make_data(&d, n_rows);
  float out[ROWS + CLT_BLOCK_ROWS];
  void *scratch = clt_arena_array(&d.memory, 1, clt_gradient_scratch(shape));
  kernels->outputs(shape, d.weights, &d.matrix, scratch, out);
  for (size_t i = 0; i < n_rows; i++) assert_float_equal(out[i], by_the_book(shape, d.weights, d.x + i * INPUTS), 2e-6);
  clt_arena_release(&d.memory);
}

static void gradient_is_right_for(const clt_kernels *kernels, const clt_shape *shape, size_t n_rows) {
  struct data d;
  make_data(&d, n_rows);
  float gradient[128];
  void *scratch = clt_arena_array(&d.memory, 1, clt_gradient_scratch(shape));
  double loss = kernels->gradient(shape, d.weights, &d.matrix, DECAY, scratch, gradient);
  assert_float_equal(loss, loss_by_the_book(shape, d.weights, &d), 1e-5 * (1 + loss));
  for (size_t i = 0; i < clt_shape_n_weights(shape); i++) {
    float kept = d.weights[i], step = 1e-3f;
    d.weights[i] = kept + step;
    double above = loss_by_the_book(shape, d.weights, &d), up = d.weights[i];
    d.weights[i] = kept - step;
    double below = loss_by_the_book(shape, d.weights, &d), down = d.weights[i];
    d.weights[i] = kept;
    assert_float_equal(gradient[i], (above - below) / (up - down), 1e-4 * (1 + fabsf(gradient[i])));
  }
  clt_arena_release(&d.memory);
}

/* For numbers of rows that fill the last strip of vectors and that do not. */
static void outputs_and_gradient_are_those_of_the_book(void **state) {
  (void)state;
  for (size_t k = 0; clt_kernels_at(k); k++) {
    for (size_t s = 0; s < 3; s++) {
      for (size_t n = 0; n < 4; n++) {
        outputs_are_right_for(clt_kernels_at(k), &shapes[s], row_counts[n]);
        gradient_is_right_for(clt_kernels_at(k), &shapes[s], row_counts[n]);
      }
    }
  }
}

static void products_and_sums_are_right(void **state) {
  (void)state;
  enum { N = 83 };
  for (size_t k = 0; clt_kernels_at(k); k++) {
    clt_arena memory = {0};
    float *a = clt_arena_array(&memory, N, sizeof *a), *b = clt_arena_array(&memory, N, sizeof *b);
    double expected = 0;
    for (int i = 0; i < N; i++) a[i] = (float)(i % 7), b[i] = (float)(i % 5), expected += (i % 7) * (i % 5);
    assert_float_equal(clt_kernels_at(k)->dot(a, b, N), expected, 1e-3);
    clt_kernels_at(k)->add(a, 2, b, N);
    for (int i = 0; i < N; i++) assert_float_equal(a[i], (double)(i % 7 + 2 * (i % 5)), 1e-6);
    clt_arena_release(&memory);
  }
}

static void exponentials_are_limited_and_right(void **state) {
  (void)state;
  const float z[] = {0, 1, -1, 20, -20, 49.9f, -49.9f, 60, -1e6f, 1e30f};
  for (size_t k = 0; clt_kernels_at(k); k++) {
    clt_arena memory = {0};
    float *weights = clt_arena_array(&memory, 1, CLT_LANES * sizeof(float));
    float *out = clt_arena_array(&memory, 10, CLT_LANES * sizeof(float));
    for (int i = 0; i < 10; i++) weights[i] = z[i];
    clt_kernels_at(k)->exponentials(weights, 1, 0, NULL, 1, out);
    for (int i = 0; i < 10; i++) {
      double right = exp(-fmax(-CLT_EXPONENT, fmin(CLT_EXPONENT, z[i])));
      assert_true(fabs(out[i] - right) <= 2e-6 * right);
    }
    clt_arena_release(&memory);
  }
}

/* The output for a row must not depend on the number of rows. */
static void rows_do_not_depend_on_their_company(void **state) {
  (void)state;
  enum { UNITS = 3, N = 7 };
  struct data d;
  make_data(&d, ROWS);
  for (size_t k = 0; clt_kernels_at(k); k++) {
    size_t floats = UNITS * CLT_LANES;
    float *weights = clt_arena_array(&d.memory, UNITS * (INPUTS + 1), CLT_LANES * sizeof(float));
    float *together = clt_arena_array(&d.memory, N * floats, sizeof(float));
    float *alone = clt_arena_array(&d.memory, floats, sizeof(float));
    for (size_t i = 0; i < UNITS * (INPUTS + 1) * CLT_LANES; i++) weights[i] = d.weights[i % 128];
    clt_kernels_at(k)->exponentials(weights, UNITS, INPUTS, d.x, N, together);
    for (size_t i = 0; i < N; i++) {
      clt_kernels_at(k)->exponentials(weights, UNITS, INPUTS, d.x + i * INPUTS, 1, alone);
      assert_memory_equal(alone, together + i * floats, floats * sizeof(float));
    }
  }
  clt_arena_release(&d.memory);
}

static void the_forest_takes_the_lowest_leaf_left(void **state) {
  (void)state;
  static float leaves[CLT_TREES * CLT_TREE_LEAVES];
  uint64_t a[CLT_TREES], b[CLT_TREES], both[CLT_TREES];
  const uint64_t *rows[] = {a, b};
  float expected = 0;
  for (int t = 0; t < CLT_TREES; t++) {
    for (int i = 0; i < CLT_TREE_LEAVES; i++) leaves[t * CLT_TREE_LEAVES + i] = (float)((t * 7 + i * 3) % 32);
    a[t] = UINT64_MAX << (t % 64);
    b[t] = UINT64_C(1) << 63 | UINT64_C(1) << (t / 2) | UINT64_C(1) << ((t + 5) % 64);
    int low = 0;
    while (!((a[t] & b[t]) >> low & 1)) low++;
    expected += leaves[t * CLT_TREE_LEAVES + low];
  }
  for (size_t k = 0; clt_kernels_at(k); k++) {
    assert_float_equal(clt_kernels_at(k)->forest(a, b, leaves), expected, 0);
    clt_kernels_at(k)->conjunction(rows, 2, both);
    for (int t = 0; t < CLT_TREES; t++) assert_true(both[t] == (a[t] & b[t]));
    clt_kernels_at(k)->conjunction(NULL, 0, both);
    assert_true(both[0] == UINT64_MAX && both[CLT_TREES - 1] == UINT64_MAX);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(outputs_and_gradient_are_those_of_the_book),
      cmocka_unit_test(products_and_sums_are_right),
      cmocka_unit_test(exponentials_are_limited_and_right),
      cmocka_unit_test(rows_do_not_depend_on_their_company),
      cmocka_unit_test(the_forest_takes_the_lowest_leaf_left),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
