/* A tuner's batch program: transposes a matrix with OpenCL in configurations that a file names by the positions of their
 * values. First line "n_configurations n_parameters", then a line for each; answers with the same line and the
 * milliseconds that it took, -1 where it cannot run or is wrong. Usage: transpose FILE */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 512
#define REPETITIONS 5
#define N_PARAMETERS 4

static const int tile_values[] = {4, 8, 16, 32}, rows_values[] = {1, 2, 4, 8}, local_values[] = {0, 1}, pad_values[] = {0, 1};
static const int *const values[N_PARAMETERS] = {tile_values, rows_values, local_values, pad_values};
static const int n_values[N_PARAMETERS] = {4, 4, 2, 2};

static const char *const source =
    "kernel void transpose(global const float *in, global float *out) {\n"
    "  const int x0 = get_group_id(0) * TILE, y0 = get_group_id(1) * TILE, x = get_local_id(0), y = get_local_id(1);\n"
    "#if LOCAL\n"
    "  local float tile[TILE][TILE + PAD];\n"
    "  for (int r = y; r < TILE; r += ROWS) tile[r][x] = in[(y0 + r) * SIZE + x0 + x];\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  for (int r = y; r < TILE; r += ROWS) out[(x0 + r) * SIZE + y0 + x] = tile[x][r];\n"
    "#else\n"
    "  for (int r = y; r < TILE; r += ROWS) out[(x0 + x) * SIZE + y0 + r] = in[(y0 + r) * SIZE + x0 + x];\n"
    "#endif\n"
    "}\n";

static cl_context context;
static cl_device_id device;
static cl_command_queue queue;
static cl_mem in, out;
static float host[N * N], result[N * N];

static int set_up(void) {
  cl_platform_id platform;
  char name[128] = "";
  if (clGetPlatformIDs(1, &platform, NULL) || clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL)) return -1;
  clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof name - 1, name, NULL);
  printf("device: %s\n", name);
  context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
  queue = clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE, NULL);
  for (int i = 0; i < N * N; i++) host[i] = (float)i;
  in = clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof host, host, NULL);
  out = clCreateBuffer(context, CL_MEM_WRITE_ONLY, sizeof result, NULL, NULL);
  return context && queue && in && out ? 0 : -1;
}

static double run_ms(cl_kernel kernel, int tile, int rows) {
  size_t local[2] = {(size_t)tile, (size_t)rows}, global[2] = {N, (size_t)(N / tile * rows)};
  double best_ms = -1;
  for (int r = 0; r < REPETITIONS; r++) {
    cl_event event;
    cl_ulong begin = 0, end = 0;
    if (clEnqueueNDRangeKernel(queue, kernel, 2, NULL, global, local, 0, NULL, &event) || clFinish(queue)) return -1;
    clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof begin, &begin, NULL);
    clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL);
    clReleaseEvent(event);
    double ms = 1e-6 * (double)(end - begin);
    if (best_ms < 0 || ms < best_ms) best_ms = ms;
  }
  return best_ms;
}

static int is_right(void) {
  if (clEnqueueReadBuffer(queue, out, CL_TRUE, 0, sizeof result, result, 0, NULL, NULL)) return 0;
  for (int y = 0; y < N; y++)
    for (int x = 0; x < N; x++)
      if (result[x * N + y] != host[y * N + x]) return 0;
  return 1;
}

static double measure_ms(const int positions[N_PARAMETERS]) {
  int v[N_PARAMETERS];
  char options[128];
  double ms = -1;
  for (int p = 0; p < N_PARAMETERS; p++) v[p] = values[p][positions[p]];
  if (v[1] > v[0]) return -1;
  snprintf(options, sizeof options, "-DSIZE=%d -DTILE=%d -DROWS=%d -DLOCAL=%d -DPAD=%d", N, v[0], v[1], v[2], v[3]);
  cl_program program = clCreateProgramWithSource(context, 1, (const char **)&source, NULL, NULL);
  cl_kernel kernel = clBuildProgram(program, 1, &device, options, NULL, NULL) == CL_SUCCESS
                         ? clCreateKernel(program, "transpose", NULL)
                         : NULL;
  if (kernel && !clSetKernelArg(kernel, 0, sizeof in, &in) && !clSetKernelArg(kernel, 1, sizeof out, &out))
    ms = run_ms(kernel, v[0], v[1]);
  if (ms >= 0 && !is_right()) ms = -1;
  if (kernel) clReleaseKernel(kernel);
  clReleaseProgram(program);
  return ms;
}

int main(int n, char **arguments) {
  int n_configurations, n_parameters, positions[N_PARAMETERS];
  FILE *file = n == 2 ? fopen(arguments[1], "r") : NULL;
  if (file == NULL || fscanf(file, "%d %d", &n_configurations, &n_parameters) != 2 || n_parameters != N_PARAMETERS ||
      set_up()) {
    fprintf(stderr, "usage: transpose FILE, with an OpenCL device\n");
    return EXIT_FAILURE;
  }
  for (int i = 0; i < n_configurations; i++) {
    for (int p = 0; p < N_PARAMETERS; p++)
      if (fscanf(file, "%d", &positions[p]) != 1 || positions[p] < 0 || positions[p] >= n_values[p]) return EXIT_FAILURE;
    double ms = measure_ms(positions);
    printf("%d %d %d %d %f\n", positions[0], positions[1], positions[2], positions[3], ms);
  }
  printf("%d configurations done\n", n_configurations);
  return EXIT_SUCCESS;
}
