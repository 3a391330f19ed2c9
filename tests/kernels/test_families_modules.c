/* The modules of the families spmv, histogram and sort: inputs are of their kinds, all formats hold the same matrix,
 * features are correct. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "scene.h"

enum { N = 203 };

/* --- spmv --- */

#define FUNCTIONS(f)                                                                                             \
  f(count) f(row_starts) f(csr_columns) f(csr_values) f(row_lengths) f(ell_columns) f(ell_values) f(dia_offsets) \
      f(dia_values) f(sell_order) f(sell_lengths) f(sell_slices) f(sell_columns) f(sell_values) f(product)       \
          f(row_statistics) f(ell_fill) f(dia_fill) f(sell_fill) f(to_ell) f(to_dia) f(to_sell) f(items_of)      \
              f(count_items) f(sample) f(keys_of) f(sort_keys) f(near_descents) f(far_descents)
#define DECLARE(name) int name(const clt_module_call *call);
FUNCTIONS(DECLARE)

/* nonzeros, longest_row, n_diagonals, sell_elements */
static void numbers_of(double numbers[4], int kind, int n, int degree) {
  scene s;
  scene_init(&s, 1);
  scene_scalar(&s, "kind", kind);
  scene_scalar(&s, "n", n);
  scene_scalar(&s, "degree", degree);
  scene_scalar(&s, "seed", 5);
  double *target = scene_array(&s, "numbers", sizeof(double), 4, 1, 1);
  assert_int_equal(scene_call(&s, count, "numbers"), 0);
  memcpy(numbers, target, 4 * sizeof *target);
  scene_release(&s);
}

static void matrix_scene(scene *s, int kind, int n, int degree) {
  static const char *const names[] = {"nonzeros", "longest_row", "n_diagonals", "sell_elements"};
  double numbers[4];
  numbers_of(numbers, kind, n, degree);
  scene_init(s, 1);
  scene_scalar(s, "kind", kind);
  scene_scalar(s, "n", n);
  scene_scalar(s, "degree", degree);
  scene_scalar(s, "seed", 5);
  for (int i = 0; i < 4; i++) scene_scalar(s, names[i], numbers[i]);
}

static void *filled(scene *s, clt_module_function function, const char *name, size_t x, size_t y) {
  void *data = scene_array(s, name, 4, x, y, 1);
  assert_int_equal(scene_call(s, function, name), 0);
  return data;
}

static float at[N][N], again[N][N];

/* Brings the matrix into `at`; leaves the scene with CSR. */
static int fill_csr(scene *s, int kind, int degree) {
  matrix_scene(s, kind, N, degree);
  const int nonzeros = (int)s->scalars[4].value;
  const int *starts = filled(s, row_starts, "row_starts", N + 1, 1);
  const int *columns = filled(s, csr_columns, "columns", (size_t)nonzeros, 1);
  const float *values = filled(s, csr_values, "values", (size_t)nonzeros, 1);
  assert_int_equal(starts[0], 0);
  assert_int_equal(starts[N], nonzeros);
  memset(at, 0, sizeof at);
  for (int i = 0; i < N; i++)
    for (int k = starts[i]; k < starts[i + 1]; k++) {
      assert_true(columns[k] >= 0 && columns[k] < N && (k == starts[i] || columns[k] > columns[k - 1]));
      assert_true(values[k] >= 0.5f && values[k] < 1.5f);
      at[i][columns[k]] = values[k];
    }
  return nonzeros;
}

static void check_ell(int kind, int degree) {
  scene s;
  matrix_scene(&s, kind, N, degree);
  const size_t width = (size_t)s.scalars[5].value, stride = 208;
  const int *columns = filled(&s, ell_columns, "columns", stride, width);
  const float *values = filled(&s, ell_values, "values", stride, width);
  const int *lengths = filled(&s, row_lengths, "lengths", N, 1);
  memset(again, 0, sizeof again);
  for (int i = 0; i < N; i++) {
    assert_true(lengths[i] <= (int)width);
    for (size_t j = 0; j < width; j++) {
      again[i][columns[j * stride + (size_t)i]] += values[j * stride + (size_t)i];
      assert_true((values[j * stride + (size_t)i] == 0) == (j >= (size_t)lengths[i]));
    }
  }
  assert_memory_equal(at, again, sizeof at);
  scene_release(&s);
}

