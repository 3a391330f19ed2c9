#include "device/device.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NVML_LIBRARY "libnvidia-ml.so.1"
#define WHY_BYTES 400

bool clt_nvml_open(clt_nvml *m, const clt_device_info *device, char why[WHY_BYTES]) {
  const char *chosen = getenv("CLATUNE_NVML"), *name = chosen && chosen[0] ? chosen : NVML_LIBRARY;
  const struct {
    const char *name;
    void *slot;
    bool optional;
  } table[] = {{"nvmlInit_v2", &m->init},
               {"nvmlShutdown", &m->shutdown},
               {"nvmlDeviceGetHandleByUUID", &m->by_uuid},
               {"nvmlDeviceGetHandleByPciBusId_v2", &m->by_pci},
               {"nvmlDeviceGetTotalEnergyConsumption", &m->energy},
               {"nvmlErrorString", &m->text},
               {"nvmlDeviceGetClockInfo", &m->clock, true}};
  *m = (clt_nvml){.library = dlopen(name, RTLD_NOW | RTLD_LOCAL)};
  if (m->library == NULL) {
    snprintf(why, WHY_BYTES, "%s; install NVIDIA's driver, which contains NVML, or choose another objective",
             dlerror());
    return false;
  }
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    void *symbol = dlsym(m->library, table[i].name);
    memcpy(table[i].slot, &symbol, sizeof symbol);
    if (symbol || table[i].optional) continue;
    snprintf(why, WHY_BYTES, "'%s' lacks %s; update the driver or choose another objective", name, table[i].name);
    return false;
  }
  int status = m->init();
  m->initialised = status == 0;
  if (status) {
    snprintf(why, WHY_BYTES, "NVML cannot be initialised: %s; choose another objective", m->text(status));
    return false;
  }
  status = -1;
  const char *u = device->uuid;
  if (strlen(u) == 32) {
    char uuid[48]; /* "GPU-01234567-89ab-cdef-0123-456789abcdef" */
    snprintf(uuid, sizeof uuid, "GPU-%.8s-%.4s-%.4s-%.4s-%.12s", u, u + 8, u + 12, u + 16, u + 20);
    status = m->by_uuid(uuid, &m->gpu);
  }
  if (status && device->pci_address[0]) status = m->by_pci(device->pci_address, &m->gpu);
  if (status == 0) return true;
  snprintf(why, WHY_BYTES, "NVML knows no GPU with this UUID or PCI address (%s); choose another objective",
           status > 0 ? m->text(status) : "OpenCL reports neither");
  return false;
}

void clt_nvml_close(clt_nvml *nvml) {
  if (nvml->initialised) nvml->shutdown();
  if (nvml->library) dlclose(nvml->library);
  *nvml = (clt_nvml){0};
}
