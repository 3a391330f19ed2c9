/* The evaluator "opencl" on every device that there is: each fault of a kernel is recorded with its reason, and the
 * tuning goes on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/plugin.h"
#include "clatune/sys/evaluator.h"
#include "session/session.h"
#include "worker/pool.h"

#define SKIPPED 77

/* The parameter "deed" decides what the kernel does; see `deeds`. bomb.h includes itself twice, to a depth of 60. */
static const char kernel_text[] =
    "#if DEED == 3\n"
    "#include \"bomb.h\"\n"
    "#endif\n"
    "kernel void twice(global float *out, global const float *in, int size) {\n"
    "  int i = get_global_id(0);\n"
    "#if DEED == 1\n"
    "  out[(size_t)(i + 1) * 100000000] = 1;\n"
    "#elif DEED == 2\n"
    "  volatile global float *v = out;\n"
    "  while (v[i] != 12345.0f) v[i] = 1;\n"
    "#elif DEED == 4\n"
    "  local float big[1 << 24];\n"
    "  big[i] = in[i];\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  out[i] = 2 * big[i ^ 1];\n"
    "#elif DEED == 5\n"
    "  this is no OpenCL;\n"
    "#elif DEED == 6\n"
    "  if (i == size - 1) return;\n"
    "#elif DEED == 7\n"
    "  if (i == size - 1) out[size] = 7;\n"
    "#elif DEED == 8\n"
    "  for (int k = 0; k < 100; k++) out[i] = sin(out[i] + in[i]);\n"
    "#endif\n"
    "  out[i] = 2 * in[i];\n"
    "}\n"
    "kernel void plain(global float *out, global const float *in, int size) {\n"
    "  int i = get_global_id(0);\n"
    "  if (i < size) out[i] = 2 * in[i];\n"
    "}\n";

static const char bomb_text[] = "#if __INCLUDE_LEVEL__ < 60\n#include \"bomb.h\"\n#include \"bomb.h\"\n#endif\n";

static const char problem_text[] =
    "{\"General\": {\"BenchmarkName\": \"faults\"},"
    " \"ProblemParameters\": [{\"Name\": \"n\", \"Default\": 4096}],"
    " \"ConfigurationSpace\": {\"TuningParameters\": ["
    "   {\"Name\": \"DEED\", \"Type\": \"int\", \"Values\": [0, 1, 2, 3, 4, 5, 6, 7, 8]},"
    "   {\"Name\": \"wg\", \"Type\": \"int\", \"Values\": [16, 32]}]},"
    " \"KernelSpecification\": {\"Language\": \"OpenCL\", \"KernelFile\": \"twice.cl\", \"KernelName\": \"twice\","
    "   \"IncludePaths\": [\".\"], \"GlobalSize\": [\"n\"], \"LocalSize\": [\"wg\"],"
    "   \"Arguments\": ["
    "     {\"Name\": \"out\", \"Type\": \"float\", \"MemoryType\": \"Vector\", \"AccessType\": \"WriteOnly\","
    "      \"Size\": \"n\"},"
    "     {\"Name\": \"in\", \"Type\": \"float\", \"MemoryType\": \"Vector\", \"AccessType\": \"ReadOnly\","
    "      \"Size\": \"n\", \"FillType\": \"Random\", \"FillValue\": 10},"
    "     {\"Name\": \"size\", \"Type\": \"int\", \"MemoryType\": \"Scalar\", \"FillValue\": \"n\"}]}%s}\n";

static const char reference_text[] =
    ", \"Reference\": {\"KernelFile\": \"twice.cl\", \"KernelName\": \"plain\", \"GlobalSize\": [\"n\"],"
    " \"Arguments\": [\"out\", \"in\", \"size\"]}";

/* --- a problem in a folder --- */

typedef struct bench {
  char folder[64];
  clt_device_info *devices;
  size_t n_devices;
  unsigned n_warnings;
} bench;

static void write_file(const bench *b, const char *name, const char *format, const char *rest) {
  char path[200];
  snprintf(path, sizeof path, "%s/%s", b->folder, name);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  if (rest)
    fprintf(file, format, rest);
  else
    fputs(format, file);
  assert_int_equal(fclose(file), 0);
}