static void check_dia(int kind, int degree) {
  scene s;
  matrix_scene(&s, kind, N, degree);
  const size_t n_diagonals = (size_t)s.scalars[6].value, stride = 208;
  const int *offsets = filled(&s, dia_offsets, "offsets", n_diagonals, 1);
  const float *values = filled(&s, dia_values, "values", stride, n_diagonals);
  memset(again, 0, sizeof again);
  for (size_t d = 0; d < n_diagonals; d++)
    for (int i = 0; i < N; i++) {
      const int column = i + offsets[d];
      if (column >= 0 && column < N)
        again[i][column] = values[d * stride + (size_t)i];
      else
        assert_true(values[d * stride + (size_t)i] == 0);
    }
  assert_memory_equal(at, again, sizeof at);
  scene_release(&s);
}

static void check_sell(int kind, int degree) {
  static const int chunks[] = {4, 16, 64}, sigmas[] = {1, 256, 4096};
  scene s;
  matrix_scene(&s, kind, N, degree);
  const size_t elements = (size_t)s.scalars[7].value, row = N / 4 + 2;
  const int *slices = filled(&s, sell_slices, "slices", row, 9), *order = filled(&s, sell_order, "order", N, 3);
  const int *columns = filled(&s, sell_columns, "columns", elements, 1);
  const float *values = filled(&s, sell_values, "values", elements, 1);
  const int *lengths = filled(&s, sell_lengths, "lengths", N, 3);
  assert_int_equal(slices[8 * row + (N + 63) / 64], elements);
  for (size_t layout = 0; layout < 9; layout++) {
    const int chunk = chunks[layout / 3], *starts = slices + layout * row, *rows = order + layout % 3 * N;
    memset(again, 0, sizeof again);
    for (int i = 0; i < N; i++) {
      const int width = (starts[i / chunk + 1] - starts[i / chunk]) / chunk, length = lengths[layout % 3 * N + (size_t)i];
      if (sigmas[layout % 3] == 1) assert_int_equal(rows[i], i);
      if (sigmas[layout % 3] > 1 && i > 0) assert_true(length <= lengths[layout % 3 * N + (size_t)i - 1]);
      assert_true(length <= width);
      for (int j = 0; j < width; j++) {
        const int place = starts[i / chunk] + j * chunk + i % chunk;
        again[rows[i]][columns[place]] += values[place];
      }
    }
    assert_memory_equal(at, again, sizeof at);
  }
  scene_release(&s);
}

static const struct {
  int kind, degree;
} matrices[] = {{0, 5}, {0, 9}, {0, 7}, {0, 27}, {1, 6}, {2, 7}, {3, 3}, {4, 5}, {5, 4}, {6, 5}, {7, 3}};

static void all_formats_hold_the_same_matrix(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof matrices / sizeof *matrices; i++) {
    scene s;
    fill_csr(&s, matrices[i].kind, matrices[i].degree);
    check_ell(matrices[i].kind, matrices[i].degree);
    check_dia(matrices[i].kind, matrices[i].degree);
    check_sell(matrices[i].kind, matrices[i].degree);
    const clt_module_function conversions[] = {to_ell, to_dia, to_sell};
    for (size_t k = 0; k < 3; k++) assert_int_equal(scene_call(&s, conversions[k], NULL), 0);
    scene_release(&s);
  }
}

