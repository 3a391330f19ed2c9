/* Mutated texts: whatever they contain, the parsers answer and stay inside of their memory. Most of the worth of this
 * test is in a build with -Db_sanitize=address,undefined. Seconds may be given as an argument; without, a fixed number
 * of texts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <clatune/space.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "space/expr.h"

#define LONGEST 400
#define ROUNDS 60000

static const char *const seeds[] = {
    "(a * 16 + 16) * (b * 8 + 8) * 4 * (c + 1) <= 262144 and a % b == 0",
    "32 <= a * b <= 1024 or not (c in [1, 2, 3] and d not in (4,))",
    "x if a > 3 else b ** 2 // max(1, 2, min(c, d)) >> 3",
    "a && b || !c ? 1 << 4 : ~d ^ 0xff | 1_000 & 2.5e-3",
    "'abc' in s and \"x\\'y\" != s or len('q') == 1",
    "a in range(1, 10, 2) and math.ceil(b / c) == log2(64)",
    "[2**i for i in range(8)]",
    "list(range(32, 1025, 32)) + [1, 2, 4] + (5, 6)",
    "[x * 10 + y for x in range(1, 3) if x > 1 for y in [j for j in range(x)]]",
    "['a', \"b c\", True, 0.5, -1]",
};
enum { N_SEEDS = sizeof seeds / sizeof *seeds };
static const char *const scraps[] = {
    "(",      ")",           "[",  "]",    "{",      "}",  ",",  "'",  "\"", "\\",   "for ", " in ", " if ",
    " else ", "**",          "//", "<<",   ">>",     "<=", "==", "&&", "||", "?",    ":",    "not ", "0x",
    "1e9",    "99999999999", ".",  "min(", "range(", "-",  "~",  "!",  "\t", "\x80", "\xff", "a",    "0"};

static void insert(char *text, size_t at, const char *what) {
  size_t length = strlen(text), more = strlen(what);
  if (length + more >= LONGEST) return;
  memmove(text + at + more, text + at, length - at + 1);
  memcpy(text + at, what, more);
}

static void mutate(char *text, clt_rng *rng) {
  size_t length = strlen(text), at = length ? clt_rng_below(rng, length) : 0;
  char one[2] = {(char)(1 + clt_rng_below(rng, 255)), '\0'};
  switch (clt_rng_below(rng, 6)) {
    case 0: insert(text, at, scraps[clt_rng_below(rng, sizeof scraps / sizeof *scraps)]); break;
    case 1: insert(text, at, one); break;
    case 2:
      if (length) text[at] = one[0];
      break;
    case 3:
      if (length) memmove(text + at, text + at + 1, length - at);
      break;
    case 4: text[at] = '\0'; break;
    default: {
      char part[LONGEST + 1];
      snprintf(part, sizeof part, "%s", text + clt_rng_below(rng, length + 1));
      insert(text, at, part);
    }
  }
}

static void try_expression(const char *text) {
  static const clt_symbol symbols[] = {{.name = "a", .slot = 0}, {.name = "b", .slot = 1}, {.name = "c", .slot = 2},
                                       {.name = "d", .slot = 3}, {.name = "s", .slot = 4}, {.name = "x", .slot = 5}};
  static const clt_value slots[] = {{.type = CLT_INT, .integer = 7},        {.type = CLT_INT, .integer = INT64_MIN},
                                    {.type = CLT_REAL, .real = 2.5},        {.type = CLT_INT},
                                    {.type = CLT_STRING, .text = "abcdef"}, {.type = CLT_BOOL, .integer = 1}};
  clt_expr *expr = NULL;
  clt_error error = {0};
  clt_value value;
  int rc = clt_expr_compile(&expr, text, symbols, 6, &error);
  assert_true(rc == 0 ? expr != NULL : rc == CLT_E_EXPRESSION && expr == NULL && error.message[0]);
  if (rc) return;
  rc = clt_expr_eval(expr, slots, &value, &error);
  assert_true(rc == 0 || rc == CLT_E_EXPRESSION || rc == CLT_E_RANGE);
  if (rc == 0 && value.type == CLT_STRING) assert_true(strlen(value.text) <= LONGEST);
  clt_expr_free(expr);
}

static void try_values(const char *text) {
  clt_value *values = NULL;
  size_t n = 0, bytes = 0;
  clt_error error = {0};
  int rc = clt_values_parse(&values, &n, text, NULL, NULL, 0, &error);
  assert_true(rc == 0 || rc == CLT_E_EXPRESSION || rc == CLT_E_RANGE);
  for (size_t i = 0; rc == 0 && i < n; i++)
    if (values[i].type == CLT_STRING) bytes += strlen(values[i].text);
  assert_true(bytes < (size_t)1 << 30);
  free(values);
}

static void try_configuration(const clt_space *space, const char *text) {
  clt_config config = CLT_CONFIG_NONE;
  clt_error error = {0};
  int rc = clt_config_parse(&config, space, text, &error);
  assert_true(rc == 0 ? config < clt_space_cartesian(space) : error.message[0] != '\0');
}

static int seconds; /* 0: as many rounds as are fixed */

static bool goes_on(uint64_t round, time_t start) {
  return seconds > 0 ? time(NULL) - start < seconds : round < ROUNDS;
}

static void garbage_is_answered(void **state) {
  (void)state;
  clt_rng rng;
  time_t start = time(NULL);
  clt_rng_init(&rng, 2024);
  for (uint64_t round = 0; goes_on(round, start); round++) {
    char text[LONGEST + 1];
    snprintf(text, sizeof text, "%s", seeds[clt_rng_below(&rng, N_SEEDS)]);
    for (uint64_t n = 1 + clt_rng_below(&rng, 6); n > 0; n--) mutate(text, &rng);
    try_expression(text);
    try_values(text);
  }
}

static void garbage_is_no_configuration(void **state) {
  (void)state;
  clt_space_builder *builder = NULL;
  clt_space *space = NULL;
  clt_rng rng;
  time_t start = time(NULL);
  assert_int_equal(clt_space_builder_new(&builder, NULL), 0);
  assert_int_equal(clt_space_builder_parameter_text(builder, "a", NULL, "[1, 16, 160]", NULL), 0);
  assert_int_equal(clt_space_builder_parameter_text(builder, "kind", NULL, "['x', 'x y', '']", NULL), 0);
  assert_int_equal(clt_space_builder_parameter_text(builder, "r", NULL, "[0.5, -2.0]", NULL), 0);
  assert_int_equal(clt_space_new(&space, builder, NULL), 0);
  clt_rng_init(&rng, 2025);
  for (uint64_t round = 0; goes_on(round, start); round++) {
    char text[LONGEST + 1] = "a=16 kind=x y r=-2.0";
    for (uint64_t n = 1 + clt_rng_below(&rng, 6); n > 0; n--) mutate(text, &rng);
    try_configuration(space, text);
  }
  clt_space_free(space);
  clt_space_builder_free(builder);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(garbage_is_answered),
      cmocka_unit_test(garbage_is_no_configuration),
  };
  if (argc > 1) seconds = atoi(argv[1]);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
