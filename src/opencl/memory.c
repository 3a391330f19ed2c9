/* Memory for kernels: buffers between guard bands, and images. */
#include <utlist.h>

#include "base/base.h"
#include "opencl/internal.h"

static const size_t origin[3] = {0, 0, 0};

/* --- guard bands --- */

/* Bands are two rows long, within these limits, so that a write that misses by a row still hits the guard. Writes
 * beyond the bands are noticed only by their effects, so bands of short rows are longer, as far as that costs almost
 * nothing. */
enum { MIN_BAND_BYTES = 64 << 10, MAX_BAND_BYTES = 256 << 10 };

/* The content of both bands, one after the other, followed by as many bytes for what they should be compared with. In
 * memory that is kept, because fresh memory costs more than what is done with it; NULL: there is none. The content
 * depends on position and object, because the most common fault copies bytes past the end of one buffer to bytes past
 * the end of another: with the same content in all bands that would leave no trace. */
static unsigned char *make_bands(clt_executor *executor, const clt_object *object) {
  const size_t bytes = 2 * object->band_bytes;
  if (2 * bytes > executor->bands_bytes) {
    free(executor->bands);
    executor->bands = malloc(2 * bytes);
    executor->bands_bytes = executor->bands ? 2 * bytes : 0;
  }
  for (size_t i = 0; executor->bands && i < bytes; i += sizeof(uint64_t)) {
    /* splitmix64's finaliser: consecutive numbers give unrelated words. */
    uint64_t x = (object->salt << 32) + i / sizeof x + 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    x ^= x >> 31;
    memcpy(executor->bands + i, &x, sizeof x);
  }
  return executor->bands;
}

/* --- images --- */

static cl_mem_object_type image_type(clt_arg_kind kind) {
  if (kind == CLT_ARG_IMAGE3D) return CL_MEM_OBJECT_IMAGE3D;
  return kind == CLT_ARG_IMAGE1D_BUFFER ? CL_MEM_OBJECT_IMAGE1D_BUFFER : CL_MEM_OBJECT_IMAGE2D;
}

static bool find_format(cl_image_format *out, const clt_plan_arg *arg) {
  static const cl_channel_order orders[] = {0, CL_R, CL_RG, CL_RGBA, CL_RGBA};
  static const cl_channel_type types[CLT_ELEMENT_DOUBLE + 1][2] = {
      /* by clt_image_channel; 0: there is none */
      [CLT_ELEMENT_CHAR] = {CL_SIGNED_INT8, CL_SNORM_INT8},
      [CLT_ELEMENT_UCHAR] = {CL_UNSIGNED_INT8, CL_UNORM_INT8},
      [CLT_ELEMENT_SHORT] = {CL_SIGNED_INT16, CL_SNORM_INT16},
      [CLT_ELEMENT_USHORT] = {CL_UNSIGNED_INT16, CL_UNORM_INT16},
      [CLT_ELEMENT_INT] = {CL_SIGNED_INT32},
      [CLT_ELEMENT_UINT] = {CL_UNSIGNED_INT32},
      [CLT_ELEMENT_HALF] = {CL_HALF_FLOAT, CL_HALF_FLOAT},
      [CLT_ELEMENT_FLOAT] = {CL_FLOAT, CL_FLOAT}};
  if (arg->element.components > 4) return false;
  *out = (cl_image_format){orders[arg->element.components], types[arg->element.base][arg->channel]};
  return out->image_channel_data_type != 0;
}

cl_mem_flags clt_arg_flags(const clt_plan_arg *arg) {
  static const cl_mem_flags flags[] = {
      [CLT_READ_ONLY] = CL_MEM_READ_ONLY, [CLT_WRITE_ONLY] = CL_MEM_WRITE_ONLY, [CLT_READ_WRITE] = CL_MEM_READ_WRITE};
  return flags[arg->access];
}

bool clt_image_supported(const clt_executor *executor, const clt_plan_arg *arg) {
  cl_image_format format;
  cl_mem_flags flags = clt_arg_flags(arg);
  cl_mem_object_type type = image_type(arg->kind);
  cl_uint n = 0;
  bool found = false;
  if (!find_format(&format, arg)) return false;
  if (clGetSupportedImageFormats(executor->context, flags, type, 0, NULL, &n) != CL_SUCCESS) return false;
  cl_image_format *formats = clt_new_array(n, sizeof *formats);
  if (formats && clGetSupportedImageFormats(executor->context, flags, type, n, formats, NULL) == CL_SUCCESS)
    for (cl_uint i = 0; i < n; i++)
      found |= formats[i].image_channel_order == format.image_channel_order &&
               formats[i].image_channel_data_type == format.image_channel_data_type;
  free(formats);
  return found;
}

/* --- objects --- */

bool clt_arg_is_memory(const clt_plan_arg *arg) {
  return arg->kind == CLT_ARG_BUFFER || arg->kind == CLT_ARG_CONSTANT || clt_arg_is_image(arg->kind);
}