static void sizes_that_do_not_go_together_are_refused(void **state) {
  (void)state;
  scene s;
  matrix_scene(&s, 0, N, 5);
  scene_array(&s, "values", 4, 10000, 1, 1);
  for (size_t i = 4; i < 8; i++) s.scalars[i].value++;
  const clt_module_function generators[] = {row_starts, csr_columns, csr_values,  ell_columns, ell_values,
                                            dia_values, sell_slices, sell_values, sell_columns};
  for (size_t i = 0; i < sizeof generators / sizeof *generators; i++)
    assert_int_not_equal(scene_call(&s, generators[i], "values"), 0);
  s.scalars[0].value = 9;
  assert_int_not_equal(scene_call(&s, row_lengths, "values"), 0);
  scene_release(&s);
}

static void stencils_and_bands_are_what_they_are_called(void **state) {
  (void)state;
  scene s;
  int nonzeros = fill_csr(&s, 0, 5); /* rows of 14 */
  for (int i = 0, found = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      const int far = abs(i - j);
      assert_int_equal(at[i][j] != 0, far == 0 || far == 14 || (far == 1 && i / 14 == j / 14));
      found += at[i][j] != 0;
      if (i == N - 1 && j == N - 1) assert_int_equal(found, nonzeros);
    }
  scene_release(&s);
  fill_csr(&s, 1, 3);
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) assert_int_equal(at[i][j] != 0, abs(i - j) <= 1);
  scene_release(&s);
}

static void the_product_and_the_features_are_right(void **state) {
  (void)state;
  scene s;
  const int nonzeros = fill_csr(&s, 4, 5);
  float *x = scene_array(&s, "x", 4, N, 1, 1), *y = scene_array(&s, "y", 4, N, 1, 1);
  double *feature = scene_array(&s, "feature", sizeof(double), 3, 1, 1), mean = (double)nonzeros / N, squares = 0, most = 0;
  for (int i = 0; i < N; i++) x[i] = (float)(i % 7) - 3;
  assert_int_equal(scene_call(&s, product, NULL), 0);
  for (int i = 0; i < N; i++) {
    double sum = 0, length = 0;
    for (int j = 0; j < N; j++) sum += (double)at[i][j] * x[j], length += at[i][j] != 0;
    assert_true(fabs(sum - y[i]) < 1e-4);
    squares += (length - mean) * (length - mean);
    most = fmax(most, length);
  }
  assert_int_equal(scene_call(&s, row_statistics, "feature"), 0);
  assert_true(fabs(feature[0] - mean) < 1e-9 && fabs(feature[1] - sqrt(squares / N)) < 1e-9);
  assert_true(fabs(feature[2] - fmax(most - mean, mean - 1)) < 1e-9);
  assert_int_equal(scene_call(&s, ell_fill, "feature"), 0);
  assert_true(fabs(feature[0] - s.scalars[5].value * N / nonzeros) < 1e-9);
  assert_int_equal(scene_call(&s, dia_fill, "feature"), 0);
  assert_true(fabs(feature[0] - s.scalars[6].value * N / nonzeros) < 1e-9);
  assert_int_equal(scene_call(&s, sell_fill, "feature"), 0);
  assert_true(fabs(feature[0] - s.scalars[7].value / 9 / nonzeros) < 1e-9);
  scene_release(&s);
}

/* --- histogram --- */

static void items_fall_where_their_kind_says(void **state) {
  (void)state;
  enum { ITEMS = 20000, BINS = 37 };
  for (int kind = 0; kind <= 7; kind++) {
    scene s;
    scene_init(&s, 1);
    scene_scalar(&s, "kind", kind);
    scene_scalar(&s, "n", ITEMS);
    scene_scalar(&s, "bins", BINS);
    scene_scalar(&s, "spread", 4);
    scene_scalar(&s, "seed", 3);
    const uint32_t *items = filled(&s, items_of, "data", ITEMS, 1);
    const uint32_t *histogram = scene_array(&s, "histogram", 4, BINS, 1, 1);
    const double *feature = scene_array(&s, "feature", sizeof(double), 3, 1, 1);
    uint32_t used = 0, most = 0, sum = 0;
    assert_int_equal(scene_call(&s, count_items, NULL), 0);
    assert_int_equal(scene_call(&s, sample, "feature"), 0);
    for (int i = 0; i < BINS; i++) {
      uint32_t found = 0;
      for (int k = 0; k < ITEMS; k++) found += (uint32_t)(items[k] / 4294967296.0 * BINS) == (uint32_t)i;
      assert_int_equal(histogram[i], found);
      used += found > 0;
      sum += found;
      if (found > most) most = found;
    }
    assert_int_equal(sum, ITEMS);
    if (kind == 0 || kind == 6) assert_true(used == BINS && most < 2 * ITEMS / BINS);
    if (kind == 3 || kind == 4) assert_true(used <= 4);
    if (kind == 5) assert_true(feature[2] > 0.7);
    if (kind == 6) assert_true(feature[2] > 0.9 && feature[0] < 1);
    if (kind == 1 || kind == 2 || kind == 7) assert_true(most > 3 * ITEMS / BINS / 2);
    assert_true(fabs(feature[1] - (double)most / ITEMS) < 0.1);
    scene_release(&s);
  }
}

