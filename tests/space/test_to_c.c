/* Expressions as C: a program made of them, built by cc, gives the same values as clt_expr_eval. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "space/expr.h"

#include "expression_cases.h"

/* Sizes are whole numbers; other names in the cases are constant. */
static const clt_symbol symbols[] = {
    {.name = "a", .slot = 0},
    {.name = "b", .slot = 1},
    {.name = "d", .slot = 2},
    {.name = "big", .slot = 3},
    {.name = "c", .constant = true, .value = REAL(2.5)},
    {.name = "s", .constant = true, .value = TEXT("abc")},
    {.name = "t", .constant = true, .value = TRUTH(1)},
};
static const char *const names[] = {"a", "b", "d", "big"};
enum { N_SYMBOLS = sizeof symbols / sizeof *symbols, N_SIZES = 60 };

/* Each operator and function with operands that no compiler of expressions can calculate. */
static const char *const more[] = {
    "a << abs(b)", "a << b", "a >> b", "a ** min(abs(d), 5)", "a % b", "a // b == -1", "-a % 8", "ceil(a / 4)",
    "floor(-a / 4)", "round(a / 2)", "int(a / 3)", "a / 3 // 1", "a / 3 % 1 < 0.5", "a / -2 // 0.75", "a / 2 % -0.75",
    "(a / 3) ** 2 > b", "(a / 2) ** 0.5 > 1", "a ** -1 < 0.3", "sqrt(a) > 1", "log(a, 2) < b", "log2(a) == 2",
    "log10(a)", "exp(a) > 100", "gcd(a, b) == 1", "gcd(a, b, d)", "a & b | d ^ 3", "~a & 7", "abs(b)", "min(a, b, d)",
    "max(a, b) - d", "min(a, b / 2)", "max(a / 2, b) > d", "a in range(b, d, 2)", "a in range(d, b, -1)",
    "a / 2 in range(b, d)", "a in range(1, 9, d)", "a if b else d / 2", "(a ? b : d) * 3", "a and b / 2",
    "a or b / 2", "a and b or d", "not a", "!a == b", "a in [b, d, 3]", "a not in [b / 2, d]", "float(a) / 2", "-a",
    "+a", "bool(a)", "sum([a, b, d])", "any([a, b])", "all([a, d])", "(a < b) + (b < d)", "~(a < b)",
    "(a < b) & (b < d)", "(a < b) ^ (b < d)", "(a == b) == (b == d)", "(a > b) * 3 >= d", "a != b != d", "a <= b < d",
    "abs(a / 2)", "-(a / 2)", "a // 0 == 1", "a % 0", "1 / d", "d == 0 or a % d == 0", "d and a // d > 1",
    "a // d if d else b", "0 ** abs(b)", "(-1) ** abs(a)", "1 ** abs(a) * b", "fabs(b) * 1.5", "trunc(a * 0.7)",
    "pow(a, 2)", "1.0 + a > b - 0.5", "big * 4 > 0", "big * big", "big + big > 0", "-big - big - 3 < 0", "a - big < 0",
    "big << a", "big % 1000 == 905", "big // 7 > a", "big * 1.0 >= a", "a < 0 ? 'x' == 'y' : b > 0",
};
enum { N_CASES = sizeof cases / sizeof *cases, N_MORE = sizeof more / sizeof *more, N_ALL = N_CASES + N_MORE };

static const char *text_of(size_t i) { return i < N_CASES ? cases[i].text : more[i - N_CASES]; }

/* False: C cannot say it. */
static bool write_one(clt_text *out, const clt_expr *expr, bool truth) {
  clt_error error = {0};
  int rc = clt_expr_write_c(out, expr, names, false, truth, &error);
  if (rc && rc != CLT_E_UNSUPPORTED) fail_msg("%s: %s", clt_expr_text(expr), error.message);
  return rc == 0;
}

/* '@' is "f_". */
static void put_named(FILE *file, const char *text) {
  for (; *text; text++) *text == '@' ? fputs("f_", file) : fputc(*text, file);
}

