#include <clatune/sys/evaluator.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "device/device.h"
#include "session/probe.h"

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
  print_field("kernel language", "%s%s%s", d->opencl_c_version, strstr(d->extensions, "cl_khr_fp64") ? ", double" : "",
              strstr(d->extensions, "cl_khr_fp16") ? ", half" : "");
  if (d->uuid[0]) print_field("UUID", "%s", d->uuid);
  if (d->pci_address[0]) print_field("PCI address", "%s", d->pci_address);
  if (d->timer_resolution_s > 0)
    print_field("timer", "%.4g ns", d->timer_resolution_s * 1e9);
  else
    print_field("timer", "%s", "none: runs are timed with the host's clock");
  print_field("compute units", "%u%s%.0u%s", d->compute_units, d->clock_mhz ? " at up to " : "", d->clock_mhz,
              d->clock_mhz ? " MHz" : "");
  print_field("work-group", "at most %llu work-items, %llu x %llu x %llu", (ull)d->max_work_group_size,
              (ull)d->max_work_item_sizes[0], (ull)d->max_work_item_sizes[1], (ull)d->max_work_item_sizes[2]);
  if (d->preferred_work_group_multiple)
    print_field("preferred", "multiples of %llu work-items", (ull)d->preferred_work_group_multiple);
  if (d->warp_size) print_field("sub-group", "%llu work-items (warp, wavefront)", (ull)d->warp_size);
  if (d->sub_group_sizes[0]) print_field("sub-group", "%s work-items, as the kernel requires", d->sub_group_sizes);
  print_field("local memory", "%s%s", format_bytes(a, d->local_memory_bytes),
              d->local_memory_dedicated ? "" : ", part of global memory");
  print_field("global memory", "%s, one buffer at most %s", format_bytes(a, d->global_memory_bytes),
              format_bytes(b, d->max_allocation_bytes));
  print_field("constant memory", "%s, all arguments at most %s", format_bytes(a, d->max_constant_bytes),
              format_bytes(b, d->max_parameter_bytes));
  if (d->global_cache_bytes) print_field("cache", "%s", format_bytes(a, d->global_cache_bytes));
  if (d->images)
    print_field("images", "2D %llu x %llu, 3D %llu x %llu x %llu", (ull)d->image2d_max_width,
                (ull)d->image2d_max_height, (ull)d->image3d_max_width, (ull)d->image3d_max_height,
                (ull)d->image3d_max_depth);
  else
    print_field("images", "%s", "none");
}

/* Prints the measured and computed features, failed ones with the reason. Features stated by the driver are among the
 * limits above. */
static void print_features(const clt_feature *features, size_t n) {
  for (size_t i = 0; i < n; i++) {
    const clt_feature *f = &features[i];
    if (f->is_said || (isnan(f->value) && f->reason == CLT_REASON_NONE)) continue;
    if (isnan(f->value))
      printf("       %-17s failed: %s (%s)\n", f->name, clt_reason_text(f->reason), clt_reason_name(f->reason));
    else
      printf("       %-17s %.4g\n", f->name, f->value);
  }
}

static json_t *features_json(const clt_feature *features, size_t n) {
  json_t *known = json_object(), *failed = json_object();
  for (size_t i = 0; i < n; i++) {
    if (!isnan(features[i].value)) json_object_set_new(known, features[i].name, json_real(features[i].value));
    if (features[i].reason != CLT_REASON_NONE)
      json_object_set_new(failed, features[i].name, json_string(clt_reason_name(features[i].reason)));
  }
  return json_pack("{s:o, s:o}", "features", known, "failed", failed);
}

