/* An application that launches kernels in ways that a problem file can and cannot say; each prints a number that does not
 * depend on the observer: "NAME SUM". usage: app-odd FOLDER, in which the kernels find what they include. */
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/common.h"

enum { N = 1024, GROUP = 64, THREADS = 4, ROUNDS = 5, CALLS = 30 };

static const char text[] =
    "#include \"factor.h\"\n"
    "#ifndef ADD\n"
    "#define ADD 1\n"
    "#endif\n"
    "#define I get_global_id(0)\n"
    "typedef struct { int first; float second; int third; } setting;\n"
    "kernel void mixed(global const float *in, global float *out, setting s, int4 four, double_or_float real) {\n"
    "  out[I] = FACTOR * in[I] + s.first + s.second + s.third + four.x + four.w + real;\n"
    "}\n"
    "kernel void copies(global const float *in, global float *out) { out[I] = in[I] + ADD; }\n"
    "kernel void alias(global const float *in, global float *out) { out[I] = in[I] + 1; }\n"
    "kernel void moved(global float *out) { out[I] += 1; }\n"
    "kernel void waits(global float *out) { out[I] += 2; }\n"
    "kernel void nothing(global const float *in, global float *out) { out[I] = in ? in[I] : 3; }\n"
    "kernel void shared(global float *out) { out[I] += 4; }\n"
    "kernel void grouped(global float *data, local float *tile) {\n"
    "  tile[get_local_id(0)] = data[I];\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  data[I] += tile[get_local_id(0) ^ 1];\n"
    "}\n"
    "kernel void haloed(global float *data, local float *tile) {\n"
    "  tile[get_local_id(0) + 1] = data[I];\n"
    "  if (get_local_id(0) == 0) tile[0] = tile[get_local_size(0) + 1] = data[I];\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  data[I] += tile[get_local_id(0) + 1];\n"
    "}\n"
    "kernel void still(global float *out, float by) { out[I] += by; }\n"
    "kernel void ready(global const float *in, global float *out) { out[I] = in[I] * 0; }\n"
    "kernel void idle(global const float *in, global float *out) { if (in[I] < 0) out[I] = in[I]; }\n"
    "#define NOTHING 0\n"
    "kernel void partial(global const float *in, global float *sums) {\n"
    "  float sum = NOTHING;\n"
    "  for (int i = 0; get_local_id(0) == 0 && i < get_local_size(0); i++) sum += in[I + i];\n"
    "  if (get_local_id(0) == 0) sums[get_group_id(0)] = sum;\n"
    "}\n"
    "kernel void called(global float *out) { out[I] += 1; }\n"
    "kernel void meanwhile(global float *out) { out[I] += 1; }\n"
    "kernel void blocked(global float *data) {\n"
    "  local float tile[64];\n"
    "  tile[get_local_id(0)] = data[I];\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  data[I] += tile[63 - get_local_id(0)] + min((uint)I, ROOM);\n"
    "}\n"
    "kernel void numbered(global float *data, int number, int same) { data[I] += number + same; }\n"
    "kernel __attribute__((reqd_work_group_size(32, 1, 1))) void required(global float *data) { data[I] *= 2; }\n";

/* A text that says its parameters itself. WIDTH is a size of the data, PRECISION of which type it is; the others have reasons
 * of their own to stay: "ROOM" an option, "LATER" the text before it, "TWICE" its second line, "UNDONE" its end. */
static const char written_text[] =
    "#if LATER + 0 == 1\n"
    "#endif\n"
    "#define STEP 4 // at once\n"
    "#  define PAD   1\n"
    "#define WIDTH 1024\n"
    "#define PRECISION 32\n"
    "#define ROOM 2\n"
    "#define LATER 2\n"
    "#define UNREAD 2\n"
    "#define SUFFIX 2u\n"
    "#define TWICE 2\n"
    "#define TWICE 2\n"
    "#define UNDONE 2\n"
    "/*\n"
    "#define STEP 8\n"
    "*/\n"
    "#ifndef STEP\n"
    "#define STEP 1\n"
    "#endif\n"
    "#if PRECISION == 32\n"
    "typedef float real;\n"
    "#elif PRECISION == 64\n"
    "typedef double real;\n"
    "#endif\n"
    "kernel void written(global const real *in, global real *out) {\n"
    "  real all[16 + PAD], sum = ROOM + LATER + TWICE + UNDONE + SUFFIX;\n"
    "  for (int i = 0; i < 16; i++) all[i] = in[(get_global_id(0) + i) % WIDTH];\n"
    "  for (int i = 0; i < 16; i += STEP)\n"
    "    for (int k = 0; k < STEP; k++) sum += all[i + k];\n"
    "  out[get_global_id(0)] = sum;\n"
    "}\n"
    "#define EACH 4\n"
    "kernel void several(global const real *in, global real *out) {\n"
    "  for (int k = 0; k < EACH; k++) out[get_global_id(0) * EACH + k] = 2 * in[get_global_id(0) * EACH + k];\n"
    "}\n"
    "#undef UNDONE\n";

