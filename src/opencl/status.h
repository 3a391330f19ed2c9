/* opencl/status.h - OpenCL's status codes in words, and the three ways in which a step of the room ends: 0,
 * CLT_REJECTED (the configuration failed and its measurement says why), or a negative CLT_E... (the tuner cannot go
 * on). */
#ifndef CLT_OPENCL_STATUS_H
#define CLT_OPENCL_STATUS_H

#include <CL/cl.h>
#include <clatune/measurement.h>

enum { CLT_REJECTED = 1 };

const char *clt_cl_status_name(cl_int status); /* "CL_OUT_OF_RESOURCES"; "status -9999" is "an unknown status" */
bool clt_cl_out_of_memory(cl_int status);

/* "cannot <what>: <status>", CLT_E_OPENCL. */
int clt_fail_cl(clt_error *error, cl_int status, const char *what);

/* Marks the measurement as failed, with a log in printf's form. Returns CLT_REJECTED. */
int clt_reject(clt_measurement *m, clt_reason reason, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* For what the driver refuses: lack of memory is out-of-memory, anything else is `reason`. */
int clt_reject_cl(clt_measurement *m, clt_reason reason, cl_int status, const char *what);

#endif
