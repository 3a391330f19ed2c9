/* Describes OpenCL platforms, devices and kernels as plain data. */
#include <CL/cl_ext.h>
#include <ctype.h>

#include "base/base.h"
#include "opencl/internal.h"

/* Vendor queries, defined here because older headers lack them. */
enum {
  PLATFORM_ICD_SUFFIX = 0x0920,
  DEVICE_PREFERRED_MULTIPLE = 0x1067,
  DEVICE_UUID = 0x106A,
  DEVICE_PCI_BUS_INFO = 0x410F,
  NV_WARP_SIZE = 0x4003,
  NV_PCI_BUS_ID = 0x4008,
  NV_PCI_SLOT_ID = 0x4009,
  NV_PCI_DOMAIN_ID = 0x400A,
  AMD_TOPOLOGY = 0x4037,
  AMD_WAVEFRONT_WIDTH = 0x4043,
  INTEL_SUB_GROUP_SIZES = 0x4108
};

/* Reads a text of a device or a platform, without white space at both ends. If a list does not fit, it ends before
 * the word that is cut. */
static void read_text(char *out, size_t capacity, cl_device_id device, cl_platform_id platform, cl_uint what) {
  char *text = NULL;
  size_t n = 0;
  cl_int status =
      platform ? clGetPlatformInfo(platform, what, 0, NULL, &n) : clGetDeviceInfo(device, what, 0, NULL, &n);
  if (status == CL_SUCCESS && n && (text = clt_new_array(n + 1, 1)) != NULL)
    status = platform ? clGetPlatformInfo(platform, what, n, text, NULL) : clGetDeviceInfo(device, what, n, text, NULL);
  if (text && status == CL_SUCCESS) {
    const char *begin = text + strspn(text, " \t\n\v\f\r");
    n = strnlen(begin, capacity - 1);
    while (begin[n] && n > 0 && begin[n] != ' ' && capacity > 1024) n--;
    while (n > 0 && isspace((unsigned char)begin[n - 1])) n--;
    memcpy(out, begin, n);
    out[n] = 0;
  }
  free(text);
}

/* A number of 4 or 8 bytes, depending on the driver; 0 if the query fails. */
static uint64_t device_number(cl_device_id device, cl_device_info what) {
  size_t n = 0;
  union {
    uint32_t narrow;
    uint64_t wide;
  } value;
  if (clGetDeviceInfo(device, what, sizeof value, &value, &n) != CL_SUCCESS) return 0;
  if (n == sizeof value.narrow) return value.narrow;
  return n == sizeof value.wide ? value.wide : 0;
}

bool clt_cl_has_extension(const clt_device_info *info, const char *name) {
  size_t n = strlen(name);
  for (const char *at = strstr(info->extensions, name); at; at = strstr(at + 1, name))
    if ((at == info->extensions || at[-1] == ' ') && (at[n] == ' ' || at[n] == 0)) return true;
  return false;
}

bool clt_cl_is_nvidia(const clt_device_info *device) { return clt_cl_has_extension(device, "cl_nv_compiler_options"); }

/* The device's UUID and PCI address, if an extension provides them. */
static void describe_hardware(clt_device_info *out, cl_device_id device) {
  unsigned char uuid[16];
  uint32_t pci[4];            /* domain, bus, device, function */
  unsigned char topology[24]; /* the last three bytes are bus, device and function */
  if (clt_cl_has_extension(out, "cl_khr_device_uuid") &&
      clGetDeviceInfo(device, DEVICE_UUID, sizeof uuid, uuid, NULL) == CL_SUCCESS)
    for (int i = 0; i < 16; i++) snprintf(out->uuid + 2 * i, 3, "%02x", uuid[i]);
  if (clt_cl_has_extension(out, "cl_khr_pci_bus_info")) {
    if (clGetDeviceInfo(device, DEVICE_PCI_BUS_INFO, sizeof pci, pci, NULL) != CL_SUCCESS) return;
  } else if (clt_cl_has_extension(out, "cl_nv_device_attribute_query")) {
    uint32_t slot = (uint32_t)device_number(device, NV_PCI_SLOT_ID);
    pci[0] = (uint32_t)device_number(device, NV_PCI_DOMAIN_ID);
    pci[1] = (uint32_t)device_number(device, NV_PCI_BUS_ID);
    pci[2] = slot >> 3;
    pci[3] = slot & 7;
  } else if (clt_cl_has_extension(out, "cl_amd_device_attribute_query")) {
    if (clGetDeviceInfo(device, AMD_TOPOLOGY, sizeof topology, topology, NULL) != CL_SUCCESS) return;
    pci[0] = 0;
    for (int i = 1; i < 4; i++) pci[i] = topology[20 + i];
  } else {
    return;
  }
  snprintf(out->pci_address, sizeof out->pci_address, "%04x:%02x:%02x.%x", pci[0], pci[1], pci[2], pci[3]);
}

