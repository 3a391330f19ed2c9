/* What a kernel is given memory in: buffers between guard bands, and images. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "opencl/internal.h"

static const size_t origin[3] = {0, 0, 0};

/* --- guard bands --- */

/* A kernel that goes wrong by a row should still hit the guard: two rows long, within these limits. */
enum { MIN_BAND_BYTES = 4096, MAX_BAND_BYTES = 256 << 10 };

/* The bytes of both bands, one after the other. They depend on the place and on the object, since the commonest fault
 * copies what lies behind one buffer behind another: with the same bytes in all bands that would leave no trace. */
static unsigned char *make_bands(const clt_object *object) {
  size_t bytes = 2 * object->band_bytes;
  unsigned char *bands = malloc(bytes);
  for (size_t i = 0; bands && i < bytes; i += sizeof(uint64_t)) {
    /* splitmix64's finaliser: neighbouring numbers give unrelated words. */
    uint64_t x = (object->salt << 32) + i / sizeof x + 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    x ^= x >> 31;
    memcpy(bands + i, &x, sizeof x);
  }
  return bands;
}

static cl_int write_guards(clt_executor *executor, const clt_object *object) {
  unsigned char *bands = make_bands(object);
  if (bands == NULL) return CL_OUT_OF_HOST_MEMORY;
  size_t band = object->band_bytes;
  cl_int status = clEnqueueWriteBuffer(executor->queue, object->whole, CL_TRUE, 0, band, bands, 0, NULL, NULL);
  if (status == CL_SUCCESS)
    status = clEnqueueWriteBuffer(executor->queue, object->whole, CL_TRUE, band + object->bytes, band, bands + band, 0,
                                  NULL, NULL);
  free(bands);
  return status;
}

cl_int clt_guard_check(clt_guard_state *state, size_t *distance_bytes, clt_executor *executor,
                       const clt_object *object) {
  *state = CLT_GUARD_WHOLE;
  *distance_bytes = 0;
  if (object->whole == NULL) return CL_SUCCESS;
  size_t band = object->band_bytes;
  unsigned char *should_be = make_bands(object), *is = malloc(2 * band);
  cl_int status = should_be && is ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
  if (status == CL_SUCCESS)
    status = clEnqueueReadBuffer(executor->queue, object->whole, CL_TRUE, 0, band, is, 0, NULL, NULL);
  if (status == CL_SUCCESS)
    status = clEnqueueReadBuffer(executor->queue, object->whole, CL_TRUE, band + object->bytes, band, is + band, 0,
                                 NULL, NULL);
  if (status == CL_SUCCESS && memcmp(is, should_be, 2 * band) != 0) {
    size_t behind = band, before = 0;
    while (behind < 2 * band && is[behind] == should_be[behind]) behind++;
    while (behind == 2 * band && is[band - 1 - before] == should_be[band - 1 - before]) before++;
    *state = behind < 2 * band ? CLT_GUARD_BEHIND : CLT_GUARD_BEFORE;
    *distance_bytes = behind < 2 * band ? behind - band : before;
  }
  free(should_be);
  free(is);
  return status;
}

/* --- images --- */

static cl_channel_type channel_type(clt_element_base base, clt_image_channel channel) {
  bool normalised = channel == CLT_CHANNEL_NORMALISED;
  switch (base) {
    case CLT_ELEMENT_CHAR: return normalised ? CL_SNORM_INT8 : CL_SIGNED_INT8;
    case CLT_ELEMENT_UCHAR: return normalised ? CL_UNORM_INT8 : CL_UNSIGNED_INT8;
    case CLT_ELEMENT_SHORT: return normalised ? CL_SNORM_INT16 : CL_SIGNED_INT16;
    case CLT_ELEMENT_USHORT: return normalised ? CL_UNORM_INT16 : CL_UNSIGNED_INT16;
    case CLT_ELEMENT_INT: return normalised ? 0 : CL_SIGNED_INT32;
    case CLT_ELEMENT_UINT: return normalised ? 0 : CL_UNSIGNED_INT32;
    case CLT_ELEMENT_HALF: return CL_HALF_FLOAT;
    case CLT_ELEMENT_FLOAT: return CL_FLOAT;
    default: return 0;
  }
}

