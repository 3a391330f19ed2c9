/* "Values" texts of T1 files, and types. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "space/expr.h"

static const clt_symbol constants[] = {
    {.name = "n", .constant = true, .value = {.type = CLT_INT, .integer = 4}},
    {.name = "device.max_work_group_size", .constant = true, .value = {.type = CLT_INT, .integer = 256}},
    {.name = "kind", .constant = true, .value = {.type = CLT_STRING, .text = "fast"}},
};

/* All values with blanks between. */
static char *listed(const char *text, const char *type, clt_error *error) {
  clt_value *values = NULL;
  size_t n, bytes;
  char *out = NULL, one[200];
  if (clt_values_parse(&values, &n, text, type, constants, 3, error)) return NULL;
  FILE *stream = open_memstream(&out, &bytes);
  for (size_t i = 0; i < n; i++) {
    clt_value_print(one, sizeof one, values[i]);
    fprintf(stream, "%s%s", i ? " " : "", one);
  }
  fclose(stream);
  free(values);
  return out;
}

static void lists_ranges_and_comprehensions_are_read(void **state) {
  (void)state;
  static const struct {
    const char *text, *type, *expected;
  } cases[] = {
      {"[1, 2, 4]", "int", "1 2 4"},
      {"(1, 2, 4,)", "int", "1 2 4"},
      {"[]", "int", ""},
      {"[ 16 ]", "int", "16"},
      {"5", "int", "5"},
      {"-5", NULL, "-5"},
      {"'x'", "string", "x"},
      {"list(range(3))", "int", "0 1 2"},
      {"list(range(32, 129, 32))", "int", "32 64 96 128"},
      {"range(5, 0, -2)", "int", "5 3 1"},
      {"range(3, 3)", "int", ""},
      {"[2**i for i in range(8)]", "int", "1 2 4 8 16 32 64 128"},
      {"[x for x in range(10) if x % 3 == 0]", "int", "0 3 6 9"},
      {"[x if x > 2 else -x for x in [1, 2, 3]]", "int", "-1 -2 3"},
      {"[x * 10 + y for x in range(1, 3) for y in range(x)]", "int", "10 20 21"},
      {"[x + y for x in [1, 2] if x > 1 for y in (10, 20) if y < 20]", "int", "12"},
      {"[i for i in [j * 2 for j in range(3)]]", "int", "0 2 4"},
      {"[i for i in range(0)]", "int", ""},
      {"(i for i in range(2))", "int", "0 1"},
      {"[1] + [2, 3] + list(range(4, 6))", "int", "1 2 3 4 5"},
      {"list([1] + [2])", "int", "1 2"},
      {"([1, 2] + [3])", "int", "1 2 3"},
      {"[n, n * 2]", "int", "4 8"},
      {"[x for x in range(64, device.max_work_group_size + 1, 64)]", "int", "64 128 192 256"},
      {"[0.5, 1]", "float", "0.5 1.0"},
      {"[0.5, 1]", NULL, "0.5 1"},
      {"[True, False]", "bool", "1 0"},
      {"[0, 1]", "bool", "0 1"},
      {"[16.0, 32.0]", "int", "16 32"},
      {"['a', \"b c\", kind]", "string", "a b c fast"},
      {"[k for k in ['x', 'y']]", "string", "x y"},
      {"[(1 + 2) * 3, min(4, 5), 7 in [7]]", NULL, "9 4 1"},
      {"[math.ceil(i / 2) for i in range(1, 8, 2)]", "int", "1 2 3 4"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    clt_error error = {0};
    char *got = listed(cases[i].text, cases[i].type, &error);
    if (got == NULL) fail_msg("%s: %s", cases[i].text, error.message);
    if (strcmp(got, cases[i].expected) != 0) fail_msg("%s gives '%s', not '%s'", cases[i].text, got, cases[i].expected);
    free(got);
  }
}

static void wrong_texts_are_refused_with_the_place(void **state) {
  (void)state;
  static const struct {
    const char *text, *type, *part;
    int code;
  } cases[] = {
      {"", "int", "missing", CLT_E_EXPRESSION},
      {"[1, 2", "int", "is missing", CLT_E_EXPRESSION},
      {"[1 2]", "int", "missing before '2' at column 4", CLT_E_EXPRESSION},
      {"[1,, 2]", "int", "empty at column 4", CLT_E_EXPRESSION},
      {"[1] [2]", "int", "unexpected text", CLT_E_EXPRESSION},
      {"[1] + 2", "int", "is missing at column 7", CLT_E_EXPRESSION},
      {"[i for i range(3)]", "int", "'in' is missing", CLT_E_EXPRESSION},
      {"[i for 3 in range(3)]", "int", "a name is missing", CLT_E_EXPRESSION},
      {"[j for i in range(3)]", "int", "unknown name 'j'", CLT_E_EXPRESSION},
      {"[i for i in range(3)] + [i]", "int", "unknown name 'i'", CLT_E_EXPRESSION},
      {"range(1, 2, 0)", "int", "step", CLT_E_EXPRESSION},
      {"range()", "int", "one to three", CLT_E_EXPRESSION},
      {"range(1.5)", "int", "whole", CLT_E_EXPRESSION},
      {"range(100000)", "int", "more than 65536", CLT_E_RANGE},
      {"[i for i in range(1000000000)]", "int", "more than", CLT_E_RANGE},
      {"[1 for a in range(9999) for b in range(9999) if a < 0]", "int", "too long", CLT_E_RANGE},
      {"[1.5]", "int", "'1.5' does not have the type 'int'", CLT_E_EXPRESSION},
      {"['a']", "int", "not have the type", CLT_E_EXPRESSION},
      {"[-1]", "uint", "not have the type", CLT_E_EXPRESSION},
      {"[300]", "uchar", "not have the type", CLT_E_EXPRESSION},
      {"[2]", "bool", "not have the type", CLT_E_EXPRESSION},
      {"[1]", "string", "not have the type", CLT_E_EXPRESSION},
      {"[1]", "complex", "unknown type 'complex'", CLT_E_EXPRESSION},
      {"[1 / 0]", "float", "division by zero", CLT_E_RANGE},
      {"__import__('os').system('ls')", NULL, "missing", CLT_E_EXPRESSION},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    clt_error error = {0};
    char *got = listed(cases[i].text, cases[i].type, &error);
    if (got || error.code != cases[i].code || strstr(error.message, cases[i].part) == NULL)
      fail_msg("%s: '%s', %d '%s' has no '%s'", cases[i].text, got ? got : "", error.code, error.message,
               cases[i].part);
  }
}

static void types_convert_or_refuse(void **state) {
  (void)state;
  clt_value v = {.type = CLT_REAL, .real = 16.0};
  assert_int_equal(clt_value_fit(&v, "unsigned int", NULL), 0);
  assert_int_equal(v.type, CLT_INT);
  assert_int_equal(v.integer, 16);
  assert_int_equal(clt_value_fit(&v, "float", NULL), 0);
  assert_int_equal(v.type, CLT_REAL);
  v = (clt_value){.type = CLT_INT, .integer = 200};
  assert_int_equal(clt_value_fit(&v, "char", NULL), CLT_E_EXPRESSION);
  assert_int_equal(v.integer, 200);
  assert_int_equal(clt_value_fit(&v, NULL, NULL), 0);
  assert_int_equal(clt_value_fit(&v, "", NULL), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lists_ranges_and_comprehensions_are_read),
      cmocka_unit_test(wrong_texts_are_refused_with_the_place),
      cmocka_unit_test(types_convert_or_refuse),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
