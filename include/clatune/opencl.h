/* clatune/opencl.h - for OpenCL host programs: what clatune knows, asked with the application's own cl_device_id.
 *
 * These functions call OpenCL in the caller's process, and only ask the device what it is: nothing is built or run. */
#ifndef CLATUNE_OPENCL_H
#define CLATUNE_OPENCL_H

#include <CL/cl.h>
#include <clatune/lookup.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a device is. What the driver does not know is left empty. CLT_E_DEVICE where it is no device of a platform (a
 * sub-device: ask for its CL_DEVICE_PARENT_DEVICE). */
int clt_device_describe(clt_device_info *out, cl_device_id device, clt_error *error);

/* The best known for a problem file at these sizes (those not given have their defaults) on a device; see
 * clatune/lookup.h. Release *out with clt_lookup_result_release. A program that asks for the same again and again on a device should
 * describe it once and use clt_catalog_lookup. */
int clt_catalog_lookup_cl(clt_catalog *catalog, clt_lookup_result *out, const char *problem_path, const clt_size *sizes, size_t n_sizes,
               cl_device_id device, clt_error *error);

#ifdef __cplusplus
}
#endif
#endif
