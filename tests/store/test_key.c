/* The key of an instance: what is measured, where, by which driver. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "clatune/store.h"
#include "store_support.h"

static char *folder;

static void write_file(const char *name, const char *text) {
  char path[600];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
}

static int make_problem(void **state) {
  char path[600];
  clt_error error = {0};
  folder = make_folder();
  write_file("add.cl",
             "__kernel void add(__global float *c, int n) { if (get_global_id(0) < n) c[get_global_id(0)] = 1; }\n");
  write_file("add.json",
             "{\"General\": {\"BenchmarkName\": \"add\"}, \"ProblemParameters\": [{\"Name\": \"n\", \"Default\": 64}],"
             " \"ConfigurationSpace\": {\"TuningParameters\": [{\"Name\": \"block\", \"Type\": \"int\", \"Values\": "
             "[8, 16]}]},"
             " \"KernelSpecification\": {\"Language\": \"OpenCL\", \"KernelFile\": \"add.cl\", \"KernelName\": \"add\","
             " \"GlobalSize\": {\"X\": \"n\"}, \"LocalSize\": {\"X\": \"block\"}, \"Arguments\": ["
             "{\"Name\": \"c\", \"Type\": \"float\", \"MemoryType\": \"Vector\", \"AccessType\": \"WriteOnly\", "
             "\"Size\": \"n\"},"
             "{\"Name\": \"n\", \"Type\": \"int\", \"MemoryType\": \"Scalar\", \"FillValue\": \"n\"}]}}");
  snprintf(path, sizeof path, "%s/add.json", folder);
  int rc = clt_problem_load((clt_problem **)state, path, &error);
  if (rc) print_error("%s\n", error.message);
  return rc;
}

static int remove_problem(void **state) {
  clt_problem_free(*state);
  remove_folder(folder);
  return 0;
}

static clt_store_key key_of(const clt_problem *problem, const clt_device_info *device, int64_t n) {
  clt_instance *instance = NULL;
  clt_error error = {0};
  clt_store_key key;
  const clt_size size = {"n", n};
  if (clt_instance_new(&instance, problem, &size, 1, device, &error)) fail_msg("%s", error.message);
  if (clt_store_key_init(&key, instance, &error)) fail_msg("%s", error.message);
  clt_instance_free(instance);
  return key;
}

static clt_device_info make_device(void) {
  clt_device_info device;
  memset(&device, 0, sizeof device);
  strcpy(device.platform_name, "Portable Computing Language");
  strcpy(device.name, "pthread-generic");
  strcpy(device.driver_version, "3.1+debian");
  device.compute_units = 2;
  device.max_work_group_size = 4096;
  device.max_work_item_sizes[0] = device.max_work_item_sizes[1] = device.max_work_item_sizes[2] = 4096;
  device.local_memory_bytes = 1 << 18;
  device.global_memory_bytes = device.max_allocation_bytes = (uint64_t)1 << 30;
  return device;
}

static void a_key_names_problem_device_and_driver(void **state) {
  clt_device_info device = make_device();
  clt_store_key key = key_of(*state, &device, 64), again = key_of(*state, &device, 64);
  assert_memory_equal(&key, &again, sizeof key);
  assert_int_equal(strlen(key.problem), 32);
  assert_non_null(strstr(key.device, "pthread-generic"));
  assert_string_equal(key.driver, "3.1+debian");
}

static void sizes_kernel_device_and_driver_each_make_another_key(void **state) {
  clt_device_info device = make_device();
  clt_store_key key = key_of(*state, &device, 64), other = key_of(*state, &device, 128);
  assert_string_not_equal(key.problem, other.problem);
  strcpy(device.driver_version, "5.0");
  other = key_of(*state, &device, 64);
  assert_string_equal(key.problem, other.problem);
  assert_string_equal(key.device, other.device);
  assert_string_equal(other.driver, "5.0");
  device.compute_units = 4;
  other = key_of(*state, &device, 64);
  assert_string_not_equal(key.device, other.device);
  write_file("add.cl", "__kernel void add(__global float *c, int n) { c[get_global_id(0)] = 2; }\n");
  other = key_of(*state, &device, 64);
  assert_string_not_equal(key.problem, other.problem);
}

static void without_a_device_there_is_no_key(void **state) {
  clt_instance *instance = NULL;
  clt_store_key key;
  clt_error error = {0};
  assert_int_equal(clt_instance_new(&instance, *state, NULL, 0, NULL, NULL), 0);
  assert_int_equal(clt_store_key_init(&key, instance, &error), CLT_E_ARGUMENT);
  assert_non_null(strstr(error.message, "device"));
  clt_instance_free(instance);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(a_key_names_problem_device_and_driver, make_problem, remove_problem),
      cmocka_unit_test_setup_teardown(sizes_kernel_device_and_driver_each_make_another_key, make_problem,
                                      remove_problem),
      cmocka_unit_test_setup_teardown(without_a_device_there_is_no_key, make_problem, remove_problem),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
