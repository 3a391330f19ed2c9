/* How long OpenCL calls take that a layer intercepts, and one that it does not. Prints "CALL THREADS ns" for
 * each, the median of 51 batches. Arguments: how often each is made, and by how many threads (1). */
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static const char source[] = "kernel void copy(global const float *in, global float *out) {\n"
                             "  out[get_global_id(0)] = in[get_global_id(0)];\n"
                             "}\n";
static cl_context context;
static cl_device_id device;
static cl_program program;
static long n_calls;

#define CHECK(call)                                          \
  do {                                                       \
    cl_int status_ = (call);                                 \
    if (status_ != CL_SUCCESS) {                             \
      fprintf(stderr, "%s: OpenCL error %d\n", #call, status_); \
      exit(1);                                               \
    }                                                        \
  } while (0)

enum { BATCHES = 51 };
enum { SET_ARGUMENT, LAUNCH, RETAIN_KERNEL, CREATE_KERNEL, CREATE_QUEUE, CREATE_BUFFER, DEVICE_INFO, N_CALLS };
static const char *const names[] = {"clSetKernelArg",       "clEnqueueNDRangeKernel", "clRetainKernel+clReleaseKernel",
                                    "clCreateKernel+clReleaseKernel", "clCreateCommandQueue+clReleaseCommandQueue",
                                    "clCreateBuffer+clReleaseMemObject", "clGetDeviceInfo"};

static double now_s(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int by_number(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void *call_all(void *seconds) {
  double *out = seconds;
  cl_int status;
  cl_uint units;
  const size_t n = 16;
  cl_command_queue queue = clCreateCommandQueue(context, device, 0, &status);
  CHECK(status);
  cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, 64, NULL, &status);
  CHECK(status);
  cl_kernel kernel = clCreateKernel(program, "copy", &status);
  CHECK(status);
  for (cl_uint i = 0; i < 2; i++) CHECK(clSetKernelArg(kernel, i, sizeof buffer, &buffer));
  CHECK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &n, &n, 0, NULL, NULL)); /* compiled, if that comes late */
  CHECK(clFinish(queue));
  for (int call = 0; call < N_CALLS; call++) {
    const long all = call == LAUNCH || call >= CREATE_KERNEL ? n_calls / 10 : n_calls, times = all / BATCHES + 1;
    /* The launched kernels wait: else they would take turns with us on the processors. */
    cl_event gate = call == LAUNCH ? clCreateUserEvent(context, NULL) : NULL;
    if (gate) CHECK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &n, &n, 1, &gate, NULL));
    double batches[BATCHES], begun = now_s();
    for (long i = 0; i < times * BATCHES; i++) {
      switch (call) {
        case SET_ARGUMENT: CHECK(clSetKernelArg(kernel, 0, sizeof buffer, &buffer)); break;
        case LAUNCH: CHECK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &n, &n, 0, NULL, NULL)); break;
        case RETAIN_KERNEL:
          CHECK(clRetainKernel(kernel));
          CHECK(clReleaseKernel(kernel));
          break;
        case CREATE_KERNEL: CHECK(clReleaseKernel(clCreateKernel(program, "copy", NULL))); break;
        case CREATE_QUEUE: CHECK(clReleaseCommandQueue(clCreateCommandQueue(context, device, 0, NULL))); break;
        case CREATE_BUFFER: CHECK(clReleaseMemObject(clCreateBuffer(context, CL_MEM_READ_WRITE, 64, NULL, NULL))); break;
        default: CHECK(clGetDeviceInfo(device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, NULL)); break;
      }
      if ((i + 1) % times) continue;
      const double now = now_s();
      batches[i / times] = (now - begun) / (double)times;
      begun = now;
    }
    qsort(batches, BATCHES, sizeof *batches, by_number);
    out[call] = batches[BATCHES / 2];
    if (gate) {
      CHECK(clSetUserEventStatus(gate, CL_COMPLETE));
      CHECK(clReleaseEvent(gate));
    }
    CHECK(clFinish(queue));
  }
  clReleaseKernel(kernel);
  clReleaseMemObject(buffer);
  clReleaseCommandQueue(queue);
  return NULL;
}

int main(int argc, char **argv) {
  const char *text = source;
  cl_platform_id platform;
  cl_int status;
  double seconds[64][N_CALLS];
  pthread_t threads[64];
  n_calls = argc > 1 ? atol(argv[1]) : 10000;
  const int n_threads = argc > 2 ? atoi(argv[2]) : 1;
  if (n_calls < 1 || n_threads < 1 || n_threads > 64) return 2;
  CHECK(clGetPlatformIDs(1, &platform, NULL));
  CHECK(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL));
  context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
  CHECK(status);
  program = clCreateProgramWithSource(context, 1, &text, NULL, &status);
  CHECK(status);
  CHECK(clBuildProgram(program, 1, &device, "", NULL, NULL));
  for (int i = 0; i < n_threads; i++) pthread_create(&threads[i], NULL, call_all, seconds[i]);
  for (int i = 0; i < n_threads; i++) pthread_join(threads[i], NULL);
  for (int call = 0; call < N_CALLS; call++) {
    double sum = 0;
    for (int i = 0; i < n_threads; i++) sum += seconds[i][call];
    printf("%s %d %.1f\n", names[call], n_threads, 1e9 * sum / n_threads);
  }
  clReleaseProgram(program);
  clReleaseContext(context);
  return 0;
}
