/* OpenCL's platforms, devices and kernels as plain data. */
#include <CL/cl_ext.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "opencl/internal.h"

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

#define SAID_BYTES 800 /* of the compiler's log; an error has no room for more */

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

/* The device's UUID and place on the bus, where an extension tells them. */
static void describe_hardware(clt_device_info *out, cl_device_id device) {
  unsigned char uuid[16];
  uint32_t pci[4]; /* domain, bus, device, function */
  if (has_extension(out, "cl_khr_device_uuid") &&
      clGetDeviceInfo(device, DEVICE_UUID, sizeof uuid, uuid, NULL) == CL_SUCCESS)
    for (int i = 0; i < 16; i++) snprintf(out->uuid + 2 * i, 3, "%02x", uuid[i]);
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

/* Everything but the indices. */
static void describe_device(clt_device_info *out, cl_device_id device) {
  cl_platform_id platform;
  size_t sizes[16] = {0};
  memset(out, 0, sizeof *out);
  if (clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL) == CL_SUCCESS) {
    platform_text(out->platform_name, sizeof out->platform_name, platform, CL_PLATFORM_NAME);
    platform_text(out->platform_vendor, sizeof out->platform_vendor, platform, CL_PLATFORM_VENDOR);
    platform_text(out->platform_version, sizeof out->platform_version, platform, CL_PLATFORM_VERSION);
    platform_text(out->icd_suffix, sizeof out->icd_suffix, platform, PLATFORM_ICD_SUFFIX);
  }
  device_text(out->name, sizeof out->name, device, CL_DEVICE_NAME);
  device_text(out->vendor, sizeof out->vendor, device, CL_DEVICE_VENDOR);
  device_text(out->device_version, sizeof out->device_version, device, CL_DEVICE_VERSION);
  device_text(out->driver_version, sizeof out->driver_version, device, CL_DRIVER_VERSION);
  device_text(out->opencl_c_version, sizeof out->opencl_c_version, device, CL_DEVICE_OPENCL_C_VERSION);
  device_text(out->extensions, sizeof out->extensions, device, CL_DEVICE_EXTENSIONS);
  describe_hardware(out, device);
  uint64_t type = device_number(device, CL_DEVICE_TYPE);
  out->type = type & CL_DEVICE_TYPE_GPU           ? CLT_DEVICE_GPU
              : type & CL_DEVICE_TYPE_CPU         ? CLT_DEVICE_CPU
              : type & CL_DEVICE_TYPE_ACCELERATOR ? CLT_DEVICE_ACCELERATOR
                                                  : CLT_DEVICE_OTHER;
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

/* All platforms, in the loader's order; none is no error. */
static int list_platforms(cl_platform_id **out, cl_uint *n, clt_error *error) {
  cl_uint found = 0;
  if (clGetPlatformIDs(0, NULL, &found) != CL_SUCCESS) found = 0; /* the loader's way of saying that there is none */
  cl_platform_id *platforms = clt_new_array(found, sizeof *platforms);
  if (platforms == NULL) return clt_fail_memory(error);
  if (found && clGetPlatformIDs(found, platforms, NULL) != CL_SUCCESS) found = 0;
  *out = platforms;
  *n = found;
  return CLT_OK;
}

/* A platform's devices of every type; 0 where it has none or cannot say. */
static int list_devices(cl_device_id **out, cl_uint *n, cl_platform_id platform, clt_error *error) {
  cl_uint found = 0;
  if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, NULL, &found) != CL_SUCCESS) found = 0;
  cl_device_id *devices = clt_new_array(found, sizeof *devices);
  if (devices == NULL) return clt_fail_memory(error);
  if (found && clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, found, devices, NULL) != CL_SUCCESS) found = 0;
  *out = devices;
  *n = found;
  return CLT_OK;
}

int clt_cl_find(cl_device_id *out, int platform_index, int device_index, clt_error *error) {
  cl_platform_id *platforms = NULL;
  cl_device_id *devices = NULL;
  cl_uint n_platforms = 0, n_devices = 0;
  int rc = list_platforms(&platforms, &n_platforms, error);
  if (rc == 0 && platform_index >= 0 && (cl_uint)platform_index < n_platforms)
    rc = list_devices(&devices, &n_devices, platforms[platform_index], error);
  if (rc == 0 && (device_index < 0 || (cl_uint)device_index >= n_devices))
    rc = clt_fail(error, CLT_E_DEVICE, "no OpenCL device '%d:%d'; 'clatune devices' lists them", platform_index,
                  device_index);
  if (rc == 0) *out = devices[device_index];
  free(devices);
  free(platforms);
  return rc;
}

