/* Kernel text, with the folder's name not to be had: linked with --wrap=clt_path_folder. */
#include "scratch.h"

#include "base/file.h"
#include "problem/plan.h"

static bool without_folder;

char *__real_clt_path_folder(const char *path);
char *__wrap_clt_path_folder(const char *path);
char *__wrap_clt_path_folder(const char *path) { return without_folder ? NULL : __real_clt_path_folder(path); }

static void a_text_without_a_folder_is_freed_once(void **state) {
  (void)state;
  clt_plan *plan = NULL;
  clt_error error = {0};
  scratch_write("k.cl", "kernel void k() {}\n");
  clt_problem *problem = scratch_problem(
      "{\"ConfigurationSpace\": {\"TuningParameters\": [{\"Name\": \"a\", \"Values\": [1]}]},"
      "\"KernelSpecification\": {\"KernelName\": \"k\", \"KernelFile\": \"k.cl\", \"GlobalSize\": 1}}");
  clt_instance *instance = scratch_instance(problem, NULL, 0, NULL);
  without_folder = true;
  assert_int_equal(clt_plan_new(&plan, instance, 0, &error), CLT_E_MEMORY);
  without_folder = false;
  assert_null(plan);
  assert_int_equal(clt_plan_new(&plan, instance, 0, NULL), CLT_OK);
  clt_plan_free(plan);
  clt_instance_free(instance);
  clt_problem_free(problem);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_text_without_a_folder_is_freed_once)};
  return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
