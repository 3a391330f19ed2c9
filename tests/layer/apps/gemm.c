/* A product of matrices by CLBlast, which brings its own kernels along. */
#include "common.h"

#include <clblast_c.h>

int main(int argc, char **argv) {
  const app_options options = app_parse(argc, argv, "[M [N [K [TIMES]]]]", 128, 96, 64, 3);
  const size_t m = options.numbers[0], n = options.numbers[1], k = options.numbers[2], times = options.numbers[3];
  cl_int status;
  cl_device_id device = app_device();
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
  CHECK(status);
  cl_command_queue queue = clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE, &status);
  CHECK(status);
  float *a = malloc(m * k * sizeof *a), *b = malloc(k * n * sizeof *b), *c = malloc(m * n * sizeof *c);
  cl_event *events = malloc(times * sizeof *events);
  if (a == NULL || b == NULL || c == NULL || events == NULL) return 1;
  app_fill(a, m * k, 5);
  app_fill(b, k * n, 6);
  cl_mem on_device[3] = {
      clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, m * k * sizeof *a, a, &status),
      clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, k * n * sizeof *b, b, &status),
      clCreateBuffer(context, CL_MEM_READ_WRITE, m * n * sizeof *c, NULL, &status)};
  CHECK(status);
  for (size_t i = 0; i < times; i++) {
    const CLBlastStatusCode done =
        CLBlastSgemm(CLBlastLayoutRowMajor, CLBlastTransposeNo, CLBlastTransposeNo, m, n, k, 1.0f, on_device[0], 0, k,
                     on_device[1], 0, n, 0.0f, on_device[2], 0, n, &queue, &events[i]);
    if (done != CLBlastSuccess) {
      fprintf(stderr, "CLBlast: error %d\n", (int)done);
      return 1;
    }
  }
  CHECK(clEnqueueReadBuffer(queue, on_device[2], CL_TRUE, 0, m * n * sizeof *c, c, 0, NULL, NULL));
  if (options.with_times) app_times("gemm", events, times);
  app_write(options.output, c, m * n * sizeof *c);
  CHECK(CLBlastClearCache());
  for (int i = 0; i < 3; i++) clReleaseMemObject(on_device[i]);
  clReleaseCommandQueue(queue);
  clReleaseContext(context);
  free(a);
  free(b);
  free(c);
  free(events);
  return 0;
}
