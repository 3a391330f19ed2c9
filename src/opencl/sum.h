/* opencl/sum.h - hashes of the contents of buffers and images, by the device or the host. Hashes are compared within
 * one executor and one size only. */
#ifndef CLT_OPENCL_SUM_H
#define CLT_OPENCL_SUM_H

#include "opencl/memory.h"

typedef struct clt_sum {
  bool tried;
  cl_kernel kernel; /* NULL: the host makes all hashes */
  cl_mem parts;
  cl_ulong turn; /* sums so far */
} clt_sum;

/* Builds the device's kernel if contents of so many bytes are worth it and the device is no CPU. The functions below do
 * that, too; earlier, it does not delay a launch. */
void clt_sum_prepare(clt_executor *executor, size_t bytes);
void clt_sum_free(clt_executor *executor);
/* The hash of a content that the host has and the object will get. */
uint64_t clt_object_hash_of(clt_executor *executor, const clt_object *object, const void *content);
/* The hash of an object's content; waits. *view is the open content if the host had to read it, else closed. */
cl_int clt_object_hash(uint64_t *out, clt_view *view, clt_executor *executor, const clt_object *object);

#endif
