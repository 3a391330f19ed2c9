/* Captures the kernel arguments of a launch, and the content of its memory before and after it. */
#include "base/file.h"
#include "layer/layer.h"

typedef struct capture_memory {
  cl_mem handle, root; /* root: the buffer of a sub-buffer, otherwise itself */
  size_t begin, end;   /* its bytes within root */
  cl_mem_object_type type;
  size_t region[3]; /* of an image */
  size_t bytes;
  char *before;
  char name[300]; /* of the file with the content before the launch */
  json_t *json;   /* borrowed from the arguments */
  bool written;   /* the kernel may write to it */
} capture_memory;

bool capture_write(const char *folder, const char *name, const void *bytes, size_t n) {
  clt_error error = {0};
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  if (clt_file_write(path, bytes, n, &error) == CLT_OK) return true;
  layer_say("%s", error.message);
  return false;
}

/* Sets the reason; the value is false. */
#define REFUSE(data, ...) (snprintf((data)->why, sizeof(data)->why, __VA_ARGS__) < 0)

/* --- arguments --- */

/* A text of clGetKernelArgInfo; "" if there is none. */
static const char *argument_text(char out[256], cl_kernel kernel, cl_uint index, cl_kernel_arg_info what) {
  if (layer_next.clGetKernelArgInfo(kernel, index, what, 255, out, NULL) != CL_SUCCESS) out[0] = '\0';
  out[255] = '\0';
  return out;
}

static json_t *hex_json(const void *bytes, size_t n) {
  static const char digits[] = "0123456789abcdef";
  char *text = layer_new(2 * n + 1, 1);
  for (size_t i = 0; i < n; i++) {
    text[2 * i] = digits[((const unsigned char *)bytes)[i] >> 4];
    text[2 * i + 1] = digits[((const unsigned char *)bytes)[i] & 15];
  }
  json_t *json = json_string(text);
  free(text);
  return json;
}

static bool add_sampler(capture_data *data, json_t *json, const track_argument *argument) {
  cl_sampler sampler;
  cl_bool normalised = CL_FALSE;
  cl_addressing_mode addressing = 0;
  cl_filter_mode filter = 0;
  memcpy(&sampler, argument->bytes, sizeof sampler);
  layer_next.clGetSamplerInfo(sampler, CL_SAMPLER_NORMALIZED_COORDS, sizeof normalised, &normalised, NULL);
  layer_next.clGetSamplerInfo(sampler, CL_SAMPLER_ADDRESSING_MODE, sizeof addressing, &addressing, NULL);
  layer_next.clGetSamplerInfo(sampler, CL_SAMPLER_FILTER_MODE, sizeof filter, &filter, NULL);
  if (addressing != CL_ADDRESS_CLAMP && addressing != CL_ADDRESS_CLAMP_TO_EDGE && addressing != CL_ADDRESS_NONE)
    return REFUSE(data, "the sampler '%s' repeats the image at its borders, which problem files do not support",
                  json_string_value(json_object_get(json, "name")));
  json_object_set_new(json, "kind", json_string("sampler"));
  json_object_set_new(json, "normalised", json_boolean(normalised));
  /* CL_ADDRESS_NONE: the kernel stays inside the image, where all modes are the same. */
  json_object_set_new(json, "addressing", json_string(addressing == CL_ADDRESS_CLAMP ? "Clamp" : "ClampToEdge"));
  json_object_set_new(json, "filter", json_string(filter == CL_FILTER_LINEAR ? "Linear" : "Nearest"));
  return true;
}

