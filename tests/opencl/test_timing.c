/* Timing, later runs, other data, inputs kept on the device, and the application's own context. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opencl/internal.h"

#include "bench.h"

enum { N = 4096, N_WRITES = 9 };

/* out = in, slowly: `rounds` of arithmetic that the compiler cannot leave out. */
static void slow_copy(bench *b, int rounds) {
  bench_source(b,
               "kernel void f(global const float *in, global float *out, int rounds) {\n"
               "  size_t i = get_global_id(0);\n"
               "  float x = in[i], y = 0;\n"
               "  for (int k = 0; k < rounds; k++) y = y * 0.5f + x * (k & 3);\n"
               "  out[i] = y > -1 ? x : 0;\n"
               "}\n",
               "");
  bench_buffer(b, "in", "float", CLT_READ_ONLY, N, 1, 1);
  bench_buffer(b, "out", "float", CLT_WRITE_ONLY, N, 1, 1);
  bench_int(b, "rounds", rounds);
  bench_launch(b, "f", N, 16);
  float *in = bench_input(b, "in"), *out = bench_reference(b, "out");
  for (int i = 0; i < N; i++) out[i] = in[i] = (float)i;
}

static void runs_are_recorded_and_the_shortest_counts(void **state) {
  bench *b = *state;
  slow_copy(b, 1000);
  bench_prepare(b, CLT_REASON_NONE);
  assert_true(isnan(b->m.time_s));
  bench_time(b, 7, 7, CLT_REASON_NONE);
  assert_int_equal(b->m.n_runs, 7);
  double least = INFINITY, sum = 0;
  for (size_t i = 0; i < b->m.n_runs; i++) {
    assert_true(b->m.runs_s[i] > 0 && b->m.runs_s[i] < 10);
    least = fmin(least, b->m.runs_s[i]);
    sum += b->m.runs_s[i];
  }
  assert_true(b->m.time_s == least);
  assert_true(b->m.phases.runs_s >= 0.9 * sum);
  if (clt_executor_device(b->executor)->timer_resolution_s == 0) assert_int_equal(b->m.clock, CLT_CLOCK_HOST);
}

static void a_run_is_no_longer_than_the_host_saw(void **state) {
  (void)state;
  assert_true(clt_clock_possible(12e-6, 12e-6));
  assert_true(clt_clock_possible(1.04, 1)); /* clocks may differ in speed */
  assert_false(clt_clock_possible(60e-6, 12e-6));
  assert_false(clt_clock_possible(1.1, 1));
  assert_false(clt_clock_possible(0, 12e-6));
}

static void more_work_takes_longer(void **state) {
  bench *b = *state;
  slow_copy(b, 500);
  bench_measure(b, 5, 5, CLT_REASON_NONE);
  double little = b->m.time_s;
  memcpy(b->args[2].scalar, &(int){20000}, sizeof(int));
  bench_measure(b, 5, 5, CLT_REASON_NONE);
  assert_true(b->m.time_s > 5 * little); /* 40 times the work */
}

/* A first run that takes the whole time for runs is the only one: its time must not leave out repetitions. */
static void a_first_run_has_all_repetitions(void **state) {
  bench *b = *state;
  slow_copy(b, 5000);
  b->launches[0].repeat = 8;
  bench_prepare(b, CLT_REASON_NONE);
  const double first_s = b->prepared->first_run_s;
  bench_time(b, 10, 10, CLT_REASON_NONE);
  if (b->m.clock == CLT_CLOCK_DEVICE) assert_true(first_s > 0.25 * b->m.time_s); /* one repetition of eight: 0.125 */
}

static void runs_of_a_second_call_are_appended(void **state) {
  bench *b = *state;
  slow_copy(b, 100);
  bench_measure(b, 2, 2, CLT_REASON_NONE);
  clt_clock clock = b->m.clock;
  bench_time(b, 3, 3, CLT_REASON_NONE);
  assert_int_equal(b->m.n_runs, b->m.clock == clock ? 5 : 3);
  /* On a busy machine another clock may be chosen, with which the runs begin anew. */
  for (int i = 0; b->m.n_runs < CLT_MAX_RUNS && i < 4 * CLT_MAX_RUNS; i++) bench_time(b, 1, 1, CLT_REASON_NONE);
  clt_timing_policy policy;
  clt_timing_policy_init(&policy);
  assert_int_equal(clt_executor_time(b->executor, b->prepared, &policy, &b->m, &b->error), CLT_E_ARGUMENT);
}

