/* Devices as plain data: identity, selection, properties, and their JSON form. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <clatune/device.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "device/device.h"

static clt_device_info device(int p, int d, const char *platform, const char *suffix, const char *name,
                              const char *vendor, clt_device_type type) {
  clt_device_info info = {.platform_index = p, .device_index = d, .type = type, .compute_units = 8};
  snprintf(info.platform_name, sizeof info.platform_name, "%s", platform);
  snprintf(info.icd_suffix, sizeof info.icd_suffix, "%s", suffix);
  snprintf(info.name, sizeof info.name, "%s", name);
  snprintf(info.vendor, sizeof info.vendor, "%s", vendor);
  return info;
}

static clt_device_info machine[4];

static int make_machine(void **state) {
  (void)state;
  machine[0] = device(0, 0, "Portable Computing Language", "POCL", "pthread-Xeon", "GenuineIntel", CLT_DEVICE_CPU);
  machine[1] = device(1, 0, "Intel(R) OpenCL", "INTEL", "Intel(R) Xeon(R)", "Intel(R) Corporation", CLT_DEVICE_CPU);
  machine[2] = device(2, 0, "NVIDIA CUDA", "NV", "NVIDIA A100", "NVIDIA Corporation", CLT_DEVICE_GPU);
  machine[3] = device(2, 1, "NVIDIA CUDA", "NV", "NVIDIA T4", "NVIDIA Corporation", CLT_DEVICE_GPU);
  strcpy(machine[2].uuid, "00112233445566778899aabbccddeeff");
  strcpy(machine[3].pci_address, "0000:3B:00.0");
  return 0;
}

static void expect(const char *text, size_t wanted) {
  size_t index = 99;
  clt_error error = {0};
  if (clt_device_select(&index, machine, 4, text, &error)) fail_msg("'%s': %s", text, error.message);
  assert_int_equal(index, wanted);
}

static void a_device_is_found_by_place_uuid_suffix_and_names(void **state) {
  (void)state;
  expect("2:1", 3);
  expect("00112233-4455-6677-8899-AABBCCDDEEFF", 2);
  expect("GPU-00112233", 2);
  expect("pocl", 0);
  expect("portable", 0);
  expect("a100", 2);
  expect("t4", 3);
}

static void the_first_level_that_matches_decides(void **state) {
  (void)state;
  size_t index = 99;
  const clt_device_info larger[] = {device(0, 0, "T4", "", "NVIDIA T40", "", CLT_DEVICE_GPU), machine[3]};
  expect("intel", 1); /* an ICD suffix, though the vendor of device 0 has it too */
  assert_int_equal(clt_device_select(&index, larger, 2, "nvidia t4", NULL), 0);
  assert_int_equal(index, 1);
}

static void a_type_chooses_the_only_device_of_it(void **state) {
  (void)state;
  const clt_device_info few[] = {machine[3], machine[0],
                                 device(3, 0, "FPGA CPU SDK", "", "Board", "GPU Works", CLT_DEVICE_ACCELERATOR),
                                 device(4, 0, "Odd", "", "Thing", "", CLT_DEVICE_OTHER)};
  static const char *const types[] = {"gpu", "CPU", "accelerator"};
  size_t index = 99;
  clt_error error = {0};
  for (size_t i = 0; i < 3; i++) {
    assert_int_equal(clt_device_select(&index, few, 4, types[i], &error), 0);
    assert_int_equal(index, i); /* whatever the names of platforms and vendors */
  }
  assert_int_equal(clt_device_select(&index, few, 4, "other", NULL), CLT_E_DEVICE);
  assert_int_equal(clt_device_select(&index, few + 2, 1, "cpu", NULL), 0); /* no such type: a name */
  assert_int_equal(clt_device_select(&index, machine, 4, "cpu", &error), CLT_E_AMBIGUOUS);
  assert_non_null(strstr(error.message, "0:0 pthread-Xeon (Portable Computing Language), 1:0 Intel(R) Xeon(R)"));
  assert_null(strstr(error.message, "NVIDIA"));
}

static void expect_all(const char *text, bool kinds, size_t n, size_t first, size_t last) {
  size_t found[4] = {99, 99, 99, 99}, n_found = 99;
  clt_error error = {0};
  if (clt_device_select_all(found, &n_found, machine, 4, text, kinds, &error)) fail_msg("'%s': %s", text, error.message);
  assert_int_equal(n_found, n);
  assert_int_equal(found[0], first);
  assert_int_equal(found[n - 1], last);
}

