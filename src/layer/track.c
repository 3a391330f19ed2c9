#include "layer/track.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

typedef struct program {
  cl_program key;
  size_t references;
  cl_context context;
  track_origin origin;
  char *source;       /* of TRACK_SOURCE */
  track_build *build; /* the last one; NULL: none yet */
  UT_hash_handle hh;
} program;

static pthread_mutex_t program_lock = PTHREAD_MUTEX_INITIALIZER, kernel_lock = PTHREAD_MUTEX_INITIALIZER,
                       queue_lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool flushed; /* queues, by the layer */
static program *programs;
static track_kernel *kernels;
static track_queue *queues;
static const char *added_options;

const char *track_origin_text(track_origin origin) {
  static const char *const texts[] = {
      [TRACK_SOURCE] = "source",
      [TRACK_BINARY] = "a binary",
      [TRACK_IL] = "SPIR-V",
      [TRACK_BUILT_IN] = "the driver's built-in kernels",
      [TRACK_LINKED] = "several programs that were linked",
      [TRACK_MIXED] = "source that was built with different options for different devices",
      [TRACK_UNKNOWN] = "a program that the layer did not see"};
  return texts[origin];
}

static char *copy_text(const char *text, size_t n) {
  char *copy = layer_new(n + 1, 1);
  memcpy(copy, text, n);
  return copy;
}

static void set_argument(track_argument *out, size_t size, const void *value) {
  out->kind = value ? TRACK_VALUE : TRACK_NOTHING;
  out->size = size;
  if (value == NULL) return;
  if (out->capacity < size) {
    free(out->bytes);
    out->bytes = layer_new(size, 1);
    out->capacity = size;
  }
  memcpy(out->bytes, value, size);
}

/* --- builds --- */

/* devices: NULL for all of the program's. */
static track_build *new_build(const program *p, const char *options, cl_uint n, const cl_device_id *devices) {
  track_build *build = layer_new(1, sizeof *build);
  build->users = 1;
  if (devices == NULL && layer_next.clGetProgramInfo(p->key, CL_PROGRAM_NUM_DEVICES, sizeof n, &n, NULL) != CL_SUCCESS)
    n = 0;
  build->devices = layer_new(n, sizeof *build->devices);
  if (devices && n) memcpy(build->devices, devices, n * sizeof *devices);
  if (devices == NULL)
    layer_next.clGetProgramInfo(p->key, CL_PROGRAM_DEVICES, n * sizeof *devices, build->devices, NULL);
  build->n_devices = n;
  build->context = p->context;
  build->source = copy_text(p->source, strlen(p->source));
  build->options = copy_text(options, strlen(options));
  XXH3_state_t *state = XXH3_createState();
  if (state == NULL || XXH3_128bits_reset(state) != XXH_OK) abort();
  XXH3_128bits_update(state, build->source, strlen(build->source) + 1);
  XXH3_128bits_update(state, build->options, strlen(build->options) + 1);
  XXH128_hash_t hash = XXH3_128bits_digest(state);
  XXH3_freeState(state);
  snprintf(build->hash, sizeof build->hash, "%016llx%016llx", (unsigned long long)hash.high64,
           (unsigned long long)hash.low64);
  return build;
}

/* program_lock is held. */
static void drop_build(track_build *build) {
  if (build == NULL || --build->users > 0) return;
  if (build->attached) build->detach(build->attached);
  free(build->source);
  free(build->options);
  free(build->devices);
  free(build);
}

/* --- programs --- */

static void free_program(program *p) {
  if (p == NULL) return;
  drop_build(p->build);
  free(p->source);
  free(p);
}

/* source: taken over, NULL but for TRACK_SOURCE. */
static cl_program know_program(cl_program handle, cl_context context, track_origin origin, char *source) {
  program *p = layer_new(1, sizeof *p), *old;
  *p = (program){.key = handle, .references = 1, .context = context, .origin = origin, .source = source};
  if (handle == NULL) return free_program(p), handle;
  pthread_mutex_lock(&program_lock);
  HASH_FIND_PTR(programs, &handle, old);
  if (old) HASH_DEL(programs, old);
  free_program(old);
  HASH_ADD_PTR(programs, key, p);
  pthread_mutex_unlock(&program_lock);
  return handle;
}