static void a_slow_configuration_is_not_repeated(void **state) {
  bench *b = *state;
  clt_timing_policy policy;
  clt_timing_policy_init(&policy);
  policy.min_runs = 5;
  policy.best_s = 1e-9;
  slow_copy(b, 10000);
  bench_prepare(b, CLT_REASON_NONE);
  assert_int_equal(clt_executor_time(b->executor, b->prepared, &policy, &b->m, &b->error), 0);
  assert_true(b->m.n_runs == 1 || (b->m.n_runs <= 4 && b->m.time_s < 0.01)); /* unless it is short */
  assert_true(clt_measurement_correct(&b->m));
}

static void a_warm_up_that_takes_all_the_time_is_the_run(void **state) {
  bench *b = *state;
  clt_timing_policy policy;
  clt_timing_policy_init(&policy);
  policy.min_runs = 5;
  policy.max_total_s = 1e-9;
  slow_copy(b, 100);
  bench_prepare(b, CLT_REASON_NONE);
  assert_int_equal(clt_executor_time(b->executor, b->prepared, &policy, &b->m, &b->error), 0);
  assert_int_equal(b->m.n_runs, 1);
  assert_true(clt_measurement_correct(&b->m) && b->m.time_s > 0);
}

static void short_runs_go_on(void **state) {
  bench *b = *state;
  clt_timing_policy policy;
  clt_timing_policy_init(&policy);
  policy.min_runs = 2;
  policy.max_runs = 5;
  policy.steady_relative = 1e9; /* everything is steady, and */
  policy.best_s = 1e-12;        /* far behind: short configurations are run four times all the same */
  policy.warm_up = false;
  slow_copy(b, 100);
  bench_prepare(b, CLT_REASON_NONE);
  assert_int_equal(clt_executor_time(b->executor, b->prepared, &policy, &b->m, &b->error), 0);
  assert_true(b->m.n_runs == 4 || (b->m.n_runs < 4 && b->m.phases.runs_s >= 0.01));
}

static void steady_runs_end_early(void **state) {
  bench *b = *state;
  clt_timing_policy policy;
  clt_timing_policy_init(&policy);
  policy.min_runs = 4;
  policy.max_runs = 60;
  policy.max_total_s = 600;     /* of a busy machine's */
  policy.steady_relative = 1e9; /* everything is steady */
  slow_copy(b, 10000);          /* longer than the short runs, which go on */
  bench_prepare(b, CLT_REASON_NONE);
  assert_int_equal(clt_executor_time(b->executor, b->prepared, &policy, &b->m, &b->error), 0);
  assert_true(b->m.n_runs == 4 || (b->m.n_runs > 4 && 4 * b->m.time_s < 0.01));
  clt_measurement_release(&b->m);
  clt_measurement_init(&b->m, 0);
  policy.steady_relative = 0;
  policy.max_total_s = 0; /* and time is up at once */
  assert_int_equal(clt_executor_time(b->executor, b->prepared, &policy, &b->m, &b->error), 0);
  assert_int_equal(b->m.n_runs, 1);
}

/* The kernel's launches are counted, in scratch memory. */
static void counted(bench *b, const char *write) {
  bench_source(b,
               "kernel void f(global float *in, global int *ran, global float *out) {\n"
               "  size_t i = get_global_id(0);\n"
               "  int first = ran[i] == (int)0xa5a5a5a5, launch = ran[i]++ & 0xff;\n"
               "  WRITE;\n"
               "}\n",
               write);
  bench_buffer(b, "in", "float", CLT_READ_ONLY, 64, 1, 1);
  bench_buffer(b, "ran", "int", CLT_READ_WRITE, 64, 1, 1);
  bench_buffer(b, "out", "float", CLT_WRITE_ONLY, 64, 1, 1);
  bench_launch(b, "f", 64, 8);
  float *in = bench_input(b, "in"), *out = bench_reference(b, "out");
  for (int i = 0; i < 64; i++) out[i] = in[i] = (float)i;
}

static void check_forgetful(bench *b, const char *write) {
  bench_reset(b);
  counted(b, write);
  bench_measure(b, 2, 3, CLT_REASON_WRONG_OUTPUT);
  assert_true(isnan(b->m.time_s));
}

