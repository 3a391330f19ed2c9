/* The store's key: what changes it and what must not; modules are compiled once. */
#include "scratch.h"

#include <dirent.h>
#include <sys/stat.h>

#include "problem/data.h"

static const char text[] =
    "{\"ProblemParameters\": [{\"Name\": \"n\", \"Default\": 6}],"
    "\"ConfigurationSpace\": {\"TuningParameters\": [{\"Name\": \"a\", \"Values\": [1, 2]}], \"Conditions\": []},"
    "\"KernelSpecification\": {\"KernelName\": \"k\", \"KernelFile\": \"k.cl\", \"IncludePaths\": [\"inc\"],"
    " \"CompilerOptions\": [\"-DX=1\"], \"GlobalSize\": \"n\", \"Arguments\": ["
    " {\"Name\": \"in\", \"Type\": \"int\", \"MemoryType\": \"Vector\", \"AccessType\": \"ReadOnly\", \"FillType\": "
    "\"BinaryRaw\","
    "  \"DataSource\": \"in.raw\", \"Size\": 1},"
    " {\"Name\": \"out\", \"Type\": \"int\", \"MemoryType\": \"Vector\", \"AccessType\": \"WriteOnly\", \"Size\": 1}]},"
    "\"Reference\": {\"Module\": \"m.c\", \"Function\": \"f\"}}";

static void write_all(void) {
  mkdir(scratch_path("inc"), 0700);
  scratch_write("k.cl", "#include \"near.h\"\n  # include \"far.h\"\n#include <system.h>\nkernel void k() {}\n");
  scratch_write("near.h", "#include \"near.h\"\n#define A 1\n");
  scratch_write("inc/far.h", "#include \"deep.h\"\n");
  scratch_write("inc/deep.h", "#define B 1\n");
  scratch_write("in.raw", "abcd");
  scratch_write("m.c", "#include <clatune/module.h>\nint f(const clt_module_call *c) { return (int)c->seed * 0; }\n");
}

/* The key of the problem with `from` replaced by `to`. */
static void key_of(char out[33], const char *from, const char *to, const clt_size *size) {
  char json[3000];
  clt_error error = {0};
  const char *at = strstr(text, from);
  assert_non_null(at);
  snprintf(json, sizeof json, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
  clt_problem *problem = scratch_problem(json);
  clt_instance *instance = scratch_instance(problem, size, size != NULL, NULL);
  if (clt_instance_key(out, instance, &error) != CLT_OK) fail_msg("%s", error.message);
  clt_instance_free(instance);
  clt_problem_free(problem);
}

static void expect_same(const char *from, const char *to) {
  char before[33], after[33];
  write_all();
  key_of(before, "n", "n", NULL);
  key_of(after, from, to, NULL);
  assert_string_equal(before, after);
}

static void expect_change(const char *from, const char *to, const clt_size *size) {
  char before[33], after[33];
  write_all();
  key_of(before, "n", "n", NULL);
  key_of(after, from, to, size);
  if (strcmp(before, after) == 0) fail_msg("the key does not notice '%s'", to);
}

static void expect_change_of_file(const char *name, const char *content) {
  char before[33], after[33];
  write_all();
  key_of(before, "n", "n", NULL);
  scratch_write(name, content);
  key_of(after, "n", "n", NULL);
  if (strcmp(before, after) == 0) fail_msg("the key does not notice a change of %s", name);
}

static void parameters_values_and_conditions_are_no_part_of_it(void **state) {
  (void)state;
  expect_same("[1, 2]", "[1, 2, 4]");
  expect_same("\"Values\": [1, 2]}", "\"Values\": [1, 2]}, {\"Name\": \"b\", \"Values\": [0, 1]}");
  expect_same("\"Conditions\": []", "\"Conditions\": [{\"Expression\": \"a < 2\"}]");
  expect_same("\"Name\": \"a\", ", "\"Name\": \"a\", \"Default\": 2, ");
  expect_same("\"GlobalSize\": \"n\"",
              "\"GlobalSize\": \"n\", \"Resources\": {\"Work\": \"a\"}, \"Desirability\": \"1 + a\"");
  expect_same("\"Function\": \"f\"",
              "\"Function\": \"f\", \"Quality\": {\"Module\": \"q.c\", \"Function\": \"q\", \"Name\": \"error\"}");
  expect_same("{\"ProblemParameters\"",
              "{\"Budget\": [], \"General\": {\"BenchmarkName\": \"x\"}, \"ProblemParameters\"");
}

static void what_is_measured_is_part_of_it(void **state) {
  (void)state;
  const clt_size other = {"n", 7};
  expect_change("n", "n", &other);
  expect_change("\"KernelName\": \"k\"", "\"KernelName\": \"k2\"", NULL);
  expect_change("-DX=1", "-DX=2", NULL);
  expect_change("\"GlobalSize\": \"n\"", "\"GlobalSize\": \"2 * n\"", NULL);
  expect_change("\"WriteOnly\"", "\"WriteOnly\", \"FillValue\": 0", NULL);
  expect_change("\"Function\": \"f\"", "\"Function\": \"g\"", NULL);
}

static void the_files_behind_it_are_part_of_it(void **state) {
  (void)state;
  expect_change_of_file("k.cl", "kernel void k() { }\n");
  expect_change_of_file("near.h", "#define A 2\n");
  expect_change_of_file("inc/deep.h", "#define B 2\n");
  expect_change_of_file("in.raw", "abce");
  expect_change_of_file("m.c", "int f(void) { return 1; }\n");
}

static void a_missing_kernel_is_an_error(void **state) {
  (void)state;
  char key[33] = "untouched";
  clt_error error = {0};
  write_all();
  unlink(scratch_path("k.cl"));
  clt_problem *problem = scratch_problem(text);
  clt_instance *instance = scratch_instance(problem, NULL, 0, NULL);
  assert_int_equal(clt_instance_key(key, instance, &error), CLT_E_IO);
  assert_string_equal(key, "untouched");
  clt_instance_free(instance);
  clt_problem_free(problem);
}

static size_t count_modules(void) {
  size_t n = 0;
  DIR *folder = opendir(scratch_path("clatune/modules"));
  assert_non_null(folder);
  for (struct dirent *entry; (entry = readdir(folder)) != NULL;) n += entry->d_name[0] != '.';
  closedir(folder);
  return n;
}

static void generate(void) {
  clt_data *data = NULL;
  clt_error error = {0};
  clt_problem *problem = scratch_problem(text);
  clt_instance *instance = scratch_instance(problem, NULL, 0, NULL);
  if (clt_data_new(&data, instance, 1, &error) != CLT_OK) fail_msg("%s", error.message);
  clt_data_free(data);
  clt_instance_free(instance);
  clt_problem_free(problem);
}

static void a_module_is_compiled_once_until_it_changes(void **state) {
  (void)state;
  write_all();
  generate();
  assert_int_equal(count_modules(), 1);
  setenv("CC", "cc", 1); /* the same compiler: nothing is compiled */
  generate();
  assert_int_equal(count_modules(), 1);
  scratch_write("m.c", "#include <clatune/module.h>\nint f(const clt_module_call *c) { return c->target != 0; }\n");
  generate();
  assert_int_equal(count_modules(), 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(parameters_values_and_conditions_are_no_part_of_it),
      cmocka_unit_test(what_is_measured_is_part_of_it),
      cmocka_unit_test(the_files_behind_it_are_part_of_it),
      cmocka_unit_test(a_missing_kernel_is_an_error),
      cmocka_unit_test(a_module_is_compiled_once_until_it_changes),
  };
  return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
