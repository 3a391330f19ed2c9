#include <clatune/sys/evaluator.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

static const char *format_bytes(char out[32], uint64_t n) {
  static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double x = (double)n;
  size_t i = 0;
  for (; x >= 1024 && i < 4; i++) x /= 1024;
  snprintf(out, 32, "%.4g %s", x, units[i]);
  return out;
}

#define print_field(name, format, ...) printf("       %-16s " format "\n", name, __VA_ARGS__)

static void print_limits(const clt_device_info *d) {
  typedef unsigned long long ull;
  char a[32], b[32];
  print_field("driver", "%s", d->driver_version);
  print_field("kernels in", "%s%s%s", d->opencl_c_version, strstr(d->extensions, "cl_khr_fp64") ? ", double" : "",
              strstr(d->extensions, "cl_khr_fp16") ? ", half" : "");
  if (d->uuid[0]) print_field("UUID", "%s", d->uuid);
  if (d->pci_address[0]) print_field("PCI address", "%s", d->pci_address);
  if (d->timer_resolution_s > 0)
    print_field("timer", "%.4g ns", d->timer_resolution_s * 1e9);
  else
    print_field("timer", "%s", "none: the host's clock times the runs");
  print_field("compute units", "%u%s%.0u%s", d->compute_units, d->clock_mhz ? " at up to " : "", d->clock_mhz,
              d->clock_mhz ? " MHz" : "");
  print_field("work-group", "at most %llu work-items, %llu x %llu x %llu", (ull)d->max_work_group_size,
              (ull)d->max_work_item_sizes[0], (ull)d->max_work_item_sizes[1], (ull)d->max_work_item_sizes[2]);
  if (d->preferred_work_group_multiple)
    print_field("multiples of", "%llu work-items suit it", (ull)d->preferred_work_group_multiple);
  if (d->warp_size) print_field("sub-group", "%llu work-items (warp, wavefront)", (ull)d->warp_size);
  if (d->sub_group_sizes[0]) print_field("sub-group", "%s work-items, as the kernel requires", d->sub_group_sizes);
  print_field("local memory", "%s%s", format_bytes(a, d->local_memory_bytes),
              d->local_memory_dedicated ? "" : ", a part of global memory");
  print_field("global memory", "%s, one buffer at most %s", format_bytes(a, d->global_memory_bytes),
              format_bytes(b, d->max_allocation_bytes));
  print_field("constant memory", "%s, all arguments %s", format_bytes(a, d->max_constant_bytes),
              format_bytes(b, d->max_parameter_bytes));
  if (d->global_cache_bytes) print_field("cache", "%s", format_bytes(a, d->global_cache_bytes));
  if (d->images)
    print_field("images", "2D %llu x %llu, 3D %llu x %llu x %llu", (ull)d->image2d_max_width,
                (ull)d->image2d_max_height, (ull)d->image3d_max_width, (ull)d->image3d_max_height,
                (ull)d->image3d_max_depth);
  else
    print_field("images", "%s", "none");
}

/* A tree: the platform, and below it its devices. */
static int run_devices(const cli_arguments *arguments) {
  static const char *const types[] = {"CPU", "GPU", "accelerator", "other"};
  bool as_json = cli_given(arguments, "json");
  clt_error error = {0};
  clt_device_info *devices = NULL;
  size_t n = 0;
  if (cli_devices_here(&devices, &n, &error)) return cli_report(&error);
  json_t *list = json_array();
  for (size_t i = 0; i < n; i++) {
    const clt_device_info *d = &devices[i];
    json_array_append_new(list, cli_json_device(d));
    if (as_json) continue;
    if (i == 0 || devices[i - 1].platform_index != d->platform_index)
      printf("%s%d  %s%s%s%s, %s\n", i ? "\n" : "", d->platform_index, d->platform_name, d->icd_suffix[0] ? " (" : "",
             d->icd_suffix, d->icd_suffix[0] ? ")" : "", d->platform_version);
    printf("  %d:%d  %s  [%s]%s\n", d->platform_index, d->device_index, d->name, types[d->type],
           d->available ? "" : "  not available");
    print_limits(d);
  }
  if (!cli_given(arguments, "quiet")) cli_suggest_drivers(devices, n);
  free(devices);
  if (n == 0 && !as_json)
    fputs("clatune: no OpenCL device; on Debian 'apt install pocl-opencl-icd' brings one for the CPU\n", stderr);
  int rc = as_json ? cli_print_json(json_pack("{s:O}", "devices", list)) : 0;
  json_decref(list);
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