/* Compiled apart, and linked. */
static const char *const linked_texts[] = {
    "float twice(float x);\nfloat twice(float x) { return 2 * x + ADD; }\n",
    "float twice(float x);\nkernel void linked(global const float *in, global float *out) {\n"
    "  out[get_global_id(0)] = twice(in[get_global_id(0)]);\n}\n"};

static cl_device_id device;
static cl_context context;
static cl_command_queue queue, other_queue;
static const size_t global = N, local = GROUP;

static cl_program build(const char *options, const char *of) {
  const char *parts[] = {"#define double_or_float float\n", of};
  const size_t lengths[] = {0, strlen(of)};
  cl_int status;
  cl_program out = clCreateProgramWithSource(context, 2, parts, lengths, &status);
  CHECK(status);
  app_build(out, device, options);
  return out;
}

static cl_program build_linked(const char *other_options, cl_uint n_headers) {
  static const char *const name = "unused.h";
  cl_program parts[2];
  cl_int status;
  for (int i = 0; i < 2; i++) {
    const char *part = linked_texts[i];
    parts[i] = clCreateProgramWithSource(context, 1, &part, NULL, &status);
    CHECK(status);
    CHECK(clCompileProgram(parts[i], 1, &device, i ? other_options : "-DADD=1", n_headers, n_headers ? parts : NULL,
                           n_headers ? (const char **)&name : NULL, NULL, NULL));
  }
  cl_program out = clLinkProgram(context, 1, &device, NULL, 2, parts, NULL, NULL, &status);
  CHECK(status);
  for (int i = 0; i < 2; i++) CHECK(clReleaseProgram(parts[i]));
  return out;
}

static cl_kernel make_kernel(cl_program of, const char *name) {
  cl_int status;
  cl_kernel kernel = clCreateKernel(of, name, &status);
  CHECK(status);
  return kernel;
}

static cl_mem make_buffer(cl_mem_flags flags, size_t n) {
  static float content[4 * N];
  cl_int status;
  app_fill(content, n, 7);
  cl_mem buffer = clCreateBuffer(context, flags | CL_MEM_COPY_HOST_PTR, n * sizeof *content, content, &status);
  CHECK(status);
  return buffer;
}

static void print_sum(const char *name, cl_mem buffer) {
  float content[N];
  double sum = 0;
  CHECK(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof content, content, 0, NULL, NULL));
  for (int i = 0; i < N; i++) sum += content[i];
  printf("%s %.3f\n", name, sum);
}

#define SET(kernel, index, value) CHECK(clSetKernelArg(kernel, index, sizeof(value), &(value)))

static void launch(cl_kernel kernel, const size_t *offset, cl_command_queue on) {
  CHECK(clEnqueueNDRangeKernel(on, kernel, 1, offset, &global, &local, 0, NULL, NULL));
  CHECK(clFinish(on));
}

/* in and out are the two arguments. Creates the kernel again each time. */
static void launch_pair(cl_program of, const char *name, cl_mem in, cl_mem out) {
  cl_kernel kernel = make_kernel(of, name);
  SET(kernel, 0, in);
  SET(kernel, 1, out);
  launch(kernel, NULL, queue);
  CHECK(clReleaseKernel(kernel));
}

/* Launches a kernel from the callbacks of events while this thread launches another one. */
static cl_kernel called;
static int n_called;
static pthread_mutex_t called_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t called_more = PTHREAD_COND_INITIALIZER;

static void CL_CALLBACK call(cl_event event, cl_int state, void *user) {
  (void)event, (void)state, (void)user;
  CHECK(clEnqueueNDRangeKernel(other_queue, called, 1, NULL, &global, &local, 0, NULL, NULL));
  pthread_mutex_lock(&called_lock);
  n_called++;
  pthread_cond_signal(&called_more);
  pthread_mutex_unlock(&called_lock);
}