static void a_kernel_right_only_at_first_is_wrong(void **state) {
  check_forgetful(*state, "-DWRITE=out[i]=first?i:0");
  check_forgetful(*state, "-DWRITE=if(first)out[i]=i");
}

static void a_fault_in_a_later_run_is_found(void **state) {
  bench *b = *state;
  counted(b, "-DWRITE=out[i]=i;if(!first&&i==63)out[64]=0");
  bench_measure(b, 2, 2, CLT_REASON_OUT_OF_BOUNDS);
}

/* Kernels that depend on the earlier content, on n numbers: correct ones would write R. All of a type are one program,
 * which PoCL builds once. */
static void check_accumulation(bench *b, const char *type, const char *const *writes, size_t which, size_t n) {
  char source[2000], options[20];
  int length = snprintf(source, sizeof source,
                        "kernel void f(global T *out, int which) {\n  size_t i = get_global_id(0);\n"
                        "  const T R = (T)(i %% 50 + 20);\n");
  for (size_t k = 0; k < N_WRITES; k++)
    length += snprintf(source + length, sizeof source - (size_t)length, "  if (which == %zu) { %s; }\n", k, writes[k]);
  snprintf(source + length, sizeof source - (size_t)length, "}");
  snprintf(options, sizeof options, "-DT=%s", type);
  bench_reset(b);
  bench_source(b, source, options);
  clt_plan_arg *out = bench_buffer(b, "out", type, CLT_WRITE_ONLY, n, 1, 1);
  bench_int(b, "which", (int)which);
  bench_launch(b, "f", n, 1);
  unsigned char *reference = bench_reference(b, "out");
  const size_t width = out->element.bytes;
  for (size_t i = 0; i < n; i++)
    clt_store_value(reference + i * width, out->element.base,
                    (clt_value){.type = CLT_INT, .integer = (int64_t)(i % 50 + 20)});
  /* All at once show at the first launch, whatever it holds; one alone needs another turn of poison or two. */
  if (clt_executor_prepare(b->executor, &b->prepared, &b->plan, &b->data, &b->m, &b->error)) fail();
  if (n > 4 && b->prepared) fail_msg("%s is right at the first launch of %zu %ss", writes[which], n, type);
  clt_timing_policy policy;
  clt_timing_policy_init(&policy);
  policy.min_runs = 8;
  policy.max_total_s = 60;
  if (b->prepared) assert_int_equal(clt_executor_time(b->executor, b->prepared, &policy, &b->m, &b->error), 0);
  if (b->m.reason != CLT_REASON_WRONG_OUTPUT) fail_msg("%s is right with %zu %ss", writes[which], n, type);
}

static void no_accumulation_is_right_with_all_poisons(void **state) {
  const char *floats[N_WRITES] = {"out[i]=fmax(out[i],R)",
                                  "out[i]=fmin(out[i],R)",
                                  "out[i]+=R",
                                  "out[i]=isnan(out[i])?out[i]:R",
                                  "if(isnan(out[i]))out[i]=R",
                                  "if(!isfinite(out[i]))out[i]=R",
                                  "if(!(fabs(out[i])<1000))out[i]=R",
                                  "if(!(out[i]>0))out[i]=R",
                                  "if(!(out[i]<0))out[i]=R"};
  const char *wholes[N_WRITES] = {"out[i]=max(out[i],R)",
                                  "out[i]=min(out[i],R)",
                                  "out[i]|=R",
                                  "out[i]&=R",
                                  "out[i]^=R",
                                  "out[i]+=R",
                                  "out[i]=(out[i]&1)|(R&~1)",
                                  "",
                                  "if(out[i]==0||out[i]>R)out[i]=R"};
  const char *types[] = {"char", "uchar", "short", "ushort", "int", "uint", "long", "ulong"};
  for (size_t n = 1; n <= 100; n += 99) {
    for (size_t i = 0; i < N_WRITES; i++) check_accumulation(*state, "float", floats, i, n);
    for (size_t i = 0; i < N_WRITES - (n == 1); i++) /* to pass, the last needs two numbers */
      for (size_t k = 0; k < sizeof types / sizeof *types; k++) check_accumulation(*state, types[k], wholes, i, n);
  }
}

static void a_launch_that_does_nothing_is_found(void **state) {
  bench *b = *state;
  counted(b, "-DWRITE=if(launch%3!=2)out[i]=in[i]");
  bench_measure(b, 16, 16, CLT_REASON_WRONG_OUTPUT);
}