static cl_program create_with_source(cl_context context, cl_uint n, const char **texts, const size_t *lengths,
                                     cl_int *status) {
  cl_program handle = layer_next.clCreateProgramWithSource(context, n, texts, lengths, status);
  if (handle == NULL) return NULL;
  size_t bytes = 0, used = 0;
  for (cl_uint i = 0; i < n; i++) bytes += lengths && lengths[i] ? lengths[i] : strlen(texts[i]);
  char *source = layer_new(bytes + 1, 1);
  for (cl_uint i = 0; i < n; i++) {
    const size_t length = lengths && lengths[i] ? lengths[i] : strlen(texts[i]);
    memcpy(source + used, texts[i], length);
    used += length;
  }
  return know_program(handle, context, TRACK_SOURCE, source);
}

static cl_program create_with_binary(cl_context context, cl_uint n, const cl_device_id *devices, const size_t *lengths,
                                     const unsigned char **binaries, cl_int *statuses, cl_int *status) {
  return know_program(layer_next.clCreateProgramWithBinary(context, n, devices, lengths, binaries, statuses, status),
                      context, TRACK_BINARY, NULL);
}

static cl_program create_with_il(cl_context context, const void *il, size_t length, cl_int *status) {
  return know_program(layer_next.clCreateProgramWithIL(context, il, length, status), context, TRACK_IL, NULL);
}

static cl_program create_with_built_in(cl_context context, cl_uint n, const cl_device_id *devices, const char *names,
                                       cl_int *status) {
  return know_program(layer_next.clCreateProgramWithBuiltInKernels(context, n, devices, names, status), context,
                      TRACK_BUILT_IN, NULL);
}

static cl_program link_program(cl_context context, cl_uint n, const cl_device_id *devices, const char *options,
                               cl_uint n_inputs, const cl_program *inputs,
                               void(CL_CALLBACK *notify)(cl_program, void *), void *user, cl_int *status) {
  return know_program(layer_next.clLinkProgram(context, n, devices, options, n_inputs, inputs, notify, user, status),
                      context, TRACK_LINKED, NULL);
}

/* Whether one list of devices contains another. */
static bool covers(const track_build *build, const track_build *other) {
  for (cl_uint i = 0; i < other->n_devices; i++) {
    cl_uint k = 0;
    while (k < build->n_devices && build->devices[k] != other->devices[i]) k++;
    if (k == build->n_devices) return false;
  }
  return true;
}

static track_build *exchange_build(program *p, track_build *with) {
  pthread_mutex_lock(&program_lock);
  track_build *before = p->build;
  p->build = with;
  pthread_mutex_unlock(&program_lock);
  return before;
}

static cl_int build_program(cl_program handle, cl_uint n, const cl_device_id *devices, const char *options,
                            void(CL_CALLBACK *notify)(cl_program, void *), void *user) {
  program *p;
  pthread_mutex_lock(&program_lock);
  HASH_FIND_PTR(programs, &handle, p);
  pthread_mutex_unlock(&program_lock);
  if (p == NULL || p->origin != TRACK_SOURCE)
    return layer_next.clBuildProgram(handle, n, devices, options, notify, user);
  track_build *build = new_build(p, options ? options : "", n, devices);
  /* The record must exist before the build: its callback may create kernels at once. */
  track_build *before = exchange_build(p, build);
  if (before && strcmp(before->hash, build->hash) != 0 && !covers(build, before)) build->mixed = true;
  size_t bytes = strlen(build->options) + strlen(added_options) + 2;
  char *all = layer_new(bytes, 1);
  snprintf(all, bytes, "%s%s%s", build->options, added_options[0] && options ? " " : "", added_options);
  cl_int status = layer_next.clBuildProgram(handle, n, devices, added_options[0] ? all : options, notify, user);
  free(all);
  /* NVIDIA's driver cannot describe a kernel without parameters, and then builds none. */
  if (status == CL_BUILD_PROGRAM_FAILURE && added_options[0] && notify == NULL)
    status = layer_next.clBuildProgram(handle, n, devices, options, NULL, NULL);
  if (status != CL_SUCCESS) before = exchange_build(p, before);
  pthread_mutex_lock(&program_lock);
  drop_build(before);
  pthread_mutex_unlock(&program_lock);
  return status;
}

