/* Energy counters: a powercap folder and an NVML of the test's own making. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "../store/store_support.h"
#include "device/device.h"

static char *folder;

static void write_member(const char *zone, const char *member, const char *text) {
  char path[600];
  snprintf(path, sizeof path, "%s/%s", folder, zone);
  mkdir(path, 0700);
  write_text(path, member, text);
}

static void make_zone(const char *zone, const char *name, const char *uj, const char *range_uj) {
  write_member(zone, "name", name);
  write_member(zone, "energy_uj", uj);
  if (range_uj) write_member(zone, "max_energy_range_uj", range_uj);
}

static int set_up(void **state) {
  (void)state;
  folder = make_folder();
  setenv("CLATUNE_POWERCAP", folder, 1);
  setenv("CLATUNE_NVML", FAKE_NVML, 1);
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  remove_folder(folder);
  unsetenv("FAKE_NVML_UUID");
  unsetenv("FAKE_NVML_PCI");
  unsetenv("FAKE_NVML_STATUS");
  return 0;
}

static clt_energy_meter *open_meter(const clt_device_info *device) {
  clt_energy_meter *meter = NULL;
  clt_error error = {0};
  if (clt_energy_open(&meter, device, &error)) fail_msg("%s", error.message);
  return meter;
}

static void expect_energy(clt_energy_meter *meter, double expected_J) {
  double energy_J = -1;
  clt_error error = {0};
  if (clt_energy_read(meter, &energy_J, &error)) fail_msg("%s", error.message);
  assert_true(fabs(energy_J - expected_J) < 1e-9);
}

static void expect_refusal(const clt_device_info *device, const char *part) {
  clt_energy_meter *meter = NULL;
  clt_error error = {0};
  assert_int_equal(clt_energy_open(&meter, device, &error), CLT_E_UNSUPPORTED);
  assert_null(meter);
  if (strstr(error.message, part) == NULL) fail_msg("'%s' lacks '%s'", error.message, part);
  assert_int_equal(clt_energy_check(device, NULL), CLT_E_UNSUPPORTED);
}

/* --- powercap --- */

static void packages_and_their_memory_are_summed(void **state) {
  (void)state;
  clt_device_info device = make_device();
  make_zone("intel-rapl:0", "package-0\n", "1000000\n", "9000000\n");
  make_zone("intel-rapl:1", "package-1\n", "500\n", "9000000\n");
  make_zone("intel-rapl:0:0", "core\n", "1\n", NULL);
  make_zone("intel-rapl:0:1", "dram\n", "7\n", "9000000\n");
  make_zone("intel-rapl:2", "psys\n", "1\n", NULL);
  make_zone("intel-rapl-mmio:0", "package-0\n", "1\n", NULL);
  clt_energy_meter *meter = open_meter(&device);
  expect_energy(meter, 0);
  write_member("intel-rapl:0", "energy_uj", "3000000\n");
  write_member("intel-rapl:1", "energy_uj", "1000500\n");
  write_member("intel-rapl:0:1", "energy_uj", "250007\n");
  write_member("intel-rapl:0:0", "energy_uj", "77000000\n");
  write_member("intel-rapl:2", "energy_uj", "77000000\n");
  write_member("intel-rapl-mmio:0", "energy_uj", "77000000\n");
  expect_energy(meter, 2 + 1 + 0.25);
  clt_energy_close(meter);
}

static void a_counter_that_begins_anew_goes_on(void **state) {
  (void)state;
  clt_device_info device = make_device();
  make_zone("intel-rapl:0", "package-0\n", "8000000\n", "10000000\n");
  clt_energy_meter *meter = open_meter(&device);
  write_member("intel-rapl:0", "energy_uj", "1500000\n");
  expect_energy(meter, 3.5);
  write_member("intel-rapl:0", "energy_uj", "2500000\n");
  expect_energy(meter, 4.5);
  write_member("intel-rapl:0", "energy_uj", "0\n");
  expect_energy(meter, 12);
  clt_energy_close(meter);
}

static void without_a_range_it_is_an_error(void **state) {
  (void)state;
  clt_device_info device = make_device();
  double energy_J;
  clt_error error = {0};
  make_zone("intel-rapl:0", "package-0\n", "8000000\n", NULL);
  clt_energy_meter *meter = open_meter(&device);
  write_member("intel-rapl:0", "energy_uj", "1\n");
  assert_int_equal(clt_energy_read(meter, &energy_J, &error), CLT_E_IO);
  assert_non_null(strstr(error.message, "wrapped around"));
  write_member("intel-rapl:0", "energy_uj", "nonsense\n");
  assert_int_equal(clt_energy_read(meter, &energy_J, NULL), CLT_E_IO);
  clt_energy_close(meter);
}

