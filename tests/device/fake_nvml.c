/* The entry points of NVML that clatune uses, for one GPU. FAKE_NVML_COUNTER names a file with its micro-joules;
 * FAKE_NVML_UUID and FAKE_NVML_PCI are its names (not set: none); FAKE_NVML_STATUS, a number, is the result of asking
 * for its energy. FAKE_NVML_MHZ is its clock (not set: not supported). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SUCCESS = 0, UNINITIALISED = 1, NOT_SUPPORTED = 3, NOT_FOUND = 6 };

static int n_open;

int nvmlInit_v2(void) {
  n_open++;
  return SUCCESS;
}

int nvmlShutdown(void) { return n_open-- > 0 ? SUCCESS : UNINITIALISED; }

static int find(const char *variable, const char *name, void **device) {
  const char *own = getenv(variable);
  if (n_open == 0) return UNINITIALISED;
  if (own == NULL || strcmp(own, name) != 0) return NOT_FOUND;
  *device = &n_open;
  return SUCCESS;
}

int nvmlDeviceGetHandleByUUID(const char *uuid, void **device) { return find("FAKE_NVML_UUID", uuid, device); }

int nvmlDeviceGetHandleByPciBusId_v2(const char *address, void **device) {
  return find("FAKE_NVML_PCI", address, device);
}

int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *energy_mJ) {
  const char *status = getenv("FAKE_NVML_STATUS"), *path = getenv("FAKE_NVML_COUNTER");
  FILE *file = device == &n_open && path ? fopen(path, "r") : NULL;
  unsigned long long uj = 0;
  if (status) return file ? (void)fclose(file) : (void)0, (int)strtol(status, NULL, 10);
  if (file == NULL) return NOT_FOUND;
  int n = fscanf(file, "%llu", &uj);
  fclose(file);
  *energy_mJ = uj / 1000;
  return n == 1 ? SUCCESS : NOT_FOUND;
}

int nvmlDeviceGetClockInfo(void *device, int kind, unsigned *mhz) {
  const char *text = getenv("FAKE_NVML_MHZ");
  if (device != &n_open || kind != 1) return NOT_FOUND;
  if (text == NULL) return NOT_SUPPORTED;
  *mhz = (unsigned)strtoul(text, NULL, 10);
  return SUCCESS;
}

const char *nvmlErrorString(int status) {
  return status == NOT_SUPPORTED ? "Not Supported" : status == NOT_FOUND ? "Not Found" : "Unknown Error";
}
