#include "layer/layer.h"

#include <stdatomic.h>

#include "base/hash.h"
#include "base/text.h"

typedef struct program {
  track_record record;
  cl_context context;
  track_origin origin;
  char *source;       /* of TRACK_SOURCE */
  char *compiled;     /* the options of clCompileProgram; NULL: not compiled, or with headers of the application's */
  track_build *build; /* the last one; NULL: none yet */
} program;

static atomic_bool flushed; /* queues, by the layer */
static const char *added_options;

/* --- tables of records --- */

typedef struct record_table {
  pthread_mutex_t lock;
  track_record *records;
  void (*release)(void *record);
} record_table;

static void free_program(void *record);
static void free_kernel(void *record);
static record_table programs = {PTHREAD_MUTEX_INITIALIZER, NULL, free_program},
                    kernels = {PTHREAD_MUTEX_INITIALIZER, NULL, free_kernel},
                    queues = {PTHREAD_MUTEX_INITIALIZER, NULL, free};

/* NULL: not known. The lock is held. */
static void *find_locked(const record_table *t, void *handle) {
  track_record *r;
  HASH_FIND_PTR(t->records, &handle, r);
  return r;
}

static void *find(record_table *t, void *handle) {
  pthread_mutex_lock(&t->lock);
  void *r = find_locked(t, handle);
  pthread_mutex_unlock(&t->lock);
  return r;
}

/* Adds a record with one reference. Its handle may be that of an object whose end was not seen. */
static void add(record_table *t, track_record *r, void *handle) {
  r->key = handle;
  r->references = 1;
  pthread_mutex_lock(&t->lock);
  track_record *old = find_locked(t, handle);
  if (old) HASH_DEL(t->records, old);
  HASH_ADD_PTR(t->records, key, r);
  pthread_mutex_unlock(&t->lock);
  if (old) t->release(old);
}

/* Counts a reference that the driver has counted, if status says so. */
static cl_int retain(record_table *t, void *handle, cl_int status) {
  pthread_mutex_lock(&t->lock);
  track_record *r = status == CL_SUCCESS ? find_locked(t, handle) : NULL;
  if (r) r->references++;
  pthread_mutex_unlock(&t->lock);
  return status;
}

static void release(record_table *t, void *handle) {
  pthread_mutex_lock(&t->lock);
  track_record *r = find_locked(t, handle);
  const bool last = r && --r->references == 0;
  if (last) HASH_DEL(t->records, r);
  pthread_mutex_unlock(&t->lock);
  if (last) t->release(r);
}

/* --- */

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
  if (devices == NULL &&
      layer_next.clGetProgramInfo(p->record.key, CL_PROGRAM_NUM_DEVICES, sizeof n, &n, NULL) != CL_SUCCESS)
    n = 0;
  build->devices = layer_new(n, sizeof *build->devices);
  if (devices && n) memcpy(build->devices, devices, n * sizeof *devices);
  if (devices == NULL)
    layer_next.clGetProgramInfo(p->record.key, CL_PROGRAM_DEVICES, n * sizeof *devices, build->devices, NULL);
  build->n_devices = n;
  build->context = p->context;
  build->source = copy_text(p->source, strlen(p->source));
  build->options = copy_text(options, strlen(options));
  clt_hasher *hasher = clt_hasher_new();
  if (hasher == NULL) abort();
  clt_hasher_add_text(hasher, build->source);
  clt_hasher_add_text(hasher, build->options);
  clt_hasher_hex(hasher, build->hash);
  clt_hasher_free(hasher);
  return build;
}

/* The lock of the programs protects the number of users. */
static void drop_build(track_build *build) {
  pthread_mutex_lock(&programs.lock);
  const bool last = build && --build->users == 0;
  pthread_mutex_unlock(&programs.lock);
  if (!last) return;
  if (build->attached) build->detach(build->attached);
  free(build->source);
  free(build->options);
  free(build->devices);
  free(build);
}

/* --- programs --- */

static void free_program(void *record) {
  program *p = record;
  drop_build(p->build);
  free(p->compiled);
  free(p->source);
  free(p);
}

