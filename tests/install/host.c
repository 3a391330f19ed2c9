/* A user's program: asks for the best configuration of a problem on a made-up device, and for its devices. */
#include <clatune/clatune.h>
#include <clatune/lookup.h>
#include <clatune/sys/evaluator.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
  clt_catalog *catalog = NULL;
  clt_device_info device, *devices = NULL;
  clt_lookup_result found;
  clt_error error = {0};
  size_t n = 0;
  if (argc != 2) return 2;
  memset(&device, 0, sizeof device);
  strcpy(device.platform_name, "nobody's");
  strcpy(device.name, "made up");
  device.max_work_group_size = device.max_work_item_sizes[0] = device.max_work_item_sizes[1] = 256;
  device.local_memory_bytes = 32768;
  device.max_allocation_bytes = 1u << 30;
  if (clt_devices(&devices, &n, &error) || clt_catalog_new(&catalog, NULL, 0, &error) ||
      clt_catalog_lookup(&found, catalog, argv[1], NULL, 0, &device, &error)) {
    fprintf(stderr, "%s\n", error.message);
    return 1;
  }
  if (strcmp(clt_version(), CLT_VERSION) != 0 || CLT_VERSION_NUMBER < 100) return 3;
  printf("%s: %s\n", clt_tier_name(found.tier), found.options);
  clt_lookup_result_release(&found);
  clt_catalog_free(catalog);
  free(devices);
  return 0;
}