/* Creates an image, or a view of the object's buffer as an image. */
static cl_int make_image(clt_object *out, clt_executor *executor, const clt_plan_arg *arg, cl_mem_flags flags) {
  cl_int status = CL_IMAGE_FORMAT_NOT_SUPPORTED;
  cl_image_format format;
  if (!find_format(&format, arg)) return status;
  cl_image_desc desc = {.image_type = image_type(arg->kind)};
  if (arg->kind == CLT_ARG_IMAGE1D_BUFFER) {
    desc.image_width = arg->bytes / arg->element.bytes;
    desc.buffer = out->memory;
    out->view = clCreateImage(executor->context, flags, &format, &desc, NULL, &status);
    return status;
  }
  *out = (clt_object){.bytes = arg->bytes, .is_image = true};
  for (int d = 0; d < 3; d++) out->region[d] = arg->extent[d] + 2 * arg->border[d];
  desc.image_width = out->region[0];
  desc.image_height = out->region[1];
  if (arg->kind == CLT_ARG_IMAGE3D) desc.image_depth = out->region[2];
  out->memory = clCreateImage(executor->context, flags, &format, &desc, NULL, &status);
  return status;
}

/* Writes both bands from `bands`, or reads them into it; waits. */
static cl_int move_bands(clt_executor *executor, const clt_object *object, unsigned char *bands, bool write) {
  cl_int status = CL_SUCCESS;
  for (size_t at = 0; status == CL_SUCCESS && at < 2; at++) {
    const size_t band = object->band_bytes, offset = at * (band + object->bytes);
    status = write ? clEnqueueWriteBuffer(executor->queue, object->whole, CL_TRUE, offset, band, bands + at * band, 0,
                                          NULL, NULL)
                   : clEnqueueReadBuffer(executor->queue, object->whole, CL_TRUE, offset, band, bands + at * band, 0,
                                         NULL, NULL);
  }
  return status;
}

static cl_int write_bands(clt_executor *executor, const clt_object *object) {
  unsigned char *bands = make_bands(executor, object);
  return bands ? move_bands(executor, object, bands, true) : CL_OUT_OF_HOST_MEMORY;
}

static size_t band_bytes_of(const clt_executor *executor, const clt_plan_arg *arg) {
  size_t align = (size_t)executor->info.base_address_align_bits / 8;
  if (align < MIN_BAND_BYTES) align = MIN_BAND_BYTES; /* alignments are powers of two */
  size_t row_bytes = (arg->extent[0] + 2 * arg->border[0]) * arg->element.bytes;
  size_t wanted = row_bytes < MAX_BAND_BYTES / 2 ? 2 * row_bytes : MAX_BAND_BYTES;
  return (wanted + align - 1) / align * align;
}

static cl_int make_buffer(clt_object *out, clt_executor *executor, const clt_plan_arg *arg, cl_mem_flags flags) {
  cl_int status = CL_SUCCESS;
  size_t whole;
  const size_t band = band_bytes_of(executor, arg);
  *out = (clt_object){.bytes = arg->bytes, .band_bytes = band, .flags = flags, .salt = ++executor->next_salt};
  /* Oclgrind itself detects accesses outside of a buffer, but not of a sub-buffer. Accesses outside of an image have
   * no effect, and drivers such as PoCL cannot create an image from a sub-buffer. */
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
  if (out->memory == NULL) return status;
  return write_bands(executor, out);
}

/* --- retired ones --- */

static size_t whole_bytes(const clt_object *object) { return object->bytes + 2 * object->band_bytes; }

/* A buffer of this kind that an earlier configuration had. */
static bool take_retired(clt_object *out, clt_executor *executor, const clt_plan_arg *arg, cl_mem_flags flags) {
  clt_object *found;
  if (arg->kind == CLT_ARG_IMAGE1D_BUFFER) return false; /* never a sub-buffer: see make_buffer */
  DL_FOREACH(executor->retired.first, found)
  if (found->bytes == arg->bytes && found->flags == flags && found->band_bytes == band_bytes_of(executor, arg)) break;
  if (found == NULL) return false;
  DL_DELETE(executor->retired.first, found);
  executor->retired.bytes -= whole_bytes(found);
  *out = *found;
  out->prev = out->next = NULL;
  free(found);
  return true;
}

static void drop_retired(clt_executor *executor, size_t limit_bytes) {
  while (executor->retired.bytes > limit_bytes) {
    clt_object *oldest = executor->retired.first->prev;
    DL_DELETE(executor->retired.first, oldest);
    executor->retired.bytes -= whole_bytes(oldest);
    oldest->prev = NULL;
    clt_object_release(oldest, executor);
    free(oldest);
  }
}

void clt_objects_drop(clt_executor *executor) {
  drop_retired(executor, 0);
  free(executor->bands);
  executor->bands = NULL;
  executor->bands_bytes = 0;
}

void clt_object_retire(clt_object *object, clt_executor *executor) {
  const bool kept = object->whole && executor->info.type != CLT_DEVICE_CPU;
  clt_object *copy = kept ? clt_new_array(1, sizeof *copy) : NULL;
  if (copy == NULL) {
    clt_object_release(object, executor);
    return;
  }
  DL_DELETE(executor->objects, object);
  *copy = *object;
  *object = (clt_object){0};
  DL_PREPEND(executor->retired.first, copy);
  executor->retired.bytes += whole_bytes(copy);
}

