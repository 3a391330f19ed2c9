#include "opencl/devices.h"

#include <CL/cl_ext.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "opencl/executor.h"

/* Queries of vendors, by number: headers of all ages should do. */
enum {
  PLATFORM_ICD_SUFFIX = 0x0920,
  DEVICE_PREFERRED_MULTIPLE = 0x1067,
  DEVICE_UUID = 0x106A,
  DEVICE_PCI_BUS_INFO = 0x410F,
  NV_WARP_SIZE = 0x4003,
  NV_PCI_BUS_ID = 0x4008,
  NV_PCI_SLOT_ID = 0x4009,
  NV_PCI_DOMAIN_ID = 0x400A,
  AMD_WAVEFRONT_WIDTH = 0x4043,
  INTEL_SUB_GROUP_SIZES = 0x4108
};

/* Cuts off white space at both ends, and the broken last word of a list that did not fit. */
static void copy_text(char *out, size_t capacity, char *text) {
  while (isspace((unsigned char)*text)) text++;
  size_t n = strlen(text);
  if (n >= capacity) {
    n = capacity - 1;
    for (size_t i = n; i > 0 && capacity > 1024; i--)
      if (text[i] == ' ') {
        n = i;
        break;
      }
  }
  while (n > 0 && isspace((unsigned char)text[n - 1])) n--;
  memcpy(out, text, n);
  out[n] = 0;
}

static void device_text(char *out, size_t capacity, cl_device_id device, cl_device_info what) {
  size_t n = 0;
  if (clGetDeviceInfo(device, what, 0, NULL, &n) != CL_SUCCESS || n == 0) return;
  char *text = clt_new_array(n + 1, 1);
  if (text && clGetDeviceInfo(device, what, n, text, NULL) == CL_SUCCESS) copy_text(out, capacity, text);
  free(text);
}

static void platform_text(char *out, size_t capacity, cl_platform_id platform, cl_platform_info what) {
  size_t n = 0;
  if (clGetPlatformInfo(platform, what, 0, NULL, &n) != CL_SUCCESS || n == 0) return;
  char *text = clt_new_array(n + 1, 1);
  if (text && clGetPlatformInfo(platform, what, n, text, NULL) == CL_SUCCESS) copy_text(out, capacity, text);
  free(text);
}

/* A number of 4 or 8 bytes, whichever the driver gives; 0 where it gives none. */
static uint64_t device_number(cl_device_id device, cl_device_info what) {
  unsigned char bytes[8];
  size_t n = 0;
  uint32_t narrow;
  uint64_t wide;
  if (clGetDeviceInfo(device, what, sizeof bytes, bytes, &n) != CL_SUCCESS) return 0;
  if (n == sizeof narrow) {
    memcpy(&narrow, bytes, sizeof narrow);
    return narrow;
  }
  if (n != sizeof wide) return 0;
  memcpy(&wide, bytes, sizeof wide);
  return wide;
}

static bool has_extension(const clt_device_info *info, const char *name) {
  size_t n = strlen(name);
  for (const char *at = strstr(info->extensions, name); at; at = strstr(at + 1, name))
    if ((at == info->extensions || at[-1] == ' ') && (at[n] == ' ' || at[n] == 0)) return true;
  return false;
}

static void describe_uuid(clt_device_info *out, cl_device_id device) {
  unsigned char uuid[16];
  if (!has_extension(out, "cl_khr_device_uuid")) return;
  if (clGetDeviceInfo(device, DEVICE_UUID, sizeof uuid, uuid, NULL) != CL_SUCCESS) return;
  for (int i = 0; i < 16; i++) snprintf(out->uuid + 2 * i, 3, "%02x", uuid[i]);
}

static void describe_pci(clt_device_info *out, cl_device_id device) {
  uint32_t pci[4]; /* domain, bus, device, function */
  if (has_extension(out, "cl_khr_pci_bus_info")) {
    if (clGetDeviceInfo(device, DEVICE_PCI_BUS_INFO, sizeof pci, pci, NULL) != CL_SUCCESS) return;
  } else if (has_extension(out, "cl_nv_device_attribute_query")) {
    uint32_t slot = (uint32_t)device_number(device, NV_PCI_SLOT_ID);
    pci[0] = (uint32_t)device_number(device, NV_PCI_DOMAIN_ID);
    pci[1] = (uint32_t)device_number(device, NV_PCI_BUS_ID);
    pci[2] = slot >> 3;
    pci[3] = slot & 7;
  } else {
    return;
  }
  snprintf(out->pci_address, sizeof out->pci_address, "%04x:%02x:%02x.%x", pci[0], pci[1], pci[2], pci[3]);
}

