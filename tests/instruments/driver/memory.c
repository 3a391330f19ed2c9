/* Buffers: memory of the host. */
#include <pthread.h>

#include "driver/objects.h"

#define ALIGNMENT 4096 /* of objects that are no part of another one */

/* All of them, so that a kernel's argument can be told from a number of the same size. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static cl_mem all;

static void enlist(cl_mem memory) {
  pthread_mutex_lock(&lock);
  memory->next = all;
  all = memory;
  pthread_mutex_unlock(&lock);
}

static void delist(cl_mem memory) {
  pthread_mutex_lock(&lock);
  cl_mem *at = &all;
  while (*at != memory) at = &(*at)->next;
  *at = memory->next;
  pthread_mutex_unlock(&lock);
}

cl_mem sim_find_memory(const void *address) {
  pthread_mutex_lock(&lock);
  cl_mem found = all;
  while (found && found != address) found = found->next;
  pthread_mutex_unlock(&lock);
  return found;
}

static cl_mem make(cl_context context, cl_mem_flags flags, size_t size, cl_mem parent, size_t offset) {
  cl_mem memory = sim_new(sizeof *memory);
  if (memory == NULL) return NULL;
  memory->context = context;
  memory->flags = flags;
  memory->size = size;
  memory->parent = parent;
  memory->offset = offset;
  memory->bytes = parent ? parent->bytes + offset : aligned_alloc(ALIGNMENT, (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
  if (memory->bytes == NULL) return free(memory), NULL;
  clRetainContext(context);
  if (parent) sim_retain(parent);
  enlist(memory);
  return memory;
}

cl_mem clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size, void *host, cl_int *status) {
  if (size == 0 || size > context->device->simulation.max_allocation_bytes)
    return sim_status(status, CL_INVALID_BUFFER_SIZE), NULL;
  cl_mem memory = make(context, flags, size, NULL, 0);
  if (memory && host && (flags & (CL_MEM_COPY_HOST_PTR | CL_MEM_USE_HOST_PTR))) memcpy(memory->bytes, host, size);
  sim_status(status, memory ? CL_SUCCESS : CL_MEM_OBJECT_ALLOCATION_FAILURE);
  return memory;
}

cl_mem clCreateSubBuffer(cl_mem buffer, cl_mem_flags flags, cl_buffer_create_type type, const void *info,
                         cl_int *status) {
  const cl_buffer_region *region = info;
  if (type != CL_BUFFER_CREATE_TYPE_REGION || region->size == 0 || region->origin > buffer->size ||
      region->size > buffer->size - region->origin)
    return sim_status(status, CL_INVALID_VALUE), NULL;
  if (region->origin % buffer->context->device->simulation.base_address_align_bytes)
    return sim_status(status, CL_MISALIGNED_SUB_BUFFER_OFFSET), NULL;
  cl_mem memory = make(buffer->context, flags ? flags : buffer->flags, region->size, buffer, region->origin);
  sim_status(status, memory ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY);
  return memory;
}

cl_int clRetainMemObject(cl_mem memory) { return sim_retain(memory), CL_SUCCESS; }

cl_int clReleaseMemObject(cl_mem memory) {
  sim_aftermath_of(memory->context);
  if (!sim_dropped(memory)) return CL_SUCCESS;
  delist(memory);
  if (memory->parent)
    clReleaseMemObject(memory->parent);
  else
    free(memory->bytes);
  clReleaseContext(memory->context);
  free(memory);
  return CL_SUCCESS;
}

cl_int clGetMemObjectInfo(cl_mem memory, cl_mem_info what, size_t capacity, void *out, size_t *n_out) {
  switch (what) {
    case CL_MEM_TYPE: return SIM_ANSWER(cl_mem_object_type, CL_MEM_OBJECT_BUFFER);
    case CL_MEM_FLAGS: return SIM_ANSWER(cl_mem_flags, memory->flags);
    case CL_MEM_SIZE: return SIM_ANSWER(size_t, memory->size);
    case CL_MEM_HOST_PTR: return SIM_ANSWER(void *, NULL);
    case CL_MEM_MAP_COUNT: return SIM_ANSWER(cl_uint, 0);
    case CL_MEM_REFERENCE_COUNT: return SIM_ANSWER(cl_uint, (cl_uint)memory->references);
    case CL_MEM_CONTEXT: return SIM_ANSWER(cl_context, memory->context);
    case CL_MEM_ASSOCIATED_MEMOBJECT: return SIM_ANSWER(cl_mem, memory->parent);
    case CL_MEM_OFFSET: return SIM_ANSWER(size_t, memory->offset);
    default: return CL_INVALID_VALUE;
  }
}

cl_int clGetSupportedImageFormats(cl_context context, cl_mem_flags flags, cl_mem_object_type type, cl_uint capacity,
                                  cl_image_format *out, cl_uint *n_out) {
  (void)context, (void)flags, (void)type, (void)capacity, (void)out;
  if (n_out) *n_out = 0;
  return CL_SUCCESS;
}
