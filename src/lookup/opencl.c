#include <clatune/opencl.h>
#include <stdlib.h>

#include "base/fail.h"
#include "opencl/devices.h"

static bool find_in(cl_platform_id platform, cl_device_id device, int *index) {
  cl_device_id *devices = NULL;
  cl_uint n = 0;
  bool found = false;
  if (clt_cl_platform_devices(&devices, &n, platform, NULL)) return false;
  for (cl_uint i = 0; i < n && !found; i++)
    if (devices[i] == device) *index = (int)i, found = true;
  free(devices);
  return found;
}

/* Workers find the device by its numbers. */
static int find_indices(clt_device_info *out, cl_device_id device, clt_error *error) {
  cl_platform_id *platforms = NULL;
  cl_uint n = 0;
  bool found = false;
  int rc = clt_cl_platforms(&platforms, &n, error);
  if (rc) return rc;
  for (cl_uint i = 0; i < n && !found; i++)
    if (find_in(platforms[i], device, &out->device_index)) out->platform_index = (int)i, found = true;
  free(platforms);
  return found ? CLT_OK : clt_fail(error, CLT_E_DEVICE, "this is no device of any platform; is it a sub-device?");
}

int clt_device_describe(clt_device_info *out, cl_device_id device, clt_error *error) {
  if (device == NULL || clGetDeviceInfo(device, CL_DEVICE_TYPE, 0, NULL, NULL) != CL_SUCCESS)
    return clt_fail(error, CLT_E_DEVICE, "this is no OpenCL device");
  clt_cl_describe(out, device);
  return find_indices(out, device, error);
}

int clt_catalog_lookup_cl(clt_catalog *catalog, clt_lookup_result *out, const char *problem_path, const clt_size *sizes,
                          size_t n_sizes, cl_device_id device, clt_error *error) {
  clt_device_info info;
  int rc = clt_device_describe(&info, device, error);
  return rc ? rc : clt_catalog_lookup(catalog, out, problem_path, sizes, n_sizes, &info, error);
}
