/* An OpenCL layer (OPENCL_LAYERS) that injects faults between an application and its driver. */
#include <CL/cl_layer.h>
#include <stdint.h>
#include <string.h>

#include "layer/known.h"

#define EXPORTED __attribute__((visibility("default")))

static cl_icd_dispatch own; /* the driver's functions, but for those below */
static cl_icd_dispatch next;

/* --- programs --- */

static cl_int build_program(cl_program program, cl_uint n, const cl_device_id *devices, const char *options,
                            void(CL_CALLBACK *notify)(cl_program, void *), void *user) {
  fault f = faults_at(FAULT_BUILD, known_build(program, options));
  fault_commit(f);
  return f.deed == FAULT_ERROR ? f.code : next.clBuildProgram(program, n, devices, options, notify, user);
}

static cl_int release_program(cl_program program) {
  cl_uint references = 0;
  next.clGetProgramInfo(program, CL_PROGRAM_REFERENCE_COUNT, sizeof references, &references, NULL);
  if (references == 1) known_forget_program(program);
  return next.clReleaseProgram(program);
}

static cl_kernel create_kernel(cl_program program, const char *name, cl_int *status) {
  cl_kernel kernel = next.clCreateKernel(program, name, status);
  if (kernel) known_kernel(kernel, program);
  return kernel;
}

static cl_int release_kernel(cl_kernel kernel) {
  cl_uint references = 0;
  next.clGetKernelInfo(kernel, CL_KERNEL_REFERENCE_COUNT, sizeof references, &references, NULL);
  if (references == 1) known_forget_kernel(kernel);
  return next.clReleaseKernel(kernel);
}

static cl_int set_kernel_arg(cl_kernel kernel, cl_uint index, size_t size, const void *value) {
  known_argument(kernel, index, size, value);
  return next.clSetKernelArg(kernel, index, size, value);
}

/* --- buffers --- */

static cl_mem create_buffer(cl_context context, cl_mem_flags flags, size_t size, void *host, cl_int *status) {
  cl_mem buffer = next.clCreateBuffer(context, flags, size, host, status);
  if (buffer && faults_has(FAULT_OUTPUT)) known_buffer(buffer, flags, size);
  return buffer;
}

static cl_mem create_sub_buffer(cl_mem parent, cl_mem_flags flags, cl_buffer_create_type type, const void *info,
                                cl_int *status) {
  cl_mem buffer = next.clCreateSubBuffer(parent, flags, type, info, status);
  const cl_buffer_region *region = info;
  if (buffer && faults_has(FAULT_OUTPUT)) known_buffer(buffer, flags, region->size);
  return buffer;
}

static cl_int release_mem_object(cl_mem memory) {
  cl_uint references = 0;
  next.clGetMemObjectInfo(memory, CL_MEM_REFERENCE_COUNT, sizeof references, &references, NULL);
  if (references == 1) known_forget_buffer(memory);
  return next.clReleaseMemObject(memory);
}

/* Inverts eight bytes in the middle of the kernel's last output: a whole number, whatever its type. Waits for the
 * kernel. */
static void corrupt(cl_command_queue queue, cl_kernel kernel) {
  size_t size;
  unsigned char bytes[8];
  cl_mem output = known_output(kernel, &size);
  if (output == NULL) return;
  size_t at = size / 2 / 8 * 8, n = size < sizeof bytes ? size : sizeof bytes;
  if (next.clEnqueueReadBuffer(queue, output, CL_TRUE, at, n, bytes, 0, NULL, NULL) != CL_SUCCESS) return;
  for (size_t i = 0; i < n; i++) bytes[i] ^= 0xff;
  next.clEnqueueWriteBuffer(queue, output, CL_TRUE, at, n, bytes, 0, NULL, NULL);
}

/* --- launches --- */

static void after_launch(cl_command_queue queue, cl_kernel kernel, const defines *d, cl_event event) {
  fault run = faults_at(FAULT_RUN, d), stamp = faults_at(FAULT_TIME, d);
  if (run.deed != FAULT_NONE) known_pending(queue, run);
  if (stamp.deed != FAULT_NONE && event) known_event(event, stamp);
  if (faults_at(FAULT_OUTPUT, d).deed == FAULT_CORRUPT) corrupt(queue, kernel);
}

