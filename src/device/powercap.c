/* Linux powercap: /sys/class/powercap/intel-rapl:N (AMD's processors have them by this name, too). Micro-joules in a
 * counter that begins anew behind max_energy_range_uj. Zones named "package-N", and "dram" below them, which no package
 * contains; "core" and "uncore" are parts of a package, "psys" is more than the processor. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/memory.h"
#include "device/energy.h"

#define FOLDER "/sys/class/powercap"
#define ZONE "intel-rapl:"
#define MOST_ZONES 128
#define J_PER_UJ 1e-6

typedef struct zone {
  int fd;
  uint64_t last_uj, range_uj; /* range 0: not known */
} zone;

typedef struct powercap {
  char *folder;
  zone zones[MOST_ZONES];
  size_t n;
  double energy_J;
} powercap;

/* A small file's text, without the line's end. False: errno says why. */
static bool read_text(int fd, char *out, size_t capacity) {
  ssize_t n = pread(fd, out, capacity - 1, 0);
  if (n < 0) return false;
  out[n] = '\0';
  out[strcspn(out, "\n")] = '\0';
  return true;
}

static bool read_number(int fd, uint64_t *out) {
  char text[32], *end;
  if (!read_text(fd, text, sizeof text)) return false;
  errno = 0;
  *out = strtoull(text, &end, 10);
  if (errno == 0 && (end == text || *end)) errno = EINVAL;
  return errno == 0;
}

static int open_member(const powercap *p, const char *zone_name, const char *member) {
  char *path = clt_format("%s/%s/%s", p->folder, zone_name, member);
  if (path == NULL) return errno = ENOMEM, -1;
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  int cause = errno;
  free(path);
  errno = cause;
  return fd;
}

static bool is_wanted(const powercap *p, const char *zone_name) {
  char name[64] = "";
  if (strncmp(zone_name, ZONE, strlen(ZONE)) != 0) return false;
  bool below = strchr(zone_name + strlen(ZONE), ':') != NULL;
  int fd = open_member(p, zone_name, "name");
  if (fd < 0) return false;
  if (!read_text(fd, name, sizeof name)) name[0] = '\0';
  close(fd);
  return below ? strcmp(name, "dram") == 0 : strncmp(name, "package", strlen("package")) == 0;
}

static int refuse(const powercap *p, const clt_device_info *device, const char *zone_name, clt_error *error) {
  const char *mend = errno == EACCES || errno == EPERM
                         ? "run as root, or let an administrator make it readable (chmod a+r)"
                         : "choose another objective";
  return clt_energy_unsupported(error, device, "cannot read '%s/%s/energy_uj': %s; %s", p->folder, zone_name,
                                strerror(errno), mend);
}

static int add_zone(powercap *p, const clt_device_info *device, const char *zone_name, clt_error *error) {
  if (p->n == MOST_ZONES) return CLT_OK;
  zone *z = &p->zones[p->n];
  *z = (zone){.fd = open_member(p, zone_name, "energy_uj")};
  if (z->fd < 0) return refuse(p, device, zone_name, error);
  p->n++;
  if (!read_number(z->fd, &z->last_uj)) return refuse(p, device, zone_name, error);
  int fd = open_member(p, zone_name, "max_energy_range_uj");
  if (fd < 0) return CLT_OK;
  if (!read_number(fd, &z->range_uj)) z->range_uj = 0;
  close(fd);
  return CLT_OK;
}

static int add_zones(powercap *p, const clt_device_info *device, DIR *folder, clt_error *error) {
  int rc = CLT_OK;
  for (struct dirent *entry; rc == CLT_OK && (entry = readdir(folder));)
    if (is_wanted(p, entry->d_name)) rc = add_zone(p, device, entry->d_name, error);
  if (rc || p->n > 0) return rc;
  return clt_energy_unsupported(error, device,
                                "'%s' has no zone '" ZONE
                                "N' of a package (virtual machines and containers hide them); "
                                "choose another objective",
                                p->folder);
}

static int open_powercap(void **state, const clt_device_info *device, clt_error *error) {
  const char *chosen = getenv("CLATUNE_POWERCAP");
  powercap *p = calloc(1, sizeof *p);
  if (p == NULL) return clt_fail_memory(error);
  *state = p;
  p->folder = strdup(chosen && chosen[0] ? chosen : FOLDER);
  if (p->folder == NULL) return clt_fail_memory(error);
  DIR *folder = opendir(p->folder);
  if (folder == NULL)
    return clt_energy_unsupported(error, device,
                                  "'%s': %s; this system shows no energy counters, choose another objective", p->folder,
                                  strerror(errno));
  int rc = add_zones(p, device, folder, error);
  closedir(folder);
  return rc;
}

static int read_zone(const powercap *p, zone *z, double *sum_uj, clt_error *error) {
  uint64_t now_uj;
  if (!read_number(z->fd, &now_uj)) return clt_fail_errno(error, CLT_E_IO, "read an energy counter of", p->folder);
  uint64_t gone_uj = now_uj - z->last_uj;
  if (now_uj < z->last_uj) {
    if (z->range_uj < z->last_uj)
      return clt_fail(error, CLT_E_IO, "an energy counter of '%s' began anew, and its range is not known", p->folder);
    gone_uj = z->range_uj - z->last_uj + now_uj;
  }
  z->last_uj = now_uj;
  *sum_uj += (double)gone_uj;
  return CLT_OK;
}

static int read_powercap(void *state, double *energy_J, clt_error *error) {
  powercap *p = state;
  double sum_uj = 0;
  int rc = CLT_OK;
  for (size_t i = 0; rc == CLT_OK && i < p->n; i++) rc = read_zone(p, &p->zones[i], &sum_uj, error);
  if (rc) return rc;
  p->energy_J += sum_uj * J_PER_UJ;
  *energy_J = p->energy_J;
  return CLT_OK;
}

static void close_powercap(void *state) {
  powercap *p = state;
  if (p == NULL) return;
  for (size_t i = 0; i < p->n; i++) close(p->zones[i].fd);
  free(p->folder);
  free(p);
}

const clt_energy_kind clt_energy_powercap = {open_powercap, read_powercap, close_powercap};
