/* device/device.h - what the library itself asks of devices, beyond clatune/device.h. */
#ifndef CLT_DEVICE_DEVICE_H
#define CLT_DEVICE_DEVICE_H

#include <clatune/device.h>

/* The key of the physical device, for its lock: "cpu", "gpu-<uuid>", "gpu-<pci address>" or a form of the name. Returns
 * the length needed. */
int clt_device_lock_key(const clt_device_info *device, char *out, size_t capacity);

/* The machine that this runs on, for programs that need no OpenCL device: platform "host", the processor's name, its
 * logical processors as compute units, the operating system as driver. */
void clt_device_host(clt_device_info *out);

/* Properties by the names that expressions use, such as "device.local_memory_bytes", "device.max_work_group_size",
 * "device.extensions" (a string: "'cl_khr_fp64' in device.extensions"), "device.images", "device.type" ("cpu") ...
 * The whole list is in docs/devices.md. The text of string values is borrowed from device. */
size_t clt_device_n_properties(void);
const char *clt_device_property_name(size_t index);
clt_value clt_device_property(const clt_device_info *device, size_t index);

/* The form in which devices travel between processes and in --json. *out is malloc'ed and owned by the caller. */
int clt_device_to_json(char **out, const clt_device_info *device, clt_error *error);
int clt_device_from_json(clt_device_info *out, const char *json, clt_error *error);

/* --- energy.c: how much energy a device has taken so far, where the system counts it (docs/objectives.md#energy).
 *
 * A CPU is counted by Linux powercap (package and memory domains of all sockets: whatever else runs there is counted
 * too), an NVIDIA GPU by NVML. Nothing is subtracted for idling. --- */
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
