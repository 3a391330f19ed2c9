/* Uses of a space: samples, aliases, recordings, texts, and the builder's checks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <clatune/space.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "space/space.h"

static clt_space_builder *new_builder(void) {
  clt_space_builder *builder = NULL;
  assert_int_equal(clt_space_builder_new(&builder, NULL), 0);
  return builder;
}

static void add(clt_space_builder *builder, const char *name, const char *values) {
  assert_int_equal(clt_space_builder_parameter_text(builder, name, NULL, values, NULL), 0);
}

static void require(clt_space_builder *builder, const char *condition) {
  assert_int_equal(clt_space_builder_constraint(builder, condition, CLT_CONDITION, NULL, NULL), 0);
}

static clt_space *build(clt_space_builder *builder) {
  clt_space *space = NULL;
  clt_error error = {0};
  if (clt_space_new(&space, builder, &error)) fail_msg("%s", error.message);
  clt_space_builder_free(builder);
  return space;
}

/* 8 x 8 x 3 configurations, 36 x 3 of them valid. */
static clt_space *new_triangle(void) {
  clt_space_builder *builder = new_builder();
  add(builder, "x", "list(range(8))");
  add(builder, "free", "[1, 2, 3]");
  add(builder, "y", "list(range(8))");
  require(builder, "x <= y");
  return build(builder);
}

/* --- samples --- */

static void a_sample_has_no_configuration_twice(void **state) {
  (void)state;
  clt_space *space = new_triangle();
  clt_rng rng;
  clt_rng_init(&rng, 3);
  for (size_t n = 0; n <= 120; n += 7) {
    clt_config sample[120];
    bool seen[8 * 8 * 3] = {false};
    int64_t got = clt_space_sample(sample, space, &rng, n, NULL);
    assert_int_equal(got, n < 108 ? n : 108);
    for (int64_t i = 0; i < got; i++) {
      assert_true(clt_space_contains(space, sample[i]));
      assert_false(seen[sample[i]]);
      seen[sample[i]] = true;
    }
  }
  clt_space_free(space);
}

static void the_same_seed_gives_the_same_sample(void **state) {
  (void)state;
  clt_space *space = new_triangle();
  clt_config first[20], second[20];
  clt_rng rng;
  clt_rng_init(&rng, 11);
  clt_space_sample(first, space, &rng, 20, NULL);
  clt_rng_init(&rng, 11);
  clt_space_sample(second, space, &rng, 20, NULL);
  assert_memory_equal(first, second, sizeof first);
  clt_rng_init(&rng, 12);
  clt_space_sample(second, space, &rng, 20, NULL);
  assert_memory_not_equal(first, second, sizeof first);
  clt_space_free(space);
}

/* Chi square of 108 cells: mean 107, standard deviation 14.6. Fixed seeds, so no chance of failing by luck. */
static void check_uniform(const uint32_t *counts, double expected) {
  double chi = 0;
  for (size_t i = 0; i < 108; i++) chi += (counts[i] - expected) * (counts[i] - expected) / expected;
  assert_true(chi > 60);
  assert_true(chi < 170);
}

static void samples_are_uniform_in_every_place(void **state) {
  (void)state;
  enum { ROUNDS = 20000, SIZE = 30 };
  clt_space *space = new_triangle();
  uint32_t all[108] = {0}, first[108] = {0}, last[108] = {0};
  clt_rng rng;
  clt_rng_init(&rng, 5);
  for (int round = 0; round < ROUNDS; round++) {
    clt_config sample[SIZE];
    uint64_t rank;
    assert_int_equal(clt_space_sample(sample, space, &rng, SIZE, NULL), SIZE);
    for (int i = 0; i < SIZE; i++) {
      assert_true(clt_space_rank(&rank, space, sample[i]));
      all[rank]++;
      if (i == 0) first[rank]++;
      if (i == SIZE - 1) last[rank]++;
    }
  }
  check_uniform(first, ROUNDS / 108.0);
  check_uniform(last, ROUNDS / 108.0);
  /* drawn without repetition: the variance is smaller by the finite population's factor */
  double chi = 0, expected = ROUNDS * SIZE / 108.0;
  for (size_t i = 0; i < 108; i++) chi += (all[i] - expected) * (all[i] - expected) / expected;
  chi /= 1 - SIZE / 108.0;
  assert_true(chi > 60);
  assert_true(chi < 170);
  clt_space_free(space);
}