cl_int clt_object_new(clt_object *out, clt_executor *executor, const clt_plan_arg *arg, cl_mem_flags flags) {
  for (bool again = false;; again = true) {
    bool is_image = arg->kind == CLT_ARG_IMAGE2D || arg->kind == CLT_ARG_IMAGE3D;
    const bool retired = !is_image && take_retired(out, executor, arg, flags); /* images are made below */
    drop_retired(executor, executor->retired.limit_bytes);
    cl_int status = CL_SUCCESS;
    if (!is_image) status = retired ? write_bands(executor, out) : make_buffer(out, executor, arg, flags);
    if (status == CL_SUCCESS && clt_arg_is_image(arg->kind)) status = make_image(out, executor, arg, flags);
    if (status == CL_SUCCESS) {
      out->name = arg->name;
      DL_APPEND(executor->objects, out);
      return status;
    }
    clt_object_release(out, executor);
    if (again || !clt_cl_out_of_memory(status)) return status;
    clt_objects_drop(executor);
    clt_inputs_shrink(executor, 0);
  }
}

void clt_object_release(clt_object *object, clt_executor *executor) {
  if (object->prev) DL_DELETE(executor->objects, object);
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

cl_int clt_object_fill(clt_executor *executor, const clt_object *object, const void *pattern, size_t pattern_bytes) {
  if (!object->is_image) {
    size_t rest = object->bytes % pattern_bytes, most = object->bytes - rest;
    cl_int status =
        most ? clEnqueueFillBuffer(executor->queue, object->memory, pattern, pattern_bytes, 0, most, 0, NULL, NULL)
             : CL_SUCCESS;
    if (status != CL_SUCCESS || rest == 0) return status;
    return clEnqueueWriteBuffer(executor->queue, object->memory, CL_TRUE, most, rest, pattern, 0, NULL, NULL);
  }
  unsigned char *content = malloc(object->bytes);
  if (content == NULL) return CL_OUT_OF_HOST_MEMORY;
  for (size_t i = 0; i < object->bytes; i += pattern_bytes)
    memcpy(content + i, pattern, object->bytes - i < pattern_bytes ? object->bytes - i : pattern_bytes);
  cl_int status = clt_object_write(executor, object, content);
  free(content);
  return status;
}

cl_int clt_object_view(clt_view *out, clt_executor *executor, const clt_object *object) {
  cl_int status = CL_SUCCESS;
  *out = (clt_view){0};
  if (!object->is_image) {
    out->mapped = clEnqueueMapBuffer(executor->queue, object->memory, CL_TRUE, CL_MAP_READ, 0, object->bytes, 0, NULL,
                                     NULL, &status);
    out->bytes = out->mapped;
    return status;
  }
  const size_t *region = object->region;
  size_t row_pitch = 0, slice_pitch = 0, row_bytes = object->bytes / (region[1] * region[2]);
  out->mapped = clEnqueueMapImage(executor->queue, object->memory, CL_TRUE, CL_MAP_READ, origin, region, &row_pitch,
                                  &slice_pitch, 0, NULL, NULL, &status);
  out->bytes = out->mapped;
  if (out->mapped == NULL || (row_pitch == row_bytes && (region[2] == 1 || slice_pitch == row_bytes * region[1])))
    return status;
  unsigned char *rows = malloc(object->bytes), *end = rows;
  for (size_t z = 0; rows && z < region[2]; z++)
    for (size_t y = 0; y < region[1]; y++, end += row_bytes)
      memcpy(end, (unsigned char *)out->mapped + z * slice_pitch + y * row_pitch, row_bytes);
  clt_object_close(executor, object, out);
  out->bytes = out->packed = rows;
  return rows ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
}

void clt_object_close(clt_executor *executor, const clt_object *object, clt_view *view) {
  if (view->mapped) clEnqueueUnmapMemObject(executor->queue, object->memory, view->mapped, 0, NULL, NULL);
  free(view->packed);
  *view = (clt_view){0};
}

cl_int clt_object_check_guards(const char **where, size_t *distance, clt_executor *executor, const clt_object *object) {
  const size_t band = object->band_bytes;
  *where = NULL;
  if (object->whole == NULL) return CL_SUCCESS;
  unsigned char *should_be = make_bands(executor, object), *is = should_be ? should_be + 2 * band : NULL;
  cl_int status = should_be ? move_bands(executor, object, is, false) : CL_OUT_OF_HOST_MEMORY;
  if (status == CL_SUCCESS && memcmp(is, should_be, 2 * band) != 0) {
    size_t behind = band, before = 0;
    while (behind < 2 * band && is[behind] == should_be[behind]) behind++;
    while (behind == 2 * band && is[band - 1 - before] == should_be[band - 1 - before]) before++;
    *where = behind < 2 * band ? "past the end of" : "before the start of";
    *distance = behind < 2 * band ? behind - band : before;
    status = move_bands(executor, object, should_be, true);
  }
  return status;
}