static void count_warnings(void *user, clt_log_level level, const char *text) {
  if (level == CLT_LOG_WARNING) ((bench *)user)->n_warnings++;
  print_message("%s\n", text);
}

typedef struct run {
  clt_problem *problem;
  clt_instance *instance;
  const clt_evaluator_type *type;
  clt_evaluator_limits limits;
  void *state, *options;
} run;

static void load(run *r, const bench *b, const clt_device_info *device, const char *file) {
  char path[200];
  clt_error error = {0};
  memset(r, 0, sizeof *r);
  snprintf(path, sizeof path, "%s/%s", b->folder, file);
  if (clt_problem_new(&r->problem, path, &error)) fail_msg("%s: %s", error.key, error.message);
  if (clt_instance_new(&r->instance, r->problem, NULL, 0, device, &error)) fail_msg("%s", error.message);
}

static void open_run(run *r, bench *b, const clt_device_info *device, const char *file, const char *evaluator,
                     const clt_setting *settings, size_t n) {
  clt_error error = {0};
  load(r, b, device, file);
  r->type = clt_evaluator_find(evaluator);
  r->state = calloc(1, r->type->state_size);
  r->options = calloc(1, r->type->options_size);
  static const clt_check other = {{CLT_INPUTS_OTHER}};
  clt_evaluator_setup setup = {.instance = r->instance,
                               .space = clt_instance_space(r->instance),
                               .checks = &other,
                               .n_checks = 1,
                               .log = count_warnings,
                               .log_user = b};
  if (clt_options_parse(r->options, r->type->options_size, r->type->options, r->type->n_options, settings, n, &error) ||
      r->type->open(r->state, &setup, r->options, &r->limits, &error))
    fail_msg("%s", error.message);
}

static void close_run(run *r) {
  if (r->type) r->type->close(r->state);
  free(r->state);
  free(r->options);
  clt_instance_free(r->instance);
  clt_problem_free(r->problem);
}

static clt_config config_of(const run *r, int deed, int wg) {
  char text[40];
  clt_config config = CLT_CONFIG_NONE;
  snprintf(text, sizeof text, "DEED=%d wg=%d", deed, wg);
  assert_int_equal(clt_config_parse(&config, clt_instance_space(r->instance), text, NULL), 0);
  return config;
}

static void measure_all(run *r, const clt_config *configs, size_t n, clt_measurement *out) {
  size_t submitted = 0, under_way = 0;
  for (size_t received = 0; received < n; received++, under_way--) {
    clt_error error = {0};
    clt_measurement m;
    for (; submitted < n && under_way < r->limits.capacity; submitted++, under_way++)
      assert_int_equal(r->type->submit(r->state, configs[submitted], 0, NULL), 0);
    if (r->type->wait(r->state, &m, 300, &error)) fail_msg("%s", error.message);
    size_t i = 0;
    while (i < n && configs[i] != m.config) i++;
    assert_true(i < n);
    out[i] = m;
  }
}

static void show(const run *r, const clt_measurement *m) {
  char text[100];
  clt_config_print(text, sizeof text, clt_instance_space(r->instance), m->config);
  print_message("%s: %s %g s, %zu runs, build %.3f first launch %.3f verify %.3f wait %.3f %.300s\n", text,
                clt_reason_name(m->reason), m->time_s, m->n_runs, m->phases.build_s, m->phases.first_launch_s,
                m->phases.verify_s, m->phases.wait_s, m->log ? m->log : "");
}

/* --- tests --- */

#define IS(reason) (1u << (reason))
static const unsigned deeds[] = {
    IS(CLT_REASON_NONE),
    IS(CLT_REASON_RUN_CRASH) | IS(CLT_REASON_OUT_OF_BOUNDS) | IS(CLT_REASON_RUN_ERROR),
    IS(CLT_REASON_RUN_TIMEOUT),
    IS(CLT_REASON_COMPILE_TIMEOUT),
    IS(CLT_REASON_KERNEL_LIMIT) | IS(CLT_REASON_COMPILE_ERROR), /* some compilers know the limit */
    IS(CLT_REASON_COMPILE_ERROR),
    IS(CLT_REASON_WRONG_OUTPUT),
    IS(CLT_REASON_OUT_OF_BOUNDS),
    IS(CLT_REASON_NONE),
};
#define N_DEEDS (sizeof deeds / sizeof *deeds)

