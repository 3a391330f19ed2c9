/* worker/reference.h - data with their reference, for whoever runs kernels in its own process. */
#ifndef CLT_WORKER_REFERENCE_H
#define CLT_WORKER_REFERENCE_H

#include "opencl/executor.h"

/* clt_data_new, and for references by a kernel or by the default configuration the run that makes them. */
int clt_reference_data(clt_data **out, clt_executor *executor, const clt_instance *instance, uint64_t seed,
                       clt_error *error);

#endif
