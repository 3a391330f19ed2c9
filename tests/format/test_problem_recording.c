/* A recording of a problem: written next to its space, read back with it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h> /* after the headers above, which it needs */

#include "base/json.h"
#include "clatune/recording.h"
#include "device/device.h"
#include "format/format.h"

static const char *problem_path;
static char path[600];

/* Three configurations of many; one of them failed. */
#define N 3

static clt_config config_at(const clt_space *space, size_t i) { return clt_space_at(space, 7 * i); }

static void write_recording(const clt_instance *instance) {
  clt_measurement measurements[N];
  clt_error error = {0};
  for (size_t i = 0; i < N; i++) {
    clt_measurement *m = &measurements[i];
    clt_measurement_init(m, config_at(clt_instance_space(instance), i));
    for (m->n_runs = 0; m->n_runs < 4; m->n_runs++) m->runs_s[m->n_runs] = 0.012345678 + 1e-9 * (double)m->n_runs;
    m->time_s = m->runs_s[0];
    m->phases.build_s = 0.25;
    if (i == 1) clt_measurement_fail(m, CLT_REASON_LAUNCH, NULL);
  }
  const clt_results results = {.instance = instance, .measurements = measurements, .n = N};
  if (clt_t4_write(path, &results, &error)) fail_msg("%s", error.message);
  for (size_t i = 0; i < N; i++) clt_measurement_release(&measurements[i]);
}

static clt_problem *load(void) {
  clt_problem *problem = NULL;
  clt_error error = {0};
  if (clt_problem_new(&problem, problem_path, &error)) fail_msg("%s", error.message);
  return problem;
}

static clt_recording *record(clt_instance **instance, const clt_problem *problem, const clt_device_info *device,
                             const char *name) {
  clt_recording *recording = NULL;
  clt_error error = {0};
  const clt_size size = {"width", 512};
  assert_int_equal(clt_instance_new(instance, problem, &size, 1, device, NULL), 0);
  const char *base = getenv("TMPDIR");
  snprintf(path, sizeof path, "%s/clatune-recording-%ld-%s", base ? base : "/tmp", (long)getpid(), name);
  write_recording(*instance);
  if (clt_recording_new(&recording, path, &error)) fail_msg("%s", error.message);
  return recording;
}

static void expect_measurements(const clt_recording *recording, const clt_space *space) {
  assert_int_equal(recording->n, N);
  for (size_t i = 0; i < N; i++) {
    const clt_measurement *m = clt_recording_find(recording, config_at(space, i)); /* the same numbers */
    assert_non_null(m);
    assert_int_equal(m->reason, i == 1 ? CLT_REASON_LAUNCH : CLT_REASON_NONE);
    assert_int_equal(m->n_runs, 4);
    for (size_t k = 0; k < 4; k++) assert_true(fabs(m->runs_s[k] - 0.012345678 - 1e-9 * (double)k) < 1e-11);
    assert_true(i == 1 ? isnan(m->time_s) : fabs(m->time_s - 0.012345678) < 1e-11);
    assert_true(fabs(m->phases.build_s - 0.25) < 1e-9);
  }
}

static void a_recording_keeps_its_problems_space(void **state) {
  (void)state;
  static const clt_device_info device = {.name = "a device",
                                         .platform_name = "a platform",
                                         .compute_units = 3,
                                         .max_work_group_size = 256,
                                         .local_memory_bytes = 32768,
                                         .images = true};
  clt_problem *problem = load();
  clt_instance *instance = NULL;
  clt_recording *recording = record(&instance, problem, &device, "a.json.gz");
  const clt_space *space = clt_instance_space(instance), *recorded = clt_recording_space(recording);
  assert_int_equal(clt_space_valid(recorded), N);
  assert_true(clt_space_cartesian(recorded) == clt_space_cartesian(space));
  for (size_t i = 0; i < clt_space_n_parameters(space); i++) {
    const clt_parameter *a = clt_space_parameter(space, i), *b = clt_space_parameter(recorded, i);
    assert_string_equal(a->name, b->name);
    assert_int_equal(a->n_values, b->n_values);
    for (size_t k = 0; k < a->n_values; k++) assert_true(clt_value_equal(a->values[k], b->values[k]));
  }
  expect_measurements(recording, space);
  clt_recording_free(recording);
  clt_instance_free(instance);
  clt_problem_free(problem);
  remove(path);
}

