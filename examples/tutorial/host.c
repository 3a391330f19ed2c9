/* Transposes a matrix with the fastest kernel that is known, and checks the result; docs/tutorials/first-kernel.md tells how it came
 * about.
 *
 *     ./host [WIDTH HEIGHT]
 *
 * What is known comes from the header that 'clatune lookup transpose.json --format header -o transpose.h' writes, or,
 * built with -DWITH_LIBCLATUNE, from the store at run time. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef WITH_LIBCLATUNE
#include <clatune/clatune.h>
#else
#include "transpose.h"
#endif

static void fail(const char *what, long code) {
  fprintf(stderr, "host: %s (%ld)\n", what, code);
  exit(1);
}

/* What the program needs of an answer: options for the compiler, and how the kernel is launched. */
typedef struct choice {
  char options[512];
  size_t global[2], local[2];
} choice;

#ifdef WITH_LIBCLATUNE
static void choose(choice *c, cl_device_id device, int width, int height) {
  const clt_size sizes[] = {{"size_width", width}, {"size_height", height}};
  clt_tuner *tuner = NULL;
  clt_answer *answer = NULL;
  clt_error error = {0};
  if (clt_open(&tuner, "transpose.json", sizes, 2, device, NULL, &error) || clt_lookup(&answer, tuner, &error))
    fail(error.message, 0);
  printf("libclatune (%s): %s\n", clt_answer_text(answer, CLT_ANSWER_SOURCE),
         clt_answer_text(answer, CLT_ANSWER_CONFIGURATION));
  const clt_launch_sizes *launch = clt_answer_launch(answer, 0);
  if (launch == NULL) fail("transpose.json says no launch", 0);
  memcpy(c->global, launch->global, sizeof c->global);
  memcpy(c->local, launch->local, sizeof c->local);
  const char *options = clt_answer_text(answer, CLT_ANSWER_OPTIONS);
  if ((size_t)snprintf(c->options, sizeof c->options, "%s", options) >= sizeof c->options)
    fail("the options are too long", 0);
  clt_answer_free(answer);
  clt_close(tuner);
}
#else
static size_t round_up(int x, size_t multiple) { return ((size_t)x + multiple - 1) / multiple * multiple; }

static void choose(choice *c, cl_device_id device, int width, int height) {
  char name[256] = "";
  clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof name, name, NULL);
  const clatune_transpose_entry *entry = clatune_transpose_find(name, width, height);
  printf("header: %s\n", entry ? entry->configuration : "nothing for this device, the kernel's own macros");
  clatune_transpose_launch launch = {
      "transpose", 2, {round_up(width, 16), round_up(height, 16), 1}, {16, 16, 1}, 1, 0}; /* by the kernel's own macros */
  clatune_transpose_launches(&launch, 1, entry, width, height);
  memcpy(c->global, launch.global, sizeof c->global);
  memcpy(c->local, launch.local, sizeof c->local);
  int length = clatune_transpose_options(c->options, sizeof c->options, entry, width, height);
  if (length < 0 || (size_t)length >= sizeof c->options) fail("the options are too long", length);
}
#endif

static cl_device_id first_device(void) {
  cl_platform_id platforms[16];
  cl_uint n = 0;
  clGetPlatformIDs(16, platforms, &n);
  for (cl_uint i = 0; i < n && i < 16; i++) {
    cl_device_id device;
    if (clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, &device, NULL) == CL_SUCCESS) return device;
  }
  fail("there is no OpenCL device", 0);
  return NULL;
}

static char *read_text(const char *path) {
  FILE *file = fopen(path, "rb");
  char *text = file ? calloc(1, 65536) : NULL;
  if (text == NULL) fail("cannot read transpose.cl", 0);
  text[fread(text, 1, 65535, file)] = '\0';
  fclose(file);
  return text;
}

typedef struct opencl {
  cl_device_id device;
  cl_context context;
  cl_command_queue queue;
  cl_kernel kernel;
} opencl;