/* --- aliases --- */

static void aliases_lead_to_one_configuration(void **state) {
  (void)state;
  clt_space_builder *builder = new_builder();
  add(builder, "image", "[0, 1]");
  add(builder, "constant", "[0, 1]");
  add(builder, "unroll", "[1, 2, 4]");
  require(builder, "not (image == 1 and unroll == 4 and constant == 0)");
  clt_value zero = {.type = CLT_INT}, one = {.type = CLT_INT, .integer = 1};
  assert_int_equal(clt_space_builder_alias(builder, "image and constant", "constant", zero, NULL), 0);
  assert_int_equal(clt_space_builder_alias(builder, "constant == 0", "unroll", one, NULL), 0);
  clt_space *space = build(builder);
  assert_true(clt_space_has_aliases(space));
  static const char *const pairs[][2] = {
      {"image=1 constant=1 unroll=2", "image=1 constant=0 unroll=1"}, /* one after the other */
      {"image=1 constant=1 unroll=4", "image=1 constant=0 unroll=1"}, /* through an invalid one */
      {"image=0 constant=1 unroll=2", "image=0 constant=1 unroll=2"},
      {"image=0 constant=0 unroll=4", "image=0 constant=0 unroll=1"},
  };
  for (size_t i = 0; i < 4; i++) {
    clt_config from, to;
    assert_int_equal(clt_config_parse(&from, space, pairs[i][0], NULL), 0);
    assert_int_equal(clt_config_parse(&to, space, pairs[i][1], NULL), 0);
    assert_int_equal(clt_space_canonical(space, from), to);
    assert_int_equal(clt_space_canonical(space, to), to);
  }
  clt_space_free(space);
}

static void aliases_in_a_circle_end(void **state) {
  (void)state;
  clt_space_builder *builder = new_builder();
  add(builder, "a", "[0, 1]");
  add(builder, "b", "[0, 1, 2]");
  clt_value zero = {.type = CLT_INT}, one = {.type = CLT_INT, .integer = 1};
  assert_int_equal(clt_space_builder_alias(builder, "b == 2", "b", one, NULL), 0);
  assert_int_equal(clt_space_builder_alias(builder, "a == 0 and b == 1", "a", one, NULL), 0);
  assert_int_equal(clt_space_builder_alias(builder, "a == 1 and b == 1", "a", zero, NULL), 0);
  clt_space *space = build(builder);
  assert_int_equal(clt_space_canonical(space, 1), 1);
  assert_int_equal(clt_space_canonical(space, 2), 1);
  assert_int_equal(clt_space_canonical(space, 4), 1);
  assert_int_equal(clt_space_canonical(space, 5), 1);
  assert_int_equal(clt_space_canonical(space, 3), 3);
  clt_space_free(space);
}

static void an_alias_to_what_is_not_valid_does_not_hold(void **state) {
  (void)state;
  clt_space_builder *builder = new_builder();
  add(builder, "a", "[0, 1]");
  add(builder, "b", "[0, 1]");
  require(builder, "a == 1 or b == 1");
  clt_value zero = {.type = CLT_INT};
  assert_int_equal(clt_space_builder_alias(builder, "a == 1 and b == 0", "a", zero, NULL), 0);
  clt_space *space = build(builder);
  assert_int_equal(clt_space_canonical(space, 2), 2);
  clt_space_free(space);
}

