/* The platform and its devices. */
#include <CL/cl_ext.h>
#include <pthread.h>
#include <stdio.h>

#include "common/description.h"
#include "driver/objects.h"

/* Queries of extensions. */
enum {
  DEVICE_PREFERRED_MULTIPLE = 0x1067,
  DEVICE_UUID = 0x106A,
  NV_WARP_SIZE = 0x4003,
  AMD_TOPOLOGY = 0x4037,
  AMD_WAVEFRONT_WIDTH = 0x4043,
  INTEL_SUB_GROUP_SIZES = 0x4108,
  DEVICE_PCI_BUS_INFO = 0x410F
};

struct _cl_platform_id sim_platform = {.dispatch = &sim_dispatch, .references = 1};
struct _cl_device_id *sim_devices;
static size_t n_devices;
static pthread_once_t described = PTHREAD_ONCE_INIT;

/* A loader that unloads the driver, and a leak checker after it, shall find nothing. */
__attribute__((destructor)) static void forget_devices(void) {
  for (size_t i = 0; i < n_devices; i++) {
    free((char *)sim_devices[i].simulation.energy_counter);
    free((char *)sim_devices[i].simulation.exclusive);
  }
  free(sim_devices);
}

static void describe(void) {
  sim_device *found = sim_describe(&n_devices);
  sim_devices = calloc(n_devices + 1, sizeof *sim_devices);
  if (sim_devices == NULL) abort();
  for (size_t i = 0; i < n_devices; i++) {
    sim_devices[i].dispatch = &sim_dispatch;
    sim_devices[i].simulation = found[i];
  }
  free(found);
}

cl_uint sim_n_devices(void) {
  pthread_once(&described, describe);
  return (cl_uint)n_devices;
}

cl_int clGetPlatformIDs(cl_uint capacity, cl_platform_id *out, cl_uint *n_out) {
  if (out && capacity == 0) return CL_INVALID_VALUE;
  pthread_once(&described, describe);
  cl_int status = sim_platform_ids();
  if (status) return status;
  if (out) out[0] = &sim_platform;
  if (n_out) *n_out = 1;
  return CL_SUCCESS;
}

cl_int clGetPlatformInfo(cl_platform_id platform, cl_platform_info what, size_t capacity, void *out, size_t *n_out) {
  (void)platform;
  const char *text;
  switch (what) {
    case CL_PLATFORM_PROFILE: text = sim_platform_text("profile", "FULL_PROFILE"); break;
    case CL_PLATFORM_VERSION: text = sim_platform_text("version", "OpenCL 1.2 simulated"); break;
    case CL_PLATFORM_NAME: text = sim_platform_text("name", "Simulated"); break;
    case CL_PLATFORM_VENDOR: text = sim_platform_text("vendor", "clatune"); break;
    case CL_PLATFORM_EXTENSIONS: text = "cl_khr_icd"; break;
    case CL_PLATFORM_ICD_SUFFIX_KHR: text = sim_platform_text("icd_suffix", "SIM"); break;
    default: return CL_INVALID_VALUE;
  }
  return sim_answer_text(text, capacity, out, n_out);
}

static bool matches(cl_device_id device, cl_device_type type) {
  cl_device_type own = device->simulation.is_cpu ? CL_DEVICE_TYPE_CPU : CL_DEVICE_TYPE_GPU;
  return type == CL_DEVICE_TYPE_ALL || (type & own) || ((type & CL_DEVICE_TYPE_DEFAULT) && device == sim_devices);
}

cl_int clGetDeviceIDs(cl_platform_id platform, cl_device_type type, cl_uint capacity, cl_device_id *out,
                      cl_uint *n_out) {
  (void)platform;
  cl_uint n = 0, all = sim_n_devices();
  for (cl_uint i = 0; i < all; i++) {
    if (!matches(&sim_devices[i], type)) continue;
    if (out && n < capacity) out[n] = &sim_devices[i];
    n++;
  }
  if (n_out) *n_out = n;
  return n ? CL_SUCCESS : CL_DEVICE_NOT_FOUND;
}

cl_int clRetainDevice(cl_device_id device) { return (void)device, CL_SUCCESS; }
cl_int clReleaseDevice(cl_device_id device) { return (void)device, CL_SUCCESS; }