/* Poison before each run is made up for by doing the work; the time tells. */
static void a_kernel_that_leaves_out_what_is_there_is_wrong(void **state) {
  bench *b = *state;
  bench_source(b,
               "kernel void f(global const float *in, global float *out) {\n"
               "  size_t i = get_global_id(0);\n"
               "  float y = in[i];\n"
               "  if (SKIP) return;\n"
               "  for (int k = 0; k < 20000; k++) y = y * 0.5f + in[i] * (k & 3);\n"
               "  out[i] = y > -1 ? in[i] : 0;\n"
               "}\n",
               "-DSKIP=out[i]==y");
  bench_buffer(b, "in", "float", CLT_READ_ONLY, N, 1, 1);
  bench_buffer(b, "out", "float", CLT_WRITE_ONLY, N, 1, 1);
  bench_launch(b, "f", N, 16);
  float *in = bench_input(b, "in"), *out = bench_reference(b, "out");
  for (int i = 0; i < N; i++) out[i] = in[i] = (float)i;
  bench_measure(b, 8, 8, CLT_REASON_WRONG_OUTPUT);
  bench_expect_log(b, "times as long if the output buffers do not already hold the result");
  strcpy(b->plan.options, "-DSKIP=0");
  bench_measure(b, 8, 8, CLT_REASON_NONE);
}

/* The next configuration, while the bench's first one stays prepared. */
static clt_prepared *set_aside(bench *b, const char *options) {
  clt_prepared *first = b->prepared;
  b->prepared = NULL;
  strcpy(b->plan.options, options);
  bench_prepare(b, CLT_REASON_NONE);
  return first;
}

/* Takes it up again. */
static void time_first(bench *b, clt_prepared *first) {
  clt_prepared_free(b->prepared);
  b->prepared = first;
  clt_measurement_release(&b->m);
  clt_measurement_init(&b->m, 0);
  bench_time(b, 4, 4, CLT_REASON_NONE);
}

static void a_shared_input_damaged_later_is_blamed_on_who_ran(void **state) {
  bench *b = *state;
  counted(b, "-DWRITE=out[i]=in[i];if(launch>=N&&i==5)in[i]=7 -DN=1000");
  bench_prepare(b, CLT_REASON_NONE);
  clt_prepared *first = set_aside(b, "-DWRITE=out[i]=in[i];if(launch==2&&i==5)in[i]=7");
  bench_time(b, 3, 3, CLT_REASON_OUT_OF_BOUNDS);
  bench_expect_log(b, "overwrote the input data of argument 'in'");
  time_first(b, first);
}

static void guards_of_others_are_looked_at(void **state) {
  bench *b = *state;
  counted(b, "-DWRITE=out[i]=in[i]");
  bench_prepare(b, CLT_REASON_NONE);
  clt_prepared *first = set_aside(b, "-DWRITE=out[i]=in[i]");
  const clt_object *object = &first->bindings.items[2].object;
  assert_int_equal(clEnqueueFillBuffer(b->executor->queue, object->whole, "x", 1, 3, 1, 0, NULL, NULL), CL_SUCCESS);
  bench_time(b, 3, 3, CLT_REASON_OUT_OF_BOUNDS);
  bench_expect_log(b, "before the start of argument 'out' of another configuration");
  time_first(b, first);
}

/* A copy of the bench's data with other content; `wrong` spoils its reference. */
typedef struct other_data {
  clt_array arrays[2];
  clt_data data;
  float in[N], out[N];
} other_data;

static other_data *make_other(const bench *b, float add, float wrong) {
  other_data *other = calloc(1, sizeof *other);
  assert_non_null(other);
  memcpy(other->arrays, b->arrays, sizeof other->arrays);
  other->data = (clt_data){.arrays = other->arrays, .n_arrays = 2, .recipe = {CLT_INPUTS_OTHER}, .seed = 2};
  for (int i = 0; i < N; i++) other->out[i] = (other->in[i] = (float)i + add) + wrong;
  other->arrays[0].data = other->in;
  other->arrays[1].reference = other->out;
  return other;
}