static void describe_sub_groups(clt_device_info *out, cl_device_id device) {
  size_t sizes[16], bytes = 0, used = 0;
  out->preferred_work_group_multiple = device_number(device, DEVICE_PREFERRED_MULTIPLE);
  if (clt_cl_has_extension(out, "cl_nv_device_attribute_query")) out->warp_size = device_number(device, NV_WARP_SIZE);
  if (clt_cl_has_extension(out, "cl_amd_device_attribute_query"))
    out->warp_size = device_number(device, AMD_WAVEFRONT_WIDTH);
  if (!clt_cl_has_extension(out, "cl_intel_required_subgroup_size")) return;
  if (clGetDeviceInfo(device, INTEL_SUB_GROUP_SIZES, sizeof sizes, sizes, &bytes) != CL_SUCCESS) return;
  for (size_t i = 0; i < bytes / sizeof *sizes && i < 16 && used < sizeof out->sub_group_sizes; i++)
    used += (size_t)snprintf(out->sub_group_sizes + used, sizeof out->sub_group_sizes - used, "%s%zu", i ? " " : "",
                             sizes[i]);
}

typedef struct listed_device {
  cl_device_id id;
  int platform_index, device_index;
} listed_device;

static void describe_device(clt_device_info *out, const listed_device *listed) {
#define TEXT(field, of_device, of_platform, what) read_text(out->field, sizeof out->field, of_device, of_platform, what)
  const cl_device_id device = listed->id;
  cl_platform_id platform;
  size_t sizes[16] = {0};
  *out = (clt_device_info){.platform_index = listed->platform_index, .device_index = listed->device_index};
  if (clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL) == CL_SUCCESS) {
    TEXT(platform_name, NULL, platform, CL_PLATFORM_NAME);
    TEXT(platform_vendor, NULL, platform, CL_PLATFORM_VENDOR);
    TEXT(platform_version, NULL, platform, CL_PLATFORM_VERSION);
    TEXT(icd_suffix, NULL, platform, PLATFORM_ICD_SUFFIX);
  }
  TEXT(name, device, NULL, CL_DEVICE_NAME);
  TEXT(vendor, device, NULL, CL_DEVICE_VENDOR);
  TEXT(device_version, device, NULL, CL_DEVICE_VERSION);
  TEXT(driver_version, device, NULL, CL_DRIVER_VERSION);
  TEXT(opencl_c_version, device, NULL, CL_DEVICE_OPENCL_C_VERSION);
  TEXT(extensions, device, NULL, CL_DEVICE_EXTENSIONS);
#undef TEXT
  describe_hardware(out, device);
  uint64_t type = device_number(device, CL_DEVICE_TYPE);
  out->type = CLT_DEVICE_OTHER;
  if (type & CL_DEVICE_TYPE_ACCELERATOR) out->type = CLT_DEVICE_ACCELERATOR;
  if (type & CL_DEVICE_TYPE_CPU) out->type = CLT_DEVICE_CPU;
  if (type & CL_DEVICE_TYPE_GPU) out->type = CLT_DEVICE_GPU;
  out->images = device_number(device, CL_DEVICE_IMAGE_SUPPORT) != 0;
  if (out->images) {
    out->image1d_buffer_max_width = device_number(device, CL_DEVICE_IMAGE_MAX_BUFFER_SIZE);
    out->image2d_max_width = device_number(device, CL_DEVICE_IMAGE2D_MAX_WIDTH);
    out->image2d_max_height = device_number(device, CL_DEVICE_IMAGE2D_MAX_HEIGHT);
    out->image3d_max_width = device_number(device, CL_DEVICE_IMAGE3D_MAX_WIDTH);
    out->image3d_max_height = device_number(device, CL_DEVICE_IMAGE3D_MAX_HEIGHT);
    out->image3d_max_depth = device_number(device, CL_DEVICE_IMAGE3D_MAX_DEPTH);
  }
  out->local_memory_bytes = device_number(device, CL_DEVICE_LOCAL_MEM_SIZE);
  out->local_memory_dedicated = device_number(device, CL_DEVICE_LOCAL_MEM_TYPE) == CL_LOCAL;
  out->global_memory_bytes = device_number(device, CL_DEVICE_GLOBAL_MEM_SIZE);
  out->global_cache_bytes = device_number(device, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE);
  out->max_allocation_bytes = device_number(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
  out->max_constant_bytes = device_number(device, CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE);
  out->max_parameter_bytes = device_number(device, CL_DEVICE_MAX_PARAMETER_SIZE);
  out->base_address_align_bits = device_number(device, CL_DEVICE_MEM_BASE_ADDR_ALIGN);
  out->compute_units = (uint32_t)device_number(device, CL_DEVICE_MAX_COMPUTE_UNITS);
  out->clock_mhz = (uint32_t)device_number(device, CL_DEVICE_MAX_CLOCK_FREQUENCY);
  out->address_bits = (uint32_t)device_number(device, CL_DEVICE_ADDRESS_BITS);
  out->max_work_group_size = device_number(device, CL_DEVICE_MAX_WORK_GROUP_SIZE);
  if (clGetDeviceInfo(device, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof sizes, sizes, NULL) == CL_SUCCESS)
    for (int d = 0; d < 3; d++) out->max_work_item_sizes[d] = sizes[d];
  out->preferred_vector_width_float = device_number(device, CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT);
  describe_sub_groups(out, device);
  out->available = device_number(device, CL_DEVICE_AVAILABLE) && device_number(device, CL_DEVICE_COMPILER_AVAILABLE);
  out->little_endian = device_number(device, CL_DEVICE_ENDIAN_LITTLE) != 0;
  out->timer_resolution_s = 1e-9 * (double)device_number(device, CL_DEVICE_PROFILING_TIMER_RESOLUTION);
}