static bool find_format(cl_image_format *out, const clt_plan_arg *arg) {
  static const cl_channel_order orders[] = {0, CL_R, CL_RG, CL_RGBA, CL_RGBA};
  cl_channel_type type = channel_type(arg->element.base, arg->channel);
  if (type == 0 || arg->element.components > 4) return false;
  *out = (cl_image_format){orders[arg->element.components], type};
  return true;
}

bool clt_image_supported(const clt_executor *executor, const clt_plan_arg *arg) {
  cl_image_format format;
  cl_mem_flags flags = arg->access == CLT_READ_ONLY ? CL_MEM_READ_ONLY : CL_MEM_WRITE_ONLY;
  cl_mem_object_type type = arg->kind == CLT_ARG_IMAGE3D          ? CL_MEM_OBJECT_IMAGE3D
                            : arg->kind == CLT_ARG_IMAGE1D_BUFFER ? CL_MEM_OBJECT_IMAGE1D_BUFFER
                                                                  : CL_MEM_OBJECT_IMAGE2D;
  cl_uint n = 0;
  if (!find_format(&format, arg)) return false;
  if (arg->access == CLT_READ_WRITE) flags = CL_MEM_READ_WRITE;
  if (clGetSupportedImageFormats(executor->context, flags, type, 0, NULL, &n) != CL_SUCCESS) return false;
  cl_image_format *formats = clt_new_array(n, sizeof *formats);
  bool found = false;
  if (formats && clGetSupportedImageFormats(executor->context, flags, type, n, formats, NULL) == CL_SUCCESS)
    for (cl_uint i = 0; i < n; i++)
      found = found || (formats[i].image_channel_order == format.image_channel_order &&
                        formats[i].image_channel_data_type == format.image_channel_data_type);
  free(formats);
  return found;
}

static cl_int make_image(clt_object *out, clt_executor *executor, const clt_plan_arg *arg, cl_mem_flags flags) {
  cl_int status = CL_IMAGE_FORMAT_NOT_SUPPORTED;
  cl_image_format format;
  *out = (clt_object){.bytes = arg->bytes, .is_image = true};
  if (!find_format(&format, arg)) return status;
  for (int d = 0; d < 3; d++) out->region[d] = arg->extent[d] + 2 * arg->border[d];
  cl_image_desc desc = {
      .image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = out->region[0], .image_height = out->region[1]};
  if (arg->kind == CLT_ARG_IMAGE3D) {
    desc.image_type = CL_MEM_OBJECT_IMAGE3D;
    desc.image_depth = out->region[2];
  }
  out->memory = clCreateImage(executor->context, flags, &format, &desc, NULL, &status);
  return status;
}

static cl_int view_as_image(clt_object *object, clt_executor *executor, const clt_plan_arg *arg, cl_mem_flags flags) {
  cl_int status = CL_IMAGE_FORMAT_NOT_SUPPORTED;
  cl_image_format format;
  if (!find_format(&format, arg)) return status;
  cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE1D_BUFFER,
                        .image_width = arg->bytes / arg->element.bytes,
                        .buffer = object->memory};
  object->view = clCreateImage(executor->context, flags, &format, &desc, NULL, &status);
  return status;
}

static cl_int map_image(clt_view *out, clt_executor *executor, const clt_object *object) {
  cl_int status = CL_SUCCESS;
  size_t row_pitch = 0, slice_pitch = 0, row_bytes = object->bytes / (object->region[1] * object->region[2]);
  void *mapped = clEnqueueMapImage(executor->queue, object->memory, CL_TRUE, CL_MAP_READ, origin, object->region,
                                   &row_pitch, &slice_pitch, 0, NULL, NULL, &status);
  if (mapped == NULL) return status;
  bool packed = row_pitch == row_bytes && (object->region[2] == 1 || slice_pitch == row_bytes * object->region[1]);
  *out = (clt_view){mapped, mapped};
  if (packed) return CL_SUCCESS;
  unsigned char *rows = clt_scratch_get(&executor->stored, object->bytes), *end = rows;
  for (size_t z = 0; rows && z < object->region[2]; z++)
    for (size_t y = 0; y < object->region[1]; y++, end += row_bytes)
      memcpy(end, (unsigned char *)mapped + z * slice_pitch + y * row_pitch, row_bytes);
  clt_object_close(executor, object, out);
  out->bytes = rows;
  return rows ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
}

/* --- objects --- */

