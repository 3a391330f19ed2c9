/* Energy counters: Linux powercap for CPUs, NVML for GPUs of NVIDIA. */
#include "device/energy.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/memory.h"

typedef struct energy_kind {
  int (*open)(void **state, const clt_device_info *device, clt_error *error);
  int (*read)(void *state, double *energy_J, clt_error *error);
  void (*close)(void *state); /* also after a failed open, and of NULL */
} energy_kind;

/* "the energy of 'NAME' cannot be measured: ..." */
__attribute__((format(printf, 3, 4))) static int refuse_device(clt_error *error, const clt_device_info *device,
                                                               const char *format, ...) {
  char why[400];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(why, sizeof why, format, arguments);
  va_end(arguments);
  return clt_fail(error, CLT_E_UNSUPPORTED, "the energy of '%.100s' cannot be measured: %s", device->name, why);
}

/* --- powercap --- */

/* /sys/class/powercap/intel-rapl:N (AMD's processors have them by this name, too). Micro-joules in a
 * counter that begins anew behind max_energy_range_uj. Zones named "package-N", and "dram" below them, which no package
 * contains; "core" and "uncore" are parts of a package, "psys" is more than the processor. */
#define POWERCAP_FOLDER "/sys/class/powercap"
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
static bool read_line(int fd, char *out, size_t capacity) {
  ssize_t n = pread(fd, out, capacity - 1, 0);
  if (n < 0) return false;
  out[n] = '\0';
  out[strcspn(out, "\n")] = '\0';
  return true;
}

static bool read_number(int fd, uint64_t *out) {
  char text[32], *end;
  if (!read_line(fd, text, sizeof text)) return false;
  errno = 0;
  *out = strtoull(text, &end, 10);
  if (errno == 0 && (end == text || *end)) errno = EINVAL;
  return errno == 0;
}

static int open_zone_file(const powercap *p, const char *zone_name, const char *member) {
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
  int fd = open_zone_file(p, zone_name, "name");
  if (fd < 0) return false;
  if (!read_line(fd, name, sizeof name)) name[0] = '\0';
  close(fd);
  return below ? strcmp(name, "dram") == 0 : strncmp(name, "package", strlen("package")) == 0;
}

static int refuse(const powercap *p, const clt_device_info *device, const char *zone_name, clt_error *error) {
  const char *mend = errno == EACCES || errno == EPERM
                         ? "run as root, or let an administrator make it readable (chmod a+r)"
                         : "choose another objective";
  return refuse_device(error, device, "cannot read '%s/%s/energy_uj': %s; %s", p->folder, zone_name, strerror(errno),
                       mend);
}

