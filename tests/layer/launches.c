/* An application that launches one kernel in as many ways as OpenCL has: "add" writes in[i] + number to out[i]. Prints,
 * for each way, how far the results are from that: "LABEL 0". A way that the driver lacks is left out. */
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/common.h"

enum { N = 256, GROUP = 16, THREADS = 8, ROUNDS = 40 };

static const char text[] = "#ifndef EXTRA\n"
                           "#define EXTRA 0\n"
                           "#endif\n"
                           "kernel void add(global const float *in, global float *out, const int number) {\n"
                           "  const int i = get_global_id(0);\n"
                           "  out[i] = in[i] + number + EXTRA;\n"
                           "}\n"
                           "kernel void scratch(global const float *in, global float *out, const int number, local float *room) {\n"
                           "  room[get_local_id(0)] = in[get_global_id(0)];\n"
                           "  out[get_global_id(0)] = room[get_local_id(0)] + number;\n"
                           "}\n"
                           "kernel void other(global const float *in, global float *out, const int number) {\n"
                           "  out[get_global_id(0)] = in[get_global_id(0)] + number;\n"
                           "}\n";

static cl_device_id device;
static cl_context context;
static cl_program program;

static cl_program build(const char *options) {
  const char *source = text;
  cl_int status;
  cl_program out = clCreateProgramWithSource(context, 1, &source, NULL, &status);
  CHECK(status);
  app_build(out, device, options);
  return out;
}

static cl_kernel make_kernel(cl_program of, const char *name) {
  cl_int status;
  cl_kernel kernel = clCreateKernel(of, name, &status);
  CHECK(status);
  return kernel;
}

static cl_command_queue make_queue(cl_command_queue_properties properties) {
  cl_int status;
  cl_command_queue queue = clCreateCommandQueue(context, device, properties, &status);
  return status == CL_SUCCESS ? queue : NULL;
}

static cl_mem make_buffer(size_t n, float value) {
  cl_int status;
  float *content = malloc(n * sizeof *content);
  for (size_t i = 0; i < n; i++) content[i] = value;
  cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, n * sizeof *content, content, &status);
  CHECK(status);
  free(content);
  return buffer;
}

static void set(cl_kernel kernel, cl_mem in, cl_mem out, cl_int number) {
  CHECK(clSetKernelArg(kernel, 0, sizeof in, &in));
  CHECK(clSetKernelArg(kernel, 1, sizeof out, &out));
  CHECK(clSetKernelArg(kernel, 2, sizeof number, &number));
}

/* How far n results are from the wanted one: the same for all of them, or NaN. Waits for the queue. */
static float far_from(float wanted, cl_command_queue queue, cl_mem out, size_t n) {
  float results[N];
  CHECK(clFinish(queue));
  CHECK(clEnqueueReadBuffer(queue, out, CL_TRUE, 0, n * sizeof *results, results, 0, NULL, NULL));
  for (size_t i = 1; i < n; i++)
    if (results[i] != results[0]) return 0.0f / 0.0f;
  return results[0] - wanted;
}

static void say(const char *label, float far) {
  printf("%s %g\n", label, far);
  fflush(stdout);
}

/* A launch of n work-items on new buffers. local 0: left to the driver. */
static void launch(const char *label, cl_command_queue queue, cl_kernel kernel, cl_int number, size_t n, size_t local) {
  cl_mem in = make_buffer(N, 1), out = make_buffer(N, -1);
  set(kernel, in, out, number);
  CHECK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &n, local ? &local : NULL, 0, NULL, NULL));
  say(label, far_from(1 + (float)number, queue, out, n));
  clReleaseMemObject(in);
  clReleaseMemObject(out);
}

static void ways_of_sizes(cl_command_queue queue) {
  cl_kernel kernel = make_kernel(program, "add"), other = make_kernel(program, "other");
  launch("plain", queue, kernel, 5, N, GROUP);
  launch("again", queue, kernel, 5, N, GROUP);
  launch("other-size", queue, kernel, 5, N / 2, GROUP);
  launch("other-group", queue, kernel, 5, N, GROUP / 2);
  launch("no-group", queue, kernel, 5, N, 0);
  launch("other-number", queue, kernel, 6, N, GROUP);
  launch("other-kernel", queue, other, 5, N, GROUP);
  const size_t n = N, group = GROUP, offset = N;
  cl_mem in = make_buffer(2 * N, 1), out = make_buffer(2 * N, 6);
  set(kernel, in, out, 5);
  CHECK(clEnqueueNDRangeKernel(queue, kernel, 1, &offset, &n, &group, 0, NULL, NULL));
  CHECK(clEnqueueCopyBuffer(queue, out, in, N * sizeof(float), 0, N * sizeof(float), 0, NULL, NULL));
  say("offset", far_from(6, queue, in, N));
  clReleaseMemObject(in);
  clReleaseMemObject(out);
  clReleaseKernel(kernel);
  clReleaseKernel(other);
}