/* llvmpipe ends an endless loop after 65,536 turns. */
static unsigned expected_of(const clt_device_info *device, int deed) {
  bool cut = deed == 2 && strstr(device->name, "llvmpipe");
  return deeds[deed] | (cut ? IS(CLT_REASON_NONE) : 0);
}

static void check_deed(const run *r, const clt_measurement *m, unsigned expected) {
  show(r, m);
  assert_true(IS(m->reason) & expected);
  if (m->reason != CLT_REASON_NONE) {
    assert_true(isnan(m->time_s));
    return;
  }
  assert_true(m->time_s > 0 && m->n_runs >= 1 && m->max_abs_error <= 1e-3);
  assert_true(m->phases.build_s > 0 && m->phases.runs_s > 0);
}

static void every_fault_is_recorded_and_tuning_goes_on(void **state) {
  bench *b = *state;
  /* Twice, but for those that take their time. */
  static const int order[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 7, 1, 6, 5, 4, 0, 8};
  enum { N = sizeof order / sizeof *order };
  for (size_t d = 0; d < b->n_devices; d++) {
    const bool pocl = strstr(b->devices[d].platform_name, "Portable") != NULL; /* it builds in 0.3 s at most */
    const clt_setting settings[] = {
        {"compile-timeout", pocl ? "2" : "6"}, {"run-timeout", pocl ? "1" : "3"}, {"workers", "2"}};
    run r;
    clt_config configs[N];
    clt_measurement m[N];
    open_run(&r, b, &b->devices[d], "faults.json", "opencl", settings, 3);
    size_t n = 0;
    int done[N];
    for (size_t i = 0; i < N; i++) {
      if (pocl && order[i] == 2) continue; /* takes seconds, and is among tests/instruments/bad_kernels */
      done[n] = order[i];
      configs[n++] = config_of(&r, order[i], i < N_DEEDS ? 16 : 32);
    }
    measure_all(&r, configs, n, m);
    for (size_t i = 0; i < n; i++) {
      check_deed(&r, &m[i], expected_of(&b->devices[d], done[i]));
      clt_measurement_release(&m[i]);
    }
    close_run(&r);
    assert_true(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
  }
}

static void finalists_are_compared_and_verified_on_other_data(void **state) {
  bench *b = *state;
  const clt_contest_policy policy = {.min_rounds = 5, .max_rounds = 20, .max_total_s = 20, .tolerance = 0.02};
  const clt_setting settings[] = {{"workers", "2"}};
  for (size_t d = 0; d < b->n_devices; d++) {
    run r;
    clt_measurement m[4];
    clt_error error = {0};
    open_run(&r, b, &b->devices[d], "faults.json", "opencl", settings, 1);
    clt_config configs[] = {config_of(&r, 8, 16), config_of(&r, 0, 16), config_of(&r, 6, 32), config_of(&r, 0, 32)};
    if (clt_contest_run(r.type, r.state, configs, 4, &policy, m, &error)) fail_msg("%s", error.message);
    for (size_t i = 0; i < 4; i++) show(&r, &m[i]);
    assert_true(m[2].reason == CLT_REASON_WRONG_OUTPUT);
    assert_true(m[0].reason == CLT_REASON_NONE && m[1].reason == CLT_REASON_NONE && m[3].reason == CLT_REASON_NONE);
    assert_true(m[0].time_s > m[1].time_s && m[0].n_runs >= 5 && m[1].n_runs >= m[0].n_runs);
    for (size_t i = 0; i < 4; i++) clt_measurement_release(&m[i]);
    close_run(&r);
  }
}

static void one_configuration_is_verified(void **state) {
  bench *b = *state;
  run r;
  clt_measurement m;
  clt_error error = {0};
  double quality = 7;
  clt_tune_settings settings;
  clt_tune_settings_init(&settings);
  settings.log = count_warnings;
  settings.user = b;
  load(&r, b, &b->devices[0], "faults.json");
  if (clt_verify_configs(&m, &quality, r.instance, (clt_config[]){config_of(&r, 0, 16)}, 1, NULL, &settings, &error))
    fail_msg("%s", error.message);
  assert_true(m.reason == CLT_REASON_NONE && m.n_runs == 1);
  assert_true(isnan(quality)); /* the problem has none */
  clt_measurement_release(&m);
  if (clt_verify_configs(&m, NULL, r.instance, (clt_config[]){config_of(&r, 6, 16)}, 1, NULL, &settings, &error))
    fail_msg("%s", error.message);
  assert_true(m.reason == CLT_REASON_WRONG_OUTPUT);
  clt_measurement_release(&m);
  /* For a watcher it only runs: nothing is compared, and there is no reference to be missed. */
  settings.finalists = 0;
  if (clt_run_config(&m, r.instance, config_of(&r, 6, 16), &settings, 300, &error)) fail_msg("%s", error.message);
  assert_true(m.reason == CLT_REASON_NONE);
  clt_measurement_release(&m);
  close_run(&r);
}

static void without_a_reference_the_default_is_right_and_that_is_said(void **state) {
  bench *b = *state;
  const clt_setting settings[] = {{"workers", "1"}};
  run r;
  clt_measurement m[2];
  b->n_warnings = 0;
  open_run(&r, b, &b->devices[0], "bare.json", "opencl", settings, 1);
  assert_true(b->n_warnings == 1);
  clt_config configs[] = {config_of(&r, 6, 32), config_of(&r, 8, 32)};
  measure_all(&r, configs, 2, m);
  assert_true(m[0].reason == CLT_REASON_WRONG_OUTPUT && m[1].reason == CLT_REASON_NONE);
  for (size_t i = 0; i < 2; i++) clt_measurement_release(&m[i]);
  close_run(&r);
}

static void change_after(bench *b, int deed, clt_reason reason) {
  const clt_setting settings[] = {{"workers", "1"}};
  run r;
  clt_measurement m;
  clt_error error = {0};
  write_file(b, "twice.cl", "%s/* once */\n", kernel_text);
  load(&r, b, &b->devices[0], "faults.json");
  r.type = clt_evaluator_find("opencl");
  r.state = calloc(1, r.type->state_size);
  r.options = calloc(1, r.type->options_size);
  clt_options_parse(r.options, r.type->options_size, r.type->options, r.type->n_options, settings, 1, NULL);
  clt_evaluator_setup setup = {.instance = r.instance, .space = clt_instance_space(r.instance)};
  assert_int_equal(r.type->open(r.state, &setup, r.options, &r.limits, NULL), 0);
  clt_config before = config_of(&r, deed, 16);
  measure_all(&r, &before, 1, &m);
  assert_true(m.reason == reason);
  clt_measurement_release(&m);
  write_file(b, "twice.cl", kernel_text, NULL);
  assert_int_equal(r.type->submit(r.state, config_of(&r, 0, 32), 0, NULL), 0);
  assert_int_equal(r.type->wait(r.state, &m, 300, &error), CLT_E_FORMAT);
  assert_non_null(strstr(error.message, "has changed"));
  close_run(&r);
}

static void files_that_change_while_tuning_are_noticed(void **state) {
  change_after(*state, 7, CLT_REASON_OUT_OF_BOUNDS); /* a worker that is replaced reads the files again */
  change_after(*state, 0, CLT_REASON_NONE);          /* one that goes on reads the kernel for every configuration */
}

/* Last of all: from here on this process has used OpenCL. */
/* Its processes wait for the next one, whose kernel may be another. */
static void workers_serve_one_problem_after_the_other(void **state) {
  bench *b = *state;
  static const char *const files[] = {"faults.json", "bare.json", "faults.json"};
  const clt_setting settings[] = {{"workers", "2"}};
  for (size_t d = 0; d < b->n_devices; d++) {
    clt_workers_reserve(true, false);
    for (size_t i = 0; i < 3; i++) {
      run r;
      clt_measurement m[4];
      write_file(b, "twice.cl", i == 1 ? "// again\n%s" : "%s", kernel_text);
      open_run(&r, b, &b->devices[d], files[i], "opencl", settings, 1);
      clt_config configs[] = {config_of(&r, 0, 16), config_of(&r, 5, 32), config_of(&r, 8, 32), config_of(&r, 0, 32)};
      measure_all(&r, configs, 4, m);
      assert_true(m[1].reason == CLT_REASON_COMPILE_ERROR);
      for (size_t k = 0; k < 4; k++) assert_true(k == 1 || m[k].reason == CLT_REASON_NONE);
      assert_true(m[2].time_s > m[0].time_s);
      for (size_t k = 0; k < 4; k++) clt_measurement_release(&m[k]);
      close_run(&r);
      assert_int_equal(waitpid(-1, NULL, WNOHANG), 0); /* they are alive */
    }
    clt_workers_reserve(false, false);
    assert_true(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
  }
}

static void in_process_measures_the_same_way(void **state) {
  bench *b = *state;
  run r;
  clt_measurement m[3];
  const clt_setting settings[] = {{"max-run-time", "600"}}; /* of a busy machine's */
  open_run(&r, b, &b->devices[0], "faults.json", "in-process", settings, 1);
  clt_config configs[] = {config_of(&r, 0, 16), config_of(&r, 6, 16), config_of(&r, 5, 16)};
  measure_all(&r, configs, 3, m);
  assert_true(m[0].reason == CLT_REASON_NONE && m[0].n_runs >= 3 && m[0].time_s > 0);
  assert_true(m[1].reason == CLT_REASON_WRONG_OUTPUT && m[2].reason == CLT_REASON_COMPILE_ERROR);
  for (size_t i = 0; i < 3; i++) clt_measurement_release(&m[i]);
  const clt_contest_policy policy = {.min_rounds = 2, .max_rounds = 2};
  if (clt_contest_run(r.type, r.state, configs, 3, &policy, m, NULL)) fail_msg("no contest");
  assert_true(m[0].reason == CLT_REASON_NONE && m[0].n_runs >= 2 && m[0].time_s > 0);
  assert_true(m[1].reason == CLT_REASON_WRONG_OUTPUT && m[2].reason == CLT_REASON_COMPILE_ERROR);
  for (size_t i = 0; i < 3; i++) clt_measurement_release(&m[i]);
  close_run(&r);
}

int main(void) {
  bench b = {.folder = "/tmp/test-eval-XXXXXX"};
  clt_error error = {0};
  if (mkdtemp(b.folder) == NULL) return 1;
  setenv("TMPDIR", b.folder, 1);
  if (clt_devices(&b.devices, &b.n_devices, &error)) {
    fprintf(stderr, "%s\n", error.message);
    clt_remove_tree(b.folder, 0);
    return 1;
  }
  if (b.n_devices == 0) {
    clt_remove_tree(b.folder, 0);
    return SKIPPED;
  }
  write_file(&b, "twice.cl", kernel_text, NULL);
  write_file(&b, "bomb.h", bomb_text, NULL);
  write_file(&b, "faults.json", problem_text, reference_text);
  write_file(&b, "bare.json", problem_text, "");
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_prestate(every_fault_is_recorded_and_tuning_goes_on, &b),
      cmocka_unit_test_prestate(finalists_are_compared_and_verified_on_other_data, &b),
      cmocka_unit_test_prestate(one_configuration_is_verified, &b),
      cmocka_unit_test_prestate(without_a_reference_the_default_is_right_and_that_is_said, &b),
      cmocka_unit_test_prestate(files_that_change_while_tuning_are_noticed, &b),
      cmocka_unit_test_prestate(workers_serve_one_problem_after_the_other, &b),
      cmocka_unit_test_prestate(in_process_measures_the_same_way, &b),
  };
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  free(b.devices);
  clt_remove_tree(b.folder, 0);
  return failed;
}