static void describe_identity(clt_device_info *out, cl_device_id device) {
  device_text(out->name, sizeof out->name, device, CL_DEVICE_NAME);
  device_text(out->vendor, sizeof out->vendor, device, CL_DEVICE_VENDOR);
  device_text(out->device_version, sizeof out->device_version, device, CL_DEVICE_VERSION);
  device_text(out->driver_version, sizeof out->driver_version, device, CL_DRIVER_VERSION);
  device_text(out->opencl_c_version, sizeof out->opencl_c_version, device, CL_DEVICE_OPENCL_C_VERSION);
  device_text(out->extensions, sizeof out->extensions, device, CL_DEVICE_EXTENSIONS);
  describe_uuid(out, device);
  describe_pci(out, device);
  uint64_t type = device_number(device, CL_DEVICE_TYPE);
  out->type = type & CL_DEVICE_TYPE_GPU           ? CLT_DEVICE_GPU
              : type & CL_DEVICE_TYPE_CPU         ? CLT_DEVICE_CPU
              : type & CL_DEVICE_TYPE_ACCELERATOR ? CLT_DEVICE_ACCELERATOR
                                                  : CLT_DEVICE_OTHER;
}

static void describe_platform(clt_device_info *out, cl_device_id device) {
  cl_platform_id platform;
  if (clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL) != CL_SUCCESS) return;
  platform_text(out->platform_name, sizeof out->platform_name, platform, CL_PLATFORM_NAME);
  platform_text(out->platform_vendor, sizeof out->platform_vendor, platform, CL_PLATFORM_VENDOR);
  platform_text(out->platform_version, sizeof out->platform_version, platform, CL_PLATFORM_VERSION);
  platform_text(out->icd_suffix, sizeof out->icd_suffix, platform, PLATFORM_ICD_SUFFIX);
}

static void describe_images(clt_device_info *out, cl_device_id device) {
  out->images = device_number(device, CL_DEVICE_IMAGE_SUPPORT) != 0;
  if (!out->images) return;
  out->image1d_buffer_max_width = device_number(device, CL_DEVICE_IMAGE_MAX_BUFFER_SIZE);
  out->image2d_max_width = device_number(device, CL_DEVICE_IMAGE2D_MAX_WIDTH);
  out->image2d_max_height = device_number(device, CL_DEVICE_IMAGE2D_MAX_HEIGHT);
  out->image3d_max_width = device_number(device, CL_DEVICE_IMAGE3D_MAX_WIDTH);
  out->image3d_max_height = device_number(device, CL_DEVICE_IMAGE3D_MAX_HEIGHT);
  out->image3d_max_depth = device_number(device, CL_DEVICE_IMAGE3D_MAX_DEPTH);
}