static int64_t draw(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (int64_t)(*state >> 40) % 25 - 9;
}

static const char check[] =
    "int main(void) {\n  int bad = 0;\n  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {\n"
    "    const struct row *r = &rows[i];\n    double value = 0;\n"
    "    const int truth = run(r->number, r->a, r->b, r->d, r->big, &value);\n"
    "    /* Beyond 2^53 a program may refuse where this library does not. */\n"
    "    if (truth == -1 && r->truth != -1 && r->big > 9007199254740992) continue;\n"
    "    if (truth == r->truth && (truth == -1 || fabs(value - r->value) <= 1e-14 * fabs(r->value))) continue;\n"
    "    printf(\"%s: a=%lld b=%lld d=%lld big=%lld: %d, %.17g, not %d, %.17g\\n\", texts[r->number], r->a, r->b,\n"
    "           r->d, r->big, truth, value, r->truth, r->value);\n    bad = 1;\n  }\n  return bad;\n}\n";

static void a_program_comes_to_the_same(void **state) {
  (void)state;
  char folder[] = "/tmp/clatune-test-XXXXXX", path[100], command[600];
  char *written[2 * N_ALL] = {NULL};
  clt_expr *compiled[N_ALL] = {NULL};
  clt_text functions = {0}, texts = {0};
  assert_non_null(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/p.c", folder);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  for (size_t i = 0; i < N_ALL; i++) {
    clt_text truth = {0}, value = {0};
    clt_error error = {0};
    if (clt_expr_compile(&compiled[i], text_of(i), symbols, N_SYMBOLS, &error)) fail_msg("%s", error.message);
    bool said = write_one(&truth, compiled[i], true) && write_one(&value, compiled[i], false);
    bool text = i < N_CASES && (cases[i].expected.type == CLT_STRING || strstr(cases[i].text, "1e308"));
    /* A whole number that no double holds. */
    bool beyond = i < N_CASES && cases[i].expected.type == CLT_INT &&
                  (cases[i].expected.integer > 1ll << 53 || cases[i].expected.integer < -(1ll << 53));
    if (!said && !text && !beyond) fail_msg("'%s' is not written as C", text_of(i));
    if (said && clt_text_take(&written[2 * i], &truth, NULL) == 0) clt_text_take(&written[2 * i + 1], &value, NULL);
    clt_text_release(&truth);
    clt_text_release(&value);
  }
  fputs("#include <math.h>\n#include <stdio.h>\n#include <stddef.h>\n", file);
  for (size_t i = 0; i < 2 * N_ALL; i++) clt_text_add(&texts, written[i] ? written[i] : "");
  assert_true(clt_write_c_functions(&functions, texts.bytes));
  put_named(file, functions.bytes);
  fputs("static int run(int number, long long a, long long b, long long d, long long big, double *value) {\n"
        "  int failed = 0, truth = 0;\n  (void)a, (void)b, (void)d, (void)big;\n  switch (number) {\n",
        file);
  for (size_t i = 0; i < N_ALL; i++) {
    if (written[2 * i] == NULL) continue;
    fprintf(file, "    case %zu:\n      truth = ", i);
    put_named(file, written[2 * i]);
    fputs(";\n      *value = ", file);
    put_named(file, written[2 * i + 1]);
    fputs(";\n      break;\n", file);
  }
  fputs("    default: break;\n  }\n  return failed ? -1 : truth;\n}\n\nstatic const char *const texts[] = {\n", file);
  for (size_t i = 0; i < N_ALL; i++) {
    fputs("    \"", file);
    for (const char *at = text_of(i); *at; at++) fprintf(file, strchr("\\\"?", *at) ? "\\%03o" : "%c", *at);
    fputs("\",\n", file);
  }
  fputs("};\nstatic const struct row { int number; long long a, b, d, big; int truth; double value; } rows[] = {\n", file);
  uint64_t random = 1;
  for (size_t i = 0; i < N_ALL; i++) {
    for (size_t k = 0; written[2 * i] && k < N_SIZES; k++) {
      const clt_value slots[] = {INTEGER(draw(&random)), INTEGER(draw(&random)), INTEGER(draw(&random)),
                                 INTEGER(k % 3 == 0 ? (1ll << 62) + 1 : draw(&random))};
      clt_value value;
      int rc = clt_expr_eval(compiled[i], slots, &value, NULL);
      double number = rc || value.type == CLT_STRING ? 0 : value.type == CLT_REAL ? value.real : (double)value.integer;
      char in_c[40]; /* with a point in every locale */
      if (!isfinite(number)) continue;
      clt_snprintf(in_c, sizeof in_c, "%.17g", number);
      fprintf(file, "    {%zu, %lld, %lld, %lld, %lld, %d, %s},\n", i, (long long)slots[0].integer,
              (long long)slots[1].integer, (long long)slots[2].integer, (long long)slots[3].integer,
              rc ? -1 : clt_value_truthy(value), in_c);
    }
  }
  fprintf(file, "};\n\n%s", check);
  assert_int_equal(fclose(file), 0);
  snprintf(command, sizeof command,
           "cd %s && cc -std=c99 -pedantic -Wall -Wextra -Wconversion -Wshadow -Werror -ffp-contract=off p.c -lm -o p "
           "&& ./p; code=$?; rm -r %s; exit $code",
           folder, folder);
  assert_int_equal(system(command), 0);
  for (size_t i = 0; i < N_ALL; i++) {
    clt_expr_free(compiled[i]);
    free(written[2 * i]);
    free(written[2 * i + 1]);
  }
  clt_text_release(&functions);
  clt_text_release(&texts);
}

