/* opencl/inspect.h - the kernels of a program and their arguments (clGetKernelArgInfo). */
#ifndef CLT_OPENCL_INSPECT_H
#define CLT_OPENCL_INSPECT_H

#include <clatune/inspect.h>

/* On the device "P:D"; see clt_inspect. In the calling process. */
int clt_opencl_inspect(clt_kernel_info **out, size_t *n, int platform_index, int device_index, const char *text,
                       const char *options, clt_error *error);

#endif
