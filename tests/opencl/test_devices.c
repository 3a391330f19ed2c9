/* The list of devices: whatever drivers are installed, it is complete and sane. */
#include <stdlib.h>
#include <string.h>

#include "bench.h"

static void every_device_is_described(void **state) {
  bench *b = *state;
  const clt_device_info *d = clt_executor_device(b->executor);
  assert_true(d->name[0] && d->platform_name[0] && d->driver_version[0] && d->extensions[0]);
  assert_int_equal(strncmp(d->device_version, "OpenCL ", 7), 0);
  assert_int_equal(strncmp(d->opencl_c_version, "OpenCL C ", 9), 0);
  assert_true(d->compute_units > 0 && (d->address_bits == 32 || d->address_bits == 64));
  assert_true(d->max_work_group_size > 0 && d->local_memory_bytes > 0);
  for (int i = 0; i < 3; i++) assert_true(d->max_work_item_sizes[i] > 0);
  assert_true(d->max_allocation_bytes > 0 && d->max_allocation_bytes <= d->global_memory_bytes);
  assert_true(d->max_constant_bytes > 0 && d->max_parameter_bytes > 0 && d->base_address_align_bits >= 8);
  if (d->images) assert_true(d->image2d_max_width >= 2048 && d->image3d_max_depth > 0);
  assert_true(strlen(d->uuid) == (strstr(d->extensions, "cl_khr_device_uuid") ? 32u : 0u));
}

static void strings_are_trimmed(void **state) {
  bench *b = *state;
  const clt_device_info *d = clt_executor_device(b->executor);
  const char *texts[] = {d->name, d->vendor, d->platform_name, d->device_version, d->driver_version, d->extensions};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    size_t n = strlen(texts[i]);
    assert_true(n == 0 || (texts[i][0] != ' ' && texts[i][n - 1] != ' '));
  }
}

static void a_device_opened_by_its_place_is_the_listed_one(void **state) {
  bench *b = *state;
  const clt_device_info *opened = clt_executor_device(b->executor);
  clt_device_info *devices;
  size_t n, found = 0;
  assert_int_equal(clt_opencl_devices(&devices, &n, &b->error), 0);
  for (size_t i = 0; i < n; i++) {
    if (devices[i].platform_index != opened->platform_index || devices[i].device_index != opened->device_index)
      continue;
    assert_memory_equal(&devices[i], opened, sizeof *opened);
    found++;
  }
  assert_int_equal(found, 1);
  free(devices);
}

static void a_device_that_is_not_there_is_an_error(void **state) {
  bench *b = *state;
  clt_executor *executor = NULL;
  const int places[][2] = {{99, 0}, {-1, 0}, {0, 99}, {0, -1}};
  for (size_t i = 0; i < 4; i++) {
    b->error = (clt_error){0};
    assert_int_equal(clt_executor_new(&executor, places[i][0], places[i][1], &b->error), CLT_E_DEVICE);
    assert_null(executor);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BENCH_TEST(every_device_is_described),
      BENCH_TEST(strings_are_trimmed),
      BENCH_TEST(a_device_opened_by_its_place_is_the_listed_one),
      BENCH_TEST(a_device_that_is_not_there_is_an_error),
  };
  return bench_main("devices", tests, sizeof tests / sizeof *tests);
}