static int add_zone(powercap *p, const clt_device_info *device, const char *zone_name, clt_error *error) {
  if (p->n == MOST_ZONES) return CLT_OK;
  zone *z = &p->zones[p->n];
  *z = (zone){.fd = open_zone_file(p, zone_name, "energy_uj")};
  if (z->fd < 0) return refuse(p, device, zone_name, error);
  p->n++;
  if (!read_number(z->fd, &z->last_uj)) return refuse(p, device, zone_name, error);
  int fd = open_zone_file(p, zone_name, "max_energy_range_uj");
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
  return refuse_device(error, device,
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
  p->folder = strdup(chosen && chosen[0] ? chosen : POWERCAP_FOLDER);
  if (p->folder == NULL) return clt_fail_memory(error);
  DIR *folder = opendir(p->folder);
  if (folder == NULL)
    return refuse_device(error, device, "'%s': %s; this system shows no energy counters, choose another objective",
                         p->folder, strerror(errno));
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

/* --- NVML --- */

/* The counter that the driver of NVIDIA's GPUs keeps, from Volta on (nvmlDeviceGetTotalEnergyConsumption:
 * milli-joules since the driver was loaded). The library comes with the driver and is loaded when it is needed. */
#define NVML_LIBRARY "libnvidia-ml.so.1"
#define J_PER_MJ 1e-3

typedef struct nvml {
  void *library, *device;
  bool initialised;
  unsigned long long first_mJ;
  int (*init)(void);
  int (*shutdown)(void);
  int (*by_uuid)(const char *uuid, void **device);
  int (*by_pci)(const char *address, void **device);
  int (*energy)(void *device, unsigned long long *mJ);
  const char *(*text)(int status);
} nvml;

static int load_nvml(nvml *n, const clt_device_info *device, clt_error *error) {
  const char *chosen = getenv("CLATUNE_NVML"), *name = chosen && chosen[0] ? chosen : NVML_LIBRARY;
  const struct {
    const char *name;
    void *slot;
  } table[] = {{"nvmlInit_v2", &n->init},
               {"nvmlShutdown", &n->shutdown},
               {"nvmlDeviceGetHandleByUUID", &n->by_uuid},
               {"nvmlDeviceGetHandleByPciBusId_v2", &n->by_pci},
               {"nvmlDeviceGetTotalEnergyConsumption", &n->energy},
               {"nvmlErrorString", &n->text}};
  n->library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (n->library == NULL) {
    return refuse_device(error, device,
                         "%s; NVML comes with the driver of NVIDIA, install it or choose another objective", dlerror());
  }
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    void *symbol = dlsym(n->library, table[i].name);
    if (symbol == NULL) {
      return refuse_device(error, device, "\'%s\' lacks %s; update the driver or choose another objective", name,
                           table[i].name);
    }
    memcpy(table[i].slot, &symbol, sizeof symbol);
  }
  return CLT_OK;
}

static int open_nvml(void **state, const clt_device_info *device, clt_error *error) {
  nvml *n = calloc(1, sizeof *n);
  if (n == NULL) return clt_fail_memory(error);
  *state = n;
  int rc = load_nvml(n, device, error);
  if (rc) return rc;
  int status = n->init();
  if (status) return refuse_device(error, device, "NVML does not start: %s; choose another objective", n->text(status));
  n->initialised = true;

  /* "GPU-01234567-89ab-cdef-0123-456789abcdef" */
  char uuid[48];
  const char *u = device->uuid;
  status = -1;
  if (strlen(u) == 32) {
    snprintf(uuid, sizeof uuid, "GPU-%.8s-%.4s-%.4s-%.4s-%.12s", u, u + 8, u + 12, u + 16, u + 20);
    status = n->by_uuid(uuid, &n->device);
  }
  if (status && device->pci_address[0]) status = n->by_pci(device->pci_address, &n->device);
  if (status)
    return refuse_device(error, device, "NVML knows no GPU with its UUID or PCI address (%s); choose another objective",
                         status > 0 ? n->text(status) : "OpenCL tells neither");

  status = n->energy(n->device, &n->first_mJ);
  if (status == 0) return CLT_OK;
  return refuse_device(error, device, "NVML gives no energy of it: %s; choose another objective", n->text(status));
}

static int read_nvml(void *state, double *energy_J, clt_error *error) {
  nvml *n = state;
  unsigned long long now_mJ = 0;
  int status = n->energy(n->device, &now_mJ);
  if (status || now_mJ < n->first_mJ)
    return clt_fail(error, CLT_E_IO, "NVML no longer gives the energy: %s",
                    status ? n->text(status) : "its counter began anew");
  *energy_J = (double)(now_mJ - n->first_mJ) * J_PER_MJ;
  return CLT_OK;
}

static void close_nvml(void *state) {
  nvml *n = state;
  if (n == NULL) return;
  if (n->initialised) n->shutdown();
  if (n->library) dlclose(n->library);
  free(n);
}

/* --- meters --- */

struct clt_energy_meter {
  const energy_kind *kind;
  void *state;
};

int clt_energy_open(clt_energy_meter **out, const clt_device_info *device, clt_error *error) {
  static const energy_kind powercap_kind = {open_powercap, read_powercap, close_powercap};
  static const energy_kind nvml_kind = {open_nvml, read_nvml, close_nvml};
  const energy_kind *kind = device->type == CLT_DEVICE_CPU                 ? &powercap_kind
                            : strcasestr(device->vendor, "nvidia") != NULL ? &nvml_kind
                                                                           : NULL;
  if (kind == NULL)
    return refuse_device(error, device,
                         "only CPUs (Linux powercap) and GPUs of NVIDIA (NVML) are counted; choose another objective");
  clt_energy_meter *meter = calloc(1, sizeof *meter);
  if (meter == NULL) return clt_fail_memory(error);
  meter->kind = kind;
  int rc = kind->open(&meter->state, device, error);
  if (rc) {
    clt_energy_close(meter);
  } else {
    *out = meter;
  }
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
  meter->kind->close(meter->state);
  free(meter);
}

int clt_energy_read(clt_energy_meter *meter, double *energy_J, clt_error *error) {
  return meter->kind->read(meter->state, energy_J, error);
}