static void launch_from_callbacks(cl_program of) {
  static float content[N];
  cl_mem data = make_buffer(CL_MEM_READ_WRITE, N), other = make_buffer(CL_MEM_READ_WRITE, N);
  cl_kernel meanwhile = make_kernel(of, "meanwhile");
  called = make_kernel(of, "called");
  SET(called, 0, data);
  SET(meanwhile, 0, other);
  for (int i = 0; i < CALLS; i++) {
    cl_event event;
    CHECK(clEnqueueReadBuffer(queue, other, CL_FALSE, 0, sizeof content, content, 0, NULL, &event));
    CHECK(clSetEventCallback(event, CL_COMPLETE, call, NULL));
    CHECK(clReleaseEvent(event));
    CHECK(clEnqueueNDRangeKernel(queue, meanwhile, 1, NULL, &global, &local, 0, NULL, NULL));
  }
  CHECK(clFinish(queue));
  pthread_mutex_lock(&called_lock);
  while (n_called < CALLS) pthread_cond_wait(&called_more, &called_lock);
  pthread_mutex_unlock(&called_lock);
  CHECK(clFinish(other_queue));
  print_sum("called", data);
}

static cl_program thread_program;

static void *run_thread(void *user) {
  cl_mem data = make_buffer(CL_MEM_READ_WRITE, N);
  const cl_int same = 1;
  for (cl_int i = 0; i < ROUNDS; i++) {
    cl_kernel kernel = make_kernel(thread_program, "numbered");
    SET(kernel, 0, data);
    SET(kernel, 1, i);
    SET(kernel, 2, same);
    launch(kernel, NULL, i % 2 ? queue : other_queue);
    CHECK(clReleaseKernel(kernel));
  }
  *(cl_mem *)user = data;
  return NULL;
}

static cl_program from_binary(cl_program source) {
  size_t bytes;
  cl_int status, of_device;
  CHECK(clGetProgramInfo(source, CL_PROGRAM_BINARY_SIZES, sizeof bytes, &bytes, NULL));
  unsigned char *binary = malloc(bytes ? bytes : 1);
  CHECK(clGetProgramInfo(source, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL));
  cl_program out = clCreateProgramWithBinary(context, 1, &device, &bytes, (const unsigned char **)&binary, &of_device, &status);
  if (status == CL_INVALID_BINARY) { /* capture --no-binaries: as an application with a cache does */
    free(binary);
    CHECK(clRetainProgram(source));
    return source;
  }
  CHECK(status);
  app_build(out, device, "");
  free(binary);
  return out;
}

