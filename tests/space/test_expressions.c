/* Expressions: values as in Python, messages, texts that are no expressions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "space/expr.h"

#include "expression_cases.h"
#include "base/json.h"

static const clt_symbol symbols[] = {
    {.name = "a", .slot = 0},
    {.name = "b", .slot = 1},
    {.name = "c", .slot = 2},
    {.name = "d", .slot = 3},
    {.name = "s", .slot = 4},
    {.name = "t", .slot = 5},
    {.name = "big", .slot = 6},
    {.name = "device.local_memory_bytes", .constant = true, .value = INTEGER(65536)},
    {.name = "device.name", .constant = true, .value = TEXT("A 'fast' one")},
};
enum { N_SYMBOLS = sizeof symbols / sizeof *symbols };
static const clt_value slots[] = {
    INTEGER(7), INTEGER(-3), REAL(2.5), INTEGER(0), TEXT("abc"), TRUTH(1), INTEGER((1ll << 62) + 1)};

/* The same names as constants: everything is folded. */
static void as_constants(clt_symbol *out) {
  memcpy(out, symbols, sizeof symbols);
  for (size_t i = 0; i < sizeof slots / sizeof *slots; i++) {
    out[i].constant = true;
    out[i].value = slots[i];
  }
}

static bool same(clt_value a, clt_value b) {
  if (a.type != b.type) return false;
  if (a.type == CLT_REAL) return a.real == b.real || fabs(a.real - b.real) <= 1e-15 * fabs(b.real);
  return clt_value_equal(a, b);
}

static void check_case(const char *text, clt_value expected, const clt_symbol *names) {
  clt_expr *expr = NULL;
  clt_error error = {0};
  clt_value value;
  int rc = clt_expr_compile(&expr, text, names, N_SYMBOLS, &error);
  if (rc == 0) rc = clt_expr_eval(expr, slots, &value, &error);
  if (rc) fail_msg("%s: %s", text, error.message);
  if (!same(value, expected)) {
    char got[100], wanted[100];
    clt_value_print(got, sizeof got, value);
    clt_value_print(wanted, sizeof wanted, expected);
    fail_msg("%s gives %s (type %d), not %s (type %d)", text, got, value.type, wanted, expected.type);
  }
  clt_expr_free(expr);
}

static void values_are_those_of_python(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) check_case(cases[i].text, cases[i].expected, symbols);
}

static void folding_changes_no_value(void **state) {
  (void)state;
  clt_symbol constants[N_SYMBOLS];
  as_constants(constants);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) check_case(cases[i].text, cases[i].expected, constants);
}

static void expressions_with_constants_alone_read_no_slots(void **state) {
  (void)state;
  clt_expr *expr = NULL;
  clt_value value;
  assert_int_equal(clt_expr_compile(&expr, "device.local_memory_bytes // 4 >= 1024 or a > 3", symbols, N_SYMBOLS, NULL),
                   0);
  assert_int_equal(clt_expr_n_slots(expr), 0);
  assert_int_equal(clt_expr_eval(expr, NULL, &value, NULL), 0);
  assert_true(clt_value_truthy(value));
  clt_expr_free(expr);
}

static void slots_are_listed_once_and_ascending(void **state) {
  (void)state;
  clt_expr *expr = NULL;
  assert_int_equal(clt_expr_compile(&expr, "d + a * c > a and (True or b > 0)", symbols, N_SYMBOLS, NULL), 0);
  assert_int_equal(clt_expr_n_slots(expr), 3);
  assert_int_equal(clt_expr_slot(expr, 0), 0);
  assert_int_equal(clt_expr_slot(expr, 1), 2);
  assert_int_equal(clt_expr_slot(expr, 2), 3);
  assert_string_equal(clt_expr_text(expr), "d + a * c > a and (True or b > 0)");
  clt_expr_free(expr);
}

