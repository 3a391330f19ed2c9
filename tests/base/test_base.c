/* The foundation: errors, options, random numbers, values, near names. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/plugin.h"
#include "base/text.h"
#include "clatune/rng.h"
#include "clatune/sys/option.h"
#include "clatune/value.h"

static void the_first_error_wins(void **state) {
  (void)state;
  clt_error error = {0};
  assert_int_equal(clt_fail(&error, CLT_E_IO, "first %d", 1), CLT_E_IO);
  assert_int_equal(clt_fail(&error, CLT_E_MEMORY, "second"), CLT_E_MEMORY);
  assert_int_equal(error.code, CLT_E_IO);
  assert_string_equal(error.message, "first 1");
  assert_int_equal(clt_fail(NULL, CLT_E_RANGE, "nobody listens"), CLT_E_RANGE);
}

static void an_error_names_its_place(void **state) {
  (void)state;
  clt_error error = {0};
  char text[200];
  clt_fail_at(&error, CLT_E_FORMAT, "a.json", 7, "Budget[0]", "needs a number");
  clt_error_format(text, sizeof text, &error);
  assert_string_equal(text, "a.json:7: Budget[0]: needs a number");
}

struct settings {
  bool fast;
  int64_t samples;
  double share;
  const char *name;
  double limit_s;
};
static const clt_option table[] = {
    {"fast", CLT_OPTION_BOOL, "no", 0, 0, offsetof(struct settings, fast), "whether"},
    {"samples", CLT_OPTION_INT, "100", 1, 1e6, offsetof(struct settings, samples), "how many"},
    {"share", CLT_OPTION_REAL, "0.5", 0, 1, offsetof(struct settings, share), "how much"},
    {"name", CLT_OPTION_TEXT, "x", 0, 0, offsetof(struct settings, name), "which"},
    {"limit", CLT_OPTION_SECONDS, "1.5", 0, 1e6, offsetof(struct settings, limit_s), "seconds"},
};

static void options_are_parsed_and_checked(void **state) {
  (void)state;
  struct settings s;
  const clt_setting good[] = {{"samples", "20"}, {"fast", "yes"}, {"share", "0.25"}};
  assert_int_equal(clt_options_parse(&s, sizeof s, table, 5, good, 3, NULL), 0);
  assert_true(s.fast && s.samples == 20 && s.share == 0.25 && strcmp(s.name, "x") == 0 && s.limit_s == 1.5);
  static const struct {
    clt_setting limit;
    double seconds;
  } times[] = {{{"limit", "90"}, 90}, {{"limit", "90s"}, 90}, {{"limit", "5m"}, 300}, {{"limit", "0.5h"}, 1800}};
  for (size_t i = 0; i < 4; i++) {
    assert_int_equal(clt_options_parse(&s, sizeof s, table, 5, &times[i].limit, 1, NULL), 0);
    assert_true(s.limit_s == times[i].seconds);
  }
  const clt_setting bad[] = {{"sample", "20"}, {"samples", "0"}, {"samples", "2x"}, {"share", "nan"}, {"fast", "2"},
                             {"limit", "5d"},   {"limit", "m"},   {"limit", "1mm"},  {"limit", "300h"}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    clt_error error = {0};
    assert_int_equal(clt_options_parse(&s, sizeof s, table, 5, &bad[i], 1, &error), CLT_E_ARGUMENT);
    assert_non_null(strstr(error.message, bad[i].name));
  }
  clt_error error = {0};
  clt_options_parse(&s, sizeof s, table, 5, bad, 1, &error);
  assert_non_null(strstr(error.message, "did you mean 'samples'"));
}

static void random_numbers_repeat_and_stay_in_range(void **state) {
  (void)state;
  clt_rng a, b;
  clt_rng_init(&a, 42);
  clt_rng_init(&b, 42);
  size_t counts[7] = {0};
  for (int i = 0; i < 7000; i++) {
    uint64_t x = clt_rng_below(&a, 7);
    assert_int_equal(x, clt_rng_below(&b, 7));
    assert_true(x < 7);
    counts[x]++;
  }
  for (int i = 0; i < 7; i++) assert_in_range(counts[i], 850, 1150);
  for (int i = 0; i < 1000; i++) {
    double u = clt_rng_unit(&a);
    assert_true(u >= 0 && u < 1);
  }
}

static void values_print_as_options_do(void **state) {
  (void)state;
  char text[64];
  clt_value_print(text, sizeof text, (clt_value){CLT_REAL, .real = 0.1});
  assert_string_equal(text, "0.1");
  clt_value_print(text, sizeof text, (clt_value){CLT_REAL, .real = 2});
  assert_string_equal(text, "2.0");
  clt_value_print(text, sizeof text, (clt_value){CLT_INT, .integer = -3});
  assert_string_equal(text, "-3");
  assert_true(clt_value_equal((clt_value){CLT_INT, .integer = 1}, (clt_value){CLT_REAL, .real = 1}));
  assert_false(clt_value_equal((clt_value){CLT_INT, .integer = 1}, (clt_value){CLT_STRING, .text = "1"}));
}

static void near_names_are_found(void **state) {
  (void)state;
  const char *const names[] = {"width", "height", "radius"};
  assert_string_equal(clt_nearest_name("widht", names, 3), "width");
  assert_null(clt_nearest_name("tolerance", names, 3));
}

static void arrays_grow_and_refuse_overflow(void **state) {
  (void)state;
  int *array = NULL;
  size_t capacity = 0;
  assert_int_equal(clt_grow(&array, &capacity, 100, sizeof *array), 0);
  assert_true(capacity >= 100);
  array[99] = 1;
  assert_int_equal(clt_grow(&array, &capacity, SIZE_MAX / 2, sizeof *array), CLT_E_MEMORY);
  assert_int_equal(array[99], 1);
  free(array);
}

/* Two that somebody has found for XXH3 without a seed. */
static void hashes_in_memory_cannot_be_made_to_collide(void **state) {
  static const uint64_t one[] = {0x2ae8509630b3ab7e, 0x2ef, 0x74f2c04f03bd106e},
                        other[] = {0x84e532ff66452c07, 0x1cad21f72c81017d, 0x73b1328d7b87ec82};
  (void)state;
  assert_int_equal(clt_hash64(one, sizeof one), clt_hash64(other, sizeof other));
  assert_int_equal(clt_hash64_here(one, sizeof one), clt_hash64_here(one, sizeof one));
  assert_int_not_equal(clt_hash64_here(one, sizeof one), clt_hash64_here(other, sizeof other));
}

static void hashes_tell_parts_apart(void **state) {
  (void)state;
  char a[33], b[33];
  clt_hasher *x = clt_hasher_new(), *y = clt_hasher_new();
  clt_hasher_add_text(x, "ab");
  clt_hasher_add_text(x, "c");
  clt_hasher_add_text(y, "a");
  clt_hasher_add_text(y, "bc");
  clt_hasher_hex(x, a);
  clt_hasher_hex(y, b);
  assert_string_not_equal(a, b);
  assert_int_equal(strlen(a), 32);
  clt_hasher_free(x);
  clt_hasher_free(y);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_first_error_wins),         cmocka_unit_test(an_error_names_its_place),
      cmocka_unit_test(options_are_parsed_and_checked), cmocka_unit_test(random_numbers_repeat_and_stay_in_range),
      cmocka_unit_test(values_print_as_options_do),   cmocka_unit_test(near_names_are_found),
      cmocka_unit_test(arrays_grow_and_refuse_overflow), cmocka_unit_test(hashes_in_memory_cannot_be_made_to_collide),
      cmocka_unit_test(hashes_tell_parts_apart),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