static void a_system_without_zones_is_told(void **state) {
  (void)state;
  clt_device_info device = make_device();
  expect_refusal(&device, "has no zone");
  make_zone("intel-rapl:0", "psys\n", "1\n", NULL);
  expect_refusal(&device, "has no zone");
  setenv("CLATUNE_POWERCAP", "/nowhere/at/all", 1);
  expect_refusal(&device, "choose another objective");
}

static void a_zone_that_may_not_be_read_is_told(void **state) {
  (void)state;
  clt_device_info device = make_device();
  char path[600];
  make_zone("intel-rapl:0", "package-0\n", "1\n", NULL);
  snprintf(path, sizeof path, "%s/intel-rapl:0/energy_uj", folder);
  assert_int_equal(chmod(path, 0), 0);
  if (geteuid() != 0) expect_refusal(&device, "run as root");
  assert_int_equal(unlink(path), 0);
  expect_refusal(&device, "energy_uj");
}

/* --- NVML --- */

static clt_device_info make_gpu(void) {
  clt_device_info device = make_device();
  device.type = CLT_DEVICE_GPU;
  snprintf(device.vendor, sizeof device.vendor, "NVIDIA Corporation");
  snprintf(device.name, sizeof device.name, "Big GPU");
  snprintf(device.uuid, sizeof device.uuid, "0123456789abcdef0123456789abcdef");
  snprintf(device.pci_address, sizeof device.pci_address, "0000:3b:00.0");
  return device;
}

static void set_counter(const char *uj) {
  char path[600];
  write_text(folder, "gpu", uj);
  snprintf(path, sizeof path, "%s/gpu", folder);
  setenv("FAKE_NVML_COUNTER", path, 1);
}

static void a_gpu_is_found_by_uuid_or_pci_address(void **state) {
  (void)state;
  clt_device_info device = make_gpu();
  set_counter("5000000");
  expect_refusal(&device, "knows no GPU");
  setenv("FAKE_NVML_UUID", "GPU-01234567-89ab-cdef-0123-456789abcdef", 1);
  clt_energy_meter *meter = open_meter(&device);
  set_counter("7250000");
  expect_energy(meter, 2.25);
  clt_energy_close(meter);
  unsetenv("FAKE_NVML_UUID");
  setenv("FAKE_NVML_PCI", "0000:3b:00.0", 1);
  meter = open_meter(&device);
  expect_energy(meter, 0);
  clt_energy_close(meter);
  device.pci_address[0] = device.uuid[0] = '\0';
  expect_refusal(&device, "OpenCL reports neither");
}

static void a_gpu_that_does_not_count_is_told(void **state) {
  (void)state;
  clt_device_info device = make_gpu();
  set_counter("5");
  setenv("FAKE_NVML_PCI", "0000:3b:00.0", 1);
  setenv("FAKE_NVML_STATUS", "3", 1);
  expect_refusal(&device, "Not Supported");
}

static void without_the_library_it_is_told(void **state) {
  (void)state;
  clt_device_info device = make_gpu();
  setenv("CLATUNE_NVML", "/nowhere/libnvidia-ml.so.1", 1);
  expect_refusal(&device, "which contains NVML");
  setenv("CLATUNE_NVML", "libm.so.6", 1);
  expect_refusal(&device, "lacks nvmlInit_v2");
  snprintf(device.vendor, sizeof device.vendor, "Somebody");
  expect_refusal(&device, "only CPUs");
}

int main(void) {
#define WITH_FOLDER(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      WITH_FOLDER(packages_and_their_memory_are_summed), WITH_FOLDER(a_counter_that_begins_anew_goes_on),
      WITH_FOLDER(without_a_range_it_is_an_error),       WITH_FOLDER(a_system_without_zones_is_told),
      WITH_FOLDER(a_zone_that_may_not_be_read_is_told),  WITH_FOLDER(a_gpu_is_found_by_uuid_or_pci_address),
      WITH_FOLDER(a_gpu_that_does_not_count_is_told),    WITH_FOLDER(without_the_library_it_is_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