static void a_recording_says_where_it_comes_from(void **state) {
  (void)state;
  static const clt_device_info device = {.name = "a device", .compute_units = 3, .max_work_group_size = 256};
  clt_problem *problem = load();
  clt_instance *instance = NULL, *again = NULL;
  clt_recording *recording = record(&instance, problem, &device, "b.json");
  clt_device_info info;
  clt_size sizes[8];
  size_t n = recording->n_sizes;
  assert_string_equal(recording->kernel, "convolution");
  assert_string_equal(recording->device, "a device");
  assert_int_equal(n, clt_instance_n_sizes(instance));
  for (size_t i = 0; i < n; i++) sizes[i] = recording->sizes[i];
  assert_int_equal(clt_device_from_json(&info, recording->device_json, NULL), 0);
  assert_int_equal(info.compute_units, 3);
  assert_int_equal(clt_instance_new(&again, problem, sizes, n, &info, NULL), 0);
  assert_true(clt_space_valid(clt_instance_space(again)) == clt_space_valid(clt_instance_space(instance)));
  clt_instance_free(again);
  clt_recording_free(recording);
  clt_instance_free(instance);
  clt_problem_free(problem);
  remove(path);
}

static void without_a_device(void **state) {
  (void)state;
  clt_problem *problem = load();
  clt_instance *instance = NULL;
  clt_recording *recording = record(&instance, problem, NULL, "c.json.gz");
  assert_string_equal(recording->device_json, "");
  expect_measurements(recording, clt_instance_space(instance));
  clt_recording_free(recording);
  clt_instance_free(instance);
  clt_problem_free(problem);
  remove(path);
}

static void expect_refused(const char *space, const char *part) {
  clt_error error = {0};
  clt_recording *recording = NULL;
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  fprintf(file,
          "{\"ConfigurationSpace\": %s, \"results\": [{\"configuration\": {\"a\": 1}, \"invalidity\": \"correct\","
          "\"times\": {\"runtimes\": [1]}}]}",
          space);
  fclose(file);
  assert_int_equal(clt_recording_new(&recording, path, &error), CLT_E_FORMAT);
  assert_non_null(strstr(error.message, part));
  remove(path);
}

static void mistakes_in_the_space_are_named(void **state) {
  (void)state;
  expect_refused("{\"TuningParameters\": []}", "1 to");
  expect_refused("{\"TuningParameters\": [{\"Name\": \"a b\", \"Values\": [1]}]}", "is not a valid name");
  expect_refused("{\"TuningParameters\": [{\"Name\": \"a\", \"Values\": []}]}", "'a' needs a list");
  expect_refused("{\"TuningParameters\": [{\"Name\": \"a\", \"Values\": [[1]]}]}", "must be a number");
  expect_refused("{\"TuningParameters\": [{\"Name\": \"a\", \"Values\": [2, 3]}]}", "unlisted value");
  expect_refused("{\"TuningParameters\": [{\"Name\": \"a\", \"Values\": [1]}, {\"Name\": \"b\", \"Values\": [1]}]}",
                 "unlisted value");
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_recording_keeps_its_problems_space),
      cmocka_unit_test(a_recording_says_where_it_comes_from),
      cmocka_unit_test(without_a_device),
      cmocka_unit_test(mistakes_in_the_space_are_named),
  };
  assert_int_equal(argc, 2);
  problem_path = argv[1];
  return cmocka_run_group_tests(tests, NULL, NULL);
}