static bool describe_image(capture_data *data, capture_memory *m, json_t *json) {
  static const struct {
    cl_channel_type type;
    const char *name;
    bool normalised;
  } types[] = {
      {CL_SNORM_INT8, "char", true},      {CL_SNORM_INT16, "short", true},    {CL_UNORM_INT8, "uchar", true},
      {CL_UNORM_INT16, "ushort", true},   {CL_SIGNED_INT8, "char", false},    {CL_SIGNED_INT16, "short", false},
      {CL_SIGNED_INT32, "int", false},    {CL_UNSIGNED_INT8, "uchar", false}, {CL_UNSIGNED_INT16, "ushort", false},
      {CL_UNSIGNED_INT32, "uint", false}, {CL_HALF_FLOAT, "half", false},     {CL_FLOAT, "float", false}};
  const char *name = json_string_value(json_object_get(json, "name"));
  cl_image_format format = {0, 0};
  size_t element = 0, found = 0;
  cl_uint mip_levels = 0;
  layer_next.clGetImageInfo(m->handle, CL_IMAGE_FORMAT, sizeof format, &format, NULL);
  layer_next.clGetImageInfo(m->handle, CL_IMAGE_ELEMENT_SIZE, sizeof element, &element, NULL);
  layer_next.clGetImageInfo(m->handle, CL_IMAGE_WIDTH, sizeof *m->region, &m->region[0], NULL);
  layer_next.clGetImageInfo(m->handle, CL_IMAGE_HEIGHT, sizeof *m->region, &m->region[1], NULL);
  layer_next.clGetImageInfo(m->handle, CL_IMAGE_DEPTH, sizeof *m->region, &m->region[2], NULL);
  layer_next.clGetImageInfo(m->handle, CL_IMAGE_NUM_MIP_LEVELS, sizeof mip_levels, &mip_levels, NULL);
  const char *kind = NULL;
  if (m->type == CL_MEM_OBJECT_IMAGE2D) kind = "Image2D";
  if (m->type == CL_MEM_OBJECT_IMAGE3D) kind = "Image3D";
  if (m->type == CL_MEM_OBJECT_IMAGE1D_BUFFER) kind = "Image1DBuffer";
  int components = 0;
  if (format.image_channel_order == CL_R) components = 1;
  if (format.image_channel_order == CL_RG) components = 2;
  if (format.image_channel_order == CL_RGBA) components = 4;
  while (found < sizeof types / sizeof *types && types[found].type != format.image_channel_data_type) found++;
  if (kind == NULL)
    return REFUSE(data, "'%s' is a one-dimensional image or an image array, which problem files do not support", name);
  if (mip_levels > 1)
    return REFUSE(data, "the image '%s' has several mipmap levels, which problem files do not support", name);
  if (components == 0 || found == sizeof types / sizeof *types)
    return REFUSE(data, "the image '%s' has the channel order 0x%x of type 0x%x, which problem files do not support",
                  name, (unsigned)format.image_channel_order, (unsigned)format.image_channel_data_type);
  for (int d = 0; d < 3; d++) m->region[d] += m->region[d] == 0;
  m->bytes = element * m->region[0] * m->region[1] * m->region[2];
  char text[16];
  snprintf(text, sizeof text, components == 1 ? "%s" : "%s%d", types[found].name, components);
  json_object_set_new(json, "kind", json_string(kind));
  json_object_set_new(json, "element", json_string(text));
  json_object_set_new(json, "normalised", json_boolean(types[found].normalised));
  json_object_set_new(
      json, "extent",
      json_pack("[I, I, I]", (json_int_t)m->region[0], (json_int_t)m->region[1], (json_int_t)m->region[2]));
  return true;
}

static bool add_memory(capture_data *data, json_t *json, const track_argument *argument, bool constant, bool writes) {
  const char *name = json_string_value(json_object_get(json, "name"));
  capture_memory *m = &data->memories[data->n_memories++];
  size_t offset = 0;
  if (argument->size != sizeof m->handle) return REFUSE(data, "the value of '%s' is not a memory object", name);
  memcpy(&m->handle, argument->bytes, sizeof m->handle);
  if (m->handle == NULL) return REFUSE(data, "'%s' has no buffer", name);
  m->json = json;
  m->written = writes;
  m->root = m->handle;
  if (layer_next.clGetMemObjectInfo(m->handle, CL_MEM_TYPE, sizeof m->type, &m->type, NULL) != CL_SUCCESS)
    return REFUSE(data, "the driver does not know the memory object '%s'", name);
  layer_next.clGetMemObjectInfo(m->handle, CL_MEM_SIZE, sizeof m->bytes, &m->bytes, NULL);
  layer_next.clGetMemObjectInfo(m->handle, CL_MEM_OFFSET, sizeof offset, &offset, NULL);
  for (cl_mem of = m->handle; of;) {
    m->root = of;
    if (layer_next.clGetMemObjectInfo(m->root, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof of, &of, NULL) != CL_SUCCESS) break;
  }
  json_object_set_new(json, "const", json_boolean(!writes));
  if (m->type == CL_MEM_OBJECT_BUFFER)
    json_object_set_new(json, "kind", json_string(constant ? "constant" : "buffer"));
  else if (!describe_image(data, m, json))
    return false;
  m->begin = offset;
  m->end = offset + m->bytes;
  if (m->type != CL_MEM_OBJECT_BUFFER &&
      m->root != m->handle) { /* an image made from a buffer, perhaps with a row pitch */
    m->begin = 0;
    m->end = SIZE_MAX;
  }
  json_object_set_new(json, "bytes", json_integer((json_int_t)m->bytes));
  return true;
}

bool capture_is_described(const track_kernel *kernel) {
  cl_kernel_arg_address_qualifier address;
  return kernel->n_arguments == 0 ||
         layer_next.clGetKernelArgInfo(kernel->record.key, 0, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof address, &address,
                                       NULL) == CL_SUCCESS;
}