/* Of texts, and of expressions that would grow without end. */
static void what_c_cannot_say_is_refused(void **state) {
  (void)state;
  static const char *const refused[] = {"'x' if a else 'y'", "len('x' if a else 'yy')", "a and s", "(a / 2) << 1",
                                        "a in range(b / 2)"};
  char nested[2000] = "a";
  for (size_t i = 0; i < sizeof refused / sizeof *refused + 1; i++) {
    const bool last = i == sizeof refused / sizeof *refused;
    clt_expr *expr = NULL;
    clt_text out = {0};
    clt_error error = {0};
    for (int k = 0; last && k < 60; k++) {
      char longer[2000];
      snprintf(longer, sizeof longer, "(0 < %.1900s < 2)", nested);
      memcpy(nested, longer, sizeof nested);
    }
    assert_int_equal(clt_expr_compile(&expr, last ? nested : refused[i], symbols, N_SYMBOLS, NULL), 0);
    assert_int_equal(clt_expr_write_c(&out, expr, names, false, true, &error), CLT_E_UNSUPPORTED);
    assert_non_null(strstr(error.message, last ? "too long" : "types that depend"));
    clt_text_release(&out);
    clt_expr_free(expr);
  }
}

static void variables_may_be_real(void **state) {
  static const char *const texts[][2] = {{"a + b > 1.5", "((a + b) > 1.5)"}, {"a % b", "(@remainder_real(a, b, &failed) != 0)"},
                                         {"a and b", "(a != 0) && (b != 0)"}, {"a & 1", NULL}};
  (void)state;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    clt_expr *expr = NULL;
    clt_text out = {0};
    assert_int_equal(clt_expr_compile(&expr, texts[i][0], symbols, N_SYMBOLS, NULL), 0);
    assert_int_equal(clt_expr_write_c(&out, expr, names, true, true, NULL), texts[i][1] ? CLT_OK : CLT_E_UNSUPPORTED);
    if (texts[i][1] && strstr(out.bytes, texts[i][1]) == NULL) fail_msg("%s: %s", texts[i][0], out.bytes);
    clt_text_release(&out);
    clt_expr_free(expr);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(variables_may_be_real),
      cmocka_unit_test(a_program_comes_to_the_same),
      cmocka_unit_test(what_c_cannot_say_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
