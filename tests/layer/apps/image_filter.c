/* Blurs an image: images and a sampler, weights in constant memory, work-groups left to the driver. */
#include <math.h>

#include "common.h"

static const char header[] = "#ifndef RADIUS\n"
                             "#define RADIUS 2\n"
                             "#endif\n"
                             "#ifndef ROWS_FIRST\n"
                             "#define ROWS_FIRST 0\n"
                             "#endif\n";
static const char body[] =
    "kernel void blur(read_only image2d_t in, write_only image2d_t out, sampler_t sampler,\n"
    "                 constant float *weights) {\n"
    "  const int2 at = (int2)(get_global_id(0), get_global_id(1));\n"
    "  float4 sum = (float4)(0.0f);\n"
    "#if ROWS_FIRST\n"
    "  for (int y = -RADIUS; y <= RADIUS; y++)\n"
    "    for (int x = -RADIUS; x <= RADIUS; x++)\n"
    "#else\n"
    "  for (int x = -RADIUS; x <= RADIUS; x++)\n"
    "    for (int y = -RADIUS; y <= RADIUS; y++)\n"
    "#endif\n"
    "      sum += weights[(y + RADIUS) * (2 * RADIUS + 1) + x + RADIUS] * read_imagef(in, sampler, at + (int2)(x, y));\n"
    "  write_imagef(out, at, sum);\n"
    "}\n";

int main(int argc, char **argv) {
  const app_options options = app_parse(argc, argv, "[WIDTH [HEIGHT [TIMES]]]", 256, 192, 4, 0);
  const size_t width = options.numbers[0], height = options.numbers[1], times = options.numbers[2];
  const size_t origin[3] = {0, 0, 0}, region[3] = {width, height, 1}, bytes = width * height * 4 * sizeof(float);
  const cl_image_format format = {CL_RGBA, CL_FLOAT};
  const cl_image_desc shape = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = width, .image_height = height};
  enum { RADIUS = 3, SIDE = 2 * RADIUS + 1 };
  const char *texts[] = {header, body};
  char build_options[64];
  float weights[SIDE * SIDE], total = 0;
  cl_bool with_images = CL_FALSE;
  cl_int status;
  cl_device_id device = app_device();
  CHECK(clGetDeviceInfo(device, CL_DEVICE_IMAGE_SUPPORT, sizeof with_images, &with_images, NULL));
  if (!with_images) {
    fprintf(stderr, "the device has no images\n");
    return 77;
  }
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
  CHECK(status);
  cl_command_queue queue = clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE, &status);
  CHECK(status);
  cl_program program = clCreateProgramWithSource(context, 2, texts, NULL, &status);
  CHECK(status);
  snprintf(build_options, sizeof build_options, "-DRADIUS=%d", RADIUS);
  app_build(program, device, build_options);
  cl_kernel kernel = clCreateKernel(program, "blur", &status);
  CHECK(status);

  for (int y = -RADIUS; y <= RADIUS; y++)
    for (int x = -RADIUS; x <= RADIUS; x++)
      total += weights[(y + RADIUS) * SIDE + x + RADIUS] = expf(-0.3f * (float)(x * x + y * y));
  for (int i = 0; i < SIDE * SIDE; i++) weights[i] /= total;
  cl_mem constants = clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof weights, weights, &status);
  CHECK(status);
  float *pixels = malloc(bytes);
  cl_event *events = malloc(times * sizeof *events);
  if (pixels == NULL || events == NULL) return 1;
  app_fill(pixels, width * height * 4, 4);
  cl_mem images[2];
  for (int i = 0; i < 2; i++) {
    images[i] = clCreateImage(context, CL_MEM_READ_WRITE, &format, &shape, NULL, &status);
    CHECK(status);
  }
  cl_sampler sampler = clCreateSampler(context, CL_FALSE, CL_ADDRESS_CLAMP_TO_EDGE, CL_FILTER_NEAREST, &status);
  CHECK(status);
  CHECK(clEnqueueWriteImage(queue, images[0], CL_TRUE, origin, region, 0, 0, pixels, 0, NULL, NULL));
  CHECK(clSetKernelArg(kernel, 2, sizeof sampler, &sampler));
  CHECK(clSetKernelArg(kernel, 3, sizeof constants, &constants));
  for (size_t i = 0; i < times; i++) {
    CHECK(clSetKernelArg(kernel, 0, sizeof(cl_mem), &images[i % 2]));
    CHECK(clSetKernelArg(kernel, 1, sizeof(cl_mem), &images[1 - i % 2]));
    CHECK(clEnqueueNDRangeKernel(queue, kernel, 2, NULL, region, NULL, 0, NULL, &events[i]));
  }
  CHECK(clEnqueueReadImage(queue, images[times % 2], CL_TRUE, origin, region, 0, 0, pixels, 0, NULL, NULL));
  if (options.with_times) app_times("blur", events, times);
  app_write(options.output, pixels, bytes);

  for (int i = 0; i < 2; i++) clReleaseMemObject(images[i]);
  clReleaseMemObject(constants);
  clReleaseSampler(sampler);
  clReleaseKernel(kernel);
  clReleaseProgram(program);
  clReleaseCommandQueue(queue);
  clReleaseContext(context);
  free(pixels);
  free(events);
  return 0;
}
