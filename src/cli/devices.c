#include <clatune/sys/evaluator.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/output.h"

static const char *type_name(clt_device_type type) {
  static const char *const names[] = {"CPU", "GPU", "accelerator", "other"};
  return names[type];
}

static const char *bytes(char out[32], uint64_t n) {
  static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double x = (double)n;
  size_t i = 0;
  for (; x >= 1024 && i < 4; i++) x /= 1024;
  snprintf(out, 32, "%.4g %s", x, units[i]);
  return out;
}

static void field(const char *name, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void field(const char *name, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  printf("       %-16s ", name);
  vprintf(format, arguments);
  putchar('\n');
  va_end(arguments);
}

static void print_work(const clt_device_info *d) {
  field("compute units", "%u%s%.0u%s", d->compute_units, d->clock_mhz ? " at up to " : "", d->clock_mhz,
        d->clock_mhz ? " MHz" : "");
  field("work-group", "at most %llu work-items, %llu x %llu x %llu", (unsigned long long)d->max_work_group_size,
        (unsigned long long)d->max_work_item_sizes[0], (unsigned long long)d->max_work_item_sizes[1],
        (unsigned long long)d->max_work_item_sizes[2]);
  if (d->preferred_work_group_multiple)
    field("multiples of", "%llu work-items suit it", (unsigned long long)d->preferred_work_group_multiple);
  if (d->warp_size) field("sub-group", "%llu work-items (warp, wavefront)", (unsigned long long)d->warp_size);
  if (d->sub_group_sizes[0]) field("sub-group", "%s work-items, as the kernel requires", d->sub_group_sizes);
}

static void print_memory(const clt_device_info *d) {
  char a[32], b[32];
  field("local memory", "%s%s", bytes(a, d->local_memory_bytes),
        d->local_memory_dedicated ? "" : ", a part of global memory");
  field("global memory", "%s, one buffer at most %s", bytes(a, d->global_memory_bytes),
        bytes(b, d->max_allocation_bytes));
  field("constant memory", "%s, all arguments %s", bytes(a, d->max_constant_bytes), bytes(b, d->max_parameter_bytes));
  if (d->global_cache_bytes) field("cache", "%s", bytes(a, d->global_cache_bytes));
  if (d->images)
    field("images", "2D %llu x %llu, 3D %llu x %llu x %llu", (unsigned long long)d->image2d_max_width,
          (unsigned long long)d->image2d_max_height, (unsigned long long)d->image3d_max_width,
          (unsigned long long)d->image3d_max_height, (unsigned long long)d->image3d_max_depth);
  else
    field("images", "none");
}

static void print_identity(const clt_device_info *d) {
  field("driver", "%s", d->driver_version);
  field("kernels in", "%s%s%s", d->opencl_c_version, strstr(d->extensions, "cl_khr_fp64") ? ", double" : "",
        strstr(d->extensions, "cl_khr_fp16") ? ", half" : "");
  if (d->uuid[0]) field("UUID", "%s", d->uuid);
  if (d->pci_address[0]) field("PCI address", "%s", d->pci_address);
  if (d->timer_resolution_s > 0) field("timer", "%.4g ns", d->timer_resolution_s * 1e9);
}

/* A tree: the platform, and below it its devices. */
static void print_devices(const clt_device_info *devices, size_t n) {
  for (size_t i = 0; i < n; i++) {
    const clt_device_info *d = &devices[i];
    bool first = i == 0 || devices[i - 1].platform_index != d->platform_index;
    if (first)
      printf("%s%d  %s%s%s%s, %s\n", i ? "\n" : "", d->platform_index, d->platform_name, d->icd_suffix[0] ? " (" : "",
             d->icd_suffix, d->icd_suffix[0] ? ")" : "", d->platform_version);
    printf("  %d:%d  %s  [%s]%s\n", d->platform_index, d->device_index, d->name, type_name(d->type),
           d->available ? "" : "  not available");
    print_identity(d);
    print_work(d);
    print_memory(d);
  }
}

static int print_json(const clt_device_info *devices, size_t n) {
  json_t *list = json_array();
  for (size_t i = 0; i < n; i++) json_array_append_new(list, cli_json_device(&devices[i]));
  return cli_print_json(json_pack("{s:o}", "devices", list));
}

static int run_devices(const cli_arguments *arguments) {
  clt_error error = {0};
  clt_device_info *devices = NULL;
  size_t n = 0;
  if (clt_devices(&devices, &n, &error)) return cli_report(&error);
  int rc = 0;
  if (cli_given(arguments, "json")) {
    rc = print_json(devices, n);
  } else {
    print_devices(devices, n);
    if (n == 0)
      fputs("clatune: no OpenCL device; on Debian 'apt install pocl-opencl-icd' brings one for the CPU\n", stderr);
  }
  free(devices);
  return rc ? rc : n ? CLI_FOUND : CLI_NO_DEVICE;
}

static const cli_flag flags[] = {CLI_FLAG_JSON, CLI_FLAG_QUIET};

const cli_command cli_devices = {
    .name = "devices",
    .summary = "lists the OpenCL devices and their limits",
    .synopsis = "[--json]",
    .description =
        "Lists the platforms, the devices of each, and the limits that matter for tuning. --device takes the numbers\n"
        "before a device (0:0), cpu, gpu or accelerator, a platform's word in brackets, or part of a platform's,\n"
        "vendor's or device's name. With --json, all that expressions of problem files can ask (device.*).",
    CLI_FLAGS(flags),
    .run = run_devices,
};