int clt_cl_describe(clt_device_info *out, cl_device_id device, clt_error *error) {
  cl_platform_id *platforms = NULL;
  cl_uint n_platforms = 0;
  describe_device(out, device);
  out->platform_index = out->device_index = -1;
  int rc = list_platforms(&platforms, &n_platforms, error);
  for (cl_uint p = 0; rc == 0 && p < n_platforms; p++) {
    cl_device_id *devices = NULL;
    cl_uint n = 0;
    rc = list_devices(&devices, &n, platforms[p], error);
    for (cl_uint d = 0; d < n; d++)
      if (devices[d] == device) out->platform_index = (int)p, out->device_index = (int)d;
    free(devices);
  }
  free(platforms);
  return rc;
}

/* Workers find the device by its numbers. */
int clt_device_describe(clt_device_info *out, cl_device_id device, clt_error *error) {
  if (device == NULL || clGetDeviceInfo(device, CL_DEVICE_TYPE, 0, NULL, NULL) != CL_SUCCESS)
    return clt_fail(error, CLT_E_DEVICE, "this is no OpenCL device");
  int rc = clt_cl_describe(out, device, error);
  if (rc || out->platform_index >= 0) return rc;
  return clt_fail(error, CLT_E_DEVICE, "this is no device of any platform; is it a sub-device?");
}

int clt_opencl_devices(clt_device_info **out, size_t *n, clt_error *error) {
  clt_device_info *infos = NULL;
  cl_platform_id *platforms = NULL;
  cl_uint n_platforms = 0;
  size_t n_infos = 0, capacity = 0;
  int rc = list_platforms(&platforms, &n_platforms, error);
  if (rc == 0 && clt_grow(&infos, &capacity, 1, sizeof *infos)) rc = clt_fail_memory(error);
  for (cl_uint p = 0; rc == 0 && p < n_platforms; p++) {
    cl_device_id *devices = NULL;
    cl_uint n_devices = 0;
    rc = list_devices(&devices, &n_devices, platforms[p], error);
    if (rc == 0 && clt_grow(&infos, &capacity, n_infos + n_devices, sizeof *infos)) rc = clt_fail_memory(error);
    for (cl_uint d = 0; rc == 0 && d < n_devices; d++) {
      describe_device(&infos[n_infos], devices[d]);
      infos[n_infos].platform_index = (int)p;
      infos[n_infos++].device_index = (int)d;
    }
    free(devices);
  }
  free(platforms);
  if (rc) {
    free(infos);
    return rc;
  }
  *out = infos;
  *n = n_infos;
  return CLT_OK;
}

/* --- the kernels of a program and their arguments --- */

static bool arg_text(char *out, size_t capacity, cl_kernel kernel, cl_uint i, cl_kernel_arg_info what) {
  size_t n = 0;
  if (clGetKernelArgInfo(kernel, i, what, 0, NULL, &n) != CL_SUCCESS || n == 0 || n > capacity) return false;
  return clGetKernelArgInfo(kernel, i, what, n, out, NULL) == CL_SUCCESS;
}

static bool read_argument(clt_kernel_argument *out, cl_kernel kernel, cl_uint i) {
  cl_kernel_arg_address_qualifier address = CL_KERNEL_ARG_ADDRESS_PRIVATE;
  cl_kernel_arg_access_qualifier access = CL_KERNEL_ARG_ACCESS_NONE;
  cl_kernel_arg_type_qualifier qualifiers = 0;
  if (!arg_text(out->name, sizeof out->name, kernel, i, CL_KERNEL_ARG_NAME) ||
      !arg_text(out->type, sizeof out->type, kernel, i, CL_KERNEL_ARG_TYPE_NAME))
    return false;
  clGetKernelArgInfo(kernel, i, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof address, &address, NULL);
  clGetKernelArgInfo(kernel, i, CL_KERNEL_ARG_ACCESS_QUALIFIER, sizeof access, &access, NULL);
  clGetKernelArgInfo(kernel, i, CL_KERNEL_ARG_TYPE_QUALIFIER, sizeof qualifiers, &qualifiers, NULL);
  out->address = address == CL_KERNEL_ARG_ADDRESS_GLOBAL     ? CLT_ADDRESS_GLOBAL
                 : address == CL_KERNEL_ARG_ADDRESS_CONSTANT ? CLT_ADDRESS_CONSTANT
                 : address == CL_KERNEL_ARG_ADDRESS_LOCAL    ? CLT_ADDRESS_LOCAL
                                                             : CLT_ADDRESS_PRIVATE;
  out->is_const = (qualifiers & CL_KERNEL_ARG_TYPE_CONST) != 0 || out->address == CLT_ADDRESS_CONSTANT;
  out->reads_image = access == CL_KERNEL_ARG_ACCESS_READ_ONLY || access == CL_KERNEL_ARG_ACCESS_READ_WRITE;
  out->writes_image = access == CL_KERNEL_ARG_ACCESS_WRITE_ONLY || access == CL_KERNEL_ARG_ACCESS_READ_WRITE;
  return true;
}

