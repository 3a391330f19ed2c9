/* The machine itself as a device. */
#include <clatune/device.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* The text behind "name   : " of the first such line in /proc/cpuinfo, without the line's end. */
static void processor_property(char *out, size_t capacity, const char *name) {
  char line[512];
  size_t n = strlen(name);
  FILE *file = fopen("/proc/cpuinfo", "re");
  out[0] = 0;
  while (file && out[0] == 0 && fgets(line, sizeof line, file)) {
    const char *colon = strchr(line, ':');
    if (strncmp(line, name, n) != 0 || colon == NULL) continue;
    colon += 1 + strspn(colon + 1, " \t");
    snprintf(out, capacity, "%.*s", (int)strcspn(colon, "\n"), colon);
  }
  if (file) fclose(file);
}

static uint64_t memory_bytes(void) {
  long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
  return pages > 0 && page_bytes > 0 ? (uint64_t)pages * (uint64_t)page_bytes : 0;
}

void clt_device_host(clt_device_info *out) {
  struct utsname system;
  long processors = sysconf(_SC_NPROCESSORS_ONLN);
  memset(out, 0, sizeof *out);
  out->type = CLT_DEVICE_CPU;
  out->available = out->little_endian = true;
  strcpy(out->platform_name, "host");
  processor_property(out->name, sizeof out->name, "model name");
  processor_property(out->vendor, sizeof out->vendor, "vendor_id");
  if (uname(&system) == 0) {
    if (out->name[0] == 0) snprintf(out->name, sizeof out->name, "%.64s", system.machine);
    snprintf(out->driver_version, sizeof out->driver_version, "%.60s %.60s", system.sysname, system.machine);
  }
  out->compute_units = processors > 0 ? (uint32_t)processors : 1;
  out->global_memory_bytes = memory_bytes();
}
