#include <clatune/sys/evaluator.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/arguments.h"
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

static void print_device(const clt_device_info *d) {
  char local[32], global[32], allocation[32];
  printf("%d:%d  %s\n", d->platform_index, d->device_index, d->name);
  printf("     platform          %s (%s), %s\n", d->platform_name, d->icd_suffix[0] ? d->icd_suffix : "no ICD suffix",
         d->platform_version);
  printf("     driver            %s\n", d->driver_version);
  printf("     kind              %s, %u compute units, images: %s\n", type_name(d->type), d->compute_units,
         d->images ? "yes" : "no");
  printf("     work-group        at most %llu (%llu x %llu x %llu)\n", (unsigned long long)d->max_work_group_size,
         (unsigned long long)d->max_work_item_sizes[0], (unsigned long long)d->max_work_item_sizes[1],
         (unsigned long long)d->max_work_item_sizes[2]);
  printf("     memory            local %s, global %s, one buffer at most %s\n", bytes(local, d->local_memory_bytes),
         bytes(global, d->global_memory_bytes), bytes(allocation, d->max_allocation_bytes));
}

static int print_json(const clt_device_info *devices, size_t n) {
  json_t *list = json_array();
  for (size_t i = 0; i < n; i++) json_array_append_new(list, cli_json_device(&devices[i]));
  return cli_print_json(json_pack("{s:o}", "devices", list));
}

static int run(const cli_arguments *arguments) {
  clt_error error = {0};
  clt_device_info *devices = NULL;
  size_t n = 0;
  if (clt_devices(&devices, &n, &error)) return cli_report(&error);
  int rc = 0;
  if (cli_given(arguments, "json")) {
    rc = print_json(devices, n);
  } else {
    for (size_t i = 0; i < n; i++) print_device(&devices[i]);
    if (n == 0)
      fputs("clatune: no OpenCL device; on Debian 'apt install pocl-opencl-icd' brings one for the CPU\n", stderr);
  }
  free(devices);
  return rc ? rc : n ? CLI_FOUND : CLI_NO_DEVICE;
}

static const cli_flag flags[] = {CLI_FLAG_JSON};

const cli_command cli_devices = {
    .name = "devices",
    .summary = "lists the OpenCL devices and their limits",
    .synopsis = "[--json]",
    .description =
        "Lists the OpenCL devices with the limits that matter for tuning. --device takes the numbers before each,\n"
        "cpu, gpu or accelerator, the word in brackets, or part of a platform's, vendor's or device's name.",
    .flags = flags,
    .n_flags = sizeof flags / sizeof *flags,
    .run = run,
};
