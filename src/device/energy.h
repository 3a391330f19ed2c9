/* device/energy.h - how much energy a device has taken so far, where the system counts it (docs/objectives.md#energy).
 *
 * A CPU is counted by Linux powercap (package and memory domains of all sockets: whatever else runs there is counted
 * too), an NVIDIA GPU by NVML. Nothing is subtracted for idling. */
#ifndef CLT_DEVICE_ENERGY_H
#define CLT_DEVICE_ENERGY_H

#include <clatune/device.h>

typedef struct clt_energy_meter clt_energy_meter;

/* Opens the device's counter. CLT_E_UNSUPPORTED where it has none or nobody may read it: the message says which and
 * what to do. CLATUNE_POWERCAP and CLATUNE_NVML (docs/environment.md) say where else than usual to look. */
int clt_energy_open(clt_energy_meter **out, const clt_device_info *device, clt_error *error);
void clt_energy_close(clt_energy_meter *meter);

/* Whether it can be opened, without keeping it. */
int clt_energy_check(const clt_device_info *device, clt_error *error);

/* Joules since the meter was opened; never falls, as long as it is asked once before a counter has run through its
 * range (minutes at the least). CLT_E_IO where the counter can no longer be read. */
int clt_energy_read(clt_energy_meter *meter, double *energy_J, clt_error *error);

#endif
