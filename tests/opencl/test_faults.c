/* A configuration that fails is told apart by its reason, and does not harm the next one. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

enum { N = 1000 };

static const char scale[] =
    "#define IN ((global float *)in)\n"
    "#define BYTES ((global char *)out)\n"
    "kernel void scale(global const float *in, global float *out) {\n"
    "  size_t i = get_global_id(0);\n"
    "  WRITE;\n"
    "}\n";

/* out = 2 * in over N numbers, by a kernel whose statement is given. */
static void scale_problem(bench *b, const char *statement) {
  char options[200];
  snprintf(options, sizeof options, "-DN=%d -DWRITE=%s", N, statement);
  bench_source(b, scale, options);
  bench_buffer(b, "in", "float", CLT_READ_ONLY, N, 1, 1);
  bench_buffer(b, "out", "float", CLT_WRITE_ONLY, N, 1, 1);
  bench_launch(b, "scale", N, 10);
  float *in = bench_input(b, "in"), *out = bench_reference(b, "out");
  for (int i = 0; i < N; i++) out[i] = 2 * (in[i] = (float)i);
}

/* The same problem with another statement, on the same executor and the same data. */
static void change_statement(bench *b, const char *statement) {
  char options[200];
  snprintf(options, sizeof options, "-DN=%d -DWRITE=%s", N, statement);
  free(b->plan.options);
  b->plan.options = strdup(options);
  assert_non_null(b->plan.options);
}

static const char right[] = "out[i]=2*in[i]";

static void a_right_kernel_is_correct(void **state) {
  bench *b = *state;
  scale_problem(b, right);
  bench_prepare(b, CLT_REASON_NONE);
  assert_true(b->m.max_abs_error == 0);
  assert_true(b->m.phases.build_s > 0 && b->m.phases.first_launch_s > 0 && b->m.phases.verify_s > 0);
  assert_null(b->m.log);
}

static void phases_are_told_in_order(void **state) {
  bench *b = *state;
  /* First the uploads, then the launch. */
  const clt_phase order[] = {CLT_PHASE_BUILD,  CLT_PHASE_LAUNCH,  CLT_PHASE_LAUNCH, CLT_PHASE_RUNNING,
                             CLT_PHASE_VERIFY, CLT_PHASE_COMPARE, CLT_PHASE_DONE};
  scale_problem(b, right);
  bench_prepare(b, CLT_REASON_NONE);
  assert_int_equal(b->n_phases, 7);
  assert_memory_equal(b->phases, order, sizeof order);
  b->n_phases = 0;
  bench_time(b, 2, 2, CLT_REASON_NONE);
  /* The warm-up and the first run are looked at, the second only if that costs little; and all is at the end. */
  const clt_phase timed[] = {CLT_PHASE_RUNNING, CLT_PHASE_VERIFY, CLT_PHASE_RUNNING, CLT_PHASE_VERIFY,
                             CLT_PHASE_RUNNING};
  assert_memory_equal(b->phases, timed, sizeof timed);
  assert_in_range(b->n_phases, 8, 9);
  assert_int_equal(b->phases[b->n_phases - 3], CLT_PHASE_VERIFY);
  assert_int_equal(b->phases[b->n_phases - 2], CLT_PHASE_COMPARE);
  assert_int_equal(b->phases[b->n_phases - 1], CLT_PHASE_DONE);
}

static void a_wrong_result_is_described(void **state) {
  bench *b = *state;
  scale_problem(b, "out[i]=i==7?15:2*in[i]");
  bench_prepare(b, CLT_REASON_WRONG_OUTPUT);
  bench_expect_log(
      b,
      "'out', element 7 (7, 0, 0): got 15, expected 14 (off by 1, 7.14 %); 1 of 1000 elements is incorrect\n"
      "allowed: a difference of 1e-06 (\"AbsoluteTolerance\" of the argument) + 0.0001 "
      "(\"RelativeTolerance\") times the expected value");
  assert_true(b->m.max_abs_error == 1);
  change_statement(b, "out[i]=i==7?15:i==9?28:2*in[i]");
  bench_prepare(b, CLT_REASON_WRONG_OUTPUT);
  bench_expect_log(
      b,
      "(off by 1, 7.14 %); 2 of 1000 elements are incorrect\nlargest difference: element 9 (9, 0, 0): got 28, "
      "expected 18 (off by 10, 55.6 %)\n");
  assert_true(b->m.max_abs_error == 10);
  assert_true(isnan(b->m.time_s));
}

