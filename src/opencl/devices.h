/* opencl/devices.h - OpenCL's platforms and devices as plain data. */
#ifndef CLT_OPENCL_DEVICES_H
#define CLT_OPENCL_DEVICES_H

#include <CL/cl.h>
#include <clatune/device.h>

/* All platforms, in the loader's order; none is no error. *out is malloc'ed and owned by the caller. */
int clt_cl_platforms(cl_platform_id **out, cl_uint *n, clt_error *error);
/* A platform's devices of every type; NULL and 0 where it has none or cannot say. */
int clt_cl_platform_devices(cl_device_id **out, cl_uint *n, cl_platform_id platform, clt_error *error);

/* Fills everything but the indices. What the driver does not know is left empty. */
void clt_cl_describe(clt_device_info *out, cl_device_id device);

#endif
