#include "opencl/object.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "opencl/inputs.h"

static const size_t origin[3] = {0, 0, 0};

/* A kernel that goes wrong by a row should still hit the guard: two rows long, within these limits. */
enum { MIN_BAND_BYTES = 4096, MAX_BAND_BYTES = 256 << 10 };

/* Oclgrind sees by itself what leaves a buffer, unless the buffer is a part of another. An image cannot be left, and
 * drivers (PoCL) make none of a part of a buffer. */
static bool wants_guards(const clt_executor *executor, const clt_plan_arg *arg) {
  return strcmp(executor->info.platform_name, "Oclgrind") != 0 && arg->kind != CLT_ARG_IMAGE1D_BUFFER;
}

static size_t band_bytes_of(const clt_executor *executor, const clt_plan_arg *arg) {
  size_t align = (size_t)executor->info.base_address_align_bits / 8;
  if (align < MIN_BAND_BYTES) align = MIN_BAND_BYTES; /* alignments are powers of two */
  size_t row_bytes = (arg->extent[0] + 2 * arg->border[0]) * arg->element.bytes;
  size_t wanted = row_bytes < MAX_BAND_BYTES / 2 ? 2 * row_bytes : MAX_BAND_BYTES;
  return (wanted + align - 1) / align * align;
}

static cl_int buffer_new(clt_object *out, clt_executor *executor, const clt_plan_arg *arg, cl_mem_flags flags) {
  cl_int status = CL_SUCCESS;
  size_t band = band_bytes_of(executor, arg), whole;
  *out = (clt_object){.bytes = arg->bytes, .band_bytes = band, .salt = ++executor->next_salt};
  bool guarded = wants_guards(executor, arg) && !__builtin_add_overflow(arg->bytes, 2 * band, &whole) &&
                 whole <= executor->info.max_allocation_bytes;
  if (!guarded) {
    out->memory = clCreateBuffer(executor->context, flags, arg->bytes, NULL, &status);
    return status;
  }
  cl_buffer_region region = {band, arg->bytes};
  out->whole = clCreateBuffer(executor->context, CL_MEM_READ_WRITE, whole, NULL, &status);
  if (out->whole == NULL) return status;
  out->memory = clCreateSubBuffer(out->whole, flags, CL_BUFFER_CREATE_TYPE_REGION, &region, &status);
  if (out->memory != NULL) status = clt_guard_write(executor, out);
  return status;
}

static cl_int object_new(clt_object *out, clt_executor *executor, const clt_plan_arg *arg, cl_mem_flags flags) {
  bool is_image = arg->kind == CLT_ARG_IMAGE2D || arg->kind == CLT_ARG_IMAGE3D;
  cl_int status = is_image ? clt_image_new(out, executor, arg, flags) : buffer_new(out, executor, arg, flags);
  if (status == CL_SUCCESS && arg->kind == CLT_ARG_IMAGE1D_BUFFER)
    status = clt_image_of_buffer(out, executor, arg, flags);
  if (status != CL_SUCCESS) clt_object_release(out);
  return status;
}

cl_int clt_object_new(clt_object *out, clt_executor *executor, const clt_plan_arg *arg, cl_mem_flags flags) {
  cl_int status = object_new(out, executor, arg, flags);
  if (!clt_cl_out_of_memory(status)) return status;
  clt_inputs_shrink(executor, 0);
  return object_new(out, executor, arg, flags);
}

void clt_object_release(clt_object *object) {
  if (object->view) clReleaseMemObject(object->view);
  if (object->memory) clReleaseMemObject(object->memory);
  if (object->whole) clReleaseMemObject(object->whole);
  *object = (clt_object){0};
}

cl_int clt_object_write(clt_executor *executor, const clt_object *object, const void *bytes) {
  if (object->is_image)
    return clEnqueueWriteImage(executor->queue, object->memory, CL_TRUE, origin, object->region, 0, 0, bytes, 0, NULL,
                               NULL);
  return clEnqueueWriteBuffer(executor->queue, object->memory, CL_TRUE, 0, object->bytes, bytes, 0, NULL, NULL);
}

cl_int clt_object_copy(clt_executor *executor, const clt_object *to, const clt_object *from) {
  if (to->is_image)
    return clEnqueueCopyImage(executor->queue, from->memory, to->memory, origin, origin, to->region, 0, NULL, NULL);
  return clEnqueueCopyBuffer(executor->queue, from->memory, to->memory, 0, 0, to->bytes, 0, NULL, NULL);
}

/* Fills with a pattern of 8 bytes, whose first bytes are the pattern where the content is no multiple of 8. */
static cl_int fill(clt_executor *executor, const clt_object *object, uint64_t pattern) {
  if (!object->is_image) {
    size_t pattern_bytes = 8;
    while (object->bytes % pattern_bytes) pattern_bytes /= 2;
    return clEnqueueFillBuffer(executor->queue, object->memory, &pattern, pattern_bytes, 0, object->bytes, 0, NULL,
                               NULL);
  }
  unsigned char *content = clt_scratch_get(&executor->stored, object->bytes);
  if (content == NULL) return CL_OUT_OF_HOST_MEMORY;
  for (size_t i = 0; i < object->bytes; i += sizeof pattern)
    memcpy(content + i, &pattern, object->bytes - i < sizeof pattern ? object->bytes - i : sizeof pattern);
  return clt_object_write(executor, object, content);
}

cl_int clt_object_poison(clt_executor *executor, const clt_object *object, clt_element_base base) {
  switch (base) { /* quiet NaNs, with a payload that is easy to recognise */
    case CLT_ELEMENT_HALF: return fill(executor, object, 0x7ea57ea57ea57ea5);
    case CLT_ELEMENT_FLOAT: return fill(executor, object, 0x7fe5a5a57fe5a5a5);
    case CLT_ELEMENT_DOUBLE: return fill(executor, object, 0x7ffda5a5a5a5a5a5);
    default: return fill(executor, object, 0xa5a5a5a5a5a5a5a5);
  }
}

cl_int clt_object_zero(clt_executor *executor, const clt_object *object) { return fill(executor, object, 0); }

cl_int clt_object_view(clt_view *out, clt_executor *executor, const clt_object *object) {
  cl_int status = CL_SUCCESS;
  if (object->is_image) return clt_image_view(out, executor, object);
  void *mapped = clEnqueueMapBuffer(executor->queue, object->memory, CL_TRUE, CL_MAP_READ, 0, object->bytes, 0, NULL,
                                    NULL, &status);
  *out = (clt_view){mapped, mapped};
  return status;
}

void clt_object_close(clt_executor *executor, const clt_object *object, clt_view *view) {
  if (view->mapped) clEnqueueUnmapMemObject(executor->queue, object->memory, view->mapped, 0, NULL, NULL);
  *view = (clt_view){0};
}
