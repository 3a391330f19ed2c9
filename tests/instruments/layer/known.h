/* instruments/layer/known.h - the layer's records of the application's objects. */
#ifndef INSTRUMENTS_LAYER_KNOWN_H
#define INSTRUMENTS_LAYER_KNOWN_H

#include <CL/cl.h>

#include "layer/rules.h"

/* All functions may be called from several threads. What they return is a copy or lives until the object is forgotten. */

/* A program, by the options it was built with. NULL: was not built. */
const defines *known_build(cl_program program, const char *options);
void known_forget_program(cl_program program);

/* A kernel keeps its program's options. */
void known_kernel(cl_kernel kernel, cl_program program);
const defines *known_kernel_options(cl_kernel kernel);
void known_argument(cl_kernel kernel, cl_uint index, size_t size, const void *value);
void known_forget_kernel(cl_kernel kernel);

/* A buffer that kernels may write. */
void known_buffer(cl_mem buffer, cl_mem_flags flags, size_t size);
void known_forget_buffer(cl_mem buffer);
/* The last argument of a kernel that is such a buffer; NULL: none. */
cl_mem known_output(cl_kernel kernel, size_t *size);

/* A fault that waits for the end of the launches on the queue; taking it out leaves none. */
void known_pending(cl_command_queue queue, fault what);
fault known_take_pending(cl_command_queue queue);

/* The change of the timestamps of an event. */
void known_event(cl_event event, fault what);
fault known_event_fault(cl_event event);
void known_forget_event(cl_event event);

#endif
