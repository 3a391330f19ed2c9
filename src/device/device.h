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

#endif
