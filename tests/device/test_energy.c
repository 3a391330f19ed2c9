/* Energy counters and clocks: a powercap folder, a sysfs and an NVML of the test's own making. */
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
  setenv("CLATUNE_SYSFS", folder, 1);
  setenv("CLATUNE_NVML", FAKE_NVML, 1);
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  remove_folder(folder);
  unsetenv("FAKE_NVML_UUID");
  unsetenv("FAKE_NVML_PCI");
  unsetenv("FAKE_NVML_STATUS");
  unsetenv("FAKE_NVML_MHZ");
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

/* --- clocks --- */

static void expect_clock(const clt_device_info *device, double expected_mhz) {
  clt_frequency_meter *meter = clt_frequency_open(device);
  const double mhz = clt_frequency_read(meter);
  if (isnan(expected_mhz) ? meter != NULL : !(fabs(mhz - expected_mhz) < 1e-9)) fail_msg("%g MHz", mhz);
  clt_frequency_close(meter);
}

/* A file below the folder; makes the folders of its path. */
static void write_below(const char *path, const char *text) {
  char whole[700];
  snprintf(whole, sizeof whole, "%s/%s", folder, path);
  char *last = strrchr(whole, '/');
  for (char *slash = whole + strlen(folder) + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
    *slash = '\0';
    mkdir(whole, 0700);
    *slash = '/';
  }
  *last = '\0';
  write_text(whole, last + 1, text);
}

#define PCI "bus/pci/devices/0000:3b:00.0/"

static void each_driver_has_its_file(void **state) {
  (void)state;
  clt_device_info device = make_gpu();
  snprintf(device.vendor, sizeof device.vendor, "Somebody");
  expect_clock(&device, NAN);
  write_below(PCI "tile0/gt0/freq0/act_freq", "0\n"); /* xe, asleep */
  expect_clock(&device, NAN);
  write_below(PCI "tile0/gt0/freq0/cur_freq", "600\n");
  expect_clock(&device, 600);
  write_below(PCI "drm/card1/gt_cur_freq_mhz", "350\n");
  write_below(PCI "drm/card1/gt_act_freq_mhz", "0\n");
  expect_clock(&device, 350);
  write_below(PCI "drm/card1/gt_act_freq_mhz", "1100\n");
  expect_clock(&device, 1100);
  write_below(PCI "pp_dpm_sclk", "0: 500Mhz\n1: 1700Mhz *\n2: 2500Mhz\n");
  expect_clock(&device, 1700);
  write_below(PCI "hwmon/hwmon2/freq1_input", "2105000000\n");
  expect_clock(&device, 2105);
  write_below(PCI "hwmon/hwmon2/freq1_input", "nonsense\n");
  expect_clock(&device, 1700);
}

static void of_a_cpu_the_fastest_processor_counts(void **state) {
  (void)state;
  clt_device_info device = make_device();
  device.pci_address[0] = '\0';
  expect_clock(&device, NAN);
  write_below("devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "1200000\n");
  write_below("devices/system/cpu/cpu1/cpufreq/scaling_cur_freq", "3400000\n");
  write_below("devices/system/cpu/cpu12/cpufreq/scaling_cur_freq", "9900000\n");
  expect_clock(&device, 3400);
}

static void nvml_states_the_clock_of_its_gpu(void **state) {
  (void)state;
  clt_device_info device = make_gpu();
  setenv("FAKE_NVML_PCI", "0000:3b:00.0", 1);
  expect_clock(&device, NAN);
  setenv("FAKE_NVML_MHZ", "1755", 1);
  expect_clock(&device, 1755);
  setenv("CLATUNE_NVML", "/nowhere/libnvidia-ml.so.1", 1);
  expect_clock(&device, NAN);
}

int main(void) {
#define WITH_FOLDER(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      WITH_FOLDER(packages_and_their_memory_are_summed), WITH_FOLDER(a_counter_that_begins_anew_goes_on),
      WITH_FOLDER(without_a_range_it_is_an_error),       WITH_FOLDER(a_system_without_zones_is_told),
      WITH_FOLDER(a_zone_that_may_not_be_read_is_told),  WITH_FOLDER(a_gpu_is_found_by_uuid_or_pci_address),
      WITH_FOLDER(a_gpu_that_does_not_count_is_told),    WITH_FOLDER(without_the_library_it_is_told),
      WITH_FOLDER(each_driver_has_its_file),             WITH_FOLDER(of_a_cpu_the_fastest_processor_counts),
      WITH_FOLDER(nvml_states_the_clock_of_its_gpu),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
