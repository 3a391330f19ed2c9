/* A device of the caller's own process. */
#include <clatune/device.h>
#include <stdlib.h>

#include "base/fail.h"
#include "opencl/devices.h"

static bool find_in_platform(cl_platform_id platform, cl_device_id device, int *index) {
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
int clt_device_describe(clt_device_info *out, cl_device_id device, clt_error *error) {
  cl_platform_id *platforms = NULL;
  cl_uint n = 0;
  bool found = false;
  if (device == NULL || clGetDeviceInfo(device, CL_DEVICE_TYPE, 0, NULL, NULL) != CL_SUCCESS)
    return clt_fail(error, CLT_E_DEVICE, "this is no OpenCL device");
  clt_cl_describe(out, device);
  int rc = clt_cl_platforms(&platforms, &n, error);
  if (rc) return rc;
  for (cl_uint i = 0; i < n && !found; i++)
    if (find_in_platform(platforms[i], device, &out->device_index)) out->platform_index = (int)i, found = true;
  free(platforms);
  return found ? CLT_OK : clt_fail(error, CLT_E_DEVICE, "this is no device of any platform; is it a sub-device?");
}