static void a_single_number_left_out_is_found(void **state) {
  bench *b = *state;
  scale_problem(b, "if(i!=N-1)out[i]=2*in[i]");
  bench_prepare(b, CLT_REASON_WRONG_OUTPUT);
  bench_expect_log(b, "element 999 (999, 0, 0): got");
}

static void the_result_of_an_earlier_configuration_does_not_count(void **state) {
  bench *b = *state;
  scale_problem(b, right);
  bench_prepare(b, CLT_REASON_NONE);
  change_statement(b, "");
  bench_prepare(b, CLT_REASON_WRONG_OUTPUT);
  assert_true(isinf(b->m.max_abs_error));
}

static void nan_is_wrong(void **state) {
  bench *b = *state;
  scale_problem(b, "out[i]=i==3?nan(0u):2*in[i]");
  bench_prepare(b, CLT_REASON_WRONG_OUTPUT);
  bench_expect_log(b, "element 3");
}

static void writing_one_element_too_far_is_out_of_bounds(void **state) {
  bench *b = *state;
  const struct {
    const char *statement, *log;
  } faults[] = {
      {"{out[i]=2*in[i];if(i==0)out[N]=1;}", "past the end of argument 'out', 0 bytes"},
      {"{out[i]=2*in[i];if(i==0)out[-1]=1;}", "before the start of argument 'out', 0 bytes"},
      {"{out[i]=2*in[i];if(i==0)IN[N]=1;}", "past the end of argument 'in', 0 bytes"},
      {"{out[i]=2*in[i];if(i==0)IN[-1]=1;}", "before the start of argument 'in', 0 bytes"},
      {"{out[i]=2*in[i];if(i==0)out[N+900]=in[N+900];}", "past the end of argument 'out', 3600 bytes"},
      {"{out[i]=2*in[i];if(i==0)BYTES[-1000]^=1;}", "before the start of argument 'out', 999 bytes"},
  };
  scale_problem(b, right);
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
    change_statement(b, faults[i].statement);
    bench_prepare(b, CLT_REASON_OUT_OF_BOUNDS);
    bench_expect_log(b, faults[i].log);
    change_statement(b, right); /* and the next configuration is none the worse for it */
    bench_prepare(b, CLT_REASON_NONE);
  }
}

static void writing_into_an_input_is_billed_to_the_right_one(void **state) {
  bench *b = *state;
  scale_problem(b, "{out[i]=2*in[i];if(i==500)IN[501+N%2]=77;}");
  b->launches[0].local[0] = 1;
  bench_prepare(b, CLT_REASON_OUT_OF_BOUNDS);
  bench_expect_log(b, "overwrote the input data of argument 'in'");
  change_statement(b, right);
  bench_prepare(b, CLT_REASON_NONE);
}

static void a_kernel_that_does_not_compile_keeps_its_log(void **state) {
  bench *b = *state;
  scale_problem(b, "out[i]=no_such_thing");
  bench_prepare(b, CLT_REASON_COMPILE_ERROR);
  bench_expect_log(b, "no_such_thing");
  assert_true(b->m.phases.build_s > 0);
  assert_int_equal(b->phases[b->n_phases - 1], CLT_PHASE_DONE);
}