/* --- sort --- */

static void keys_are_in_the_order_that_their_kind_says(void **state) {
  (void)state;
  enum { KEYS = 5000 };
  for (int kind = 0; kind <= 7; kind++) {
    for (int wide = 0; wide < 2; wide++) {
      scene s;
      scene_init(&s, 1);
      scene_scalar(&s, "kind", kind);
      scene_scalar(&s, "n", KEYS);
      scene_scalar(&s, "key_bits", wide ? 64 : 20);
      scene_scalar(&s, "disorder", 10);
      scene_scalar(&s, "seed", 3);
      const size_t width = wide ? 8 : 4;
      const char *keys = filled(&s, keys_of, "keys", width / 4, KEYS), *sorted = scene_array(&s, "sorted", 4, width / 4, KEYS, 1);
      const double *feature = scene_array(&s, "feature", sizeof(double), 1, 1, 1);
      uint64_t before = 0, largest = 0, sum = 0, sum_sorted = 0;
      int different = 0, falls = 0, late = 0;
      assert_int_equal(scene_call(&s, sort_keys, NULL), 0);
      for (int i = 0; i < KEYS; i++) {
        uint64_t key = 0, in_order = 0, last = 0;
        memcpy(&key, keys + (size_t)i * width, width);
        memcpy(&in_order, sorted + (size_t)i * width, width);
        if (i > 0) memcpy(&last, sorted + (size_t)(i - 1) * width, width);
        if (i >= 10) memcpy(&before, keys + (size_t)(i - 10) * width, width);
        late += i >= 10 && before > key;
        if (i > 0) memcpy(&before, keys + (size_t)(i - 1) * width, width);
        falls += i > 0 && before > key;
        assert_true(in_order >= last);
        different += i == 0 || in_order != last;
        sum += key;
        sum_sorted += in_order;
        largest |= key;
      }
      assert_true(sum == sum_sorted && (wide ? largest >> 32 > 0 : largest < 1 << 20));
      if (kind == 3) assert_true(different <= 10);
      if (kind == 4) assert_true(falls > 0 && falls < KEYS / 50);
      if (kind == 5) assert_true(late == 0 && falls > KEYS / 10);
      if (kind == 6) assert_int_equal(falls, 9);
      if (kind == 7) assert_true(falls > KEYS * 9 / 10);
      assert_int_equal(scene_call(&s, near_descents, "feature"), 0);
      assert_true(fabs(*feature - (double)falls / (KEYS - 1)) < 1e-9);
      assert_int_equal(scene_call(&s, far_descents, "feature"), 0);
      if (kind >= 4 && kind <= 6) assert_true(*feature < 0.25);
      if (kind == 7) assert_true(*feature > 0.9);
      scene_release(&s);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_formats_hold_the_same_matrix),
      cmocka_unit_test(sizes_that_do_not_go_together_are_refused),
      cmocka_unit_test(stencils_and_bands_are_what_they_are_called),
      cmocka_unit_test(the_product_and_the_features_are_right),
      cmocka_unit_test(items_fall_where_their_kind_says),
      cmocka_unit_test(keys_are_in_the_order_that_their_kind_says),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