static void ways_of_objects(cl_command_queue queue) {
  cl_kernel kernel = make_kernel(program, "add"), all[3];
  cl_int status;
  CHECK(clRetainKernel(kernel));
  CHECK(clReleaseKernel(kernel));
  launch("retained", queue, kernel, 5, N, GROUP);
  clReleaseKernel(kernel);
  for (int i = 0; i < 3; i++) { /* often at the same address */
    kernel = make_kernel(program, i % 2 ? "other" : "add");
    launch(i % 2 ? "recreated-other" : "recreated", queue, kernel, 5, N, GROUP);
    clReleaseKernel(kernel);
  }
  cl_program twice = build("-DNOTHING=1");
  app_build(twice, device, "");
  kernel = make_kernel(twice, "add");
  CHECK(clReleaseProgram(twice)); /* its kernel keeps it */
  launch("built-twice", queue, kernel, 5, N, GROUP);
  clReleaseKernel(kernel);
  cl_program different = build("-DNOTHING=1");
  CHECK(clCreateKernelsInProgram(different, 3, all, NULL));
  for (int i = 0; i < 3; i++) {
    char name[16] = "";
    CHECK(clGetKernelInfo(all[i], CL_KERNEL_FUNCTION_NAME, sizeof name, name, NULL));
    if (strcmp(name, "add") == 0) launch("other-options", queue, all[i], 5, N, GROUP);
    clReleaseKernel(all[i]);
  }
  clReleaseProgram(different);
  size_t bytes = 0;
  CHECK(clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof bytes, &bytes, NULL));
  unsigned char *binary = malloc(bytes);
  CHECK(clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL));
  const unsigned char *given = binary;
  cl_program loaded = clCreateProgramWithBinary(context, 1, &device, &bytes, &given, NULL, &status);
  if (loaded && clBuildProgram(loaded, 1, &device, "", NULL, NULL) == CL_SUCCESS) {
    kernel = make_kernel(loaded, "add");
    launch("binary", queue, kernel, 5, N, GROUP);
    clReleaseKernel(kernel);
  }
  if (loaded) clReleaseProgram(loaded);
  free(binary);
}

static void CL_CALLBACK note_event(cl_event event, cl_int status, void *user) {
  (void)event;
  if (status == CL_COMPLETE) *(volatile int *)user = 1;
}

static void ways_of_queues(cl_command_queue queue) {
  const size_t n = N, few = N / 4, group = GROUP;
  static volatile int called;
  cl_kernel kernel = make_kernel(program, "add");
  cl_command_queue second = make_queue(CL_QUEUE_PROFILING_ENABLE), unordered = make_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  cl_int status;
  cl_event events[2], gate;
  cl_mem a = make_buffer(N, 1), b = make_buffer(N, -1), c = make_buffer(N, -1);
  launch("second-queue", second, kernel, 5, N, GROUP);
  /* a -> b by one queue, b -> c by the other, which waits for it. */
  set(kernel, a, b, 5);
  CHECK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &n, &group, 0, NULL, &events[0]));
  CHECK(clFlush(queue));
  set(kernel, b, c, 5);
  CHECK(clEnqueueNDRangeKernel(second, kernel, 1, NULL, &n, &group, 1, &events[0], &events[1]));
  CHECK(clSetEventCallback(events[1], CL_COMPLETE, note_event, (void *)(size_t)&called));
  CHECK(clWaitForEvents(1, &events[1]));
  cl_ulong start = 0, end = 0;
  CHECK(clGetEventProfilingInfo(events[1], CL_PROFILING_COMMAND_START, sizeof start, &start, NULL));
  CHECK(clGetEventProfilingInfo(events[1], CL_PROFILING_COMMAND_END, sizeof end, &end, NULL));
  if (end < start) say("profile", 1);
  say("chain", far_from(11, second, c, N));
  while (!called) CHECK(clFinish(second));
  clReleaseEvent(events[0]);
  clReleaseEvent(events[1]);
  if (unordered) launch("unordered", unordered, kernel, 5, N, GROUP);
  /* Launches that wait for an event that this thread sets later. */
  gate = clCreateUserEvent(context, &status);
  CHECK(status);
  set(kernel, a, b, 5);
  CHECK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &few, &group, 1, &gate, NULL));
  CHECK(clSetUserEventStatus(gate, CL_COMPLETE));
  say("gate", far_from(6, queue, b, few));
  clReleaseEvent(gate);
  clReleaseMemObject(a);
  clReleaseMemObject(b);
  clReleaseMemObject(c);
  clReleaseCommandQueue(second);
  if (unordered) clReleaseCommandQueue(unordered);
  clReleaseKernel(kernel);
}