/* A name that the source mentions, or that a macro may make, may be there in other configurations. */
static void a_missing_kernel_is_named(void **state) {
  bench *b = *state;
  static const struct {
    const char *source;
    clt_reason reason;
  } cases[] = {{"kernel void scale(global float *out, int n) {}", CLT_REASON_KERNEL_NAME},
               {"kernel void another(global float *out, int n) {}", CLT_REASON_KERNEL_NAME},
               {"#if 0\nkernel void other() {}\n#endif\nkernel void scale() {}", CLT_REASON_COMPILE_ERROR},
               {"#define NAME(x) f_##x\nkernel void NAME(1)() {}", CLT_REASON_KERNEL_NAME},
               {"#define NAME(x) ot##x\nkernel void NAME(1)() {}\n#if 0\nkernel void NAME(her)() {}\n#endif",
                CLT_REASON_COMPILE_ERROR}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    bench_reset(b);
    bench_source(b, cases[i].source, "");
    bench_launch(b, "other", 16, 4);
    bench_prepare(b, cases[i].reason);
    bench_expect_log(b, "there is no kernel 'other'; the file has '");
  }
}

static void too_few_arguments_are_found_before_the_launch(void **state) {
  bench *b = *state;
  scale_problem(b, right);
  b->launches[0].n_args = 1;
  bench_prepare(b, CLT_REASON_ARGUMENTS);
  bench_expect_log(b, "2 parameters, but 1 arguments");
}

/* A vector of float, an int and local memory are given. */
static void arguments_are_held_against_the_signature(void **state) {
  bench *b = *state;
  static const struct {
    const char *signature, *log; /* log NULL: it fits */
  } cases[] = {
      {"global float *a, int n, local float *t", NULL},
      {"global const float4 *restrict a, uint n, local float4 *t", NULL},
      {"constant float *a, int n, local int *t", NULL},
      {"global uchar *a, const int n, local float *t", NULL},
      {"global real *a, number n, local float *t", NULL},
      {"global pair *a, number n, local float *t", NULL},
      {"global number *a, int n, local float *t",
       "'global number* a' (int*), but it is given 'in', a vector of float; write \"Type\": \"int\""},
      {"global float *a, real n, local float *t",
       "'real n' (float), but it is given 'n', a scalar of type int; write \"Type\": \"float\""},
      {"global float *a, pair n, local float *t",
       "'pair n' (8 bytes), but it is given 'n', a scalar of type int, of 4 bytes; for a struct write \"Fields\" "
       "with its values, or a \"Type\" of the same size"},
      {"global struct large *a, int n, local float *t",
       "'global struct large* a' (80 bytes each), but it is given 'in', a vector of float, of 64 bytes in all; write a "
       "\"Size\""},
      {"global float16 *a, global float *n, local float *t", "argument 2 of the kernel 'f' is 'global float* n'"},
      {"global int *a, int n, local float *t",
       "argument 1 of the kernel 'f' is 'global int* a', but it is given 'in', a vector of float"},
      {"int n, global float *in, local float *t",
       "argument 1 of the kernel 'f' is 'int n', but it is given 'in', a vector of float; list the arguments in the "
       "order"},
      {"local float *a, int n, local float *t", "argument 1 of the kernel 'f' is 'local float* a'"},
      {"global float *a, float n, local float *t",
       "argument 2 of the kernel 'f' is 'float n', but it is given 'n', a scalar of type int"},
      {"global float *a, long n, local float *t", "argument 2 of the kernel 'f' is 'long n'"},
      {"global float *a, int4 n, local float *t", "argument 2 of the kernel 'f' is 'int4 n'"},
      {"global float *a, global int *n, local float *t", "argument 2 of the kernel 'f' is 'global int* n'"},
      {"global float *a, int n, global float *t",
       "argument 3 of the kernel 'f' is 'global float* t', but it is given 'local', local memory"},
      {"read_only image2d_t a, int n, local float *t",
       "argument 1 of the kernel 'f' is 'read_only image2d_t a', but it is given 'in', a vector of float"},
      {"global float *a, int n, sampler_t t", "argument 3 of the kernel 'f' is 'sampler_t t'"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char source[400];
    bool image = strstr(cases[i].signature, "image") || strstr(cases[i].signature, "sampler");
    if (image && !clt_executor_device(b->executor)->images) continue;
    bench_reset(b);
    snprintf(source, sizeof source,
             "typedef float real;\ntypedef int number;\ntypedef struct { int a; float b; } pair;\n"
             "struct large { float a[20]; };\nkernel void f(%s) {}\n",
             cases[i].signature);
    bench_source(b, source, "");
    bench_buffer(b, "in", "float", CLT_READ_ONLY, 16, 1, 1);
    bench_int(b, "n", 3);
    bench_local(b, 64);
    bench_launch(b, "f", 16, 4);
    memset(bench_input(b, "in"), 0, 64);
    bench_prepare(b, cases[i].log ? CLT_REASON_ARGUMENTS : CLT_REASON_NONE);
    if (cases[i].log) bench_expect_log(b, cases[i].log);
  }
}

static void images_are_held_against_the_signature(void **state) {
  bench *b = *state;
  static const struct {
    const char *signature;
    clt_arg_kind kind;
    clt_access access;
    bool fits;
  } cases[] = {{"read_only image2d_t i", CLT_ARG_IMAGE2D, CLT_READ_ONLY, true},
               {"write_only image2d_t i", CLT_ARG_IMAGE2D, CLT_WRITE_ONLY, true},
               {"write_only image2d_t i", CLT_ARG_IMAGE2D, CLT_READ_ONLY, false},
               {"read_only image2d_t i", CLT_ARG_IMAGE2D, CLT_WRITE_ONLY, false},
               {"read_only image3d_t i", CLT_ARG_IMAGE2D, CLT_READ_ONLY, false},
               {"global float4 *i", CLT_ARG_IMAGE2D, CLT_READ_ONLY, false},
               {"float4 i", CLT_ARG_IMAGE2D, CLT_READ_ONLY, false}};
  if (!clt_executor_device(b->executor)->images) return;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char source[100];
    bench_reset(b);
    snprintf(source, sizeof source, "kernel void f(%s) {}\n", cases[i].signature);
    bench_source(b, source, "");
    bench_buffer(b, "i", "float4", cases[i].access, 8, 8, 1)->kind = cases[i].kind;
    bench_launch(b, "f", 16, 4);
    bench_prepare(b, cases[i].fits ? CLT_REASON_NONE : CLT_REASON_ARGUMENTS);
  }
}