/* The count agrees with a look at every configuration. */
static uint64_t count_aliases(const clt_space *space) {
  uint64_t counted = UINT64_MAX, found = 0;
  clt_error error = {0};
  for (uint64_t rank = 0; rank < clt_space_valid(space); rank++) {
    clt_config config = clt_space_at(space, rank);
    found += clt_space_canonical(space, config) != config;
  }
  if (clt_space_count_aliases(&counted, space, &error)) fail_msg("%s", error.message);
  assert_int_equal(counted, found);
  return counted;
}

static clt_space *with_aliases(const char *on_group) {
  clt_space_builder *builder = new_builder();
  clt_value zero = {.type = CLT_INT}, one = {.type = CLT_INT, .integer = 1};
  add(builder, "p", "range(7)");
  add(builder, "a", "[0, 1, 2]");
  add(builder, "q", "range(5)");
  add(builder, "b", "[0, 1]");
  add(builder, "only", "[3]");
  add(builder, "c", "[0, 1, 2]");
  require(builder, "p + q < 7 and p != 2");
  if (on_group[0]) require(builder, on_group);
  assert_int_equal(clt_space_builder_alias(builder, "a == 2 and only == 3", "b", zero, NULL), 0);
  assert_int_equal(clt_space_builder_alias(builder, "b == 0", "c", one, NULL), 0);
  return build(builder);
}

static void aliases_are_counted_by_groups(void **state) {
  (void)state;
  /* Without a condition, 9 of the 18 combinations of a, b and c represent only themselves: a = 2: (0, 1); else (0, 1),
   * (1, any). */
  static const char *const conditions[] = {"", "c != 1 or b == 1", "a + b + c < 4", "c + q > 1", "b == 1"};
  static const uint64_t of_group[] = {9, 0, 0, 0, 0};
  for (size_t i = 0; i < sizeof conditions / sizeof *conditions; i++) {
    clt_space *space = with_aliases(conditions[i]);
    uint64_t n = count_aliases(space);
    assert_true(n < clt_space_valid(space));
    if (of_group[i]) assert_int_equal(n, clt_space_valid(space) / 18 * of_group[i]);
    clt_space_free(space);
  }
}

static void aliases_that_depend_on_too_much_are_not_counted(void **state) {
  (void)state;
  clt_space_builder *builder = new_builder();
  clt_value zero = {.type = CLT_INT};
  uint64_t n = 7;
  clt_error error = {0};
  add(builder, "a", "range(4096)");
  add(builder, "b", "range(4096)");
  assert_int_equal(clt_space_builder_alias(builder, "a == b", "a", zero, NULL), 0);
  clt_space *space = build(builder);
  assert_int_equal(clt_space_count_aliases(&n, space, &error), CLT_E_RANGE);
  assert_non_null(strstr(error.message, "4194304 combinations"));
  assert_int_equal(n, 7);
  clt_space_free(space);
}

static void an_alias_needs_a_parameter_and_one_of_its_values(void **state) {
  (void)state;
  clt_space_builder *builder = new_builder();
  clt_error error = {0};
  add(builder, "a", "[0, 1]");
  clt_value seven = {.type = CLT_INT, .integer = 7};
  assert_int_equal(clt_space_builder_alias(builder, "a == 1", "a", seven, &error), CLT_E_NOT_FOUND);
  assert_non_null(strstr(error.message, "7, which is not among"));
  assert_int_equal(clt_space_builder_alias(builder, "a == 1", "b", seven, NULL), CLT_E_NOT_FOUND);
  clt_space_builder_free(builder);
}

/* --- recordings --- */

