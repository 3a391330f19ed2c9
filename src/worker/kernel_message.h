/* worker/kernel_message.h - what a kernel file holds, as a message between tuner and worker. */
#ifndef CLT_WORKER_KERNEL_MESSAGE_H
#define CLT_WORKER_KERNEL_MESSAGE_H

#include <clatune/inspect.h>
#include <jansson.h>

json_t *clt_message_from_kernels(const clt_kernel_info *kernels, size_t n); /* a new list; NULL when out of memory */
/* Everything is checked. *out is malloc'ed and owned by the caller. */
int clt_message_to_kernels(clt_kernel_info **out, size_t *n, const json_t *list, clt_error *error);

#endif