/* Reported properties of a device that the driver does not use: under the names of docs/reference/devices.md, in 4 or 8
 * bytes. */
static const struct {
  const char *key;
  cl_device_info what;
  unsigned bytes;
  double standard; /* negative: unknown, unless the description says it */
} numbers[] = {
    {"clock_mhz", CL_DEVICE_MAX_CLOCK_FREQUENCY, 4, 1000},
    {"address_bits", CL_DEVICE_ADDRESS_BITS, 4, 64},
    {"preferred_vector_width_float", CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT, 4, 1},
    {"max_constant_bytes", CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE, 8, 65536},
    {"max_parameter_bytes", CL_DEVICE_MAX_PARAMETER_SIZE, 8, 4096},
    {"global_cache_bytes", CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, 8, 1 << 20},
    {"base_address_align_bits", CL_DEVICE_MEM_BASE_ADDR_ALIGN, 4, 1024},
    {"image1d_buffer_max_width", CL_DEVICE_IMAGE_MAX_BUFFER_SIZE, 8, 0},
    {"image2d_max_width", CL_DEVICE_IMAGE2D_MAX_WIDTH, 8, 0},
    {"image2d_max_height", CL_DEVICE_IMAGE2D_MAX_HEIGHT, 8, 0},
    {"image3d_max_width", CL_DEVICE_IMAGE3D_MAX_WIDTH, 8, 0},
    {"image3d_max_height", CL_DEVICE_IMAGE3D_MAX_HEIGHT, 8, 0},
    {"image3d_max_depth", CL_DEVICE_IMAGE3D_MAX_DEPTH, 8, 0},
    {"preferred_work_group_multiple", DEVICE_PREFERRED_MULTIPLE, 8, -1},
    {"warp_size", NV_WARP_SIZE, 4, -1},
    {"warp_size", AMD_WAVEFRONT_WIDTH, 4, -1},
};

static cl_int number_info(const sim_device *d, cl_device_info what, size_t capacity, void *out, size_t *n_out) {
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    if (numbers[i].what != what) continue;
    const double number = description_number(d->said, numbers[i].key, numbers[i].standard);
    const bool is_new = what == DEVICE_PREFERRED_MULTIPLE; /* of OpenCL 3.0; before, only kernels tell */
    if (number < 0 || (is_new && !strstr(description_text(d->said, "device_version", ""), "OpenCL 3"))) break;
    return numbers[i].bytes == 4 ? SIM_ANSWER(cl_uint, (cl_uint)number) : SIM_ANSWER(cl_ulong, (cl_ulong)number);
  }
  return CL_INVALID_VALUE;
}

static cl_int sub_group_info(const sim_device *d, size_t capacity, void *out, size_t *n_out) {
  size_t sizes[16], n = 0;
  char *rest = (char *)description_text(d->said, "sub_group_sizes", "");
  while (*rest && n < 16) sizes[n++] = strtoul(rest, &rest, 10);
  return n ? sim_answer(sizes, n * sizeof *sizes, capacity, out, n_out) : CL_INVALID_VALUE;
}

/* Where the device is on the bus, by cl_khr_pci_bus_info or by AMD's extension. */
static cl_int bus_info(const sim_device *d, cl_device_info what, size_t capacity, void *out, size_t *n_out) {
  cl_uint pci[4];
  unsigned char topology[24] = {1}; /* PCI; the last three bytes are bus, device and function */
  if (sscanf(description_text(d->said, "pci_address", ""), "%x:%x:%x.%x", &pci[0], &pci[1], &pci[2], &pci[3]) != 4)
    return CL_INVALID_VALUE;
  for (int i = 1; i < 4; i++) topology[20 + i] = (unsigned char)pci[i];
  return what == DEVICE_PCI_BUS_INFO ? sim_answer(pci, sizeof pci, capacity, out, n_out)
                                     : sim_answer(topology, sizeof topology, capacity, out, n_out);
}