static cl_int enqueue_kernel(cl_command_queue queue, cl_kernel kernel, cl_uint n_dimensions, const size_t *offset,
                             const size_t *global, const size_t *local, cl_uint n, const cl_event *after,
                             cl_event *event) {
  const defines *d = known_kernel_options(kernel);
  fault f = {FAULT_NONE};
  if (d) f = faults_at(FAULT_LAUNCH, d);
  fault_commit(f);
  if (f.deed == FAULT_ERROR) return f.code;
  cl_int status = next.clEnqueueNDRangeKernel(queue, kernel, n_dimensions, offset, global, local, n, after, event);
  if (status == CL_SUCCESS && d) after_launch(queue, kernel, d, event ? *event : NULL);
  return status;
}

static cl_int commit_pending(cl_command_queue queue) {
  fault f = known_take_pending(queue);
  fault_commit(f);
  return f.deed == FAULT_ERROR ? f.code : CL_SUCCESS;
}

static cl_int finish(cl_command_queue queue) {
  cl_int fault_status = commit_pending(queue), status = next.clFinish(queue);
  return fault_status < 0 ? fault_status : status;
}

static cl_int wait_for_events(cl_uint n, const cl_event *events) {
  cl_int fault_status = CL_SUCCESS, status;
  for (cl_uint i = 0; events && i < n; i++) {
    cl_command_queue queue = NULL;
    next.clGetEventInfo(events[i], CL_EVENT_COMMAND_QUEUE, sizeof queue, &queue, NULL);
    status = queue ? commit_pending(queue) : CL_SUCCESS;
    if (status < 0) fault_status = status;
  }
  status = next.clWaitForEvents(n, events);
  return fault_status < 0 ? fault_status : status;
}

/* --- timestamps --- */

static cl_int get_profiling(cl_event event, cl_profiling_info what, size_t capacity, void *out, size_t *n_out) {
  cl_int status = next.clGetEventProfilingInfo(event, what, capacity, out, n_out);
  fault f = known_event_fault(event);
  if (status != CL_SUCCESS || out == NULL || f.deed == FAULT_NONE) return status;
  cl_ulong ns;
  memcpy(&ns, out, sizeof ns);
  if (f.deed == FAULT_ZERO) ns = 0;
  if (f.deed == FAULT_SHIFT && what == CL_PROFILING_COMMAND_END) ns += (cl_ulong)(f.seconds * 1e9);
  memcpy(out, &ns, sizeof ns);
  return status;
}

static cl_int release_event(cl_event event) {
  cl_uint references = 0;
  next.clGetEventInfo(event, CL_EVENT_REFERENCE_COUNT, sizeof references, &references, NULL);
  if (references == 1) known_forget_event(event);
  return next.clReleaseEvent(event);
}

/* --- the loader's queries --- */

EXPORTED cl_int clGetLayerInfo(cl_layer_info what, size_t capacity, void *out, size_t *n_out) {
  static const char name[] = "clatune faults";
  static const cl_layer_api_version version = CL_LAYER_API_VERSION_100;
  const void *value = what == CL_LAYER_NAME ? (const void *)name : &version;
  size_t n = what == CL_LAYER_NAME ? sizeof name : sizeof version;
  if (what != CL_LAYER_NAME && what != CL_LAYER_API_VERSION) return CL_INVALID_VALUE;
  if (out && capacity < n) return CL_INVALID_VALUE;
  if (out) memcpy(out, value, n);
  if (n_out) *n_out = n;
  return CL_SUCCESS;
}

EXPORTED cl_int clInitLayer(cl_uint n, const cl_icd_dispatch *target, cl_uint *n_out, const cl_icd_dispatch **out) {
  if (target == NULL || n_out == NULL || out == NULL) return CL_INVALID_VALUE;
  size_t bytes = n * sizeof(void *) < sizeof next ? n * sizeof(void *) : sizeof next;
  memcpy(&next, target, bytes);
  own = next;
  own.clBuildProgram = build_program;
  own.clReleaseProgram = release_program;
  own.clCreateKernel = create_kernel;
  own.clReleaseKernel = release_kernel;
  own.clSetKernelArg = set_kernel_arg;
  own.clCreateBuffer = create_buffer;
  own.clCreateSubBuffer = create_sub_buffer;
  own.clReleaseMemObject = release_mem_object;
  own.clEnqueueNDRangeKernel = enqueue_kernel;
  own.clFinish = finish;
  own.clWaitForEvents = wait_for_events;
  own.clGetEventProfilingInfo = get_profiling;
  own.clReleaseEvent = release_event;
  *n_out = (cl_uint)(sizeof own / sizeof(void *));
  *out = &own;
  return CL_SUCCESS;
}
