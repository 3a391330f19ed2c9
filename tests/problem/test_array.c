/* Logical and stored arrays: element types, borders, comparison with the reference. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "problem/data.h"

static void element_types_are_parsed(void **state) {
  (void)state;
  const struct {
    const char *name;
    clt_element_base base;
    int components;
    size_t bytes;
  } good[] = {{"float", CLT_ELEMENT_FLOAT, 1, 4},        {"uchar4", CLT_ELEMENT_UCHAR, 4, 4},
              {"double16", CLT_ELEMENT_DOUBLE, 16, 128}, {"float3", CLT_ELEMENT_FLOAT, 3, 16},
              {"half2", CLT_ELEMENT_HALF, 2, 4},         {"long8", CLT_ELEMENT_LONG, 8, 64},
              {"unsigned int", CLT_ELEMENT_UINT, 1, 4},  {"short", CLT_ELEMENT_SHORT, 1, 2}};
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    clt_element element;
    assert_int_equal(clt_element_parse(&element, good[i].name), 0);
    assert_int_equal(element.base, good[i].base);
    assert_int_equal(element.components, good[i].components);
    assert_int_equal(element.bytes, good[i].bytes);
  }
  const char *bad[] = {"", "float5", "float1", "floatx", "4", "void", "uchar 4", "Float", "char*"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    clt_element element = {.components = 99};
    assert_int_equal(clt_element_parse(&element, bad[i]), CLT_E_FORMAT);
    assert_int_equal(element.components, 99);
  }
}

static clt_plan_arg argument(const char *type, size_t x, size_t y, size_t z, size_t border, clt_border_mode mode) {
  clt_plan_arg arg = {.extent = {x, y, z}, .border_mode = mode};
  assert_int_equal(clt_element_parse(&arg.element, type), 0);
  arg.border[0] = border;
  arg.border[1] = y > 1 ? border : 0;
  arg.border[2] = z > 1 ? border : 0;
  arg.bytes = arg.element.bytes;
  for (int d = 0; d < 3; d++) arg.bytes *= arg.extent[d] + 2 * arg.border[d];
  return arg;
}

/* The stored elements by the definition, one element at a time. */
static int expected_at(const clt_plan_arg *arg, const int *logical, const size_t at[3]) {
  size_t from[3];
  for (int d = 0; d < 3; d++) {
    long position = (long)at[d] - (long)arg->border[d], last = (long)arg->extent[d] - 1;
    if ((position < 0 || position > last) && arg->border_mode == CLT_BORDER_ZERO) return 0;
    from[d] = (size_t)(position < 0 ? 0 : position > last ? last : position);
  }
  return logical[(from[2] * arg->extent[1] + from[1]) * arg->extent[0] + from[0]];
}

static void check_border(size_t x, size_t y, size_t z, size_t border, clt_border_mode mode) {
  clt_plan_arg arg = argument("int", x, y, z, border, mode);
  size_t n = x * y * z, stored_n = arg.bytes / sizeof(int);
  int *logical = malloc(n * sizeof *logical), *back = malloc(n * sizeof *back), *stored = malloc(arg.bytes);
  assert_true(logical && back && stored);
  for (size_t i = 0; i < n; i++) logical[i] = (int)i + 1;
  memset(stored, 0x5a, arg.bytes);
  clt_array_store(stored, &arg, logical);
  size_t width = x + 2 * arg.border[0], height = y + 2 * arg.border[1];
  for (size_t i = 0; i < stored_n; i++)
    assert_int_equal(stored[i],
                     expected_at(&arg, logical, (size_t[3]){i % width, i / width % height, i / width / height}));
  clt_array_unstore(back, &arg, stored);
  assert_memory_equal(back, logical, n * sizeof *back);
  free(logical);
  free(back);
  free(stored);
}