static void a_text_may_stand_for_several(void **state) {
  (void)state;
  size_t found[4], n;
  clt_error error = {0};
  expect_all("ALL", false, 4, 0, 3);
  expect_all("gpu:all", false, 2, 2, 3);
  expect_all("GPU:all", true, 2, 2, 3);
  expect_all("gpu", true, 2, 2, 3);
  expect_all("2:1,0:0", false, 2, 3, 0); /* in this order */
  expect_all("0:0, t4,0:0,gpu:all", false, 3, 0, 2);
  expect_all("1:0,cpu", true, 2, 1, 0);
  expect_all("a100", false, 1, 2, 2);
  clt_device_info odd = machine[3];
  strcpy(odd.vendor, "Devices, Inc."); /* which is no list */
  assert_int_equal(clt_device_select_all(found, &n, &odd, 1, "devices, inc.", false, NULL), 0);
  assert_int_equal(n, 1);
  assert_int_equal(clt_device_select_all(found, &n, machine, 4, "gpu", false, NULL), CLT_E_AMBIGUOUS);
  assert_int_equal(clt_device_select_all(found, &n, machine, 4, "2:0,nv", false, NULL), CLT_E_AMBIGUOUS);
  assert_int_equal(clt_device_select_all(found, &n, machine, 4, "2:0,7:7", false, &error), CLT_E_DEVICE);
  assert_non_null(strstr(error.message, "no device matches '7:7'"));
  error = (clt_error){0};
  assert_int_equal(clt_device_select_all(found, &n, machine, 4, "accelerator:all", false, &error), CLT_E_DEVICE);
  assert_non_null(strstr(error.message, "no device matches 'accelerator:all'"));
  assert_int_equal(clt_device_select_all(found, &n, machine, 4, "gpu:1", true, NULL), CLT_E_DEVICE);
  assert_int_equal(clt_device_select_all(found, &n, machine, 0, "all", true, NULL), CLT_E_DEVICE);
  assert_int_equal(clt_device_select_all(found, &n, machine, 1, NULL, false, NULL), 0);
  assert_int_equal(n, 1);
}

static void ambiguity_lists_the_candidates(void **state) {
  (void)state;
  size_t index = 99;
  clt_error error = {0};
  assert_int_equal(clt_device_select(&index, machine, 4, "nv", &error), CLT_E_AMBIGUOUS);
  assert_non_null(strstr(error.message, "2:0 NVIDIA A100 (NVIDIA CUDA), 2:1 NVIDIA T4 (NVIDIA CUDA)"));
  assert_null(strstr(error.message, "Xeon"));
  error.code = 0;
  assert_int_equal(clt_device_select(&index, machine, 4, NULL, &error), CLT_E_AMBIGUOUS);
  assert_non_null(strstr(error.message, "0:0 pthread-Xeon"));
  assert_int_equal(index, 99);
  assert_int_equal(clt_device_select(&index, machine, 1, "", NULL), 0);
  assert_int_equal(index, 0);
}

static void a_missing_device_lists_what_there_is(void **state) {
  (void)state;
  size_t index = 99;
  static const char *const missing[] = {"3:0", "2:10", "gtx", "0011223", "deadbeefdeadbeef"};
  for (size_t i = 0; i < 5; i++) {
    clt_error error = {0};
    assert_int_equal(clt_device_select(&index, machine, 4, missing[i], &error), CLT_E_DEVICE);
    assert_non_null(strstr(error.message, "1:0 Intel(R) Xeon(R) (Intel(R) OpenCL)"));
  }
  assert_int_equal(clt_device_select(&index, machine, 0, "", NULL), CLT_E_DEVICE);
  assert_int_equal(index, 99);
}

static void long_lists_of_candidates_are_cut(void **state) {
  (void)state;
  clt_device_info *many = calloc(64, sizeof *many);
  for (int i = 0; i < 64; i++) many[i] = machine[2], many[i].device_index = i;
  size_t index;
  clt_error error = {0};
  assert_int_equal(clt_device_select(&index, many, 64, "nv", &error), CLT_E_AMBIGUOUS);
  assert_true(strlen(error.message) < sizeof error.message);
  free(many);
}