static void other_data_is_verified_and_the_first_stays(void **state) {
  bench *b = *state;
  slow_copy(b, 10);
  bench_prepare(b, CLT_REASON_NONE);
  other_data *good = make_other(b, 5, 0), *bad = make_other(b, 9, 1);
  assert_int_equal(clt_executor_verify(b->executor, b->prepared, &good->data, true, &b->m, &b->error), 0);
  assert_int_equal(b->m.reason, CLT_REASON_NONE);
  clt_executor_forget(b->executor, &good->data);
  free(good);
  bench_time(b, 1, 1, CLT_REASON_NONE); /* on the first data again */
  assert_int_equal(clt_executor_verify(b->executor, b->prepared, &bad->data, true, &b->m, &b->error), 0);
  assert_int_equal(b->m.reason, CLT_REASON_WRONG_OUTPUT);
  clt_executor_forget(b->executor, &bad->data);
  free(bad);
}

static size_t cached(const bench *b) {
  size_t n = 0;
  for (const clt_input *input = b->executor->inputs.first; input; input = input->next) n++;
  return n;
}

static void inputs_are_uploaded_once(void **state) {
  bench *b = *state;
  slow_copy(b, 10);
  bench_prepare(b, CLT_REASON_NONE);
  const clt_input *first = b->executor->inputs.first;
  bench_prepare(b, CLT_REASON_NONE);
  assert_int_equal(cached(b), 1);
  assert_ptr_equal(b->executor->inputs.first, first);
  bench_border(&b->args[0], 3, CLT_BORDER_ZERO); /* stored otherwise: another upload */
  bench_prepare(b, CLT_REASON_WRONG_OUTPUT);
  bench_border(&b->args[0], 0, CLT_BORDER_ZERO);
  bench_prepare(b, CLT_REASON_NONE);
  assert_true(cached(b) >= 1);
}

static void changed_inputs_are_uploaded_again(void **state) {
  bench *b = *state;
  slow_copy(b, 10);
  bench_prepare(b, CLT_REASON_NONE);
  float *in = b->arrays[0].data, *out = b->arrays[1].reference;
  for (int i = 0; i < N; i++) out[i] = in[i] = (float)(N - i);
  clt_executor_forget(b->executor, &b->data);
  bench_prepare(b, CLT_REASON_NONE);
}

static void the_cache_is_bounded(void **state) {
  bench *b = *state;
  slow_copy(b, 10);
  size_t limit = b->executor->inputs.limit_bytes;
  b->executor->inputs.limit_bytes = N * sizeof(float) + 200;
  for (size_t border = 0; border < 4; border++) {
    bench_border(&b->args[0], border, CLT_BORDER_ZERO);
    bench_prepare(b, border ? CLT_REASON_WRONG_OUTPUT : CLT_REASON_NONE);
  }
  clt_prepared_free(b->prepared);
  b->prepared = NULL;
  assert_true(b->executor->inputs.bytes <= b->executor->inputs.limit_bytes);
  b->executor->inputs.limit_bytes = limit;
}

static cl_uint references(const bench *b) {
  cl_uint n = 0;
  assert_int_equal(clGetContextInfo(b->executor->context, CL_CONTEXT_REFERENCE_COUNT, sizeof n, &n, NULL), CL_SUCCESS);
  return n;
}

static void build_run_and_fail(bench *b) {
  slow_copy(b, 10);
  bench_measure(b, 3, 3, CLT_REASON_NONE);
  const char *name = b->launches[0].kernel;
  b->launches[0].kernel = "g";
  bench_prepare(b, CLT_REASON_KERNEL_NAME);
  b->launches[0].kernel = name;
  strcpy(b->plan.source + 10, "!");
  bench_prepare(b, CLT_REASON_COMPILE_ERROR);
  bench_reset(b);
}

/* Programs, kernels, events and memory hold their context. A thread of the driver may give back its last event after
   the host saw it complete, so one object too many means nothing; one that is left by each round does. */
static void nothing_is_left_behind(void **state) {
  enum { ROUNDS = 8 };
  bench *b = *state;
  cl_uint before = references(b);
  slow_copy(b, 10);
  bench_prepare(b, CLT_REASON_NONE);
  bool counts = references(b) > before;
  bench_reset(b);
  if (!counts) skip(); /* Intel's runtime: references to a context do not show in its count */
  for (int i = 0; i < ROUNDS; i++) build_run_and_fail(b);
  assert_in_range(references(b), 1, before + ROUNDS - 1);
}