static void borders_are_stored_around_the_logical_array(void **state) {
  (void)state;
  for (int mode = CLT_BORDER_ZERO; mode <= CLT_BORDER_CLAMP; mode++) {
    check_border(5, 1, 1, 2, mode);
    check_border(4, 3, 1, 2, mode);
    check_border(4, 3, 2, 3, mode);
    check_border(1, 1, 1, 1, mode);
    check_border(7, 2, 5, 0, mode);
  }
}

static clt_array reference_of(const char *type, void *reference, size_t bytes, double absolute, double relative) {
  clt_array array = {
      .reference = reference, .bytes = bytes, .absolute_tolerance = absolute, .relative_tolerance = relative};
  assert_int_equal(clt_element_parse(&array.element, type), 0);
  return array;
}

static bool matches(const clt_array *array, const void *result, double *worst, size_t *where) {
  clt_comparison compared;
  bool right = clt_array_matches(&compared, array, result);
  assert_int_equal(right, compared.n_wrong == 0);
  if (worst) *worst = compared.max_abs_error;
  if (where) *where = compared.first.index;
  return right;
}

static void floats_match_within_tolerance(void **state) {
  (void)state;
  enum { N = 5000 };
  float reference[N], result[N];
  for (size_t i = 0; i < N; i++) result[i] = reference[i] = (float)i;
  clt_array array = reference_of("float", reference, sizeof reference, 1e-6, 1e-4);
  double worst = -1;
  size_t where = 0;
  assert_true(matches(&array, result, &worst, &where));
  assert_true(worst == 0);
  result[4000] += 0.25f;
  assert_true(matches(&array, result, &worst, &where));
  assert_true(worst == 0.25);
  const size_t places[] = {0, 1023, 1024, 2047, 3000, N - 1};
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    float kept = result[places[i]];
    result[places[i]] += 2;
    assert_false(matches(&array, result, &worst, &where));
    assert_int_equal(where, places[i]);
    assert_true(worst == 2);
    result[places[i]] = kept;
  }
}

static void the_first_of_several_is_reported_with_the_largest_error(void **state) {
  (void)state;
  enum { N = 4096 };
  float reference[N] = {0}, result[N] = {0};
  result[100] = 1;
  result[3000] = -8;
  clt_array array = reference_of("float2", reference, sizeof reference, 0.5, 0);
  double worst;
  size_t where;
  assert_false(matches(&array, result, &worst, &where));
  assert_int_equal(where, 50);
  assert_true(worst == 8);
  result[101] = 4; /* of the same element */
  clt_comparison compared;
  assert_false(clt_array_matches(&compared, &array, result));
  assert_int_equal(compared.n_wrong, 2);
  assert_true(compared.first.index == 50 && compared.first.error == 1);
  assert_true(compared.worst.index == 1500 && compared.worst.error == 8 && compared.worst.magnitude == 0);
}

