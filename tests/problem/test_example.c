/* The example examples/row is as docs/reference/problem-file.md describes it. */
#include "scratch.h"

#include "base/file.h"
#include "problem/plan.h"

static const char *folder;

static char *example(const char *name) {
  char path[4096], *text = NULL;
  snprintf(path, sizeof path, "%s/%s", folder, name);
  assert_int_equal(clt_file_read(&text, NULL, path, 1 << 20, NULL), CLT_OK);
  return text;
}

static void the_counts_of_the_example_are_right(void **state) {
  (void)state;
  clt_device_info device = {.max_work_group_size = 256, .local_memory_bytes = 2048, .images = true};
  char *json = example("row.json");
  clt_problem *problem = scratch_problem(json);
  clt_instance *instance = scratch_instance(problem, NULL, 0, NULL);
  assert_int_equal(clt_space_cartesian(clt_instance_space(instance)), 56);
  assert_int_equal(clt_space_valid(clt_instance_space(instance)), 44);
  clt_instance_free(instance);
  instance = scratch_instance(problem, NULL, 0, &device);
  assert_int_equal(clt_space_valid(clt_instance_space(instance)), 33);
  clt_instance_free(instance);
  clt_problem_free(problem);
  free(json);
}

static void the_example_can_be_planned(void **state) {
  (void)state;
  clt_plan *plan = NULL;
  clt_device_info device = {.type = CLT_DEVICE_GPU};
  char *json = example("row.json"), *kernel = example("row.cl");
  scratch_write("row.cl", kernel);
  clt_problem *problem = scratch_problem(json);
  clt_instance *instance = scratch_instance(problem, NULL, 0, &device);
  assert_int_equal(clt_plan_new(&plan, instance, scratch_config(instance, "wg=64 ppt=2 use_local=1"), NULL), 0);
  assert_string_equal(plan->source, kernel);
  assert_string_equal(plan->options,
                      "-Dwg=64 -Dppt=2 -Duse_local=1 -Dwidth=1024 -Dheight=512 -cl-mad-enable "
                      "-cl-fast-relaxed-math");
  assert_int_equal(plan->launches[0].global[0], 512);
  assert_int_equal(plan->args[2].bytes, 130 * 4);
  clt_plan_free(plan);
  assert_int_equal(clt_plan_new_reference(&plan, instance, NULL), 0);
  assert_int_equal(plan->n_args, 2);
  clt_plan_free(plan);
  clt_instance_free(instance);
  clt_problem_free(problem);
  free(kernel);
  free(json);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_counts_of_the_example_are_right),
      cmocka_unit_test(the_example_can_be_planned),
  };
  if (argc != 2) return 1;
  folder = argv[1];
  return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