static void ways_of_memory(cl_command_queue queue) {
  const size_t n = N, group = GROUP;
  cl_kernel kernel = make_kernel(program, "add");
  cl_mem whole = make_buffer(16 * N, 1), in, out;
  const cl_buffer_region first = {0, N * sizeof(float)}, second = {8 * N * sizeof(float), N * sizeof(float)};
  cl_int status;
  in = clCreateSubBuffer(whole, CL_MEM_READ_ONLY, CL_BUFFER_CREATE_TYPE_REGION, &first, &status);
  CHECK(status);
  out = clCreateSubBuffer(whole, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &second, &status);
  CHECK(status);
  set(kernel, in, out, 5);
  CHECK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &n, &group, 0, NULL, NULL));
  say("sub-buffer", far_from(6, queue, out, N));
  say("beside", far_from(1, queue, in, N));
  clReleaseMemObject(in);
  clReleaseMemObject(out);
  /* One buffer, in and out. */
  cl_mem both = make_buffer(N, 1);
  set(kernel, both, both, 5);
  CHECK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &n, &group, 0, NULL, NULL));
  say("in-place", far_from(6, queue, both, N));
  clReleaseMemObject(both);
  clReleaseMemObject(whole);
  clReleaseKernel(kernel);
}

/* Local memory of two sizes. */
static void ways_of_local_memory(cl_command_queue queue) {
  static const char *const labels[] = {"local", "more-local"};
  cl_kernel kernel = make_kernel(program, "scratch");
  for (size_t i = 0; i < 2; i++) {
    CHECK(clSetKernelArg(kernel, 3, (i + 1) * GROUP * sizeof(float), NULL));
    launch(labels[i], queue, kernel, 5, N, GROUP);
  }
  clReleaseKernel(kernel);
}

static void ways_of_shared_memory(cl_command_queue queue) {
  cl_device_svm_capabilities can = 0;
  const size_t n = N, group = GROUP;
  const cl_int number = 5;
  if (clGetDeviceInfo(device, CL_DEVICE_SVM_CAPABILITIES, sizeof can, &can, NULL) != CL_SUCCESS ||
      !(can & CL_DEVICE_SVM_COARSE_GRAIN_BUFFER))
    return;
  cl_kernel kernel = make_kernel(program, "add");
  cl_mem in = make_buffer(N, 1);
  float *out = clSVMAlloc(context, CL_MEM_READ_WRITE, N * sizeof *out, 0), results[N];
  CHECK(clSetKernelArg(kernel, 0, sizeof in, &in));
  CHECK(clSetKernelArgSVMPointer(kernel, 1, out));
  CHECK(clSetKernelArg(kernel, 2, sizeof number, &number));
  CHECK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &n, &group, 0, NULL, NULL));
  CHECK(clEnqueueSVMMemcpy(queue, CL_TRUE, results, out, sizeof results, 0, NULL, NULL));
  say("shared", results[N - 1] - 6);
  CHECK(clFinish(queue));
  clSVMFree(context, out);
  clReleaseMemObject(in);
  clReleaseKernel(kernel);
}

/* Each thread has its own queue and kernels; every second number is not the known one. */
static void *work(void *user) {
  const size_t thread = (size_t)user, n = N, group = GROUP;
  size_t counts[2] = {0, 0}, wrong = 0;
  cl_command_queue queue = make_queue(0);
  cl_mem in = make_buffer(N, (float)thread), out = make_buffer(N, -1);
  for (int round = 0; round < ROUNDS; round++) {
    cl_kernel kernel = make_kernel(program, "add");
    const cl_int number = round % 2 ? 5 : 7;
    set(kernel, in, out, number);
    CHECK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &n, &group, 0, NULL, NULL));
    const float far = far_from((float)thread + (float)number, queue, out, N);
    if (far == 0 || far == 1000)
      counts[far == 1000]++;
    else
      wrong++;
    clReleaseKernel(kernel);
  }
  clReleaseMemObject(in);
  clReleaseMemObject(out);
  clReleaseCommandQueue(queue);
  size_t *out_counts = malloc(3 * sizeof *out_counts);
  out_counts[0] = counts[0];
  out_counts[1] = counts[1];
  out_counts[2] = wrong;
  return out_counts;
}

int main(void) {
  cl_int status;
  pthread_t threads[THREADS];
  size_t sums[3] = {0, 0, 0};
  device = app_device();
  context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
  CHECK(status);
  program = build("");
  cl_command_queue queue = make_queue(0);
  ways_of_sizes(queue);
  ways_of_objects(queue);
  ways_of_queues(queue);
  ways_of_memory(queue);
  ways_of_local_memory(queue);
  ways_of_shared_memory(queue);
  for (size_t i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, work, (void *)i);
  for (size_t i = 0; i < THREADS; i++) {
    void *counts;
    pthread_join(threads[i], &counts);
    for (int k = 0; k < 3; k++) sums[k] += ((size_t *)counts)[k];
    free(counts);
  }
  printf("threads-0 %lu\nthreads-1000 %lu\nthreads-wrong %lu\n", (unsigned long)sums[0], (unsigned long)sums[1],
         (unsigned long)sums[2]);
  clReleaseCommandQueue(queue);
  clReleaseProgram(program);
  clReleaseContext(context);
  return 0;
}