static bool add_argument(capture_data *data, const track_kernel *kernel, cl_uint index) {
  char name[256], type[256];
  const track_argument *argument = &kernel->arguments[index];
  cl_kernel_arg_address_qualifier address = 0;
  cl_kernel_arg_access_qualifier access = CL_KERNEL_ARG_ACCESS_NONE;
  cl_kernel_arg_type_qualifier qualifiers = 0;
  if (layer_next.clGetKernelArgInfo(kernel->record.key, index, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof address,
                                    &address, NULL) != CL_SUCCESS)
    return REFUSE(data, "%s", CAPTURE_UNDESCRIBED);
  layer_next.clGetKernelArgInfo(kernel->record.key, index, CL_KERNEL_ARG_ACCESS_QUALIFIER, sizeof access, &access,
                                NULL);
  layer_next.clGetKernelArgInfo(kernel->record.key, index, CL_KERNEL_ARG_TYPE_QUALIFIER, sizeof qualifiers, &qualifiers,
                                NULL);
  if (argument_text(name, kernel->record.key, index, CL_KERNEL_ARG_NAME)[0] == '\0')
    snprintf(name, sizeof name, "argument%u", (unsigned)index);
  argument_text(type, kernel->record.key, index, CL_KERNEL_ARG_TYPE_NAME);
  json_t *json = json_pack("{s:s, s:s}", "name", name, "type", type);
  json_array_append_new(data->arguments, json);
  if (argument->kind == TRACK_SVM) return REFUSE(data, "'%s' is shared virtual memory", name);
  if (argument->kind == TRACK_UNSET) return REFUSE(data, "'%s' was set in a way that the layer does not see", name);
  if (qualifiers & CL_KERNEL_ARG_TYPE_PIPE) return REFUSE(data, "'%s' is a pipe", name);
  if (address == CL_KERNEL_ARG_ADDRESS_LOCAL) {
    json_object_set_new(json, "kind", json_string("local"));
    json_object_set_new(json, "bytes", json_integer((json_int_t)argument->size));
    return true;
  }
  if (argument->kind == TRACK_NOTHING) return REFUSE(data, "'%s' has no buffer", name);
  if (strcmp(type, "sampler_t") == 0) return add_sampler(data, json, argument);
  if (strncmp(type, "image", 5) == 0) {
    if (access == CL_KERNEL_ARG_ACCESS_READ_WRITE)
      return REFUSE(data, "the kernel reads and writes the image '%s', which problem files do not support", name);
    return add_memory(data, json, argument, false, access == CL_KERNEL_ARG_ACCESS_WRITE_ONLY);
  }
  if (address == CL_KERNEL_ARG_ADDRESS_PRIVATE) {
    json_object_set_new(json, "kind", json_string("scalar"));
    json_object_set_new(json, "bytes", json_integer((json_int_t)argument->size));
    json_object_set_new(json, "value", hex_json(argument->bytes, argument->size));
    return true;
  }
  const bool constant = address == CL_KERNEL_ARG_ADDRESS_CONSTANT;
  return add_memory(data, json, argument, constant, !constant && !(qualifiers & CL_KERNEL_ARG_TYPE_CONST));
}

/* --- content --- */

/* Reads a whole buffer or image. One with CL_MEM_HOST_NO_ACCESS is copied to another buffer first. */
static bool read_memory(char *out, const capture_memory *m, cl_command_queue queue) {
  static const size_t origin[3];
  cl_context context;
  cl_mem copy = NULL;
  const bool image = m->type != CL_MEM_OBJECT_BUFFER;
  cl_int status =
      image ? layer_next.clEnqueueReadImage(queue, m->handle, CL_TRUE, origin, m->region, 0, 0, out, 0, NULL, NULL)
            : layer_next.clEnqueueReadBuffer(queue, m->handle, CL_TRUE, 0, m->bytes, out, 0, NULL, NULL);
  if (status == CL_SUCCESS) return true;
  if (layer_next.clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof context, &context, NULL) == CL_SUCCESS)
    copy = layer_next.clCreateBuffer(context, CL_MEM_READ_WRITE, m->bytes, NULL, &status);
  if (copy == NULL) return false;
  status = image ? layer_next.clEnqueueCopyImageToBuffer(queue, m->handle, copy, origin, m->region, 0, 0, NULL, NULL)
                 : layer_next.clEnqueueCopyBuffer(queue, m->handle, copy, 0, 0, m->bytes, 0, NULL, NULL);
  if (status == CL_SUCCESS) status = layer_next.clFinish(queue);
  if (status == CL_SUCCESS)
    status = layer_next.clEnqueueReadBuffer(queue, copy, CL_TRUE, 0, m->bytes, out, 0, NULL, NULL);
  layer_next.clReleaseMemObject(copy);
  return status == CL_SUCCESS;
}