static void too_much_local_memory_is_found_before_the_launch(void **state) {
  bench *b = *state;
  const char *source =
      "kernel void f(global float *out) {\n"
      "  local float tile[SIZE];\n"
      "  size_t i = get_local_id(0);\n"
      "  for (size_t j = i; j < SIZE; j += get_local_size(0)) tile[j] = j;\n"
      "  barrier(CLK_LOCAL_MEM_FENCE);\n"
      "  out[get_global_id(0)] = tile[SIZE - 1 - i];\n"
      "}\n";
  char options[60];
  uint64_t floats = clt_executor_device(b->executor)->local_memory_bytes / sizeof(float);
  snprintf(options, sizeof options, "-DSIZE=%llu", (unsigned long long)floats + 1);
  bench_source(b, source, options);
  bench_buffer(b, "out", "float", CLT_WRITE_ONLY, 16, 1, 1);
  bench_launch(b, "f", 16, 8);
  bench_prepare(b, CLT_REASON_KERNEL_LIMIT);
  bench_expect_log(b, "local memory");
}

static void local_arguments_count_too(void **state) {
  bench *b = *state;
  const char *source =
      "kernel void f(global float *out, local float *more) {\n"
      "  local float tile[SIZE];\n"
      "  tile[get_local_id(0)] = more[get_local_id(0)] = 1;\n"
      "  barrier(CLK_LOCAL_MEM_FENCE);\n"
      "  out[get_global_id(0)] = tile[7 - get_local_id(0)] + more[0];\n"
      "}\n";
  char options[60];
  uint64_t bytes = clt_executor_device(b->executor)->local_memory_bytes;
  snprintf(options, sizeof options, "-DSIZE=%llu", (unsigned long long)bytes / sizeof(float) - 64);
  bench_source(b, source, options);
  bench_buffer(b, "out", "float", CLT_WRITE_ONLY, 16, 1, 1);
  clt_plan_arg *local = bench_local(b, 1024);
  bench_launch(b, "f", 16, 8);
  bench_prepare(b, CLT_REASON_KERNEL_LIMIT);
  bench_expect_log(b, "local memory");
  local->bytes = bytes + 1; /* by itself it is known without a build */
  bench_prepare(b, CLT_REASON_DEVICE_LIMIT);
  assert_true(b->m.phases.build_s == 0);
}