static void open_device(opencl *cl) {
  cl_int status = 0;
  cl->device = first_device();
  cl->context = clCreateContext(NULL, 1, &cl->device, NULL, NULL, &status);
  if (status == CL_SUCCESS)
    cl->queue = clCreateCommandQueue(cl->context, cl->device, CL_QUEUE_PROFILING_ENABLE, &status);
  if (status) fail("cannot open the device", status);
}

static void build(opencl *cl, const choice *best) {
  char *text = read_text("transpose.cl");
  cl_int status = 0;
  cl_program program = clCreateProgramWithSource(cl->context, 1, (const char **)&text, NULL, &status);
  status = clBuildProgram(program, 1, &cl->device, best->options, NULL, NULL);
  if (status) fail("cannot build transpose.cl", status);
  cl->kernel = clCreateKernel(program, "transpose", &status);
  if (status) fail("there is no kernel 'transpose'", status);
  clReleaseProgram(program);
  free(text);
}

/* The milliseconds that one run takes. */
static double run(const opencl *cl, const choice *best) {
  cl_event event;
  cl_ulong start = 0, end = 0;
  cl_int status = clEnqueueNDRangeKernel(cl->queue, cl->kernel, 2, NULL, best->global, best->local, 0, NULL, &event);
  if (status) fail("cannot run the kernel", status);
  clWaitForEvents(1, &event);
  clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL);
  clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL);
  clReleaseEvent(event);
  return (double)(end - start) * 1e-6;
}

/* Transposes in to out; the shortest time of ten runs. */
static double transpose(const opencl *cl, const choice *best, float *in, float *out, int width, int height) {
  const size_t bytes = (size_t)width * (size_t)height * sizeof(float);
  double least_ms = 1e30;
  cl_int status = 0;
  cl_mem a = clCreateBuffer(cl->context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, bytes, in, &status);
  cl_mem b = status ? NULL : clCreateBuffer(cl->context, CL_MEM_WRITE_ONLY, bytes, NULL, &status);
  if (status) fail("cannot make the buffers", status);
  clSetKernelArg(cl->kernel, 0, sizeof a, &a);
  clSetKernelArg(cl->kernel, 1, sizeof b, &b);
  clSetKernelArg(cl->kernel, 2, sizeof width, &width);
  clSetKernelArg(cl->kernel, 3, sizeof height, &height);
  for (int i = 0; i < 10; i++) {
    double time_ms = run(cl, best);
    if (time_ms < least_ms) least_ms = time_ms;
  }
  status = clEnqueueReadBuffer(cl->queue, b, CL_TRUE, 0, bytes, out, 0, NULL, NULL);
  if (status) fail("cannot read the result", status);
  clReleaseMemObject(a);
  clReleaseMemObject(b);
  return least_ms;
}

int main(int argc, char **argv) {
  const int width = argc > 2 ? (int)strtol(argv[1], NULL, 10) : 1024;
  const int height = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 1024;
  if (width < 1 || height < 1 || width > 16384 || height > 16384) fail("usage: host [WIDTH HEIGHT]", 2);
  const size_t n = (size_t)width * (size_t)height;
  float *in = malloc(n * sizeof(float)), *out = malloc(n * sizeof(float));
  if (in == NULL || out == NULL) fail("no memory", 0);
  for (size_t i = 0; i < n; i++) in[i] = (float)(i % 9973);

  opencl cl;
  choice best;
  open_device(&cl);
  choose(&best, cl.device, width, height);
  build(&cl, &best);
  double least_ms = transpose(&cl, &best, in, out, width, height);

  size_t n_wrong = 0;
  for (size_t y = 0; y < (size_t)height; y++)
    for (size_t x = 0; x < (size_t)width; x++) n_wrong += out[x * (size_t)height + y] != in[y * (size_t)width + x];
  printf("%d x %d: %.3f ms, the shortest of 10 runs; %zu of %zu numbers are incorrect\n", width, height, least_ms, n_wrong, n);
  clReleaseKernel(cl.kernel);
  clReleaseCommandQueue(cl.queue);
  clReleaseContext(cl.context);
  free(in);
  free(out);
  return n_wrong > 0;
}
