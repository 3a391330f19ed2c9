#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The device under test: cmocka's setup functions are given nothing but the state they fill. */
static const clt_device_info *device_under_test;

static void note_phase(void *user, clt_phase phase) {
  bench *b = user;
  if (b->n_phases < MAX_PHASES) b->phases[b->n_phases++] = phase;
}

static int open_device(void **state) {
  bench *b = calloc(1, sizeof *b);
  assert_non_null(b);
  int rc =
      clt_executor_new(&b->executor, device_under_test->platform_index, device_under_test->device_index, &b->error);
  if (rc) fail_msg("%s", b->error.message);
  clt_executor_on_phase(b->executor, note_phase, b);
  *state = b;
  return 0;
}

static int close_device(void **state) {
  bench *b = *state;
  bench_reset(b);
  clt_executor_free(b->executor);
  free(b);
  return 0;
}

void bench_reset(bench *b) {
  clt_prepared_free(b->prepared);
  clt_measurement_release(&b->m);
  for (size_t i = 0; i < b->plan.n_args; i++) free((void *)b->args[i].name);
  for (size_t i = 0; i < b->plan.n_launches; i++) free((void *)b->launches[i].kernel);
  for (size_t i = 0; i < b->data.n_arrays; i++) {
    free(b->arrays[i].name);
    free(b->arrays[i].data);
    free(b->arrays[i].reference);
  }
  free(b->plan.source);
  free(b->plan.options);
  clt_executor_forget(b->executor, NULL);
  clt_executor *executor = b->executor;
  memset(b, 0, sizeof *b);
  b->executor = executor;
  b->plan.args = b->args;
  b->plan.launches = b->launches;
  b->data.arrays = b->arrays;
  b->data.seed = 1;
  clt_measurement_init(&b->m, 0);
}

int bench_set_up(void **state) {
  bench_reset(*state);
  return 0;
}

int bench_tear_down(void **state) {
  bench_reset(*state);
  return 0;
}

int bench_main(const char *name, const struct CMUnitTest *tests, size_t n_tests) {
  clt_device_info *devices = NULL;
  size_t n = 0, used = 0;
  int failed = 0;
  if (clt_opencl_devices(&devices, &n, NULL)) return 1;
  for (size_t i = 0; i < n; i++) {
    if (!devices[i].available) continue;
    char group[400];
    snprintf(group, sizeof group, "%s on %s", name, devices[i].name);
    device_under_test = &devices[i];
    failed += _cmocka_run_group_tests(group, tests, n_tests, open_device, close_device);
    used++;
  }
  free(devices);
  return used == 0 ? 77 : failed != 0;
}

void bench_source(bench *b, const char *source, const char *options) {
  b->plan.source = strdup(source);
  b->plan.options = strdup(options);
  assert_true(b->plan.source && b->plan.options);
}

static clt_plan_arg *add_arg(bench *b, const char *name, clt_arg_kind kind) {
  assert_true(b->plan.n_args < MAX_ARGS);
  clt_plan_arg *arg = &b->args[b->plan.n_args++];
  *arg = (clt_plan_arg){.name = strdup(name), .kind = kind, .extent = {1, 1, 1}};
  assert_non_null(arg->name);
  return arg;
}

clt_plan_arg *bench_buffer(bench *b, const char *name, const char *type, clt_access access, size_t x, size_t y,
                           size_t z) {
  clt_plan_arg *arg = add_arg(b, name, CLT_ARG_BUFFER);
  assert_int_equal(clt_element_parse(&arg->element, type), 0);
  arg->access = access;
  arg->extent[0] = x;
  arg->extent[1] = y;
  arg->extent[2] = z;
  bench_border(arg, 0, CLT_BORDER_ZERO);
  return arg;
}

clt_plan_arg *bench_int(bench *b, const char *name, int value) {
  clt_plan_arg *arg = add_arg(b, name, CLT_ARG_SCALAR);
  assert_int_equal(clt_element_parse(&arg->element, "int"), 0);
  arg->bytes = sizeof value;
  memcpy(arg->scalar, &value, sizeof value);
  return arg;
}

clt_plan_arg *bench_local(bench *b, size_t bytes) {
  clt_plan_arg *arg = add_arg(b, "local", CLT_ARG_LOCAL);
  arg->bytes = bytes;
  return arg;
}

void bench_border(clt_plan_arg *arg, size_t border, clt_border_mode mode) {
  arg->border_mode = mode;
  arg->bytes = arg->element.bytes;
  for (int d = 0; d < 3; d++) {
    arg->border[d] = arg->extent[d] > 1 ? border : 0;
    arg->bytes *= arg->extent[d] + 2 * arg->border[d];
  }
}