static void an_explicit_space_has_what_is_listed(void **state) {
  (void)state;
  clt_space_builder *builder = new_builder();
  clt_space *space = NULL;
  clt_error error = {0};
  add(builder, "a", "[0, 1, 2, 3]");
  add(builder, "b", "[0, 1, 2, 3]");
  require(builder, "False");
  /* once or twice is the same */
  const uint32_t listed[] = {2, 1, 0, 2, 1, 2, 2, 1, 3, 3, 0, 3};
  clt_config sorted[] = {2, 3, 6, 9, 15}, out[8];
  assert_int_equal(clt_space_new_explicit(&space, builder, listed, 6, &error), 0);
  assert_int_equal(clt_space_valid(space), 5);
  assert_int_equal(clt_space_cartesian(space), 16);
  assert_int_equal(clt_space_enumerate(space, 0, 8, out), 5);
  assert_memory_equal(out, sorted, sizeof sorted);
  for (clt_config c = 0; c < 20; c++) {
    uint64_t rank;
    bool expected = c == 2 || c == 3 || c == 6 || c == 9 || c == 15;
    assert_int_equal(clt_space_contains(space, c), expected);
    assert_int_equal(clt_space_violation(space, c, NULL) == NULL, expected);
    if (expected) assert_true(clt_space_rank(&rank, space, c) && clt_space_at(space, rank) == c);
  }
  assert_int_equal(clt_space_neighbours(out, 8, space, 7), 3);
  assert_int_equal(out[0], 3);
  assert_int_equal(out[1], 6);
  assert_int_equal(out[2], 15);
  clt_rng rng;
  clt_rng_init(&rng, 1);
  assert_int_equal(clt_space_sample(out, space, &rng, 8, NULL), 5);
  clt_space_free(space);
  assert_int_equal(clt_space_new_explicit(&space, builder, NULL, 0, NULL), 0);
  assert_int_equal(clt_space_valid(space), 0);
  clt_space_free(space);
  clt_space_builder_free(builder);
}

/* --- texts --- */

static clt_space *new_texts(void) {
  clt_space_builder *builder = new_builder();
  add(builder, "size", "[1, 16, 160, '1', '0x10', 'size=1']");
  add(builder, "one", "[5]");
  add(builder, "kind", "['a', 'a b', 'a b=c', '', 'a%20b', '50%', 'a,b']");
  add(builder, "ratio", "[0.1, 1.5, 2.0, -0.5]");
  add(builder, "flag", "[False, True]");
  return build(builder);
}

static void texts_are_read_back(void **state) {
  (void)state;
  clt_space *space = new_texts();
  for (clt_config c = 0; c < clt_space_cartesian(space); c++) {
    char text[200];
    clt_error error = {0};
    clt_config back = 77;
    int length = clt_config_print(text, sizeof text, space, c);
    assert_int_equal(length, strlen(text));
    assert_int_equal(clt_config_print(NULL, 0, space, c), length);
    if (clt_config_parse(&back, space, text, &error)) fail_msg("%s: %s", text, error.message);
    if (back != c) fail_msg("%s is read as %llu, not %llu", text, (unsigned long long)back, (unsigned long long)c);
  }
  clt_space_free(space);
}

static void texts_may_be_written_otherwise(void **state) {
  (void)state;
  clt_space *space = new_texts();
  clt_config a, b;
  assert_int_equal(clt_config_parse(&a, space, "size=16 one=5 kind=a b ratio=2.0 flag=1", NULL), 0);
  assert_int_equal(clt_config_parse(&b, space, "  flag=True,kind=a b, ratio=2 size=0x10 ", NULL), 0);
  assert_int_equal(a, b);
  assert_int_equal(clt_config_parse(&b, space, "flag=1 kind=a%20b ratio=2 size=16", NULL), 0);
  assert_int_equal(a, b);
  assert_int_equal(clt_config_parse(&a, space, "flag=1 kind=a b=c ratio=2 size=16", NULL), 0);
  assert_int_equal(clt_config_parse(&b, space, "flag=1 kind=a%20b%3Dc ratio=2 size=16", NULL), 0);
  assert_int_equal(a, b);
  char cut[10];
  assert_true(clt_config_print(cut, sizeof cut, space, a) > 10);
  assert_string_equal(cut, "size=16 o");
  clt_space_free(space);
}