static void work_groups_that_are_too_large_are_never_launched(void **state) {
  bench *b = *state;
  size_t max = (size_t)clt_executor_device(b->executor)->max_work_group_size;
  bench_source(b, "kernel void f(global int *out) { out[get_global_id(0)] = 1; }", "");
  bench_buffer(b, "out", "int", CLT_WRITE_ONLY, 2 * max, 1, 1);
  bench_launch(b, "f", 2 * max, 2 * max);
  bench_prepare(b, CLT_REASON_DEVICE_LIMIT);
  bench_expect_log(b, "work-groups of 'f'");
}

static void the_work_group_size_that_a_kernel_requires_is_obeyed(void **state) {
  bench *b = *state;
  bench_source(b, "__attribute__((reqd_work_group_size(4, 1, 1))) kernel void f(global int *out) { out[0] = 1; }", "");
  bench_buffer(b, "out", "int", CLT_WRITE_ONLY, 8, 1, 1);
  bench_launch(b, "f", 8, 8);
  bench_prepare(b, CLT_REASON_KERNEL_LIMIT);
}

static void more_memory_than_the_device_allows_is_a_limit(void **state) {
  bench *b = *state;
  size_t bytes = (size_t)clt_executor_device(b->executor)->max_allocation_bytes + 1;
  bench_source(b, "kernel void f(global uchar *out) { out[0] = 1; }", "");
  bench_buffer(b, "out", "uchar", CLT_WRITE_ONLY, bytes, 1, 1);
  bench_launch(b, "f", 1, 1);
  bench_prepare(b, CLT_REASON_DEVICE_LIMIT);
}

static void a_missing_reference_is_an_error(void **state) {
  bench *b = *state;
  scale_problem(b, right);
  free(b->arrays[1].reference);
  b->arrays[1].reference = NULL;
  assert_int_equal(clt_executor_prepare(b->executor, &b->prepared, &b->plan, &b->data, &b->m, &b->error),
                   CLT_E_ARGUMENT);
  assert_non_null(strstr(b->error.message, "reference"));
  assert_null(b->prepared);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BENCH_TEST(a_right_kernel_is_correct),
      BENCH_TEST(phases_are_told_in_order),
      BENCH_TEST(a_wrong_result_is_described),
      BENCH_TEST(a_single_number_left_out_is_found),
      BENCH_TEST(the_result_of_an_earlier_configuration_does_not_count),
      BENCH_TEST(nan_is_wrong),
      BENCH_TEST(writing_one_element_too_far_is_out_of_bounds),
      BENCH_TEST(writing_into_an_input_is_billed_to_the_right_one),
      BENCH_TEST(a_kernel_that_does_not_compile_keeps_its_log),
      BENCH_TEST(a_missing_kernel_is_named),
      BENCH_TEST(too_few_arguments_are_found_before_the_launch),
      BENCH_TEST(arguments_are_held_against_the_signature),
      BENCH_TEST(images_are_held_against_the_signature),
      BENCH_TEST(too_much_local_memory_is_found_before_the_launch),
      BENCH_TEST(local_arguments_count_too),
      BENCH_TEST(work_groups_that_are_too_large_are_never_launched),
      BENCH_TEST(the_work_group_size_that_a_kernel_requires_is_obeyed),
      BENCH_TEST(more_memory_than_the_device_allows_is_a_limit),
      BENCH_TEST(a_missing_reference_is_an_error),
  };
  return bench_main("faults", tests, sizeof tests / sizeof *tests);
}