/* The *n devices of --device, or all, in the order of the list. */
static clt_device_info *choose_devices(size_t *n, const cli_arguments *arguments) {
  const char *typed = cli_text(arguments, "device");
  clt_device_info *devices = NULL;
  cli_check(cli_devices_here(&devices, n, &cli_error));
  if (devices) cli_keep_memory(devices);
  if (typed == NULL) return devices;
  size_t n_chosen = 0, n_left = 0, *chosen = cli_new(*n, sizeof *chosen);
  cli_check(clt_device_select_all(chosen, &n_chosen, devices, *n, typed, true, &cli_error));
  for (size_t i = 0; i < *n; i++)
    for (size_t k = 0; k < n_chosen; k++)
      if (chosen[k] == i) devices[n_left++] = devices[i];
  *n = n_left;
  return devices;
}

/* A tree: the platform, and below it its devices. */
static int run_devices(const cli_arguments *arguments) {
  static const char *const types[] = {"CPU", "GPU", "accelerator", "other"};
  const bool as_json = cli_given(arguments, "json"), probes = cli_given(arguments, "probe");
  size_t n = 0;
  int failure = 0;
  if (!probes && (cli_given(arguments, "store") || cli_given(arguments, "fresh")))
    cli_usage("options '--store' and '--fresh' need '--probe'");
  const clt_device_info *devices = choose_devices(&n, arguments);
  clt_store *store = probes && n > 0 ? cli_open_store(arguments) : NULL;
  if (probes) cli_signals_install();
  json_t *list = json_array();
  for (size_t i = 0; i < n; i++) {
    const clt_device_info *d = &devices[i];
    clt_feature features[CLT_MOST_FEATURES];
    size_t n_features = 0;
    json_t *json = cli_json_device(d);
    json_array_append_new(list, json);
    if (probes && d->available) {
      clt_error error = {0};
      int rc = clt_probe_device(d, store, cli_given(arguments, "fresh"), cli_signals_flag(), &error);
      if (rc == CLT_E_STOPPED) {
        failure = 128 + *cli_signals_flag();
        break;
      }
      if (rc == 0) rc = clt_device_features(features, &n_features, store, d, &error);
      if (rc) failure = cli_say(&error); /* the other devices may work */
      if (rc == 0) json_object_update_new(json, features_json(features, n_features));
    }
    if (as_json) continue;
    if (i == 0 || devices[i - 1].platform_index != d->platform_index)
      printf("%s%d  %s%s%s%s, %s\n", i ? "\n" : "", d->platform_index, d->platform_name, d->icd_suffix[0] ? " (" : "",
             d->icd_suffix, d->icd_suffix[0] ? ")" : "", d->platform_version);
    printf("  %d:%d  %s  [%s]%s\n", d->platform_index, d->device_index, d->name, types[d->type],
           d->available ? "" : "  not available");
    print_limits(d);
    print_features(features, n_features);
  }
  if (!cli_given(arguments, "quiet")) cli_suggest_drivers(devices, n);
  if (n == 0 && !as_json)
    fputs("clatune: no OpenCL device; on Debian, 'apt install pocl-opencl-icd' installs one for the CPU\n", stderr);
  int rc = as_json ? cli_print_json(json_pack("{s:O}", "devices", list)) : 0;
  json_decref(list);
  return rc ? rc : failure ? failure : n ? CLI_FOUND : CLI_NO_DEVICE;
}

static const cli_flag flags[] = {
    {"probe", NULL, "measures each device with small kernels, some seconds per device, and stores the results"},
    {"device", "NAME", "lists only these devices, named as in 'clatune tune'; may match several"},
    CLI_FLAG_STORE,
    {"fresh", NULL, "measures again what is already in the store"},
    CLI_FLAG_JSON,
    CLI_FLAG_QUIET};

const cli_command cli_devices = {
    .name = "devices",
    .summary = "lists the OpenCL devices and their limits",
    .synopsis = "[--probe] [--device NAME] [--json]",
    .description =
        "Lists the platforms, their devices, and the limits that matter for tuning. --json prints all properties that\n"
        "expressions in problem files can use (device.*). --probe measures memory, arithmetic, atomics, barriers and\n"
        "launches, and prints stored results without measuring again.",
    CLI_FLAGS(flags),
    .run = run_devices,
};