static void an_application_lends_its_context(void **state) {
  bench *b = *state;
  slow_copy(b, 10);
  cl_command_queue plain = clCreateCommandQueue(b->executor->context, b->executor->device, 0, NULL);
  assert_non_null(plain);
  clt_executor *own = b->executor, *lent = NULL;
  assert_int_equal(clt_executor_new_on(&lent, own->context, own->device, plain, &b->error), 0);
  assert_string_equal(clt_executor_device(lent)->name, own->info.name);
  assert_int_equal(clt_executor_device(lent)->platform_index, own->info.platform_index);
  b->executor = lent;
  bench_measure(b, 2, 2, CLT_REASON_NONE);
  assert_int_equal(b->m.clock, CLT_CLOCK_HOST); /* the queue has no profiling */
  clt_prepared_free(b->prepared);
  b->prepared = NULL;
  clt_executor_free(lent);
  b->executor = own;
  assert_int_equal(clFinish(plain), CL_SUCCESS); /* it is still the application's */
  clReleaseCommandQueue(plain);
}

static void an_out_of_order_queue_keeps_the_order_of_launches(void **state) {
  bench *b = *state;
  bench_source(b, "kernel void f(global int *x) { size_t i = get_global_id(0); x[i] = x[i] * 3 + 1; }", "");
  bench_buffer(b, "x", "int", CLT_READ_WRITE, 64, 1, 1);
  bench_launch(b, "f", 64, 8)->repeat = 9;
  int *in = bench_input(b, "x"), *out = bench_reference(b, "x");
  for (int i = 0; i < 64; i++) {
    out[i] = in[i] = i;
    for (int k = 0; k < 9; k++) out[i] = out[i] * 3 + 1;
  }
  clt_executor *own = b->executor, *lent = NULL;
  cl_command_queue queue = clCreateCommandQueue(
      own->context, own->device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE, NULL);
  if (queue == NULL) skip();
  assert_int_equal(clt_executor_new_on(&lent, own->context, own->device, queue, &b->error), 0);
  b->executor = lent;
  bench_measure(b, 3, 3, CLT_REASON_NONE);
  clt_prepared_free(b->prepared);
  b->prepared = NULL;
  clt_executor_free(lent);
  b->executor = own;
  clReleaseCommandQueue(queue);
}

static void impossible_clocks_are_told_apart(void **state) {
  (void)state;
  assert_true(clt_clock_possible(1e-3, 1.1e-3));
  assert_false(clt_clock_possible(0, 1e-3));
  assert_false(clt_clock_possible(-1, 1e-3));
  assert_false(clt_clock_possible(2e-3, 1e-3));
  assert_true(clt_clock_agrees(10e-6, 300e-6)); /* a short kernel and the overhead of its launch */
  assert_false(clt_clock_agrees(1e-6, 0.1));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BENCH_TEST(runs_are_recorded_and_the_shortest_counts),
      BENCH_TEST(a_run_is_no_longer_than_the_host_saw),
      BENCH_TEST(more_work_takes_longer),
      BENCH_TEST(a_first_run_has_all_repetitions),
      BENCH_TEST(runs_of_a_second_call_are_appended),
      BENCH_TEST(a_slow_configuration_is_not_repeated),
      BENCH_TEST(a_warm_up_that_takes_all_the_time_is_the_run),
      BENCH_TEST(short_runs_go_on),
      BENCH_TEST(steady_runs_end_early),
      BENCH_TEST(a_kernel_right_only_at_first_is_wrong),
      BENCH_TEST(a_fault_in_a_later_run_is_found),
      BENCH_TEST(no_accumulation_is_right_with_all_poisons),
      BENCH_TEST(a_launch_that_does_nothing_is_found),
      BENCH_TEST(a_kernel_that_leaves_out_what_is_there_is_wrong),
      BENCH_TEST(a_shared_input_damaged_later_is_blamed_on_who_ran),
      BENCH_TEST(guards_of_others_are_looked_at),
      BENCH_TEST(other_data_is_verified_and_the_first_stays),
      BENCH_TEST(inputs_are_uploaded_once),
      BENCH_TEST(changed_inputs_are_uploaded_again),
      BENCH_TEST(the_cache_is_bounded),
      BENCH_TEST(nothing_is_left_behind),
      BENCH_TEST(an_application_lends_its_context),
      BENCH_TEST(an_out_of_order_queue_keeps_the_order_of_launches),
      BENCH_TEST(impossible_clocks_are_told_apart),
  };
  return bench_main("timing", tests, sizeof tests / sizeof *tests);
}
