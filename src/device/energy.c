#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/fail.h"
#include "device/energy.h"

struct clt_energy_meter {
  const clt_energy_kind *kind;
  void *state;
};

int clt_energy_unsupported(clt_error *error, const clt_device_info *device, const char *format, ...) {
  char why[400];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(why, sizeof why, format, arguments);
  va_end(arguments);
  return clt_fail(error, CLT_E_UNSUPPORTED, "the energy of '%.100s' cannot be measured: %s", device->name, why);
}

static const clt_energy_kind *kind_of(const clt_device_info *device) {
  if (device->type == CLT_DEVICE_CPU) return &clt_energy_powercap;
  return strcasestr(device->vendor, "nvidia") ? &clt_energy_nvml : NULL;
}

int clt_energy_open(clt_energy_meter **out, const clt_device_info *device, clt_error *error) {
  const clt_energy_kind *kind = kind_of(device);
  if (kind == NULL)
    return clt_energy_unsupported(
        error, device, "only CPUs (Linux powercap) and GPUs of NVIDIA (NVML) are counted; choose another objective");
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
