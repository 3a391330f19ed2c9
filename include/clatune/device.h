/* clatune/device.h - properties of an OpenCL device, as plain data without OpenCL types. */
#ifndef CLATUNE_DEVICE_H
#define CLATUNE_DEVICE_H

#include <clatune/error.h>
#include <clatune/value.h>

CLT_BEGIN_C

typedef enum clt_device_type {
  CLT_DEVICE_CPU,
  CLT_DEVICE_GPU,
  CLT_DEVICE_ACCELERATOR,
  CLT_DEVICE_OTHER
} clt_device_type;

/* Identity, limits and properties (docs/reference/devices.md). Unknown strings are empty, unknown numbers 0. */
typedef struct clt_device_info {
  int platform_index, device_index; /* the two numbers of --device P:D */
  char platform_name[128];
  char platform_vendor[128];
  char platform_version[128];
  char icd_suffix[32]; /* "POCL", "INTEL", "MESA", "NV" */
  char name[256];
  char vendor[128];
  char device_version[128];
  char driver_version[128];
  char opencl_c_version[64];
  char uuid[40];        /* lower-case hex, if the driver has cl_khr_device_uuid */
  char pci_address[32]; /* "0000:3b:00.0" */
  char extensions[8192];
  clt_device_type type;
  bool available, images, little_endian;
  uint32_t compute_units;
  uint32_t clock_mhz;
  uint32_t address_bits;
  uint64_t max_work_group_size;
  uint64_t max_work_item_sizes[3];
  uint64_t local_memory_bytes;
  bool local_memory_dedicated;
  uint64_t global_memory_bytes;
  uint64_t global_cache_bytes;
  uint64_t max_allocation_bytes;
  uint64_t max_constant_bytes;
  uint64_t max_parameter_bytes;
  uint64_t image1d_buffer_max_width; /* elements of an image made from a buffer */
  uint64_t image2d_max_width, image2d_max_height;
  uint64_t image3d_max_width, image3d_max_height, image3d_max_depth;
  uint64_t base_address_align_bits;
  uint64_t preferred_vector_width_float;
  uint64_t warp_size;                     /* NVIDIA's warp or AMD's wavefront; 0: unknown */
  uint64_t preferred_work_group_multiple; /* OpenCL 3.0; 0: unknown */
  char sub_group_sizes[64];               /* sizes that a kernel may require (Intel's extension): "8 16 32" */
  double timer_resolution_s;
} clt_device_info;

/* The key of the device in the store: "platform|name|compute units", or the name alone if nothing else is known, as for
 * a device in a recording of another tuner. Returns the length that the whole text needs, as snprintf does. */
int clt_device_key(char *out, size_t capacity, const clt_device_info *device);

/* Lists all devices. A worker process queries them; the caller's process makes no OpenCL call. Free *out with free().
 * CLT_E_WORKER: the worker cannot be started or does not answer within a minute. */
int clt_devices(clt_device_info **out, size_t *n, clt_error *error);

struct _cl_device_id; /* cl_device_id is a pointer to it */

/* The properties of the caller's device, queried in the caller's process. CLT_E_DEVICE: it is not a root device of a
 * platform; for a sub-device, pass its CL_DEVICE_PARENT_DEVICE. */
int clt_device_describe(clt_device_info *out, struct _cl_device_id *device, clt_error *error);

/* Selects one of n devices by a text, as --device does: "P:D", UUID, type ("cpu", "gpu", "accelerator"), ICD suffix,
 * a whole device name, platform name, vendor or device name. These are tried in this order, ignoring case, and parts of
 * the last three match; the first of them that matches a device decides. NULL or "" matches every device. *index is the
 * position in devices. CLT_E_DEVICE: no device matches. CLT_E_AMBIGUOUS: several do. Both messages list the candidates.
 */
int clt_device_select(size_t *index, const clt_device_info *devices, size_t n, const char *text, clt_error *error);

CLT_END_C
#endif