static cl_int text_info(const sim_device *d, cl_device_info what, size_t capacity, void *out, size_t *n_out) {
#define TEXT(key, standard) sim_answer_text(description_text(d->said, key, standard), capacity, out, n_out)
  switch (what) {
    case CL_DEVICE_NAME: return sim_answer_text(d->name, capacity, out, n_out);
    case CL_DEVICE_VENDOR: return TEXT("vendor", "clatune");
    case CL_DRIVER_VERSION: return TEXT("driver_version", "1");
    case CL_DEVICE_VERSION: return TEXT("device_version", "OpenCL 1.2 simulated");
    case CL_DEVICE_OPENCL_C_VERSION: return TEXT("opencl_c_version", "OpenCL C 1.2");
    case CL_DEVICE_PROFILE: return sim_answer_text(sim_platform_text("profile", "FULL_PROFILE"), capacity, out, n_out);
    case CL_DEVICE_EXTENSIONS: return TEXT("extensions", "cl_khr_device_uuid");
    case DEVICE_UUID: return sim_answer(d->uuid, sizeof d->uuid, capacity, out, n_out);
    case INTEL_SUB_GROUP_SIZES: return sub_group_info(d, capacity, out, n_out);
    case DEVICE_PCI_BUS_INFO:
    case AMD_TOPOLOGY: return bus_info(d, what, capacity, out, n_out);
    default: return number_info(d, what, capacity, out, n_out);
  }
#undef TEXT
}

cl_int clGetDeviceInfo(cl_device_id device, cl_device_info what, size_t capacity, void *out, size_t *n_out) {
  const sim_device *d = &device->simulation;
  cl_device_type type = d->is_cpu ? CL_DEVICE_TYPE_CPU : CL_DEVICE_TYPE_GPU;
  switch (what) {
    case CL_DEVICE_PLATFORM: return SIM_ANSWER(cl_platform_id, &sim_platform);
    case CL_DEVICE_TYPE: return SIM_ANSWER(cl_device_type, type);
    case CL_DEVICE_MAX_COMPUTE_UNITS: return SIM_ANSWER(cl_uint, d->compute_units);
    case CL_DEVICE_MAX_WORK_GROUP_SIZE: return SIM_ANSWER(size_t, d->max_work_group_size);
    case CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS: return SIM_ANSWER(cl_uint, 3);
    case CL_DEVICE_MAX_WORK_ITEM_SIZES: return sim_answer(d->max_work_item_sizes, sizeof d->max_work_item_sizes, capacity, out, n_out);
    case CL_DEVICE_GLOBAL_MEM_SIZE: return SIM_ANSWER(cl_ulong, d->global_memory_bytes);
    case CL_DEVICE_MAX_MEM_ALLOC_SIZE: return SIM_ANSWER(cl_ulong, d->max_allocation_bytes);
    case CL_DEVICE_LOCAL_MEM_SIZE: return SIM_ANSWER(cl_ulong, d->local_memory_bytes);
    case CL_DEVICE_LOCAL_MEM_TYPE:
      return SIM_ANSWER(cl_device_local_mem_type,
                        json_is_false(json_object_get(d->said, "local_memory_dedicated")) ? CL_GLOBAL : CL_LOCAL);
    case CL_DEVICE_MAX_CONSTANT_ARGS: return SIM_ANSWER(cl_uint, 8);
    case CL_DEVICE_IMAGE_SUPPORT: return SIM_ANSWER(cl_bool, json_is_true(json_object_get(d->said, "images")));
    case CL_DEVICE_AVAILABLE:
    case CL_DEVICE_COMPILER_AVAILABLE:
    case CL_DEVICE_ENDIAN_LITTLE: return SIM_ANSWER(cl_bool, CL_TRUE);
    case CL_DEVICE_PROFILING_TIMER_RESOLUTION: return SIM_ANSWER(size_t, d->timer_resolution_ns);
    case CL_DEVICE_QUEUE_PROPERTIES: return SIM_ANSWER(cl_command_queue_properties, CL_QUEUE_PROFILING_ENABLE);
    case CL_DEVICE_REFERENCE_COUNT: return SIM_ANSWER(cl_uint, 1);
    case CL_DEVICE_KERNEL_EXEC_TIMEOUT_NV: return SIM_ANSWER(cl_bool, d->watchdog_s > 0);
    default: return text_info(d, what, capacity, out, n_out);
  }
}
