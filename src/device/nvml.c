/* NVML: the counter that the driver of NVIDIA's GPUs keeps, from Volta on (nvmlDeviceGetTotalEnergyConsumption:
 * milli-joules since the driver was loaded). The library comes with the driver and is loaded when it is needed. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "device/energy.h"

#define LIBRARY "libnvidia-ml.so.1"
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

static int load(nvml *n, const clt_device_info *device, clt_error *error) {
  const char *chosen = getenv("CLATUNE_NVML"), *name = chosen && chosen[0] ? chosen : LIBRARY;
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
    clt_energy_unsupported(
        error, device, "%s; NVML comes with the driver of NVIDIA, install it or choose another objective", dlerror());
    return CLT_E_UNSUPPORTED;
  }
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    void *symbol = dlsym(n->library, table[i].name);
    if (symbol == NULL) {
      clt_energy_unsupported(error, device, "'%s' lacks %s; update the driver or choose another objective", name,
                             table[i].name);
      return CLT_E_UNSUPPORTED;
    }
    memcpy(table[i].slot, &symbol, sizeof symbol);
  }
  return CLT_OK;
}

/* "GPU-01234567-89ab-cdef-0123-456789abcdef" */
static bool uuid_of(char out[48], const clt_device_info *device) {
  const char *u = device->uuid;
  if (strlen(u) != 32) return false;
  snprintf(out, 48, "GPU-%.8s-%.4s-%.4s-%.4s-%.12s", u, u + 8, u + 12, u + 16, u + 20);
  return true;
}

static int find(nvml *n, const clt_device_info *device, clt_error *error) {
  char uuid[48];
  int status = -1;
  if (uuid_of(uuid, device)) status = n->by_uuid(uuid, &n->device);
  if (status && device->pci_address[0]) status = n->by_pci(device->pci_address, &n->device);
  if (status == 0) return CLT_OK;
  return clt_energy_unsupported(error, device,
                                "NVML knows no GPU with its UUID or PCI address (%s); choose another objective",
                                status > 0 ? n->text(status) : "OpenCL tells neither");
}

static int open_nvml(void **state, const clt_device_info *device, clt_error *error) {
  nvml *n = calloc(1, sizeof *n);
  if (n == NULL) return clt_fail_memory(error);
  *state = n;
  int rc = load(n, device, error);
  if (rc) return rc;
  int status = n->init();
  if (status)
    return clt_energy_unsupported(error, device, "NVML does not start: %s; choose another objective", n->text(status));
  n->initialised = true;
  rc = find(n, device, error);
  if (rc) return rc;
  status = n->energy(n->device, &n->first_mJ);
  if (status == 0) return CLT_OK;
  return clt_energy_unsupported(error, device, "NVML gives no energy of it: %s; choose another objective",
                                n->text(status));
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

const clt_energy_kind clt_energy_nvml = {open_nvml, read_nvml, close_nvml};