/* --- all of them --- */

enum { MAX_PLATFORMS = 64, MAX_DEVICES = 256 /* of a platform */ };

/* The devices of all platforms, in the loader's order. A platform without devices, or with a failing query, is
 * skipped. */
static int list_devices(listed_device **out, size_t *n, clt_error *error) {
  cl_platform_id platforms[MAX_PLATFORMS];
  cl_device_id ids[MAX_DEVICES];
  cl_uint n_platforms = 0;
  size_t capacity = 0;
  *out = NULL;
  *n = 0;
  if (clGetPlatformIDs(MAX_PLATFORMS, platforms, &n_platforms) != CL_SUCCESS) n_platforms = 0; /* there is none */
  for (cl_uint p = 0; p < n_platforms && p < MAX_PLATFORMS; p++) {
    cl_uint n_ids = 0;
    if (clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, MAX_DEVICES, ids, &n_ids) != CL_SUCCESS) continue;
    if (n_ids > MAX_DEVICES) n_ids = MAX_DEVICES;
    if (clt_grow(out, &capacity, *n + n_ids, sizeof **out)) {
      free(*out);
      return clt_fail_memory(error);
    }
    for (cl_uint d = 0; d < n_ids; d++) (*out)[(*n)++] = (listed_device){ids[d], (int)p, (int)d};
  }
  return CLT_OK;
}

int clt_cl_find(cl_device_id *out, int platform_index, int device_index, clt_error *error) {
  listed_device *list;
  size_t n;
  int rc = list_devices(&list, &n, error);
  if (rc) return rc;
  *out = NULL;
  for (size_t i = 0; i < n; i++)
    if (list[i].platform_index == platform_index && list[i].device_index == device_index) *out = list[i].id;
  free(list);
  if (*out) return CLT_OK;
  return clt_fail(error, CLT_E_DEVICE, "there is no OpenCL device '%d:%d'; 'clatune devices' lists the devices",
                  platform_index, device_index);
}

int clt_cl_describe(clt_device_info *out, cl_device_id device, clt_error *error) {
  listed_device *list;
  size_t n;
  listed_device listed = {device, -1, -1};
  int rc = list_devices(&list, &n, error);
  if (rc) return rc;
  for (size_t i = 0; i < n; i++)
    if (list[i].id == device) listed = list[i];
  free(list);
  describe_device(out, &listed);
  return CLT_OK;
}

/* Requires the indices, because workers find the device with them. */
int clt_device_describe(clt_device_info *out, cl_device_id device, clt_error *error) {
  if (device == NULL || clGetDeviceInfo(device, CL_DEVICE_TYPE, 0, NULL, NULL) != CL_SUCCESS)
    return clt_fail(error, CLT_E_DEVICE, "this is not an OpenCL device");
  int rc = clt_cl_describe(out, device, error);
  if (rc || out->platform_index >= 0) return rc;
  return clt_fail(error, CLT_E_DEVICE, "no platform lists this device; if it is a sub-device, use its parent");
}

int clt_opencl_devices(clt_device_info **out, size_t *n, clt_error *error) {
  listed_device *list;
  int rc = list_devices(&list, n, error);
  if (rc) return rc;
  clt_device_info *infos = clt_new_array(*n, sizeof *infos);
  for (size_t i = 0; infos && i < *n; i++) describe_device(&infos[i], &list[i]);
  free(list);
  if (infos == NULL) return clt_fail_memory(error);
  *out = infos;
  return CLT_OK;
}