static void keys_name_the_device_and_the_hardware(void **state) {
  (void)state;
  char key[200];
  int length = clt_device_key(key, sizeof key, &machine[0]);
  assert_int_equal(length, strlen(key));
  assert_string_equal(key, "Portable Computing Language|pthread-Xeon|8");
  assert_int_equal(clt_device_lock_key(&machine[0], key, sizeof key), 3);
  assert_string_equal(key, "cpu");
  clt_device_lock_key(&machine[1], key, sizeof key);
  assert_string_equal(key, "cpu");
  clt_device_lock_key(&machine[2], key, sizeof key);
  assert_string_equal(key, "gpu-00112233445566778899aabbccddeeff");
  clt_device_lock_key(&machine[3], key, sizeof key);
  assert_string_equal(key, "gpu-0000-3b-00-0");
  clt_device_info nameless = machine[3];
  nameless.pci_address[0] = 0;
  strcpy(nameless.uuid, "00000000000000000000000000000000");
  clt_device_lock_key(&nameless, key, sizeof key);
  assert_string_equal(key, "device-nvidia-t4");
}

static clt_value property(const clt_device_info *info, const char *name) {
  for (size_t i = 0; i < clt_device_n_properties(); i++)
    if (strcmp(clt_device_property_name(i), name) == 0) return clt_device_property(info, i);
  fail_msg("no property %s", name);
  return (clt_value){0};
}

static void properties_have_the_values_of_the_device(void **state) {
  (void)state;
  clt_device_info info = machine[2];
  info.local_memory_bytes = 49152;
  info.max_work_item_sizes[2] = 64;
  info.max_allocation_bytes = UINT64_MAX;
  strcpy(info.extensions, "cl_khr_fp64 cl_khr_fp16");
  assert_int_equal(property(&info, "device.local_memory_bytes").integer, 49152);
  assert_int_equal(property(&info, "device.max_work_item_size_z").integer, 64);
  assert_int_equal(property(&info, "device.max_allocation_bytes").integer, INT64_MAX);
  assert_string_equal(property(&info, "device.type").text, "gpu");
  assert_string_equal(property(&info, "device.extensions").text, "cl_khr_fp64 cl_khr_fp16");
  assert_int_equal(property(&info, "device.images").type, CLT_BOOL);
}

static void a_device_survives_the_journey_through_json(void **state) {
  (void)state;
  clt_device_info info = machine[2], back;
  info.timer_resolution_s = 1e-6;
  info.images = info.available = info.little_endian = true;
  for (size_t d = 0; d < 3; d++) info.max_work_item_sizes[d] = 1024 >> d;
  json_t *json = clt_device_json(&info);
  assert_int_equal(clt_device_read(&back, json, NULL), 0);
  assert_memory_equal(&info, &back, sizeof info);
  json_decref(json);
}

static void names_that_are_not_utf8_can_be_written(void **state) {
  (void)state;
  clt_device_info info = machine[0], back;
  strcpy(info.name, "Core\xae i7");
  json_t *json = clt_device_json(&info);
  assert_int_equal(clt_device_read(&back, json, NULL), 0);
  assert_string_equal(back.name, "Core? i7");
  json_decref(json);
}

static void bad_json_is_refused_and_nothing_written(void **state) {
  (void)state;
  static const char *const bad[] = {"",
                                    "[]",
                                    "{",
                                    "{\"compute_units\": -1}",
                                    "{\"compute_units\": 4294967296}",
                                    "{\"name\": 1}",
                                    "{\"images\": 1}",
                                    "{\"type\": \"tpu\"}",
                                    "{\"type\": 3}",
                                    "{\"timer_resolution_s\": \"0\"}",
                                    "{\"name\": \"a\", \"name\": \"b\"}",
                                    "{\"icd_suffix\": \"0123456789012345678901234567890123456789\"}"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    clt_device_info info;
    memset(&info, 0x5a, sizeof info);
    clt_device_info before = info;
    clt_error error = {0};
    assert_int_equal(clt_device_from_json(&info, bad[i], &error), CLT_E_FORMAT);
    assert_true(error.message[0]);
    assert_memory_equal(&info, &before, sizeof info);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_device_is_found_by_place_uuid_suffix_and_names),
      cmocka_unit_test(the_first_level_that_matches_decides),
      cmocka_unit_test(a_type_chooses_the_only_device_of_it),
      cmocka_unit_test(a_text_may_stand_for_several),
      cmocka_unit_test(ambiguity_lists_the_candidates),
      cmocka_unit_test(a_missing_device_lists_what_there_is),
      cmocka_unit_test(long_lists_of_candidates_are_cut),
      cmocka_unit_test(keys_name_the_device_and_the_hardware),
      cmocka_unit_test(properties_have_the_values_of_the_device),
      cmocka_unit_test(a_device_survives_the_journey_through_json),
      cmocka_unit_test(names_that_are_not_utf8_can_be_written),
      cmocka_unit_test(bad_json_is_refused_and_nothing_written),
  };
  return cmocka_run_group_tests(tests, make_machine, NULL);
}