static cl_int retain_program(cl_program handle) {
  program *p;
  cl_int status = layer_next.clRetainProgram(handle);
  pthread_mutex_lock(&program_lock);
  HASH_FIND_PTR(programs, &handle, p);
  if (p && status == CL_SUCCESS) p->references++;
  pthread_mutex_unlock(&program_lock);
  return status;
}

static cl_int release_program(cl_program handle) {
  program *p;
  pthread_mutex_lock(&program_lock);
  HASH_FIND_PTR(programs, &handle, p);
  if (p && --p->references == 0) {
    HASH_DEL(programs, p);
    free_program(p);
  }
  pthread_mutex_unlock(&program_lock);
  return layer_next.clReleaseProgram(handle);
}

/* --- kernels --- */

static void free_kernel(track_kernel *k) {
  if (k == NULL) return;
  if (k->attached) k->detach(k->attached);
  pthread_mutex_lock(&program_lock);
  drop_build(k->build);
  pthread_mutex_unlock(&program_lock);
  for (cl_uint i = 0; i < k->n_arguments; i++) free(k->arguments[i].bytes);
  free(k->arguments);
  free(k->name);
  pthread_mutex_destroy(&k->lock);
  free(k);
}

static void add_kernel(track_kernel *k) {
  track_kernel *old;
  pthread_mutex_lock(&kernel_lock);
  HASH_FIND_PTR(kernels, &k->key, old);
  if (old) HASH_DEL(kernels, old);
  HASH_ADD_PTR(kernels, key, k);
  pthread_mutex_unlock(&kernel_lock);
  free_kernel(old);
}

static track_kernel *new_kernel(cl_kernel handle, track_origin origin, track_build *build) {
  size_t bytes = 0;
  track_kernel *k = layer_new(1, sizeof *k);
  *k = (track_kernel){.key = handle, .references = 1, .origin = origin, .build = build};
  pthread_mutex_init(&k->lock, NULL);
  if (layer_next.clGetKernelInfo(handle, CL_KERNEL_FUNCTION_NAME, 0, NULL, &bytes) != CL_SUCCESS) bytes = 0;
  k->name = layer_new(bytes + 1, 1);
  if (bytes) layer_next.clGetKernelInfo(handle, CL_KERNEL_FUNCTION_NAME, bytes, k->name, NULL);
  layer_next.clGetKernelInfo(handle, CL_KERNEL_NUM_ARGS, sizeof k->n_arguments, &k->n_arguments, NULL);
  k->arguments = layer_new(k->n_arguments, sizeof *k->arguments);
  return k;
}

static void know_kernel(cl_kernel handle, cl_program of) {
  program *p;
  track_origin origin = TRACK_UNKNOWN;
  track_build *build = NULL;
  pthread_mutex_lock(&program_lock);
  HASH_FIND_PTR(programs, &of, p);
  if (p) origin = p->origin;
  if (origin == TRACK_SOURCE && p->build == NULL) origin = TRACK_LINKED; /* compiled and not built */
  if (origin == TRACK_SOURCE && p->build->mixed) origin = TRACK_MIXED;
  if (origin == TRACK_SOURCE) {
    build = p->build;
    build->users++;
  }
  pthread_mutex_unlock(&program_lock);
  add_kernel(new_kernel(handle, origin, build));
}

static cl_kernel create_kernel(cl_program of, const char *name, cl_int *status) {
  cl_kernel handle = layer_next.clCreateKernel(of, name, status);
  if (handle) know_kernel(handle, of);
  return handle;
}

