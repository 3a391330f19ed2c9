/* opencl/status.h - OpenCL's status codes as errors of the tuner or as failures of a configuration. */
#ifndef CLT_OPENCL_STATUS_H
#define CLT_OPENCL_STATUS_H

#include "opencl/executor.h"

/* A step returns CLT_OK, CLT_REJECTED (the configuration failed, and its measurement says why), or a negative CLT_E_...
 * (the tuner cannot go on). Functions that return cl_int return OpenCL's status, and do not wait unless they say so. */
enum { CLT_REJECTED = 1 };

const char *clt_cl_status_name(cl_int status); /* "CL_OUT_OF_RESOURCES"; "unknown status" */
bool clt_cl_out_of_memory(cl_int status);

/* "cannot <what>: <status>", CLT_E_OPENCL. */
int clt_fail_cl(clt_error *error, cl_int status, const char *what);
/* Marks the measurement (NULL: no configuration is blamed) as failed, with a log in printf's form. Returns
 * CLT_REJECTED. */
int clt_reject(clt_measurement *m, clt_reason reason, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* The same for a call that the driver refused: if memory is short the reason is out-of-memory, else `reason`. */
int clt_reject_cl(clt_measurement *m, clt_reason reason, cl_int status, const char *what);

#endif
