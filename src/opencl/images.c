#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "opencl/object.h"

static const size_t origin[3] = {0, 0, 0};

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

bool clt_image_format(cl_image_format *out, const clt_plan_arg *arg) {
  static const cl_channel_order orders[] = {0, CL_R, CL_RG, CL_RGBA, CL_RGBA};
  cl_channel_type type = channel_type(arg->element.base, arg->channel);
  if (type == 0 || arg->element.components > 4) return false;
  *out = (cl_image_format){orders[arg->element.components], type};
  return true;
}

bool clt_image_supported(const clt_executor *executor, const clt_plan_arg *arg, const cl_image_format *format) {
  cl_mem_flags flags = arg->access == CLT_READ_ONLY ? CL_MEM_READ_ONLY : CL_MEM_WRITE_ONLY;
  cl_mem_object_type type = arg->kind == CLT_ARG_IMAGE3D          ? CL_MEM_OBJECT_IMAGE3D
                            : arg->kind == CLT_ARG_IMAGE1D_BUFFER ? CL_MEM_OBJECT_IMAGE1D_BUFFER
                                                                  : CL_MEM_OBJECT_IMAGE2D;
  cl_uint n = 0;
  if (arg->access == CLT_READ_WRITE) flags = CL_MEM_READ_WRITE;
  if (clGetSupportedImageFormats(executor->context, flags, type, 0, NULL, &n) != CL_SUCCESS) return false;
  cl_image_format *formats = clt_new_array(n, sizeof *formats);
  bool found = false;
  if (formats && clGetSupportedImageFormats(executor->context, flags, type, n, formats, NULL) == CL_SUCCESS)
    for (cl_uint i = 0; i < n; i++)
      found = found || (formats[i].image_channel_order == format->image_channel_order &&
                        formats[i].image_channel_data_type == format->image_channel_data_type);
  free(formats);
  return found;
}

cl_int clt_image_new(clt_object *out, clt_executor *executor, const clt_plan_arg *arg, cl_mem_flags flags) {
  cl_int status = CL_IMAGE_FORMAT_NOT_SUPPORTED;
  cl_image_format format;
  *out = (clt_object){.bytes = arg->bytes, .is_image = true};
  if (!clt_image_format(&format, arg)) return status;
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

cl_int clt_image_of_buffer(clt_object *object, clt_executor *executor, const clt_plan_arg *arg, cl_mem_flags flags) {
  cl_int status = CL_IMAGE_FORMAT_NOT_SUPPORTED;
  cl_image_format format;
  if (!clt_image_format(&format, arg)) return status;
  cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE1D_BUFFER,
                        .image_width = arg->bytes / arg->element.bytes,
                        .buffer = object->memory};
  object->view = clCreateImage(executor->context, flags, &format, &desc, NULL, &status);
  return status;
}

/* Copies the rows of a mapped image together. */
static void pack(unsigned char *out, const clt_object *object, const unsigned char *mapped, size_t row_pitch,
                 size_t slice_pitch) {
  size_t row_bytes = object->bytes / (object->region[1] * object->region[2]);
  for (size_t z = 0; z < object->region[2]; z++)
    for (size_t y = 0; y < object->region[1]; y++, out += row_bytes)
      memcpy(out, mapped + z * slice_pitch + y * row_pitch, row_bytes);
}

cl_int clt_image_view(clt_view *out, clt_executor *executor, const clt_object *object) {
  cl_int status = CL_SUCCESS;
  size_t row_pitch = 0, slice_pitch = 0, row_bytes = object->bytes / (object->region[1] * object->region[2]);
  void *mapped = clEnqueueMapImage(executor->queue, object->memory, CL_TRUE, CL_MAP_READ, origin, object->region,
                                   &row_pitch, &slice_pitch, 0, NULL, NULL, &status);
  if (mapped == NULL) return status;
  bool packed = row_pitch == row_bytes && (object->region[2] == 1 || slice_pitch == row_bytes * object->region[1]);
  *out = (clt_view){mapped, mapped};
  if (packed) return CL_SUCCESS;
  void *rows = clt_scratch_get(&executor->stored, object->bytes);
  if (rows) pack(rows, object, mapped, row_pitch, slice_pitch);
  clt_object_close(executor, object, out);
  out->bytes = rows;
  return rows ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
}
