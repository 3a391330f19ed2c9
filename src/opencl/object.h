/* opencl/object.h - memory objects: a buffer between two guard bands, or an image. Contents are packed: rows without
 * gaps. Functions that return cl_int give OpenCL's status and do not wait, unless they say so. */
#ifndef CLT_OPENCL_OBJECT_H
#define CLT_OPENCL_OBJECT_H

#include "opencl/context.h"

typedef struct clt_object {
  cl_mem memory; /* what a kernel is given: an image, a sub-buffer of `whole`, or a buffer where guards do not fit */
  cl_mem view;   /* of CLT_ARG_IMAGE1D_BUFFER, what a kernel is given instead: `memory` as an image */
  cl_mem whole;  /* content and both bands; NULL: no guards */
  size_t bytes;  /* content */
  size_t band_bytes; /* before the content; the band behind it is as long */
  size_t region[3];  /* of an image, in elements */
  bool is_image;
  uint64_t salt; /* makes the bands differ from those of other objects */
} clt_object;

/* The view of a content by the host. */
typedef struct clt_view {
  const void *bytes;
  void *mapped;
} clt_view;

/* Makes room for the stored array of a buffer or image argument and writes the guards. Gives back unused inputs where
 * the device has no memory left. */
cl_int clt_object_new(clt_object *out, clt_executor *executor, const clt_plan_arg *arg, cl_mem_flags flags);
void clt_object_release(clt_object *object);

cl_int clt_object_write(clt_executor *executor, const clt_object *object, const void *bytes); /* waits */
cl_int clt_object_copy(clt_executor *executor, const clt_object *to, const clt_object *from);

/* Fills the content so that what a kernel left out is wrong: with NaNs, or bytes of 0xA5. */
cl_int clt_object_poison(clt_executor *executor, const clt_object *object, clt_element_base base);
cl_int clt_object_zero(clt_executor *executor, const clt_object *object);

/* Opens the content for reading, on the executor's scratch memory where the driver keeps gaps between rows; waits. */
cl_int clt_object_view(clt_view *out, clt_executor *executor, const clt_object *object);
void clt_object_close(clt_executor *executor, const clt_object *object, clt_view *view);

/* opencl/guard.c */
cl_int clt_guard_write(clt_executor *executor, const clt_object *object);

typedef enum clt_guard_state { CLT_GUARD_WHOLE, CLT_GUARD_BEFORE, CLT_GUARD_BEHIND } clt_guard_state;
/* Which band was written into, and how many bytes away from the content (0: next to it). Waits. */
cl_int clt_guard_check(clt_guard_state *state, size_t *distance_bytes, clt_executor *executor,
                       const clt_object *object);

/* opencl/images.c */
bool clt_image_format(cl_image_format *out, const clt_plan_arg *arg); /* false: OpenCL has none for this element type */
bool clt_image_supported(const clt_executor *executor, const clt_plan_arg *arg, const cl_image_format *format);
cl_int clt_image_new(clt_object *out, clt_executor *executor, const clt_plan_arg *arg, cl_mem_flags flags);
cl_int clt_image_of_buffer(clt_object *object, clt_executor *executor, const clt_plan_arg *arg, cl_mem_flags flags);
cl_int clt_image_view(clt_view *out, clt_executor *executor, const clt_object *object);

#endif
