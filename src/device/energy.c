/* Energy counters: Linux powercap for CPUs, NVML for NVIDIA GPUs. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/base.h"
#include "device/device.h"

typedef struct zone {
  char name[64];              /* of its folder */
  uint64_t last_uj, range_uj; /* range 0: not known */
} zone;

#define MOST_ZONES 128

struct clt_energy_meter {
  /* powercap */
  char *folder;
  zone zones[MOST_ZONES];
  size_t n_zones;
  double energy_J;
  /* NVML; library NULL: powercap is used */
  clt_nvml nvml;
  unsigned long long first_mJ;
};

/* "the energy of 'NAME' cannot be measured: ..." */
__attribute__((format(printf, 3, 4))) static int refuse_device(clt_error *error, const clt_device_info *device,
                                                               const char *format, ...) {
  char why[400];
  va_list arguments;
  va_start(arguments, format);
  clt_vsnprintf(why, sizeof why, format, arguments);
  va_end(arguments);
  return clt_fail(error, CLT_E_UNSUPPORTED, "the energy of '%.100s' cannot be measured: %s", device->name, why);
}

/* --- powercap --- */

/* /sys/class/powercap/intel-rapl:N (also the name for AMD's processors) has a counter of microjoules that wraps
 * around at max_energy_range_uj. Used are the zones "package-N", and "dram" below them, which no package includes.
 * "core" and "uncore" are parts of a package, and "psys" covers more than the processor. */
#define POWERCAP_FOLDER "/sys/class/powercap"
#define ZONE "intel-rapl:"
#define J_PER_UJ 1e-6

/* Reads a small file without the end of its line. False: errno says why. */
static bool read_member(const clt_energy_meter *m, const char *zone_name, const char *member, char *out,
                        size_t capacity) {
  char *path = clt_format("%s/%s/%s", m->folder, zone_name, member);
  if (path == NULL) {
    errno = ENOMEM;
    return false;
  }
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t n = fd < 0 ? -1 : read(fd, out, capacity - 1);
  int cause = errno;
  if (fd >= 0) close(fd);
  free(path);
  errno = cause;
  out[n < 0 ? 0 : n] = '\0';
  out[strcspn(out, "\n")] = '\0';
  return n >= 0;
}

static bool read_number(const clt_energy_meter *m, const char *zone_name, const char *member, uint64_t *out) {
  char text[32], *end;
  if (!read_member(m, zone_name, member, text, sizeof text)) return false;
  errno = 0;
  *out = strtoull(text, &end, 10);
  if (errno == 0 && (end == text || *end)) errno = EINVAL;
  return errno == 0;
}

static int open_powercap(clt_energy_meter *m, const clt_device_info *device, clt_error *error) {
  const char *chosen = getenv("CLATUNE_POWERCAP");
  int rc = CLT_OK;
  m->folder = strdup(chosen && chosen[0] ? chosen : POWERCAP_FOLDER);
  if (m->folder == NULL) return clt_fail_memory(error);
  DIR *folder = opendir(m->folder);
  if (folder == NULL)
    return refuse_device(error, device,
                         "cannot open '%s': %s; this system provides no energy counters; choose another objective",
                         m->folder, strerror(errno));
  for (struct dirent *entry; rc == CLT_OK && m->n_zones < MOST_ZONES && (entry = readdir(folder));) {
    zone *z = &m->zones[m->n_zones];
    char kind[64];
    if (strncmp(entry->d_name, ZONE, strlen(ZONE)) != 0 || strlen(entry->d_name) >= sizeof z->name) continue;
    strcpy(z->name, entry->d_name);
    bool below = strchr(z->name + strlen(ZONE), ':') != NULL;
    if (!read_member(m, z->name, "name", kind, sizeof kind)) continue;
    if (below ? strcmp(kind, "dram") != 0 : strncmp(kind, "package", strlen("package")) != 0) continue;
    m->n_zones++;
    if (!read_number(m, z->name, "energy_uj", &z->last_uj))
      rc = refuse_device(error, device, "cannot read '%s/%s/energy_uj': %s; %s", m->folder, z->name, strerror(errno),
                         errno == EACCES || errno == EPERM
                             ? "run as root, or let an administrator make it readable (chmod a+r)"
                             : "choose another objective");
    else if (!read_number(m, z->name, "max_energy_range_uj", &z->range_uj))
      z->range_uj = 0;
  }
  closedir(folder);
  if (rc || m->n_zones > 0) return rc;
  return refuse_device(
      error, device,
      "'%s' has no zone '" ZONE
      "N' for a processor package (virtual machines and containers hide them); choose another objective",
      m->folder);
}

/* --- meters: powercap or NVML --- */

#define J_PER_MJ 1e-3

int clt_energy_open(clt_energy_meter **out, const clt_device_info *device, clt_error *error) {
  bool cpu = device->type == CLT_DEVICE_CPU;
  if (!cpu && strcasestr(device->vendor, "nvidia") == NULL)
    return refuse_device(error, device,
                         "only CPUs (Linux powercap) and NVIDIA GPUs (NVML) are supported; choose another objective");
  clt_energy_meter *meter = clt_new_array(1, sizeof *meter);
  if (meter == NULL) return clt_fail_memory(error);
  char why[400];
  int rc = CLT_OK, status = 0;
  if (cpu)
    rc = open_powercap(meter, device, error);
  else if (!clt_nvml_open(&meter->nvml, device, why))
    rc = refuse_device(error, device, "%s", why);
  else if ((status = meter->nvml.energy(meter->nvml.gpu, &meter->first_mJ)) != 0)
    rc = refuse_device(error, device, "NVML reports no energy for this GPU: %s; choose another objective",
                       meter->nvml.text(status));
  if (rc == CLT_OK)
    *out = meter;
  else
    clt_energy_close(meter);
  return rc;
}

int clt_energy_check(const clt_device_info *device, clt_error *error) {
  clt_energy_meter *meter = NULL;
  int rc = clt_energy_open(&meter, device, error);
  clt_energy_close(meter);
  return rc;
}

void clt_energy_close(clt_energy_meter *meter) {
  if (meter == NULL) return;
  clt_nvml_close(&meter->nvml);
  free(meter->folder);
  free(meter);
}

int clt_energy_read(clt_energy_meter *m, double *energy_J, clt_error *error) {
  if (m->nvml.library) {
    unsigned long long now_mJ = 0;
    int status = m->nvml.energy(m->nvml.gpu, &now_mJ);
    if (status || now_mJ < m->first_mJ)
      return clt_fail(error, CLT_E_IO, "NVML no longer reports the energy: %s",
                      status ? m->nvml.text(status) : "its counter was reset");
    m->energy_J = (double)(now_mJ - m->first_mJ) * J_PER_MJ;
  }
  double sum_uj = 0;
  for (zone *z = m->zones; z < m->zones + m->n_zones; z++) {
    uint64_t now_uj;
    if (!read_number(m, z->name, "energy_uj", &now_uj))
      return clt_fail_errno(error, CLT_E_IO, "read an energy counter in", m->folder);
    if (now_uj < z->last_uj && z->range_uj < z->last_uj)
      return clt_fail(error, CLT_E_IO,
                      "an energy counter in '%s' wrapped around, and its range is unknown; choose another objective",
                      m->folder);
    sum_uj += (double)(now_uj - z->last_uj + (now_uj < z->last_uj ? z->range_uj : 0));
    z->last_uj = now_uj;
  }
  m->energy_J += sum_uj * J_PER_UJ;
  *energy_J = m->energy_J;
  return CLT_OK;
}