int main(int argc, char **argv) {
  const cl_buffer_region halves[] = {{0, N * sizeof(float)}, {N * sizeof(float), N * sizeof(float)}};
  const struct { cl_int first; cl_float second; cl_int third; } setting = {1, 0.5f, 3};
  const cl_int4 four = {{4, 0, 0, 5}};
  const cl_float real = 0.1f;
  const size_t offset = 0, far = GROUP, required = 32;
  cl_device_svm_capabilities svm = 0;
  cl_mem null = NULL, results[THREADS];
  pthread_t threads[THREADS];
  cl_int status;
  if (argc != 2) return 2;
  device = app_device();
  context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
  CHECK(status);
  queue = clCreateCommandQueue(context, device, 0, &status);
  CHECK(status);
  other_queue = clCreateCommandQueue(context, device, 0, &status);
  CHECK(status);
  char options[2][1024];
  snprintf(options[0], sizeof options[0], "-D ADD=1 -DROOM=4u -I%s", argv[1]);
  snprintf(options[1], sizeof options[1], "-I%s -DADD=2 -DROOM=8u -cl-mad-enable", argv[1]);
  cl_program one = build(options[0], text), two = build(options[1], text);
  cl_mem in = make_buffer(CL_MEM_READ_ONLY, N), out = make_buffer(CL_MEM_READ_WRITE, N);

  cl_kernel mixed = make_kernel(one, "mixed");
  SET(mixed, 0, in);
  SET(mixed, 1, out);
  SET(mixed, 2, setting);
  SET(mixed, 3, four);
  SET(mixed, 4, real);
  launch(mixed, NULL, queue);
  print_sum("mixed", out);

  /* Two halves of one buffer, then memory that the host may not read; the other program has another option. */
  cl_mem both = make_buffer(CL_MEM_READ_WRITE, 2 * N), parts[2];
  for (int i = 0; i < 2; i++) {
    parts[i] = clCreateSubBuffer(both, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &halves[i], &status);
    CHECK(status);
  }
  launch_pair(one, "copies", parts[0], parts[1]);
  print_sum("copies", parts[1]);
  launch_pair(two, "copies", make_buffer(CL_MEM_READ_ONLY | CL_MEM_HOST_NO_ACCESS, N), out);
  launch_pair(two, "copies", in, out);
  print_sum("copies", out);

  launch_pair(one, "alias", out, out);
  print_sum("alias", out);
  launch_pair(one, "nothing", null, out);
  print_sum("nothing", out);

  cl_kernel moved = make_kernel(one, "moved");
  cl_mem longer = make_buffer(CL_MEM_READ_WRITE, 2 * N);
  SET(moved, 0, longer);
  launch(moved, &far, queue);
  print_sum("moved", longer);

  /* The first launch waits for a later one. */
  cl_event until = clCreateUserEvent(context, &status), done;
  CHECK(status);
  cl_kernel waits = make_kernel(one, "waits");
  SET(waits, 0, out);
  CHECK(clEnqueueNDRangeKernel(queue, waits, 1, NULL, &global, NULL, 1, &until, &done));
  CHECK(clSetUserEventStatus(until, CL_COMPLETE));
  CHECK(clWaitForEvents(1, &done));
  CHECK(clEnqueueNDRangeKernel(queue, waits, 1, &offset, &global, NULL, 1, &done, NULL));
  print_sum("waits", out);

  cl_kernel grouped = make_kernel(one, "grouped");
  SET(grouped, 0, out);
  CHECK(clSetKernelArg(grouped, 1, GROUP * sizeof(float), NULL));
  launch(grouped, NULL, queue);
  print_sum("grouped", out);

  cl_kernel haloed = make_kernel(one, "haloed");
  SET(haloed, 0, out);
  CHECK(clSetKernelArg(haloed, 1, (GROUP + 2) * sizeof(float), NULL));
  launch(haloed, NULL, queue);
  print_sum("haloed", out);

  cl_kernel blocked = make_kernel(one, "blocked");
  SET(blocked, 0, out);
  launch(blocked, NULL, queue);
  print_sum("blocked", out);

  /* The first launch changes nothing. */
  cl_kernel still = make_kernel(one, "still");
  SET(still, 0, out);
  for (int i = 0; i < 2; i++) {
    const cl_float by = (cl_float)i;
    SET(still, 1, by);
    launch(still, NULL, queue);
  }
  print_sum("still", out);

  /* The first kernel's result is there already, the second writes nothing, the third a sum per group. */
  static float zeros[N];
  cl_mem before = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof zeros, zeros, &status);
  CHECK(status);
  launch_pair(one, "ready", in, before);
  launch_pair(one, "idle", in, before);
  cl_mem sums = clCreateBuffer(context, CL_MEM_READ_WRITE, N / GROUP * sizeof(float), NULL, &status);
  CHECK(status);
  launch_pair(one, "partial", in, sums);

  cl_kernel fixed = make_kernel(one, "required");
  SET(fixed, 0, out);
  CHECK(clEnqueueNDRangeKernel(queue, fixed, 1, NULL, &global, &required, 0, NULL, NULL));
  print_sum("required", out);

  clGetDeviceInfo(device, CL_DEVICE_SVM_CAPABILITIES, sizeof svm, &svm, NULL);
  float *memory = svm & CL_DEVICE_SVM_COARSE_GRAIN_BUFFER ? clSVMAlloc(context, CL_MEM_READ_WRITE, N * sizeof *memory, 0) : NULL;
  cl_kernel shared = make_kernel(one, "shared");
  if (memory) CHECK(clSetKernelArgSVMPointer(shared, 0, memory));
  if (memory) launch(shared, NULL, queue);

  launch_from_callbacks(two);

  launch_pair(build("-DROOM=2", written_text), "written", in, out);
  print_sum("written", out);
  launch_pair(build_linked("-DADD=1", 0), "linked", in, out);
  launch_pair(build_linked("-DADD=2", 0), "linked", in, out);
  launch_pair(build_linked("-DADD=1", 1), "linked", in, out);
  print_sum("linked", out);
  const size_t quarter = N / 4;
  cl_kernel several = make_kernel(build("-DROOM=2", written_text), "several");
  SET(several, 0, in);
  SET(several, 1, out);
  CHECK(clEnqueueNDRangeKernel(queue, several, 1, NULL, &quarter, NULL, 0, NULL, NULL));
  print_sum("several", out);
  cl_platform_id platform;
  char name[200] = "";
  clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL);
  clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof name, name, NULL);
  if (strstr(name, "rusticl") == NULL) /* which ends at it */
    launch_pair(build("-DNAME=\"\xe9\"", written_text), "written", in, out); /* no UTF-8 */

  thread_program = one;
  for (int i = 0; i < THREADS; i++)
    if (pthread_create(&threads[i], NULL, run_thread, &results[i])) return 1;
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  for (int i = 0; i < THREADS; i++) print_sum("numbered", results[i]);

  launch_pair(from_binary(one), "copies", in, out);
  launch_pair(from_binary(build("-DROOM=2", written_text)), "written", in, out);
  print_sum("binary", out);
  return 0;
}