static cl_int create_kernels(cl_program of, cl_uint capacity, cl_kernel *out, cl_uint *n) {
  cl_uint made = 0;
  cl_int status = layer_next.clCreateKernelsInProgram(of, capacity, out, &made);
  if (n) *n = made;
  for (cl_uint i = 0; out && status == CL_SUCCESS && i < made; i++) know_kernel(out[i], of);
  return status;
}

static cl_kernel clone_kernel(cl_kernel from, cl_int *status) {
  cl_kernel handle = layer_next.clCloneKernel(from, status);
  track_kernel *source = handle ? track_find_kernel(from) : NULL;
  if (source == NULL) return handle;
  pthread_mutex_lock(&program_lock);
  if (source->build) source->build->users++;
  pthread_mutex_unlock(&program_lock);
  track_kernel *k = new_kernel(handle, source->origin, source->build);
  k->exec_info = source->exec_info;
  pthread_mutex_lock(&source->lock);
  for (cl_uint i = 0; i < k->n_arguments; i++) {
    k->arguments[i] = source->arguments[i];
    k->arguments[i].bytes = NULL;
    k->arguments[i].capacity = 0;
    if (source->arguments[i].kind == TRACK_VALUE)
      set_argument(&k->arguments[i], source->arguments[i].size, source->arguments[i].bytes);
  }
  pthread_mutex_unlock(&source->lock);
  add_kernel(k);
  return handle;
}

static cl_int retain_kernel(cl_kernel handle) {
  track_kernel *k;
  cl_int status = layer_next.clRetainKernel(handle);
  pthread_mutex_lock(&kernel_lock);
  HASH_FIND_PTR(kernels, &handle, k);
  if (k && status == CL_SUCCESS) k->references++;
  pthread_mutex_unlock(&kernel_lock);
  return status;
}

static cl_int release_kernel(cl_kernel handle) {
  track_kernel *k;
  pthread_mutex_lock(&kernel_lock);
  HASH_FIND_PTR(kernels, &handle, k);
  const bool last = k && --k->references == 0;
  if (last) HASH_DEL(kernels, k);
  pthread_mutex_unlock(&kernel_lock);
  if (last) free_kernel(k);
  return layer_next.clReleaseKernel(handle);
}

track_kernel *track_find_kernel(cl_kernel handle) {
  track_kernel *k;
  pthread_mutex_lock(&kernel_lock);
  HASH_FIND_PTR(kernels, &handle, k);
  pthread_mutex_unlock(&kernel_lock);
  return k;
}

/* --- their arguments --- */

static cl_int set_kernel_arg(cl_kernel handle, cl_uint index, size_t size, const void *value) {
  cl_int status = layer_next.clSetKernelArg(handle, index, size, value);
  track_kernel *k = status == CL_SUCCESS ? track_find_kernel(handle) : NULL;
  if (k == NULL || index >= k->n_arguments) return status;
  pthread_mutex_lock(&k->lock);
  set_argument(&k->arguments[index], size, value);
  pthread_mutex_unlock(&k->lock);
  return status;
}

static cl_int set_kernel_arg_svm(cl_kernel handle, cl_uint index, const void *pointer) {
  cl_int status = layer_next.clSetKernelArgSVMPointer(handle, index, pointer);
  track_kernel *k = status == CL_SUCCESS ? track_find_kernel(handle) : NULL;
  if (k == NULL || index >= k->n_arguments) return status;
  pthread_mutex_lock(&k->lock);
  k->arguments[index].kind = TRACK_SVM;
  k->arguments[index].svm = pointer;
  pthread_mutex_unlock(&k->lock);
  return status;
}

static cl_int set_kernel_exec_info(cl_kernel handle, cl_kernel_exec_info what, size_t size, const void *value) {
  cl_int status = layer_next.clSetKernelExecInfo(handle, what, size, value);
  track_kernel *k = status == CL_SUCCESS ? track_find_kernel(handle) : NULL;
  if (k) k->exec_info = true;
  return status;
}

/* --- queues --- */