static void nan_and_infinity_equal_themselves_alone(void **state) {
  (void)state;
  for (size_t n = 1; n <= 1024; n += 1023) { /* the loop for the rest, and the one for whole blocks */
    double *reference = calloc(n, sizeof *reference), *result = calloc(n, sizeof *result), worst;
    assert_true(reference && result);
    clt_array array = reference_of("double", reference, n * sizeof *reference, 1e300, 0);
    const struct {
      double result, reference;
      bool matches;
    } cases[] = {{NAN, 0, false},
                 {NAN, NAN, true},
                 {-NAN, NAN, true},
                 {0, NAN, false},
                 {INFINITY, NAN, false},
                 {INFINITY, INFINITY, true},
                 {INFINITY, -INFINITY, false},
                 {1, INFINITY, false},
                 {INFINITY, 1, false},
                 {1e300, 0, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
      result[n - 1] = cases[i].result;
      reference[n - 1] = cases[i].reference;
      assert_int_equal(matches(&array, result, &worst, NULL), cases[i].matches);
      if (!cases[i].matches) assert_true(isinf(worst));
      if (isnan(cases[i].reference) && cases[i].matches) assert_true(worst == 0);
    }
    free(reference);
    free(result);
  }
}

static void integers_are_compared_exactly(void **state) {
  (void)state;
  int64_t reference[] = {INT64_MAX, INT64_MIN, 0}, result[] = {INT64_MAX, INT64_MIN, 0};
  clt_array array = reference_of("long", reference, sizeof reference, 0, 0);
  double worst;
  size_t where;
  assert_true(matches(&array, result, &worst, &where));
  result[0]--;
  assert_false(matches(&array, result, &worst, &where));
  assert_true(where == 0 && worst == 1);
  result[0] = INT64_MIN;
  assert_false(matches(&array, result, &worst, &where));
  assert_true(worst > 1.8e19);
  clt_comparison compared;
  assert_false(clt_array_matches(&compared, &array, result));
  assert_true(compared.n_wrong == 1 && compared.worst.error == worst && compared.worst.magnitude > 9.2e18);
  uint8_t bytes[] = {0, 255, 7}, got[] = {0, 254, 7};
  clt_array narrow = reference_of("uchar", bytes, sizeof bytes, 0, 0);
  assert_false(matches(&narrow, got, &worst, &where));
  assert_true(where == 1 && worst == 1);
  narrow.absolute_tolerance = 1;
  assert_true(matches(&narrow, got, &worst, &where));
}

static void halves_are_numbers(void **state) {
  (void)state;
  uint16_t reference[] = {0x3c00, 0xc000, 0x0001, 0x7c00}, result[] = {0x3c01, 0xc000, 0x0001, 0x7c00};
  clt_array array = reference_of("half", reference, sizeof reference, 0.001, 0);
  double worst;
  assert_true(matches(&array, result, &worst, NULL));
  assert_true(worst == 1.0 / 1024);
  result[1] = 0x7e00;
  assert_false(matches(&array, result, &worst, NULL));
}

static void the_padding_of_vectors_of_three_is_not_compared(void **state) {
  (void)state;
  float reference[8] = {1, 2, 3, 0, 4, 5, 6, 0}, result[8] = {1, 2, 3, NAN, 4, 5, 6, 99};
  clt_array array = reference_of("float3", reference, sizeof reference, 0, 0);
  size_t where;
  assert_true(matches(&array, result, NULL, &where));
  result[6] = 7;
  assert_false(matches(&array, result, NULL, &where));
  assert_int_equal(where, 1);
  int64_t longs[4] = {1, 2, 3, 0}, got[4] = {1, 2, 3, 9};
  clt_array wide = reference_of("long3", longs, sizeof longs, 0, 0);
  assert_true(matches(&wide, got, NULL, NULL));
}

/* --- the quality of a reference --- */

static void default_tolerances_follow_the_reference(void **state) {
  (void)state;
  enum { N = 3000 };
  static float reference[N], zeros[N];
  static const double scales[] = {1e-30, 1e-9, 1e-3, 1, 1e3, 1e30};
  for (size_t s = 0; s < sizeof scales / sizeof *scales; s++) {
    for (size_t i = 0; i < N; i++) reference[i] = (float)(i % 2 ? scales[s] : -scales[s]);
    reference[5] = NAN, reference[6] = INFINITY; /* no part of the mean */
    clt_array array = reference_of("float", reference, sizeof reference, 1e-6, 1e-4);
    array.scales_tolerance = true;
    for (int twice = 0; twice < 2; twice++) {
      clt_array_scale_tolerance(&array);
      assert_true(fabs(array.absolute_tolerance / (1e-6 * fmin(1, scales[s])) - 1) < 1e-6);
    }
    reference[5] = reference[6] = 0;
    assert_false(matches(&array, zeros, NULL, NULL));
    clt_array stated = reference_of("float", reference, sizeof reference, 1e-6, 1e-4);
    clt_array_scale_tolerance(&stated);
    assert_true(stated.absolute_tolerance == 1e-6);
  }
  double extremes[] = {1e-300, -1e-300};
  clt_array array = reference_of("double", extremes, sizeof extremes, 1e-6, 0);
  array.scales_tolerance = true;
  clt_array_scale_tolerance(&array); /* the squares are no doubles */
  assert_true(array.absolute_tolerance > 0.99e-306 && array.absolute_tolerance < 1.01e-306);
  double nothing[2] = {0};
  array = reference_of("double", nothing, sizeof nothing, 1e-6, 0);
  array.scales_tolerance = true;
  clt_array_scale_tolerance(&array); /* there is no other information */
  assert_true(array.absolute_tolerance == 1e-6);
}

static void append_warning(void *user, clt_log_level level, const char *text) {
  assert_int_equal(level, CLT_LOG_WARNING);
  strcat(strcat(user, text), "\n");
}

/* The warnings of an array named "out"; each ends a line. */
static void expect_warning(clt_array array, const char *expected) {
  char said[2000] = "", name[] = "out";
  array.name = name;
  array.verified = true;
  clt_array_warn(&array, append_warning, said);
  if (expected == NULL)
    assert_string_equal(said, "");
  else if (strstr(said, expected) == NULL)
    fail_msg("'%s' is not in '%s'", expected, said);
}

static void weak_references_are_told(void **state) {
  (void)state;
  float nan[] = {1, NAN, 2, NAN}, padded[] = {NAN, 1, 2, NAN}, none[] = {0, 0, 0, -0.0f}, sparse[] = {0, 0, 0, 1};
  float small[] = {1e-7f, -1e-8f, 0, 1}, all_nan[] = {NAN, NAN};
  uint8_t bytes[] = {0, 1, 2, 9};
  int64_t longs[] = {0, 0}, counts[] = {5, INT64_MIN};
  uint16_t halves[] = {0x7e00, 0x3c00};
  expect_warning(reference_of("float", sparse, sizeof sparse, 1e-6, 1e-4), NULL);
  expect_warning(reference_of("float", nan, sizeof nan, 1e-6, 1e-4), "2 of 4 numbers of argument 'out' are never written");
  expect_warning(reference_of("float3", padded, sizeof padded, 1e-6, 1e-4), "1 of 3 numbers");
  expect_warning(reference_of("half", halves, sizeof halves, 1e-3, 1e-2), "1 of 2 numbers");
  expect_warning(reference_of("float", all_nan, sizeof all_nan, 1e-6, 1e-4), "2 of 2 numbers");
  expect_warning(reference_of("float", none, sizeof none, 1e-6, 1e-4), "argument 'out' is 0 everywhere;");
  expect_warning(reference_of("long", longs, sizeof longs, 0, 0), "argument 'out' is 0 everywhere;");
  expect_warning(reference_of("long", counts, sizeof counts, 0, 0), NULL);
  expect_warning(reference_of("float", small, sizeof small, 1e-6, 1e-4), "0 would pass for 2 of the 3 numbers");
  expect_warning(reference_of("float", small, sizeof small, 1e-9, 1e-4), NULL);
  expect_warning(reference_of("float", small, sizeof small, 0, 1), "0 would pass for 3 of the 3 numbers");
  expect_warning(reference_of("uchar", bytes, sizeof bytes, 0, 0), NULL);
  expect_warning(reference_of("uchar", bytes, sizeof bytes, 2, 0), "0 would pass for 2 of the 3 numbers");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(element_types_are_parsed),
      cmocka_unit_test(borders_are_stored_around_the_logical_array),
      cmocka_unit_test(floats_match_within_tolerance),
      cmocka_unit_test(the_first_of_several_is_reported_with_the_largest_error),
      cmocka_unit_test(nan_and_infinity_equal_themselves_alone),
      cmocka_unit_test(integers_are_compared_exactly),
      cmocka_unit_test(halves_are_numbers),
      cmocka_unit_test(the_padding_of_vectors_of_three_is_not_compared),
      cmocka_unit_test(default_tolerances_follow_the_reference),
      cmocka_unit_test(weak_references_are_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