static clt_plan_launch *add_launch(bench *b, const char *kernel, unsigned n_dimensions) {
  assert_true(b->plan.n_launches < MAX_LAUNCHES);
  size_t index = b->plan.n_launches++;
  clt_plan_launch *launch = &b->launches[index];
  *launch = (clt_plan_launch){.kernel = strdup(kernel),
                              .n_dimensions = n_dimensions,
                              .global = {1, 1, 1},
                              .local = {1, 1, 1},
                              .args = b->launch_args[index],
                              .n_args = b->plan.n_args,
                              .repeat = 1};
  assert_non_null(launch->kernel);
  for (size_t i = 0; i < launch->n_args; i++) launch->args[i] = i;
  return launch;
}

clt_plan_launch *bench_launch(bench *b, const char *kernel, size_t global, size_t local) {
  clt_plan_launch *launch = add_launch(b, kernel, 1);
  launch->global[0] = global;
  launch->has_local = local > 0;
  if (local) launch->local[0] = local;
  return launch;
}

clt_plan_launch *bench_launch_2d(bench *b, const char *kernel, const size_t global[2], const size_t local[2]) {
  clt_plan_launch *launch = add_launch(b, kernel, 2);
  launch->has_local = true;
  memcpy(launch->global, global, 2 * sizeof *global);
  memcpy(launch->local, local, 2 * sizeof *local);
  return launch;
}

static clt_plan_arg *arg_named(bench *b, const char *name) {
  for (size_t i = 0; i < b->plan.n_args; i++)
    if (strcmp(b->args[i].name, name) == 0) return &b->args[i];
  fail_msg("no argument %s", name);
  return NULL;
}

static clt_array *array_named(bench *b, const char *name) {
  clt_array *array = clt_data_find(&b->data, name);
  if (array) return array;
  const clt_plan_arg *arg = arg_named(b, name);
  array = &b->arrays[b->data.n_arrays++];
  *array = (clt_array){.name = strdup(name), .element = arg->element, .bytes = arg->element.bytes};
  for (int d = 0; d < 3; d++) {
    array->extent[d] = arg->extent[d];
    array->bytes *= arg->extent[d];
  }
  array->absolute_tolerance = 1e-6;
  array->relative_tolerance = 1e-4;
  return array;
}

void *bench_input(bench *b, const char *name) {
  clt_array *array = array_named(b, name);
  arg_named(b, name)->has_data = array->input = true;
  array->data = calloc(1, array->bytes);
  assert_non_null(array->data);
  return array->data;
}

void *bench_reference(bench *b, const char *name) {
  clt_array *array = array_named(b, name);
  arg_named(b, name)->verified = array->verified = true;
  array->reference = calloc(1, array->bytes);
  assert_non_null(array->reference);
  return array->reference;
}

static void expect(const bench *b, int rc, clt_reason expected) {
  if (rc) fail_msg("%s", b->error.message);
  if (b->m.reason == expected) return;
  fail_msg("%s instead of %s; log: %s", clt_reason_name(b->m.reason), clt_reason_name(expected),
           b->m.log ? b->m.log : "none");
}

void bench_prepare(bench *b, clt_reason expected) {
  clt_prepared_free(b->prepared);
  b->prepared = NULL;
  clt_measurement_release(&b->m);
  clt_measurement_init(&b->m, 0);
  int rc = clt_executor_prepare(b->executor, &b->prepared, &b->plan, &b->data, &b->m, &b->error);
  expect(b, rc, expected);
  assert_int_equal(b->prepared != NULL, expected == CLT_REASON_NONE);
}

void bench_time(bench *b, unsigned min_runs, unsigned max_runs, clt_reason expected) {
  clt_timing_policy policy;
  clt_timing_policy_init(&policy);
  policy.min_runs = min_runs;
  policy.max_runs = max_runs;
  policy.max_total_s = 60;
  expect(b, clt_executor_time(b->executor, b->prepared, &policy, &b->m, &b->error), expected);
}

void bench_measure(bench *b, unsigned min_runs, unsigned max_runs, clt_reason expected) {
  bench_prepare(b, CLT_REASON_NONE);
  bench_time(b, min_runs, max_runs, expected);
}

void bench_expect_log(const bench *b, const char *part) {
  assert_non_null(b->m.log);
  if (strstr(b->m.log, part) == NULL) fail_msg("the log lacks '%s': %s", part, b->m.log);
}