/* source: taken over, NULL but for TRACK_SOURCE. */
static cl_program know_program(cl_program handle, cl_context context, track_origin origin, char *source) {
  if (handle == NULL) return NULL;
  program *p = layer_new(1, sizeof *p);
  *p = (program){.context = context, .origin = origin, .source = source};
  add(&programs, &p->record, handle);
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

static track_build *exchange_build(program *p, track_build *with) {
  pthread_mutex_lock(&programs.lock);
  track_build *before = p->build;
  p->build = with;
  pthread_mutex_unlock(&programs.lock);
  return before;
}

/* The application's options with those of the layer. */
static char *add_options(const char *options) {
  const size_t bytes = (options ? strlen(options) : 0) + strlen(added_options) + 2;
  char *all = layer_new(bytes, 1);
  snprintf(all, bytes, "%s%s%s", options ? options : "", added_options[0] && options ? " " : "", added_options);
  return all;
}

static cl_int compile_program(cl_program handle, cl_uint n, const cl_device_id *devices, const char *options,
                              cl_uint n_headers, const cl_program *headers, const char **names,
                              void(CL_CALLBACK *notify)(cl_program, void *), void *user) {
  char *all = add_options(options);
  pthread_mutex_lock(&programs.lock); /* before it is compiled: its callback may link it at once */
  program *p = find_locked(&programs, handle);
  if (p) free(p->compiled);
  if (p) p->compiled = n_headers ? NULL : copy_text(options ? options : "", options ? strlen(options) : 0);
  pthread_mutex_unlock(&programs.lock);
  cl_int status = layer_next.clCompileProgram(handle, n, devices, added_options[0] ? all : options, n_headers, headers,
                                              names, notify, user);
  free(all);
  if (status == CL_COMPILE_PROGRAM_FAILURE && added_options[0] && notify == NULL) /* see build_program */
    status = layer_next.clCompileProgram(handle, n, devices, options, n_headers, headers, names, NULL, NULL);
  return status;
}

/* Joins the sources of programs to one text, if they were compiled with the same options. */
static track_origin join_sources(char **source, char **options, cl_uint n, const cl_program *inputs) {
  clt_text text = {0};
  const char *first = NULL;
  track_origin origin = n > 0 ? TRACK_SOURCE : TRACK_LINKED;
  pthread_mutex_lock(&programs.lock);
  for (cl_uint i = 0; origin == TRACK_SOURCE && i < n; i++) {
    const program *p = find_locked(&programs, inputs[i]);
    if (p == NULL || p->source == NULL)
      origin = TRACK_LINKED;
    else if (p->compiled == NULL)
      origin = TRACK_LINKED_HEADERS;
    else if (first && strcmp(p->compiled, first) != 0)
      origin = TRACK_LINKED_OPTIONS;
    else
      clt_text_printf(&text, "%s\n", p->source);
    if (i == 0 && origin == TRACK_SOURCE) first = p->compiled;
  }
  if (text.rc) origin = TRACK_LINKED;
  if (origin == TRACK_SOURCE) *options = copy_text(first, strlen(first));
  pthread_mutex_unlock(&programs.lock);
  if (origin == TRACK_SOURCE)
    *source = text.bytes;
  else
    clt_text_release(&text);
  return origin;
}

static cl_program link_program(cl_context context, cl_uint n, const cl_device_id *devices, const char *options,
                               cl_uint n_inputs, const cl_program *inputs,
                               void(CL_CALLBACK *notify)(cl_program, void *), void *user, cl_int *status) {
  char *compiled = NULL, *source = NULL;
  const track_origin origin = join_sources(&source, &compiled, n_inputs, inputs);
  cl_program handle =
      know_program(layer_next.clLinkProgram(context, n, devices, options, n_inputs, inputs, notify, user, status),
                   context, origin, source);
  program *p = handle && source ? find(&programs, handle) : NULL;
  if (p) {
    p->compiled = compiled;
    drop_build(exchange_build(p, new_build(p, compiled, n, devices)));
    return handle;
  }
  free(compiled);
  if (handle == NULL) free(source);
  return handle;
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

static cl_int build_program(cl_program handle, cl_uint n, const cl_device_id *devices, const char *options,
                            void(CL_CALLBACK *notify)(cl_program, void *), void *user) {
  program *p = find(&programs, handle);
  if (p == NULL || p->origin != TRACK_SOURCE)
    return layer_next.clBuildProgram(handle, n, devices, options, notify, user);
  track_build *build = new_build(p, options ? options : "", n, devices);
  /* The record must exist before the build: its callback may create kernels at once. */
  track_build *before = exchange_build(p, build);
  if (before && strcmp(before->hash, build->hash) != 0 && !covers(build, before)) build->mixed = true;
  char *all = add_options(options);
  cl_int status = layer_next.clBuildProgram(handle, n, devices, added_options[0] ? all : options, notify, user);
  free(all);
  /* NVIDIA's driver cannot describe a kernel without parameters, and then builds none. */
  if (status == CL_BUILD_PROGRAM_FAILURE && added_options[0] && notify == NULL)
    status = layer_next.clBuildProgram(handle, n, devices, options, NULL, NULL);
  if (status != CL_SUCCESS) before = exchange_build(p, before);
  drop_build(before);
  return status;
}

static cl_int retain_program(cl_program handle) {
  return retain(&programs, handle, layer_next.clRetainProgram(handle));
}

static cl_int release_program(cl_program handle) {
  release(&programs, handle);
  return layer_next.clReleaseProgram(handle);
}

/* --- kernels --- */

static void free_kernel(void *record) {
  track_kernel *k = record;
  if (k->attached) k->detach(k->attached);
  drop_build(k->build);
  for (cl_uint i = 0; i < k->n_arguments; i++) free(k->arguments[i].bytes);
  free(k->arguments);
  free(k->name);
  pthread_mutex_destroy(&k->lock);
  free(k);
}

static track_kernel *new_kernel(cl_kernel handle, track_origin origin, track_build *build) {
  size_t bytes = 0;
  track_kernel *k = layer_new(1, sizeof *k);
  *k = (track_kernel){.origin = origin, .build = build};
  pthread_mutex_init(&k->lock, NULL);
  if (layer_next.clGetKernelInfo(handle, CL_KERNEL_FUNCTION_NAME, 0, NULL, &bytes) != CL_SUCCESS) bytes = 0;
  k->name = layer_new(bytes + 1, 1);
  if (bytes) layer_next.clGetKernelInfo(handle, CL_KERNEL_FUNCTION_NAME, bytes, k->name, NULL);
  layer_next.clGetKernelInfo(handle, CL_KERNEL_NUM_ARGS, sizeof k->n_arguments, &k->n_arguments, NULL);
  k->arguments = layer_new(k->n_arguments, sizeof *k->arguments);
  return k;
}

static void know_kernel(cl_kernel handle, cl_program of) {
  track_origin origin = TRACK_UNKNOWN;
  track_build *build = NULL;
  pthread_mutex_lock(&programs.lock);
  const program *p = find_locked(&programs, of);
  if (p) origin = p->origin;
  if (origin == TRACK_SOURCE && p->build == NULL) origin = TRACK_LINKED; /* compiled and not built */
  if (origin == TRACK_SOURCE && p->build->mixed) origin = TRACK_MIXED;
  if (origin == TRACK_SOURCE) {
    build = p->build;
    build->users++;
  }
  pthread_mutex_unlock(&programs.lock);
  add(&kernels, &new_kernel(handle, origin, build)->record, handle);
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
  pthread_mutex_lock(&programs.lock);
  if (source->build) source->build->users++;
  pthread_mutex_unlock(&programs.lock);
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
  add(&kernels, &k->record, handle);
  return handle;
}

static cl_int retain_kernel(cl_kernel handle) { return retain(&kernels, handle, layer_next.clRetainKernel(handle)); }

static cl_int release_kernel(cl_kernel handle) {
  release(&kernels, handle);
  return layer_next.clReleaseKernel(handle);
}

track_kernel *track_find_kernel(cl_kernel handle) { return find(&kernels, handle); }

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

static cl_command_queue know_queue(cl_command_queue handle) {
  if (handle) add(&queues, layer_new(1, sizeof(track_record)), handle);
  return handle;
}

static cl_command_queue create_queue(cl_context context, cl_device_id device, cl_command_queue_properties properties,
                                     cl_int *status) {
  return know_queue(layer_next.clCreateCommandQueue(context, device, properties, status));
}

static cl_command_queue create_queue_with(cl_context context, cl_device_id device, const cl_queue_properties *list,
                                          cl_int *status) {
  return know_queue(layer_next.clCreateCommandQueueWithProperties(context, device, list, status));
}

static cl_int retain_queue(cl_command_queue handle) {
  return retain(&queues, handle, layer_next.clRetainCommandQueue(handle));
}

static cl_int release_queue(cl_command_queue handle) {
  release(&queues, handle);
  return layer_next.clReleaseCommandQueue(handle);
}

void track_flush(void) {
  pthread_mutex_lock(&queues.lock);
  flushed = true;
  for (const track_record *r = queues.records; r; r = r->hh.next) layer_next.clFlush(r->key);
  pthread_mutex_unlock(&queues.lock);
}

/* clFinish of rusticl (Mesa 22.3) does not wait for commands flushed before, so it waits for a marker, too. */
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
  own->clCompileProgram = compile_program;
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