static void texts_that_do_not_fit_are_refused(void **state) {
  (void)state;
  static const struct {
    const char *text, *part;
    int code;
  } cases[] = {
      {"size=2 kind=a ratio=2.0 flag=1", "'2' is not among the values of 'size': 1, 16, 160, %31, ", CLT_E_NOT_FOUND},
      {"sise=1 kind=a ratio=2.0 flag=1", "did you mean 'size'", CLT_E_NOT_FOUND},
      {"size=1 kind=a ratio=2.0", "lacks a value for 'flag'", CLT_E_NOT_FOUND},
      {"size=1 size=1 kind=a ratio=2.0 flag=1", "given twice", CLT_E_FORMAT},
      {"size 1", "name=value", CLT_E_FORMAT},
      {"=1", "name=value", CLT_E_FORMAT},
      {"one=6", "'6' is not among", CLT_E_NOT_FOUND},
      {"", "lacks a value", CLT_E_NOT_FOUND},
  };
  clt_space *space = new_texts();
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    clt_error error = {0};
    clt_config out = 77;
    int rc = clt_config_parse(&out, space, cases[i].text, &error);
    if (rc != cases[i].code || strstr(error.message, cases[i].part) == NULL)
      fail_msg("'%s': %d '%s' has no '%s'", cases[i].text, rc, error.message, cases[i].part);
    assert_int_equal(out, 77);
  }
  clt_space_free(space);
}

/* --- builder --- */

static void the_builder_refuses_what_cannot_be(void **state) {
  (void)state;
  clt_space_builder *builder = new_builder();
  clt_space *space = NULL;
  clt_error error = {0};
  clt_value twice[] = {{.type = CLT_INT, .integer = 1}, {.type = CLT_REAL, .real = 1.0}};
  clt_value nan_value = {.type = CLT_REAL, .real = NAN};
  assert_int_equal(clt_space_new(&space, builder, NULL), CLT_E_ARGUMENT);
  assert_int_equal(clt_space_builder_parameter(builder, "a", twice, 2, &error), CLT_E_ARGUMENT);
  assert_non_null(strstr(error.message, "twice"));
  assert_int_equal(clt_space_builder_parameter(builder, "a", twice, 0, NULL), CLT_E_ARGUMENT);
  assert_int_equal(clt_space_builder_parameter(builder, "a", &nan_value, 1, NULL), CLT_E_ARGUMENT);
  assert_int_equal(clt_space_builder_parameter(builder, "a b", twice, 1, NULL), CLT_E_ARGUMENT);
  assert_int_equal(clt_space_builder_parameter(builder, "a.b", twice, 1, NULL), CLT_E_ARGUMENT);
  assert_int_equal(clt_space_builder_parameter(builder, "in", twice, 1, NULL), CLT_E_ARGUMENT);
  assert_int_equal(clt_space_builder_parameter(builder, "", twice, 1, NULL), CLT_E_ARGUMENT);
  assert_int_equal(clt_space_builder_parameter(builder, "a", twice, 1, NULL), 0);
  assert_int_equal(clt_space_builder_parameter(builder, "a", twice, 1, NULL), CLT_E_ARGUMENT);
  assert_int_equal(clt_space_builder_constant(builder, "a", twice[0], NULL), CLT_E_ARGUMENT);
  assert_int_equal(clt_space_builder_constant(builder, "device.x", twice[0], NULL), 0);
  assert_int_equal(clt_space_builder_parameter_text(builder, "b", "int", "[1, 2, 1]", NULL), CLT_E_ARGUMENT);
  assert_int_equal(clt_space_builder_parameter_text(builder, "b", "int", "[]", NULL), CLT_E_ARGUMENT);
  clt_space_builder_free(builder);
}

