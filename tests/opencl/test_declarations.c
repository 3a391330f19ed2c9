/* The part of the header of builtin functions that a program gets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "opencl/internal.h"

static const char header[] =
    "//===-- a header --===//\n"
    "#ifndef _OPENCL_H_\n"
    "#define _OPENCL_H_\n"
    "#include \"other.h\"\n"
    "#define __ovld __attribute__((overloadable)) \\\n"
    "  /* continued */\n"
    "typedef struct { int x; } thing;\n"
    "float __ovld sqrt(float); // one comment; with a semicolon\n"
    "float2 __ovld sqrt(float2);\n"
    "#ifdef cl_khr_fp64\n"
    "double __ovld sqrt(double);\n"
    "double __ovld rsqrt(double);\n"
    "#endif //cl_khr_fp64\n"
    "float __ovld native_sqrt(float);\n"
    "float const *find(float *,\n"
    "                  int);\n"
    "__attribute__((pure)) int odd(int);\n"
    "#endif //_OPENCL_H_\n";

static char *prepend(const char *source, const char *options) {
  clt_declarations *d = NULL;
  clt_error error;
  assert_int_equal(clt_declarations_parse(&d, header, &error), 0);
  char *text = clt_declarations_prepend(d, source, options);
  assert_non_null(text);
  clt_declarations_free(d);
  return text;
}

static void expect(const char *source, const char *options, const char *part, bool there) {
  char *text = prepend(source, options);
  if ((strstr(text, part) != NULL) != there) fail_msg("'%s' is %sin:\n%s", part, there ? "not " : "", text);
  free(text);
}

static void every_overload_of_a_name_is_kept(void **state) {
  (void)state;
  expect("x = sqrt(y);", NULL, "float __ovld sqrt(float);", true);
  expect("x = sqrt(y);", NULL, "float2 __ovld sqrt(float2);", true);
  expect("x = sqrt(y);", NULL, "#ifdef cl_khr_fp64\ndouble __ovld sqrt(double);\n#endif", true);
}

static void names_are_whole_words(void **state) {
  (void)state;
  expect("x = sqrt(y);", NULL, "rsqrt", false);
  expect("x = sqrt(y);", NULL, "native_sqrt", false);
  expect("x = sqrt1(y);", NULL, "sqrt(float)", false);
}

static void a_name_in_the_options_counts(void **state) {
  (void)state;
  expect("x = OP(y);", "-DOP=native_sqrt -DN=1", "native_sqrt(float)", true);
  expect("x = OP(y);", "-DN=1 -DOP=sqrt", "sqrt(float)", true);
  expect("x = OP(y);", "-D OP=sqrt", "sqrt(float)", true);
  expect("x = y;", "-Dsqrt=1", "sqrt(float)", true);
}

static void a_declaration_of_several_lines_is_one(void **state) {
  (void)state;
  expect("find(p, 1)", NULL, "float const *find(float *,\n                  int);", true);
  expect("lose(p, 1)", NULL, "float *,", false);
}

static void what_is_no_plain_declaration_is_always_there(void **state) {
  (void)state;
  expect("", NULL, "typedef struct { int x; } thing;", true);
  expect("", NULL, "__attribute__((pure)) int odd(int);", true);
  expect("", NULL, "#define __ovld __attribute__((overloadable))", true);
}

static void guard_and_includes_are_left_out(void **state) {
  (void)state;
  expect("", NULL, "#ifndef", false);
  expect("", NULL, "_OPENCL_H_", false);
  expect("", NULL, "include", false);
  expect("", NULL, "#if 1\n", true);
}

static void line_numbers_stay_those_of_the_source(void **state) {
  (void)state;
  char *text = prepend("first line\nsecond", NULL);
  const char end[] = "\n#line 1\nfirst line\nsecond";
  assert_string_equal(text + strlen(text) - strlen(end), end);
  free(text);
}

static void another_header_is_refused(void **state) {
  (void)state;
  clt_declarations *d = NULL;
  clt_error error;
  assert_int_equal(clt_declarations_parse(&d, "#ifndef H\n#define H\nint f(int);\n#endif\n", &error), CLT_E_FORMAT);
  assert_int_equal(clt_declarations_parse(&d, "", &error), CLT_E_FORMAT);
  assert_int_equal(clt_declarations_parse(&d, "/* no end", &error), CLT_E_FORMAT);
  assert_null(d);
}

static void names_are_learnt_from_a_log(void **state) {
  (void)state;
  clt_declarations *d = NULL;
  clt_error error;
  assert_int_equal(clt_declarations_parse(&d, header, &error), 0);
  assert_int_equal(clt_declarations_learn(d, "x.cl:3:4: use of undeclared identifier 'nothing'"), 0);
  assert_int_equal(clt_declarations_learn(d, "undeclared '_cl_rsqrt', 'find'; 'find'"), 2);
  assert_int_equal(clt_declarations_learn(d, "undeclared '_cl_rsqrt'"), 0);
  char *text = clt_declarations_prepend(d, "no name", NULL);
  assert_non_null(text);
  assert_non_null(strstr(text, "rsqrt(double)"));
  assert_non_null(strstr(text, "*find("));
  assert_null(strstr(text, " sqrt(float)"));
  free(text);
  clt_declarations_free(d);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_overload_of_a_name_is_kept),
      cmocka_unit_test(names_are_whole_words),
      cmocka_unit_test(a_name_in_the_options_counts),
      cmocka_unit_test(a_declaration_of_several_lines_is_one),
      cmocka_unit_test(what_is_no_plain_declaration_is_always_there),
      cmocka_unit_test(guard_and_includes_are_left_out),
      cmocka_unit_test(line_numbers_stay_those_of_the_source),
      cmocka_unit_test(names_are_learnt_from_a_log),
      cmocka_unit_test(another_header_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