static void describe_memory(clt_device_info *out, cl_device_id device) {
  out->local_memory_bytes = device_number(device, CL_DEVICE_LOCAL_MEM_SIZE);
  out->local_memory_dedicated = device_number(device, CL_DEVICE_LOCAL_MEM_TYPE) == CL_LOCAL;
  out->global_memory_bytes = device_number(device, CL_DEVICE_GLOBAL_MEM_SIZE);
  out->global_cache_bytes = device_number(device, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE);
  out->max_allocation_bytes = device_number(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
  out->max_constant_bytes = device_number(device, CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE);
  out->max_parameter_bytes = device_number(device, CL_DEVICE_MAX_PARAMETER_SIZE);
  out->base_address_align_bits = device_number(device, CL_DEVICE_MEM_BASE_ADDR_ALIGN);
}

static void describe_sub_groups(clt_device_info *out, cl_device_id device) {
  size_t sizes[16], bytes = 0, used = 0;
  out->preferred_work_group_multiple = device_number(device, DEVICE_PREFERRED_MULTIPLE);
  if (has_extension(out, "cl_nv_device_attribute_query")) out->warp_size = device_number(device, NV_WARP_SIZE);
  if (has_extension(out, "cl_amd_device_attribute_query")) out->warp_size = device_number(device, AMD_WAVEFRONT_WIDTH);
  if (!has_extension(out, "cl_intel_required_subgroup_size")) return;
  if (clGetDeviceInfo(device, INTEL_SUB_GROUP_SIZES, sizeof sizes, sizes, &bytes) != CL_SUCCESS) return;
  for (size_t i = 0; i < bytes / sizeof *sizes && i < 16 && used < sizeof out->sub_group_sizes; i++)
    used += (size_t)snprintf(out->sub_group_sizes + used, sizeof out->sub_group_sizes - used, "%s%zu", i ? " " : "",
                             sizes[i]);
}

static void describe_work(clt_device_info *out, cl_device_id device) {
  out->compute_units = (uint32_t)device_number(device, CL_DEVICE_MAX_COMPUTE_UNITS);
  out->clock_mhz = (uint32_t)device_number(device, CL_DEVICE_MAX_CLOCK_FREQUENCY);
  out->address_bits = (uint32_t)device_number(device, CL_DEVICE_ADDRESS_BITS);
  out->max_work_group_size = device_number(device, CL_DEVICE_MAX_WORK_GROUP_SIZE);
  size_t sizes[16] = {0};
  if (clGetDeviceInfo(device, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof sizes, sizes, NULL) == CL_SUCCESS)
    for (int d = 0; d < 3; d++) out->max_work_item_sizes[d] = sizes[d];
  out->preferred_vector_width_float = device_number(device, CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT);
}

void clt_cl_describe(clt_device_info *out, cl_device_id device) {
  memset(out, 0, sizeof *out);
  describe_platform(out, device);
  describe_identity(out, device);
  describe_images(out, device);
  describe_memory(out, device);
  describe_work(out, device);
  describe_sub_groups(out, device);
  out->available = device_number(device, CL_DEVICE_AVAILABLE) && device_number(device, CL_DEVICE_COMPILER_AVAILABLE);
  out->little_endian = device_number(device, CL_DEVICE_ENDIAN_LITTLE) != 0;
  out->timer_resolution_s = 1e-9 * (double)device_number(device, CL_DEVICE_PROFILING_TIMER_RESOLUTION);
}

int clt_cl_platforms(cl_platform_id **out, cl_uint *n, clt_error *error) {
  cl_uint found = 0;
  if (clGetPlatformIDs(0, NULL, &found) != CL_SUCCESS) found = 0; /* the loader's way of saying that there is none */
  cl_platform_id *platforms = clt_new_array(found, sizeof *platforms);
  if (platforms == NULL) return clt_fail_memory(error);
  if (found && clGetPlatformIDs(found, platforms, NULL) != CL_SUCCESS) found = 0;
  *out = platforms;
  *n = found;
  return CLT_OK;
}

int clt_cl_platform_devices(cl_device_id **out, cl_uint *n, cl_platform_id platform, clt_error *error) {
  cl_uint found = 0;
  if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, NULL, &found) != CL_SUCCESS) found = 0;
  cl_device_id *devices = clt_new_array(found, sizeof *devices);
  if (devices == NULL) return clt_fail_memory(error);
  if (found && clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, found, devices, NULL) != CL_SUCCESS) found = 0;
  *out = devices;
  *n = found;
  return CLT_OK;
}

typedef struct device_list {
  clt_device_info *items;
  size_t n, capacity;
} device_list;

static int append_platform(device_list *list, cl_platform_id platform, int index, clt_error *error) {
  cl_device_id *devices = NULL;
  cl_uint n = 0;
  int rc = clt_cl_platform_devices(&devices, &n, platform, error);
  if (rc) return rc;
  rc = clt_grow(&list->items, &list->capacity, list->n + n, sizeof *list->items);
  if (rc) {
    clt_fail_memory(error);
    n = 0;
  }
  for (cl_uint i = 0; i < n; i++) {
    clt_device_info *info = &list->items[list->n++];
    clt_cl_describe(info, devices[i]);
    info->platform_index = index;
    info->device_index = (int)i;
  }
  free(devices);
  return rc;
}

int clt_opencl_devices(clt_device_info **out, size_t *n, clt_error *error) {
  device_list list = {0};
  cl_platform_id *platforms = NULL;
  cl_uint n_platforms = 0;
  int rc = clt_cl_platforms(&platforms, &n_platforms, error);
  for (cl_uint i = 0; rc == 0 && i < n_platforms; i++) rc = append_platform(&list, platforms[i], (int)i, error);
  free(platforms);
  if (rc == 0 && list.items == NULL && (list.items = clt_new_array(0, sizeof *list.items)) == NULL)
    rc = clt_fail_memory(error);
  if (rc) {
    free(list.items);
    return rc;
  }
  *out = list.items;
  *n = list.n;
  return CLT_OK;
}