static cl_command_queue know_queue(cl_command_queue handle, cl_context context, cl_device_id device) {
  track_queue *old, *q;
  if (handle == NULL) return NULL;
  q = layer_new(1, sizeof *q);
  *q = (track_queue){.key = handle, .references = 1, .context = context, .device = device};
  pthread_mutex_lock(&queue_lock);
  HASH_FIND_PTR(queues, &handle, old);
  if (old) HASH_DEL(queues, old);
  HASH_ADD_PTR(queues, key, q);
  pthread_mutex_unlock(&queue_lock);
  free(old);
  return handle;
}

static cl_command_queue create_queue(cl_context context, cl_device_id device, cl_command_queue_properties properties,
                                     cl_int *status) {
  return know_queue(layer_next.clCreateCommandQueue(context, device, properties, status), context, device);
}

static cl_command_queue create_queue_with(cl_context context, cl_device_id device, const cl_queue_properties *list,
                                          cl_int *status) {
  return know_queue(layer_next.clCreateCommandQueueWithProperties(context, device, list, status), context, device);
}

static cl_int retain_queue(cl_command_queue handle) {
  track_queue *q;
  cl_int status = layer_next.clRetainCommandQueue(handle);
  pthread_mutex_lock(&queue_lock);
  HASH_FIND_PTR(queues, &handle, q);
  if (q && status == CL_SUCCESS) q->references++;
  pthread_mutex_unlock(&queue_lock);
  return status;
}

static cl_int release_queue(cl_command_queue handle) {
  track_queue *q;
  pthread_mutex_lock(&queue_lock);
  HASH_FIND_PTR(queues, &handle, q);
  if (q && --q->references == 0) {
    HASH_DEL(queues, q);
    free(q);
  }
  pthread_mutex_unlock(&queue_lock);
  return layer_next.clReleaseCommandQueue(handle);
}

track_queue *track_find_queue(cl_command_queue handle) {
  track_queue *q;
  pthread_mutex_lock(&queue_lock);
  HASH_FIND_PTR(queues, &handle, q);
  pthread_mutex_unlock(&queue_lock);
  return q;
}

void track_flush(void) {
  track_queue *q, *next;
  pthread_mutex_lock(&queue_lock);
  flushed = true;
  HASH_ITER(hh, queues, q, next) layer_next.clFlush(q->key);
  pthread_mutex_unlock(&queue_lock);
}

/* clFinish of rusticl (Mesa 22.3) does not wait for what was flushed before, so it waits for a marker, too. */
cl_int track_finish(cl_command_queue queue) {
  cl_event marker = NULL;
  if (flushed && layer_next.clEnqueueMarkerWithWaitList(queue, 0, NULL, &marker) == CL_SUCCESS) {
    layer_next.clWaitForEvents(1, &marker);
    layer_next.clReleaseEvent(marker);
  }
  return layer_next.clFinish(queue);
}

/* --- */

void track_start(cl_icd_dispatch *own, const char *options) {
  added_options = options;
  own->clCreateProgramWithSource = create_with_source;
  own->clCreateProgramWithBinary = create_with_binary;
  own->clCreateProgramWithIL = create_with_il;
  own->clCreateProgramWithBuiltInKernels = create_with_built_in;
  own->clLinkProgram = link_program;
  own->clBuildProgram = build_program;
  own->clRetainProgram = retain_program;
  own->clReleaseProgram = release_program;
  own->clCreateKernel = create_kernel;
  own->clCreateKernelsInProgram = create_kernels;
  own->clCloneKernel = clone_kernel;
  own->clRetainKernel = retain_kernel;
  own->clReleaseKernel = release_kernel;
  own->clSetKernelArg = set_kernel_arg;
  own->clSetKernelArgSVMPointer = set_kernel_arg_svm;
  own->clSetKernelExecInfo = set_kernel_exec_info;
  own->clCreateCommandQueue = create_queue;
  own->clCreateCommandQueueWithProperties = create_queue_with;
  own->clRetainCommandQueue = retain_queue;
  own->clReleaseCommandQueue = release_queue;
  own->clFinish = track_finish;
}