static void expressions_outlive_text_and_symbols(void **state) {
  (void)state;
  char text[] = "name == 'x y' and s == name", name[] = "name", value_text[] = "x y";
  clt_symbol own[] = {{.name = name, .constant = true, .value = {.type = CLT_STRING, .text = value_text}},
                      {.name = "s", .slot = 0}};
  clt_value x_y = TEXT("x y"), value;
  clt_expr *expr = NULL;
  assert_int_equal(clt_expr_compile(&expr, text, own, 2, NULL), 0);
  memset(text, '?', sizeof text - 1);
  memset(name, '?', sizeof name - 1);
  memset(value_text, '?', sizeof value_text - 1);
  assert_int_equal(clt_expr_eval(expr, &x_y, &value, NULL), 0);
  assert_true(clt_value_truthy(value));
  clt_expr_free(expr);
}

/* --- errors of evaluation --- */

static void check_failure(const char *text, int code, const char *part) {
  clt_symbol constants[N_SYMBOLS];
  as_constants(constants);
  const clt_symbol *names[] = {symbols, constants};
  for (int i = 0; i < 2; i++) {
    clt_expr *expr = NULL;
    clt_error error = {0};
    clt_value value = INTEGER(42);
    assert_int_equal(clt_expr_compile(&expr, text, names[i], N_SYMBOLS, &error), 0);
    int rc = clt_expr_eval(expr, slots, &value, &error);
    if (rc != code || strstr(error.message, part) == NULL)
      fail_msg("%s gives %d, '%s', not %d with '%s'", text, rc, error.message, code, part);
    assert_int_equal(value.integer, 42);
    assert_int_equal(clt_expr_eval(expr, slots, &value, NULL), code);
    clt_expr_free(expr);
  }
}

static void what_has_no_result_is_out_of_range(void **state) {
  (void)state;
  check_failure("a / d", CLT_E_RANGE, "'/' at column 3: division by zero");
  check_failure("a // d", CLT_E_RANGE, "division by zero");
  check_failure("1 + a % d", CLT_E_RANGE, "column 7");
  check_failure("a / 0.0", CLT_E_RANGE, "division by zero");
  check_failure("d ** b", CLT_E_RANGE, "division by zero");
  check_failure("b ** 0.5", CLT_E_RANGE, "not a number");
  check_failure("a << b", CLT_E_RANGE, "negative");
  check_failure("sqrt(b)", CLT_E_RANGE, "sqrt()");
  check_failure("log2(d)", CLT_E_RANGE, "not a number");
  check_failure("int(1e308 * 10)", CLT_E_RANGE, "int()");
  check_failure("a in range(0, 9, d)", CLT_E_RANGE, "range()");
}

static void integers_never_wrap(void **state) {
  (void)state;
  static const char *const texts[] = {"big * 2 + big",
                                      "big + big",
                                      "-big - big - big",
                                      "big * big",
                                      "a ** 40",
                                      "1 << 63",
                                      "a << 61",
                                      "2 ** 63",
                                      "big * 4 > 0",
                                      "int(1e30)",
                                      "math.floor(1e19)",
                                      "-(-big - big + 2) + 1",
                                      "(-big * 2 + 2 - 0) // -1"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) check_failure(texts[i], CLT_E_EXPRESSION, "exceeds 64 bits");
}

static void types_have_to_go_together(void **state) {
  (void)state;
  static const char *const texts[] = {"a + s",          "s < 1",  "s in a",       "1 in s",    "2.5 & 1", "~c",
                                      "abs(s)",         "-s",     "c << 1",       "min(a, s)", "len(a)",  "s * 2",
                                      "math.gcd(c, 2)", "int(s)", "a in range(c)"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) check_failure(texts[i], CLT_E_EXPRESSION, "types");
}

/* --- errors of parsing --- */

