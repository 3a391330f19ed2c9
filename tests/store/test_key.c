/* The key of an instance: its problem, its device, its driver. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "clatune/store.h"
#include "store_support.h"

static char *folder;

static int make_problem(void **state) {
  folder = make_folder();
  *state = make_add_problem(folder);
  return 0;
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
  write_text(folder, "add.cl", "__kernel void add(__global float *c, int n) { c[get_global_id(0)] = 2; }\n");
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