static void refuse_reading(capture_data *data, const capture_memory *m) {
  (void)REFUSE(data, "the driver cannot read '%s' back", json_string_value(json_object_get(m->json, "name")));
}

static void drop_arguments(capture_data *data) {
  if (data->why[0] == '\0') (void)REFUSE(data, "its data could not be written");
  json_decref(data->arguments);
  data->arguments = NULL;
}

/* Arguments that share memory become separate ones in a problem file, which is correct only if the kernel does not
 * write to them. */
static bool is_apart(capture_data *data) {
  for (size_t i = 0; i < data->n_memories; i++)
    for (size_t k = 0; k < i; k++) {
      const capture_memory *a = &data->memories[i], *b = &data->memories[k];
      if (a->root != b->root || a->end <= b->begin || b->end <= a->begin || !(a->written || b->written)) continue;
      return REFUSE(data, "'%s' and '%s' are the same memory, and the kernel writes to it",
                    json_string_value(json_object_get(b->json, "name")),
                    json_string_value(json_object_get(a->json, "name")));
    }
  return true;
}

static bool has_variables(const capture_launch *launch) {
  cl_program program = NULL;
  cl_device_id device = NULL;
  return layer_next.clGetKernelInfo(launch->kernel->record.key, CL_KERNEL_PROGRAM, sizeof program, &program, NULL) ==
             CL_SUCCESS &&
         layer_next.clGetCommandQueueInfo(launch->queue, CL_QUEUE_DEVICE, sizeof device, &device, NULL) == CL_SUCCESS &&
         layer_has_variables(program, device);
}

void capture_before(capture_data *out, const capture_launch *launch, const char *folder, const char *prefix) {
  const track_kernel *kernel = launch->kernel;
  bool fine = true;
  *out = (capture_data){.arguments = json_array(), .memories = layer_new(kernel->n_arguments, sizeof *out->memories)};
  for (int d = 0; launch->offset && d < (int)launch->n_dimensions; d++)
    if (launch->offset[d]) fine = REFUSE(out, "it is launched with a global offset");
  if (kernel->exec_info) fine = REFUSE(out, "it uses shared virtual memory");
  if (fine && has_variables(launch)) fine = REFUSE(out, "its program has 'global' variables");
  for (cl_uint i = 0; fine && i < kernel->n_arguments; i++) fine = add_argument(out, kernel, i);
  fine = fine && is_apart(out);
  for (size_t i = 0; fine && i < out->n_memories; i++) {
    capture_memory *m = &out->memories[i];
    m->before = malloc(m->bytes ? m->bytes : 1);
    fine = m->before && read_memory(m->before, m, launch->queue);
    if (!fine) refuse_reading(out, m);
    if (!fine) break;
    snprintf(m->name, sizeof m->name, "%s-%zu", prefix, i);
    fine = capture_write(folder, m->name, m->before, m->bytes);
    json_object_set_new(m->json, "before", json_string(m->name));
  }
  if (!fine) drop_arguments(out);
}

/* The share of the words that differ, the last one maybe shorter. */
static double changed_share(const char *a, const char *b, size_t bytes) {
  const size_t word = 4, n = (bytes + word - 1) / word;
  size_t n_changed = 0;
  for (size_t i = 0; i < n; i++)
    n_changed += memcmp(a + i * word, b + i * word, i + 1 < n ? word : bytes - i * word) != 0;
  return n ? (double)n_changed / (double)n : 0;
}

void capture_after(capture_data *data, const capture_launch *launch, const char *folder) {
  bool fine = true;
  data->unchanged = true;
  for (size_t i = 0; fine && i < data->n_memories; i++) {
    capture_memory *m = &data->memories[i];
    char name[320];
    if (!m->written) continue;
    char *after = malloc(m->bytes ? m->bytes : 1);
    fine = after && read_memory(after, m, launch->queue);
    if (!fine) refuse_reading(data, m);
    const double changed = fine ? changed_share(after, m->before, m->bytes) : 0;
    data->unchanged = data->unchanged && changed == 0;
    snprintf(name, sizeof name, "%s-after", m->name);
    if (fine) fine = capture_write(folder, name, after, m->bytes);
    json_object_set_new(m->json, "after", json_string(name));
    json_object_set_new(m->json, "changed", json_real(changed));
    free(after);
  }
  if (!fine) drop_arguments(data);
}

void capture_data_release(capture_data *data) {
  for (size_t i = 0; i < data->n_memories; i++) free(data->memories[i].before);
  free(data->memories);
  json_decref(data->arguments);
  *data = (capture_data){0};
}
