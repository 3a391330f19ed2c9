#include "cli/cli.h"
#include "device/device.h"
#include "session/probe.h"

static const clt_line platform_lines[] = {
    {.form = "{platform_index}  {platform_name}[ ({icd_suffix})], {platform_version}"}};
static const clt_text_layout platform_layout = CLT_TEXT_LAYOUT(0, 1, platform_lines);

static const clt_line device_lines[] = {
    {.form = "  {platform_index}:{device_index}  {name}  \\[[{?type=cpu}CPU|{?type=gpu}GPU|{type}]\\]"
             "[{!available}  not available]"}};
static const clt_text_layout device_layout = CLT_TEXT_LAYOUT(0, 1, device_lines);

static const clt_line limit_lines[] = {
    {"driver", "[{driver_version}]"},
    {"kernel language", "{opencl_c_version}[{?extensions~cl_khr_fp64}, double][{?extensions~cl_khr_fp16}, half]"},
    {"UUID", "{uuid}"},
    {"PCI address", "{pci_address}"},
    {"timer", "[{?timer_resolution_s}{timer_resolution_s:time}|none: runs are timed with the host's clock]"},
    {"compute units", "{compute_units}[{?clock_mhz} at up to {clock_mhz} MHz]"},
    {"work-group",
     "at most {max_work_group_size} work-items, {max_work_item_size_x} x {max_work_item_size_y} x"
     " {max_work_item_size_z}"},
    {"preferred", "{?preferred_work_group_multiple}multiples of {preferred_work_group_multiple} work-items"},
    {"sub-group", "{?warp_size}{warp_size} work-items (warp, wavefront)"},
    {"sub-group", "{sub_group_sizes} work-items, as the kernel requires"},
    {"local memory", "{local_memory_bytes:bytes}[{!local_memory_dedicated}, part of global memory]"},
    {"global memory", "{global_memory_bytes:bytes}, one buffer at most {max_allocation_bytes:bytes}"},
    {"constant memory", "{max_constant_bytes:bytes}, all arguments at most {max_parameter_bytes:bytes}"},
    {"cache", "{?global_cache_bytes}{global_cache_bytes:bytes}"},
    {"images",
     "[{?images}2D {image2d_max_width} x {image2d_max_height}, 3D {image3d_max_width} x {image3d_max_height}"
     " x {image3d_max_depth}|none]"}};
static const clt_text_layout limit_layout = CLT_TEXT_LAYOUT(7, 17, limit_lines);

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
  cli_check_device(clt_device_select_all(chosen, &n_chosen, devices, *n, typed, true, &cli_error));
  for (size_t i = 0; i < *n; i++)
    for (size_t k = 0; k < n_chosen; k++)
      if (chosen[k] == i) devices[n_left++] = devices[i];
  *n = n_left;
  return devices;
}

/* A tree: the platform, and below it its devices. */
static int run_devices(const cli_arguments *arguments) {
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
    if (i == 0 || devices[i - 1].platform_index != d->platform_index) {
      if (i > 0) putchar('\n');
      cli_draw(json, &platform_layout);
    }
    cli_draw(json, &device_layout);
    cli_draw(json, &limit_layout);
    print_features(features, n_features);
  }
  if (!cli_given(arguments, "quiet")) cli_suggest_drivers(devices, n);
  if (n == 0 && !as_json)
    fputs("clatune: no OpenCL device; on Debian, 'apt install pocl-opencl-icd' installs one for the CPU\n", stderr);
  int rc = as_json ? cli_print_json(json_pack("{s:O}", "devices", list)) : 0;
  json_decref(list);
  if (rc == 0) rc = failure;
  if (rc == 0 && n == 0) rc = CLI_NO_DEVICE;
  return rc;
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
