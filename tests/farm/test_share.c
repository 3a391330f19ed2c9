/* Plans that machines share: the same tunings elsewhere, and nothing that only who wrote them may ask for. */
#include "../problem/scratch.h"

#include "farm/plan.h"

#define PROBLEM(more)                                                                                              \
  "{\"General\": {\"BenchmarkName\": \"bank\"}, \"ProblemParameters\": [{\"Name\": \"R\", \"Default\": 64}],\n"     \
  "\"ConfigurationSpace\": {\"TuningParameters\": [{\"Name\": \"wg\", \"Type\": \"int\", \"Values\": \"[1, 2, 4]\"}]},\n" \
  "\"KernelSpecification\": {\"KernelName\": \"f\", \"KernelFile\": \"f.cl\", \"GlobalSize\": [\"R\"], \"LocalSize\": [\"wg\"],\n" \
  " \"Arguments\": [{\"Name\": \"a\", \"Type\": \"float\", \"MemoryType\": \"Vector\", \"AccessType\": \"WriteOnly\"," \
  " \"Size\": \"R\"}]}" more "}\n"
#define PLAN(more) "{\"Problems\": [\"bank.json\", {\"Problem\": \"bank.json\", \"Sizes\": [{\"R\": 8}]}]" more "}"

static const char *folder;

static int setup(void **state) {
  if (scratch_setup(state)) return -1;
  scratch_write("bank.json", PROBLEM(""));
  scratch_write("with_module.json", PROBLEM(", \"Reference\": {\"Module\": \"m.c\", \"Function\": \"f\"}"));
  scratch_write("m.c", "int f(void) { return 0; }\n");
  scratch_write("f.cl", "kernel void f(global float *a) { a[get_global_id(0)] = 0; }\n");
  scratch_write("list.json", "[{\"wg\": 2}, {\"wg\": 4}]");
  folder = scratch;
  return 0;
}

static char *share(const char *json) {
  clt_sweep *sweep = NULL;
  clt_error error = {0};
  char *text = NULL;
  scratch_write("plan.json", json);
  if (clt_sweep_load(&sweep, scratch_path("plan.json"), &error) || clt_sweep_share(&text, sweep, &error))
    fail_msg("%s", error.message);
  clt_sweep_free(sweep);
  return text;
}

static clt_sweep *load_shared(const char *text, bool programs, int code, const char *message) {
  const clt_sweep_trust trust = {&folder, 1, programs};
  clt_sweep *sweep = NULL;
  clt_error error = {0};
  int rc = clt_sweep_load_shared(&sweep, text, "plan 1", &trust, &error);
  if (rc != code || strstr(error.message, message) == NULL) fail_msg("%s gives %d: %s", text, rc, error.message);
  return sweep;
}

static void expect_refused(const char *text, int code, const char *message) {
  assert_null(load_shared(text, false, code, message));
}

static void a_plan_means_the_same_elsewhere(void **state) {
  (void)state;
  char *text = share(PLAN(", \"Searchers\": [\"random\", {\"Name\": \"two\", \"Configurations\": \"list.json\"}], \"Seeds\": [1, 2]"));
  assert_null(strstr(text, scratch));
  clt_sweep *sweep = load_shared(text, false, CLT_OK, "");
  char last[200], *again = NULL;
  assert_int_equal(sweep->n_cells, 2 * (2 + 1));
  clt_sweep_cell_print(&sweep->cells[5], last, sizeof last);
  assert_string_equal(last, "bank R=8 two");
  assert_int_equal(json_array_size(sweep->cells[5].by->configurations), 2);
  assert_int_equal(clt_sweep_share(&again, sweep, NULL), CLT_OK);
  assert_string_equal(again, text);
  clt_sweep_free(sweep);
  free(again);
  free(text);
}

static void a_problem_that_has_changed_is_another_one(void **state) {
  (void)state;
  char *text = share(PLAN(""));
  scratch_write("f.cl", "kernel void f(global float *a) { a[get_global_id(0)] = 1; }\n");
  expect_refused(text, CLT_E_NOT_FOUND, "there is another 'bank.json'");
  scratch_write("f.cl", "kernel void f(global float *a) { a[get_global_id(0)] = 0; }\n");
  clt_sweep_free(load_shared(text, false, CLT_OK, ""));
  char *name = strstr(text, "bank.json");
  memcpy(name, "cash.json", 9);
  expect_refused(text, CLT_E_NOT_FOUND, "there is no 'cash.json'");
  free(text);
}

static void another_version_may_read_other_cells(void **state) {
  (void)state;
  char *text = share(PLAN("")), *cells = strstr(text, "\"#cells\":\"2 ");
  assert_non_null(cells);
  cells[10] = '7';
  expect_refused(text, CLT_E_UNSUPPORTED, "would run different tunings");
  memcpy(cells, "\"#other", 7); /* of a version that did not say so */
  clt_sweep_free(load_shared(text, false, CLT_OK, ""));
  free(text);
}