static void a_builder_can_be_used_again(void **state) {
  (void)state;
  clt_space_builder *builder = new_builder();
  clt_space *first = NULL, *second = NULL;
  clt_value limit = {.type = CLT_INT, .integer = 4};
  clt_constraint_origin origin;
  assert_int_equal(clt_space_builder_constant(builder, "device.limit", limit, NULL), 0);
  add(builder, "x", "[1, 2, 4, 8]");
  assert_int_equal(clt_space_new(&first, builder, NULL), 0);
  assert_int_equal(clt_space_builder_constraint(builder, "x <= device.limit", CLT_DEVICE_LIMIT, "at most 4", NULL), 0);
  require(builder, "x != 2");
  assert_int_equal(clt_space_new(&second, builder, NULL), 0);
  clt_space_builder_free(builder);
  assert_int_equal(clt_space_valid(first), 4);
  assert_int_equal(clt_space_valid(second), 2);
  assert_string_equal(clt_space_violation(second, 3, &origin), "at most 4");
  assert_int_equal(origin, CLT_DEVICE_LIMIT);
  assert_string_equal(clt_space_violation(second, 1, &origin), "x != 2");
  assert_int_equal(origin, CLT_CONDITION);
  assert_null(clt_space_violation(second, 0, &origin));
  assert_true(clt_space_build_s(second) >= 0);
  assert_int_equal(clt_space_find_parameter(second, "x"), 0);
  assert_int_equal(clt_space_find_parameter(second, "device.limit"), -1);
  clt_space_free(first);
  clt_space_free(second);
}

static void what_leaves_nothing_valid_is_named(void **state) {
  (void)state;
  static const struct {
    const char *conditions[4], *limit, *reason;
  } cases[] = {{{"x > 1", "y > x", "x + y > 99", "y < 8"}, NULL, "constraints: 'x + y > 99'"},
               {{"x > 2", "y > 1", "x * y <= 8", "y > x"}, NULL, "each other: 'x > 2', 'x * y <= 8', 'y > x'"},
               {{"y > 4", "x >= 2"}, "x * y <= 8", "each other: 'y > 4', 'x >= 2', 'at most 8'"},
               {{"x * y > 16"}, "x * y <= 16", "each other: 'x * y > 16', 'at most 8'"},
               {{"x * y > 999", "x > 1"}, "x * y <= 4", "constraints: 'x * y > 999'"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    clt_space_builder *builder = new_builder();
    clt_space *space = NULL;
    char text[400], cut[20];
    add(builder, "x", "[1, 2, 4, 8]");
    add(builder, "y", "[1, 2, 4, 8]");
    for (size_t k = 0; k < 4 && cases[i].conditions[k]; k++) require(builder, cases[i].conditions[k]);
    if (cases[i].limit)
      assert_int_equal(clt_space_builder_constraint(builder, cases[i].limit, CLT_DEVICE_LIMIT, "at most 8", NULL), 0);
    assert_int_equal(clt_space_new(&space, builder, NULL), 0);
    clt_space_builder_free(builder);
    assert_int_equal(clt_space_valid(space), 0);
    clt_space_explain_empty(text, sizeof text, space);
    if (strstr(text, cases[i].reason) == NULL) fail_msg("case %zu: %s", i, text);
    assert_non_null(strstr(text, "none of the 16 configurations"));
    clt_space_explain_empty(cut, sizeof cut, space);
    assert_int_equal(strlen(cut), sizeof cut - 1);
    clt_space_free(space);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_sample_has_no_configuration_twice),
      cmocka_unit_test(the_same_seed_gives_the_same_sample),
      cmocka_unit_test(samples_are_uniform_in_every_place),
      cmocka_unit_test(aliases_lead_to_one_configuration),
      cmocka_unit_test(aliases_in_a_circle_end),
      cmocka_unit_test(an_alias_to_what_is_not_valid_does_not_hold),
      cmocka_unit_test(aliases_are_counted_by_groups),
      cmocka_unit_test(aliases_that_depend_on_too_much_are_not_counted),
      cmocka_unit_test(an_alias_needs_a_parameter_and_one_of_its_values),
      cmocka_unit_test(an_explicit_space_has_what_is_listed),
      cmocka_unit_test(texts_are_read_back),
      cmocka_unit_test(texts_may_be_written_otherwise),
      cmocka_unit_test(texts_that_do_not_fit_are_refused),
      cmocka_unit_test(the_builder_refuses_what_cannot_be),
      cmocka_unit_test(a_builder_can_be_used_again),
      cmocka_unit_test(what_leaves_nothing_valid_is_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
