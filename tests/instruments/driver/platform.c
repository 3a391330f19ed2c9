/* The platform and its devices. */
#include <CL/cl_ext.h>
#include <pthread.h>

#include "driver/objects.h"

#define DEVICE_UUID 0x106A /* of cl_khr_device_uuid */

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
  switch (what) {
    case CL_PLATFORM_PROFILE: return sim_answer_text("FULL_PROFILE", capacity, out, n_out);
    case CL_PLATFORM_VERSION: return sim_answer_text("OpenCL 1.2 simulated", capacity, out, n_out);
    case CL_PLATFORM_NAME: return sim_answer_text("Simulated", capacity, out, n_out);
    case CL_PLATFORM_VENDOR: return sim_answer_text("clatune", capacity, out, n_out);
    case CL_PLATFORM_EXTENSIONS: return sim_answer_text("cl_khr_icd", capacity, out, n_out);
    case CL_PLATFORM_ICD_SUFFIX_KHR: return sim_answer_text("SIM", capacity, out, n_out);
    default: return CL_INVALID_VALUE;
  }
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

static cl_int text_info(const sim_device *d, cl_device_info what, size_t capacity, void *out, size_t *n_out) {
  switch (what) {
    case CL_DEVICE_NAME: return sim_answer_text(d->name, capacity, out, n_out);
    case CL_DEVICE_VENDOR: return sim_answer_text(d->vendor, capacity, out, n_out);
    case CL_DRIVER_VERSION: return sim_answer_text(d->driver_version, capacity, out, n_out);
    case CL_DEVICE_VERSION: return sim_answer_text("OpenCL 1.2 simulated", capacity, out, n_out);
    case CL_DEVICE_OPENCL_C_VERSION: return sim_answer_text("OpenCL C 1.2", capacity, out, n_out);
    case CL_DEVICE_PROFILE: return sim_answer_text("FULL_PROFILE", capacity, out, n_out);
    case CL_DEVICE_EXTENSIONS: return sim_answer_text("cl_khr_device_uuid", capacity, out, n_out);
    case DEVICE_UUID: return sim_answer(d->uuid, sizeof d->uuid, capacity, out, n_out);
    default: return CL_INVALID_VALUE;
  }
}

static cl_int memory_info(const sim_device *d, cl_device_info what, size_t capacity, void *out, size_t *n_out) {
  cl_ulong global = d->global_memory_bytes;
  switch (what) {
    case CL_DEVICE_GLOBAL_MEM_SIZE: return SIM_ANSWER(cl_ulong, global);
    case CL_DEVICE_MAX_MEM_ALLOC_SIZE: return SIM_ANSWER(cl_ulong, global / 4);
    case CL_DEVICE_LOCAL_MEM_SIZE: return SIM_ANSWER(cl_ulong, d->local_memory_bytes);
    case CL_DEVICE_LOCAL_MEM_TYPE: return SIM_ANSWER(cl_device_local_mem_type, CL_LOCAL);
    case CL_DEVICE_GLOBAL_MEM_CACHE_SIZE: return SIM_ANSWER(cl_ulong, 1 << 20);
    case CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE: return SIM_ANSWER(cl_ulong, 65536);
    case CL_DEVICE_MAX_CONSTANT_ARGS: return SIM_ANSWER(cl_uint, 8);
    case CL_DEVICE_MAX_PARAMETER_SIZE: return SIM_ANSWER(size_t, 4096);
    case CL_DEVICE_MEM_BASE_ADDR_ALIGN: return SIM_ANSWER(cl_uint, 1024);
    default: return text_info(d, what, capacity, out, n_out);
  }
}

cl_int clGetDeviceInfo(cl_device_id device, cl_device_info what, size_t capacity, void *out, size_t *n_out) {
  const sim_device *d = &device->simulation;
  cl_device_type type = d->is_cpu ? CL_DEVICE_TYPE_CPU : CL_DEVICE_TYPE_GPU;
  switch (what) {
    case CL_DEVICE_PLATFORM: return SIM_ANSWER(cl_platform_id, &sim_platform);
    case CL_DEVICE_TYPE: return SIM_ANSWER(cl_device_type, type);
    case CL_DEVICE_MAX_COMPUTE_UNITS: return SIM_ANSWER(cl_uint, d->compute_units);
    case CL_DEVICE_MAX_CLOCK_FREQUENCY: return SIM_ANSWER(cl_uint, 1000);
    case CL_DEVICE_ADDRESS_BITS: return SIM_ANSWER(cl_uint, 64);
    case CL_DEVICE_MAX_WORK_GROUP_SIZE: return SIM_ANSWER(size_t, d->max_work_group_size);
    case CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS: return SIM_ANSWER(cl_uint, 3);
    case CL_DEVICE_MAX_WORK_ITEM_SIZES: return sim_answer(d->max_work_item_sizes, sizeof d->max_work_item_sizes, capacity, out, n_out);
    case CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT: return SIM_ANSWER(cl_uint, 1);
    case CL_DEVICE_IMAGE_SUPPORT: return SIM_ANSWER(cl_bool, CL_FALSE);
    case CL_DEVICE_AVAILABLE:
    case CL_DEVICE_COMPILER_AVAILABLE:
    case CL_DEVICE_ENDIAN_LITTLE: return SIM_ANSWER(cl_bool, CL_TRUE);
    case CL_DEVICE_PROFILING_TIMER_RESOLUTION: return SIM_ANSWER(size_t, d->timer_resolution_ns);
    case CL_DEVICE_QUEUE_PROPERTIES: return SIM_ANSWER(cl_command_queue_properties, CL_QUEUE_PROFILING_ENABLE);
    case CL_DEVICE_REFERENCE_COUNT: return SIM_ANSWER(cl_uint, 1);
    case CL_DEVICE_KERNEL_EXEC_TIMEOUT_NV: return SIM_ANSWER(cl_bool, d->watchdog_s > 0);
    default: return memory_info(d, what, capacity, out, n_out);
  }
}