static void rows_name_no_files(void **state) {
  (void)state;
  char *text = share(PLAN("")), json[400], name[80] = "";
  snprintf(name, sizeof name, "%.42s", strstr(text, "bank.json")); /* with its hash */
  const char *const names[] = {"bank.json", "../bank.json", "/etc/passwd", "bank.json#", "#", "bank.json#0123",
                               ".#0123456789abcdef0123456789abcdef", "x/bank.json#0123456789abcdef0123456789abcdef"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    snprintf(json, sizeof json, "{\"Problems\": \"%s\"}", names[i]);
    expect_refused(json, CLT_E_FORMAT, "needs the name of a problem file and its hash");
  }
  snprintf(json, sizeof json, "{\"Problems\": \"%s\", \"Searchers\": [{\"Configurations\": \"list.json\"}]}", name);
  expect_refused(json, CLT_E_UNSUPPORTED, "names a file");
  snprintf(json, sizeof json, "{\"Problems\": \"%s\", \"Evaluator\": \"in-process\"}", name);
  expect_refused(json, CLT_E_UNSUPPORTED, "only have the evaluator \"opencl\"");
  snprintf(json, sizeof json, "{\"Problems\": \"%s\", \"Evaluator\": \"command\"}", name);
  expect_refused(json, CLT_E_UNSUPPORTED, "only have the evaluator \"opencl\"");
  expect_refused("", CLT_E_FORMAT, "");
  expect_refused("[]", CLT_E_FORMAT, "needs an object");
  expect_refused("{\"Problems\": 3}", CLT_E_FORMAT, "");
  free(text);
}

static void modules_need_to_be_allowed(void **state) {
  (void)state;
  char *text = share("{\"Problems\": \"with_module.json\"}");
  expect_refused(text, CLT_E_UNSUPPORTED, "--allow-programs");
  clt_sweep_free(load_shared(text, true, CLT_OK, ""));
  free(text);
}

static void a_plan_may_freeze_what_it_learns_from(void **state) {
  (void)state;
  char *text = share(PLAN(", \"Tuning\": {\"Transfer\": \"2026-11-23T10:00:00Z\"}"));
  clt_sweep *sweep = load_shared(text, false, CLT_OK, "");
  assert_false(sweep->tuning.no_transfer);
  assert_int_equal(sweep->tuning.learn_before_s, 1795428000);
  clt_sweep_free(sweep);
  free(text);
  text = share(PLAN(", \"Tuning\": {\"Transfer\": \"submission\"}"));
  sweep = load_shared(text, false, CLT_OK, "");
  assert_true(sweep->learns_before_submission && !sweep->tuning.no_transfer);
  clt_sweep_free(sweep);
  free(text);
  const char *const wrong[] = {"2026-11-23", "2026-02-30T10:00:00Z", "2026-11-23T10:00:00Z ", "yes", ""};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    char json[200];
    clt_error error = {0};
    snprintf(json, sizeof json, PLAN(", \"Tuning\": {\"Transfer\": \"%s\"}"), wrong[i]);
    scratch_write("plan.json", json);
    assert_int_equal(clt_sweep_load(&sweep, scratch_path("plan.json"), &error), CLT_E_FORMAT);
    assert_non_null(strstr(error.message, "\"submission\""));
  }
}

static void devices_are_chosen_by_any_of_the_texts(void **state) {
  (void)state;
  clt_sweep *sweep = NULL;
  const clt_device_info gpu = {.name = "Board 9", .platform_name = "P", .type = CLT_DEVICE_GPU},
                        cpu = {.name = "Cores", .platform_name = "P", .type = CLT_DEVICE_CPU};
  scratch_write("plan.json", PLAN(", \"Devices\": [\"board\", \"accelerator\"]"));
  assert_int_equal(clt_sweep_load(&sweep, scratch_path("plan.json"), NULL), CLT_OK);
  assert_true(clt_sweep_fits(sweep, &gpu));
  assert_false(clt_sweep_fits(sweep, &cpu));
  clt_sweep_free(sweep);
  scratch_write("plan.json", PLAN(""));
  assert_int_equal(clt_sweep_load(&sweep, scratch_path("plan.json"), NULL), CLT_OK);
  assert_true(clt_sweep_fits(sweep, &cpu));
  clt_sweep_free(sweep);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_plan_means_the_same_elsewhere),
      cmocka_unit_test(a_problem_that_has_changed_is_another_one),
      cmocka_unit_test(another_version_may_read_other_cells),
      cmocka_unit_test(rows_name_no_files),
      cmocka_unit_test(modules_need_to_be_allowed),
      cmocka_unit_test(a_plan_may_freeze_what_it_learns_from),
      cmocka_unit_test(devices_are_chosen_by_any_of_the_texts),
  };
  return cmocka_run_group_tests_name("shared plans", tests, setup, scratch_teardown);
}
