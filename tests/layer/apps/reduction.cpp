// A sum in several launches of one kernel, each on the output of the one before. C++ over the C API.
#include <vector>

#include "common.h"

static const char *source = R"CL(
#ifndef WG
#define WG 128
#endif
#ifndef UNROLL
#define UNROLL 1
#endif
#ifndef PER_ITEM
#define PER_ITEM 8
#endif

// Each work-group sums WG * PER_ITEM neighbours.
kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void sum_blocks(global const float *in, global float *out, local float *scratch, const uint n) {
  const uint item = get_local_id(0), first = get_group_id(0) * (WG * PER_ITEM) + item;
  float sum = 0.0f;
#if UNROLL > 1
#pragma unroll UNROLL
#endif
  for (uint i = 0; i < PER_ITEM; i++) {
    const uint at = first + i * WG;
    sum += at < n ? in[at] : 0.0f;
  }
  scratch[item] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint step = WG / 2; step > 0; step /= 2) {
    if (item < step) scratch[item] += scratch[item + step];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (item == 0) out[get_group_id(0)] = scratch[0];
}
)CL";

int main(int argc, char **argv) {
  const app_options options = app_parse(argc, argv, "[NUMBERS [ROUNDS]]", 1 << 20, 5, 0, 0);
  const size_t group = 128, per_group = group * 8, n = options.numbers[0], rounds = options.numbers[1];
  cl_int status;
  cl_device_id device = app_device();
  cl_context context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &status);
  CHECK(status);
  cl_command_queue queue = clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE, &status);
  CHECK(status);
  cl_program program = clCreateProgramWithSource(context, 1, &source, nullptr, &status);
  CHECK(status);
  app_build(program, device, "-D WG=128");
  cl_kernel kernel = clCreateKernel(program, "sum_blocks", &status);
  CHECK(status);

  std::vector<float> numbers(n), sums;
  app_fill(numbers.data(), n, 3);
  cl_mem input = clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, n * sizeof(float), numbers.data(), &status);
  CHECK(status);
  const size_t n_partial = (n + per_group - 1) / per_group;
  cl_mem partial[2];
  for (cl_mem &buffer : partial) {
    buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, n_partial * sizeof(float), nullptr, &status);
    CHECK(status);
  }
  std::vector<cl_event> events;
  for (size_t round = 0; round < rounds; round++) {
    cl_mem from = input;
    cl_uint left = static_cast<cl_uint>(n);
    for (int pass = 0; left > 1 || pass == 0; pass++) {
      const size_t groups = (left + per_group - 1) / per_group, global = groups * group;
      cl_event event;
      CHECK(clSetKernelArg(kernel, 0, sizeof from, &from));
      CHECK(clSetKernelArg(kernel, 1, sizeof(cl_mem), &partial[pass % 2]));
      CHECK(clSetKernelArg(kernel, 2, group * sizeof(float), nullptr));
      CHECK(clSetKernelArg(kernel, 3, sizeof left, &left));
      CHECK(clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &global, &group, 0, nullptr, &event));
      events.push_back(event);
      from = partial[pass % 2];
      left = static_cast<cl_uint>(groups);
    }
    float sum;
    CHECK(clEnqueueReadBuffer(queue, from, CL_TRUE, 0, sizeof sum, &sum, 0, nullptr, nullptr));
    sums.push_back(sum);
  }
  if (options.with_times) app_times("sum_blocks", events.data(), events.size());
  app_write(options.output, sums.data(), sums.size() * sizeof(float));
  for (cl_mem buffer : partial) clReleaseMemObject(buffer);
  clReleaseMemObject(input);
  clReleaseKernel(kernel);
  clReleaseProgram(program);
  clReleaseCommandQueue(queue);
  clReleaseContext(context);
  return 0;
}
