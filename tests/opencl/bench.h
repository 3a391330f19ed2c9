/* A bench for the executor: plans and data built by hand, and every test run on every driver found. */
#ifndef CLT_TESTS_OPENCL_BENCH_H
#define CLT_TESTS_OPENCL_BENCH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "opencl/executor.h"

enum { MAX_ARGS = 8, MAX_LAUNCHES = 4, MAX_PHASES = 256 };

/* One configuration and its data. Everything is released with bench_reset. */
typedef struct bench {
  clt_executor *executor;
  clt_plan plan;
  clt_plan_arg args[MAX_ARGS];
  clt_plan_launch launches[MAX_LAUNCHES];
  size_t launch_args[MAX_LAUNCHES][MAX_ARGS];
  clt_data data;
  clt_array arrays[MAX_ARGS];
  clt_measurement m;
  clt_prepared *prepared;
  clt_error error;
  clt_phase phases[MAX_PHASES];
  size_t n_phases;
} bench;

/* Runs the tests on every device; returns 77 if there is none. Each test's *state is a bench, freshly reset. */
int bench_main(const char *name, const struct CMUnitTest *tests, size_t n_tests);
#define BENCH_TEST(f) cmocka_unit_test_setup_teardown(f, bench_set_up, bench_tear_down)
int bench_set_up(void **state);
int bench_tear_down(void **state);
void bench_reset(bench *b);

void bench_source(bench *b, const char *source, const char *options);

/* Arguments, in order; bytes follow from the type, extents and the border, which may be set afterwards by bench_border.
 */
clt_plan_arg *bench_buffer(bench *b, const char *name, const char *type, clt_access access, size_t x, size_t y,
                           size_t z);
clt_plan_arg *bench_int(bench *b, const char *name, int value);
clt_plan_arg *bench_local(bench *b, size_t bytes);
void bench_border(clt_plan_arg *arg, size_t border, clt_border_mode mode);

/* A launch that is given all arguments so far, in one dimension; local 0: left to the driver. */
clt_plan_launch *bench_launch(bench *b, const char *kernel, size_t global, size_t local);
clt_plan_launch *bench_launch_2d(bench *b, const char *kernel, const size_t global[2], const size_t local[2]);

/* The content of an input, and the reference of an output: space for the logical array of the argument of this name. */
void *bench_input(bench *b, const char *name);
void *bench_reference(bench *b, const char *name);

/* Prepares, and checks that the outcome is this reason. */
void bench_prepare(bench *b, clt_reason expected);
/* Times with runs from min to max, and checks the reason. */
void bench_time(bench *b, unsigned min_runs, unsigned max_runs, clt_reason expected);
/* Both; preparing goes well. */
void bench_measure(bench *b, unsigned min_runs, unsigned max_runs, clt_reason expected);
void bench_expect_log(const bench *b, const char *part);

#endif