static int read_kernel(clt_kernel_info *out, cl_kernel kernel, cl_device_id device, clt_error *error) {
  cl_uint n = 0;
  size_t local[3] = {0};
  memset(out, 0, sizeof *out);
  cl_int status = clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, sizeof out->name, out->name, NULL);
  if (!status) status = clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof n, &n, NULL);
  if (status) return clt_fail_cl(error, status, "ask a kernel for its name and arguments");
  if (n > CLT_MAX_KERNEL_ARGUMENTS)
    return clt_fail(error, CLT_E_RANGE, "kernel '%s' has %u arguments, more than %d", out->name, n,
                    CLT_MAX_KERNEL_ARGUMENTS);
  clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof local, local, NULL);
  for (int d = 0; d < 3; d++) out->local_size[d] = local[d];
  for (cl_uint i = 0; i < n; i++)
    if (!read_argument(&out->arguments[out->n_arguments++], kernel, i))
      return clt_fail(error, CLT_E_UNSUPPORTED,
                      "the driver does not say what the arguments of kernel '%s' are; try another device", out->name);
  return CLT_OK;
}

static int read_program(clt_kernel_info **out, size_t *n_out, cl_program program, cl_device_id device,
                        clt_error *error) {
  cl_uint n = 0;
  cl_int status = clCreateKernelsInProgram(program, 0, NULL, &n);
  if (status) return clt_fail_cl(error, status, "count the kernels");
  cl_kernel *kernels = clt_new_array(n, sizeof *kernels);
  clt_kernel_info *infos = clt_new_array(n, sizeof *infos);
  int rc = kernels && infos ? CLT_OK : clt_fail_memory(error);
  if (rc == CLT_OK && n && (status = clCreateKernelsInProgram(program, n, kernels, NULL)))
    rc = clt_fail_cl(error, status, "make the kernels");
  for (cl_uint i = 0; rc == CLT_OK && i < n; i++) rc = read_kernel(&infos[i], kernels[i], device, error);
  for (cl_uint i = 0; kernels && i < n; i++)
    if (kernels[i]) clReleaseKernel(kernels[i]);
  free(kernels);
  if (rc) {
    free(infos);
    return rc;
  }
  *out = infos;
  *n_out = n;
  return CLT_OK;
}

int clt_opencl_inspect(clt_kernel_info **out, size_t *n, int platform_index, int device_index, const char *text,
                       const char *options, clt_error *error) {
  clt_executor *executor = NULL;
  cl_program program = NULL;
  cl_int status = CL_SUCCESS;
  char *all = clt_format("%s -cl-kernel-arg-info", options);
  int rc = all ? clt_executor_new(&executor, platform_index, device_index, error) : clt_fail_memory(error);
  if (rc == CLT_OK) program = clCreateProgramWithSource(executor->context, 1, &text, NULL, &status);
  if (rc == CLT_OK && program == NULL) rc = clt_fail_cl(error, status, "make a program");
  if (rc == CLT_OK && (status = clBuildProgram(program, 1, &executor->device, all, NULL, NULL))) {
    char *log = clt_program_log(program, executor->device);
    rc = clt_fail(error, CLT_E_OPENCL, "the kernel does not build (%s): %.*s", clt_cl_status_name(status), SAID_BYTES,
                  log ? log : "");
    free(log);
  }
  if (rc == CLT_OK) rc = read_program(out, n, program, executor->device, error);
  if (program) clReleaseProgram(program);
  clt_executor_free(executor);
  free(all);
  return rc;
}
