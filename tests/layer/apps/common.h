/* Common parts of the applications: options, a device, kernel times by events, results as files. */
#ifndef APPS_COMMON_H
#define APPS_COMMON_H

#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(call) app_check((call), #call, __FILE__, __LINE__)

static inline void app_check(cl_int status, const char *what, const char *file, int line) {
  if (status == CL_SUCCESS) return;
  fprintf(stderr, "%s:%d: %s: OpenCL error %d\n", file, line, what, (int)status);
  exit(1);
}

/* usage: APP [-t] [-o FILE] [NUMBER...]: -t prints the kernels' times, -o writes the result. */
typedef struct {
  int with_times;
  const char *output;
  size_t numbers[4];
} app_options;

static inline app_options app_parse(int argc, char **argv, const char *names, size_t a, size_t b, size_t c, size_t d) {
  app_options out = {0, NULL, {a, b, c, d}};
  size_t n = 0;
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "-t") == 0) {
      out.with_times = 1;
    } else if (strcmp(argv[i], "-o") == 0 && i + 1 < argc) {
      out.output = argv[++i];
    } else if (n < 4 && atoll(argv[i]) > 0) {
      out.numbers[n++] = (size_t)atoll(argv[i]);
    } else {
      fprintf(stderr, "usage: %s [-t] [-o FILE] %s\n", argv[0], names);
      exit(2);
    }
  }
  return out;
}

/* The first device of the first platform that has one. */
static inline cl_device_id app_device(void) {
  cl_platform_id platforms[16];
  cl_uint n = 0;
  cl_device_id device = NULL;
  CHECK(clGetPlatformIDs(16, platforms, &n));
  for (cl_uint i = 0; device == NULL && i < n && i < 16; i++)
    if (clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS) device = NULL;
  if (device == NULL) {
    fprintf(stderr, "no OpenCL device\n");
    exit(77);
  }
  return device;
}

static inline void app_build(cl_program program, cl_device_id device, const char *options) {
  static char log[65536];
  if (clBuildProgram(program, 1, &device, options, NULL, NULL) == CL_SUCCESS) return;
  clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
  fprintf(stderr, "%s\n", log);
  exit(1);
}

/* "NAME: 20 launches, 1234.5 us" on standard output. Releases the events. */
static inline void app_times(const char *name, cl_event *events, size_t n) {
  cl_ulong start, end, total = 0;
  for (size_t i = 0; i < n; i++) {
    CHECK(clWaitForEvents(1, &events[i]));
    CHECK(clGetEventProfilingInfo(events[i], CL_PROFILING_COMMAND_START, sizeof start, &start, NULL));
    CHECK(clGetEventProfilingInfo(events[i], CL_PROFILING_COMMAND_END, sizeof end, &end, NULL));
    CHECK(clReleaseEvent(events[i]));
    total += end - start;
  }
  printf("%s: %lu launches, %.1f us\n", name, (unsigned long)n, (double)total / 1e3);
}

static inline void app_write(const char *path, const void *data, size_t bytes) {
  FILE *file = path ? fopen(path, "wb") : NULL;
  if (path == NULL) return;
  if (file == NULL || fwrite(data, 1, bytes, file) != bytes || fclose(file) != 0) {
    fprintf(stderr, "cannot write '%s'\n", path);
    exit(1);
  }
}

/* Numbers of 0 to 1, the same ones each time. */
static inline void app_fill(float *out, size_t n, unsigned seed) {
  for (size_t i = 0; i < n; i++) {
    seed = seed * 1664525u + 1013904223u;
    out[i] = (float)(seed >> 8) / 16777216.0f;
  }
}

#endif
