/* Programs find every builtin function, however they name it (PoCL is given only the declarations that are mentioned).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

enum { N = 64 };

/* out = the square root of in. */
static void root_problem(bench *b, const char *source, const char *options) {
  bench_source(b, source, options);
  bench_buffer(b, "in", "float", CLT_READ_ONLY, N, 1, 1);
  bench_buffer(b, "out", "float", CLT_WRITE_ONLY, N, 1, 1);
  bench_launch(b, "root", N, 8);
  float *in = bench_input(b, "in"), *out = bench_reference(b, "out");
  for (int i = 0; i < N; i++) out[i] = sqrtf(in[i] = (float)(i * i));
}

#define KERNEL(value)                                             \
  "kernel void root(global const float *in, global float *out) {" \
  " size_t i = get_global_id(0); out[i] = " value "; }\n"

static void a_builtin_by_its_name(void **state) {
  bench *b = *state;
  root_problem(b, KERNEL("sqrt(in[i])"), "");
  bench_prepare(b, CLT_REASON_NONE);
}

static void a_builtin_that_an_option_names(void **state) {
  bench *b = *state;
  root_problem(b, KERNEL("OP(in[i])"), "-DOP=sqrt");
  bench_prepare(b, CLT_REASON_NONE);
}

static void a_builtin_whose_name_is_pasted(void **state) {
  bench *b = *state;
  root_problem(b, "#define JOIN(a, b) a##b\n" KERNEL("JOIN(sq, rt)(in[i])"), "");
  bench_prepare(b, CLT_REASON_NONE);
  bench_reset(b);
  root_problem(b, KERNEL("sqrt(in[i])"), "");
  bench_prepare(b, CLT_REASON_NONE);
}

static void an_overload_is_chosen_as_ever(void **state) {
  bench *b = *state;
  root_problem(b, KERNEL("sqrt((float2)(in[i], 0)).x + convert_float(abs_diff(3, -4) - 7u) + max(0, 0)"), "");
  bench_prepare(b, CLT_REASON_NONE);
}

static void a_function_of_the_user_hides_nothing(void **state) {
  bench *b = *state;
  root_problem(b, "float rsqrt1(float x) { return sqrt(x); }\n" KERNEL("rsqrt1(in[i])"), "");
  bench_prepare(b, CLT_REASON_NONE);
}

static void a_mistake_is_reported_on_its_line(void **state) {
  bench *b = *state;
  root_problem(b, "\n\n" KERNEL("no_such_function(in[i])"), "");
  bench_prepare(b, CLT_REASON_COMPILE_ERROR);
  bench_expect_log(b, ":3:");
  bench_expect_log(b, "no_such_function");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BENCH_TEST(a_builtin_by_its_name),
      BENCH_TEST(a_builtin_that_an_option_names),
      BENCH_TEST(a_builtin_whose_name_is_pasted),
      BENCH_TEST(an_overload_is_chosen_as_ever),
      BENCH_TEST(a_function_of_the_user_hides_nothing),
      BENCH_TEST(a_mistake_is_reported_on_its_line),
  };
  return bench_main("builtins", tests, sizeof tests / sizeof *tests);
}