bool clt_arg_is_memory(const clt_plan_arg *arg) {
  return arg->kind == CLT_ARG_BUFFER || arg->kind == CLT_ARG_CONSTANT || clt_arg_is_image(arg->kind);
}

static cl_int make_buffer(clt_object *out, clt_executor *executor, const clt_plan_arg *arg, cl_mem_flags flags) {
  cl_int status = CL_SUCCESS;
  size_t align = (size_t)executor->info.base_address_align_bits / 8, whole;
  if (align < MIN_BAND_BYTES) align = MIN_BAND_BYTES; /* alignments are powers of two */
  size_t row_bytes = (arg->extent[0] + 2 * arg->border[0]) * arg->element.bytes;
  size_t wanted = row_bytes < MAX_BAND_BYTES / 2 ? 2 * row_bytes : MAX_BAND_BYTES;
  size_t band = (wanted + align - 1) / align * align;
  *out = (clt_object){.bytes = arg->bytes, .band_bytes = band, .salt = ++executor->next_salt};
  /* Oclgrind sees by itself what leaves a buffer, unless the buffer is a part of another. An image cannot be left, and
   * drivers (PoCL) make none of a part of a buffer. */
  bool guarded = strcmp(executor->info.platform_name, "Oclgrind") != 0 && arg->kind != CLT_ARG_IMAGE1D_BUFFER &&
                 !__builtin_add_overflow(arg->bytes, 2 * band, &whole) && whole <= executor->info.max_allocation_bytes;
  if (!guarded) {
    out->memory = clCreateBuffer(executor->context, flags, arg->bytes, NULL, &status);
    return status;
  }
  cl_buffer_region region = {band, arg->bytes};
  out->whole = clCreateBuffer(executor->context, CL_MEM_READ_WRITE, whole, NULL, &status);
  if (out->whole == NULL) return status;
  out->memory = clCreateSubBuffer(out->whole, flags, CL_BUFFER_CREATE_TYPE_REGION, &region, &status);
  if (out->memory != NULL) status = write_guards(executor, out);
  return status;
}

static cl_int make_object(clt_object *out, clt_executor *executor, const clt_plan_arg *arg, cl_mem_flags flags) {
  bool is_image = arg->kind == CLT_ARG_IMAGE2D || arg->kind == CLT_ARG_IMAGE3D;
  cl_int status = is_image ? make_image(out, executor, arg, flags) : make_buffer(out, executor, arg, flags);
  if (status == CL_SUCCESS && arg->kind == CLT_ARG_IMAGE1D_BUFFER) status = view_as_image(out, executor, arg, flags);
  if (status != CL_SUCCESS) clt_object_release(out);
  return status;
}

cl_int clt_object_new(clt_object *out, clt_executor *executor, const clt_plan_arg *arg, cl_mem_flags flags) {
  cl_int status = make_object(out, executor, arg, flags);
  if (!clt_cl_out_of_memory(status)) return status;
  clt_inputs_shrink(executor, 0);
  return make_object(out, executor, arg, flags);
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
static cl_int fill_object(clt_executor *executor, const clt_object *object, uint64_t pattern) {
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
    case CLT_ELEMENT_HALF: return fill_object(executor, object, 0x7ea57ea57ea57ea5);
    case CLT_ELEMENT_FLOAT: return fill_object(executor, object, 0x7fe5a5a57fe5a5a5);
    case CLT_ELEMENT_DOUBLE: return fill_object(executor, object, 0x7ffda5a5a5a5a5a5);
    default: return fill_object(executor, object, 0xa5a5a5a5a5a5a5a5);
  }
}

cl_int clt_object_zero(clt_executor *executor, const clt_object *object) { return fill_object(executor, object, 0); }

cl_int clt_object_view(clt_view *out, clt_executor *executor, const clt_object *object) {
  cl_int status = CL_SUCCESS;
  if (object->is_image) return map_image(out, executor, object);
  void *mapped = clEnqueueMapBuffer(executor->queue, object->memory, CL_TRUE, CL_MAP_READ, 0, object->bytes, 0, NULL,
                                    NULL, &status);
  *out = (clt_view){mapped, mapped};
  return status;
}

void clt_object_close(clt_executor *executor, const clt_object *object, clt_view *view) {
  if (view->mapped) clEnqueueUnmapMemObject(executor->queue, object->memory, view->mapped, 0, NULL, NULL);
  *view = (clt_view){0};
}