static void mistakes_are_named_with_their_column(void **state) {
  (void)state;
  static const struct {
    const char *text, *part;
  } mistakes[] = {
      {"", "empty"},
      {"  ", "empty"},
      {"1 +", "a value is missing at column 4"},
      {"bag + 1", "unknown name 'bag' (did you mean 'big'?) at column 1"},
      {"a + device.local_memory_byte", "(did you mean 'device.local_memory_bytes'?) at column 5"},
      {"maxx(1, 2)", "unknown function 'maxx' (did you mean 'max'?)"},
      {"max", "'max' is a function"},
      {"a = 3", "write '=='"},
      {"a === 3", "write '=='"},
      {"p[\"x\"] > 2", "'p[...]' is not supported"},
      {"a[0]", "has no members"},
      {"a is b", "compare with '=='"},
      {"(1, 2)", "a list is only allowed"},
      {"[1, 2]", "a list is only allowed"},
      {"a + [1]", "at column 5"},
      {"4u", "not a number"},
      {"010", "not a number"},
      {"1__0", "not a number"},
      {"0x", "not a number"},
      {"1e999", "not a number"},
      {"9223372036854775808", "exceeds 64 bits"},
      {"a == not b", "'not' here needs parentheses"},
      {"'abc", "no closing quote"},
      {"a b", "an operator is missing before 'b' at column 3"},
      {"(a", "')' is missing"},
      {"a)", "before ')'"},
      {"a if b", "'else' is missing"},
      {"a ? b", "':' is missing"},
      {"range(3)", "after 'in'"},
      {"lambda: 3", "'lambda' is not allowed here"},
      {"a; b", "is not allowed in an expression"},
      {"a in [1] == b", "parentheses"},
      {"min()", "does not take 0 arguments"},
      {"abs(1, 2)", "does not take 2 arguments"},
      {"a in [1, 2", "is missing"},
      {"a..b", "has no members"},
      {"__import__('os')", "unknown function '__import__'"},
      {"a.__class__", "unknown name"},
      {"None", "is not allowed here"},
  };
  for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
    clt_expr *expr = NULL;
    clt_error error = {0};
    int rc = clt_expr_compile(&expr, mistakes[i].text, symbols, N_SYMBOLS, &error);
    if (rc != CLT_E_EXPRESSION || strstr(error.message, mistakes[i].part) == NULL)
      fail_msg("%s: %d, '%s' has no '%s'", mistakes[i].text, rc, error.message, mistakes[i].part);
    assert_null(expr);
  }
}

/* n times `open`, then `middle`, then n times `close`. */
static char *nested(const char *open, const char *middle, const char *close, size_t n) {
  char *out = NULL;
  size_t bytes;
  FILE *stream = open_memstream(&out, &bytes);
  assert_non_null(stream);
  for (size_t i = 0; i < n; i++) fputs(open, stream);
  fputs(middle, stream);
  for (size_t i = 0; i < n; i++) fputs(close, stream);
  fclose(stream);
  return out;
}

static int try_nested(const char *open, const char *close, size_t n) {
  char *text = nested(open, "a", close, n);
  clt_expr *expr = NULL;
  clt_value value;
  int rc = clt_expr_compile(&expr, text, symbols, N_SYMBOLS, NULL);
  if (rc == 0) rc = clt_expr_eval(expr, slots, &value, NULL);
  clt_expr_free(expr);
  free(text);
  return rc;
}

static void depth_and_length_are_bounded(void **state) {
  (void)state;
  assert_int_equal(try_nested("(", ")", 100), 0);
  assert_int_equal(try_nested("(", ")", 5000), CLT_E_EXPRESSION);
  assert_int_equal(try_nested("-", "", 5000), CLT_E_EXPRESSION);
  assert_int_equal(try_nested("2**", "", 5000), CLT_E_EXPRESSION);
  assert_int_equal(try_nested("0 < (0 < ", " < 1) < 1", 60), 0); /* each middle is evaluated once, or this never ends */
  assert_int_equal(try_nested("", " or d == 1", 5000), 0);
  assert_int_equal(try_nested("", " + 1", 10000), 0);
  assert_int_equal(try_nested("", " + 1", 100000), CLT_E_EXPRESSION);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(values_are_those_of_python),
      cmocka_unit_test(folding_changes_no_value),
      cmocka_unit_test(expressions_with_constants_alone_read_no_slots),
      cmocka_unit_test(slots_are_listed_once_and_ascending),
      cmocka_unit_test(expressions_outlive_text_and_symbols),
      cmocka_unit_test(what_has_no_result_is_out_of_range),
      cmocka_unit_test(integers_never_wrap),
      cmocka_unit_test(types_have_to_go_together),
      cmocka_unit_test(mistakes_are_named_with_their_column),
      cmocka_unit_test(depth_and_length_are_bounded),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
