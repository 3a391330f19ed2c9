/* device/nvml.h - NVIDIA's management library, which comes with the driver and is loaded when it is needed. */
#ifndef CLT_DEVICE_NVML_H
#define CLT_DEVICE_NVML_H

#include "device/device.h"

typedef struct clt_nvml {
  void *library, *gpu; /* library NULL: not open */
  bool initialised;
  int (*init)(void);
  int (*shutdown)(void);
  int (*by_uuid)(const char *uuid, void **gpu);
  int (*by_pci)(const char *address, void **gpu);
  const char *(*text)(int status);
  /* nvmlDeviceGetTotalEnergyConsumption: millijoules since the driver was loaded, from Volta on. */
  int (*energy)(void *gpu, unsigned long long *mJ);
  int (*clock)(void *gpu, int kind, unsigned *mhz); /* nvmlDeviceGetClockInfo; NULL: the library lacks it */
} clt_nvml;

#define CLT_NVML_CLOCK_SM 1

/* Opens the library (CLATUNE_NVML names another) and finds the GPU by its UUID or PCI address. false: `why` says why
 * not. Close it in either case. */
bool clt_nvml_open(clt_nvml *out, const clt_device_info *device, char why[400]);
void clt_nvml_close(clt_nvml *nvml);

#endif
