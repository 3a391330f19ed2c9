/* Heat on a plate: an explicit scheme with two kernels and two buffers that change places. */
#include "common.h"

static const char source[] =
    "#ifndef ROWS\n"
    "#define ROWS 1 /* computed at once; the plate's height is a multiple of it */\n"
    "#endif\n"
    "#ifndef USE_CLAMP\n"
    "#define USE_CLAMP 0\n"
    "#endif\n"
    "#ifndef HEATED_ONLY\n"
    "#define HEATED_ONLY 0 /* no power is taken out */\n"
    "#endif\n"
    "#define AT(x, y) in[(y) * width + (x)]\n"
    "#if HEATED_ONLY\n"
    "#define POWER(x, y) fabs(power[(y) * width + (x)])\n"
    "#else\n"
    "#define POWER(x, y) power[(y) * width + (x)]\n"
    "#endif\n"
    "kernel void heat_step(global const float *restrict in, global const float *restrict power,\n"
    "                      global float *restrict out, const int width, const int height, const float rate) {\n"
    "  const int x = get_global_id(0), stride = get_global_size(1);\n"
    "  for (int row = get_global_id(1) * ROWS; row < height; row += stride * ROWS)\n"
    "    for (int y = row; y < row + ROWS && y < height; y++) {\n"
    "#if USE_CLAMP\n"
    "      const int w = clamp(x - 1, 0, width - 1), e = clamp(x + 1, 0, width - 1);\n"
    "      const int n = clamp(y - 1, 0, height - 1), s = clamp(y + 1, 0, height - 1);\n"
    "#else\n"
    "      const int w = x > 0 ? x - 1 : x, e = x < width - 1 ? x + 1 : x;\n"
    "      const int n = y > 0 ? y - 1 : y, s = y < height - 1 ? y + 1 : y;\n"
    "#endif\n"
    "      const float centre = AT(x, y);\n"
    "      out[y * width + x] = centre + rate * (AT(w, y) + AT(e, y) + AT(x, n) + AT(x, s) - 4.0f * centre)\n"
    "                           + 0.01f * POWER(x, y);\n"
    "    }\n"
    "}\n"
    "/* What leaves the plate at its rim. */\n"
    "kernel void cool_rim(global float *plate, const int width, const int height, const float loss) {\n"
    "  const int i = get_global_id(0);\n"
    "  if (i < width) {\n"
    "    plate[i] *= loss;\n"
    "    plate[(height - 1) * width + i] *= loss;\n"
    "  }\n"
    "  if (i > 0 && i < height - 1) {\n"
    "    plate[i * width] *= loss;\n"
    "    plate[i * width + width - 1] *= loss;\n"
    "  }\n"
    "}\n";

int main(int argc, char **argv) {
  const app_options options = app_parse(argc, argv, "[WIDTH [HEIGHT [STEPS [SIDES]]]]", 512, 512, 20, 1);
  const size_t width = options.numbers[0], height = options.numbers[1], steps = options.numbers[2];
  const size_t bytes = width * height * sizeof(float), local[2] = {16, 16}, rim_local = 64;
  const size_t global[2] = {width, height}, rim = ((width > height ? width : height) + 63) / 64 * 64;
  const cl_int w = (cl_int)width, h = (cl_int)height;
  const cl_float rate = 0.2f, loss = 0.98f;
  const char *text = source;
  cl_int status;
  if (width % 16 || height % 16) {
    fprintf(stderr, "WIDTH and HEIGHT have to be multiples of 16\n");
    return 2;
  }
  cl_device_id device = app_device();
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
  CHECK(status);
  cl_command_queue queue = clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE, &status);
  CHECK(status);
  cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, &status);
  CHECK(status);
  app_build(program, device, "-DROWS=1 -cl-std=CL1.2");
  cl_kernel step = clCreateKernel(program, "heat_step", &status);
  CHECK(status);
  cl_kernel cool = clCreateKernel(program, "cool_rim", &status);
  CHECK(status);

  float *plate = malloc(bytes), *power = malloc(bytes);
  cl_event *step_events = malloc(steps * sizeof *step_events), *cool_events = malloc(steps * sizeof *cool_events);
  if (plate == NULL || power == NULL || step_events == NULL || cool_events == NULL) return 1;
  app_fill(plate, width * height, 1);
  app_fill(power, width * height, 2);
  for (size_t i = 0; options.numbers[3] > 1 && i < width * height; i += 2) power[i] = -power[i]; /* cooled, too */
  cl_mem buffers[2], heating = clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, bytes, power, &status);
  CHECK(status);
  for (int i = 0; i < 2; i++) {
    buffers[i] = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, NULL, &status);
    CHECK(status);
  }
  CHECK(clEnqueueWriteBuffer(queue, buffers[0], CL_TRUE, 0, bytes, plate, 0, NULL, NULL));

  CHECK(clSetKernelArg(step, 1, sizeof heating, &heating));
  CHECK(clSetKernelArg(step, 3, sizeof w, &w));
  CHECK(clSetKernelArg(step, 4, sizeof h, &h));
  CHECK(clSetKernelArg(step, 5, sizeof rate, &rate));
  CHECK(clSetKernelArg(cool, 1, sizeof w, &w));
  CHECK(clSetKernelArg(cool, 2, sizeof h, &h));
  CHECK(clSetKernelArg(cool, 3, sizeof loss, &loss));
  for (size_t i = 0; i < steps; i++) {
    CHECK(clSetKernelArg(step, 0, sizeof(cl_mem), &buffers[i % 2]));
    CHECK(clSetKernelArg(step, 2, sizeof(cl_mem), &buffers[1 - i % 2]));
    CHECK(clEnqueueNDRangeKernel(queue, step, 2, NULL, global, local, 0, NULL, &step_events[i]));
    CHECK(clSetKernelArg(cool, 0, sizeof(cl_mem), &buffers[1 - i % 2]));
    CHECK(clEnqueueNDRangeKernel(queue, cool, 1, NULL, &rim, &rim_local, 1, &step_events[i], &cool_events[i]));
  }
  CHECK(clEnqueueReadBuffer(queue, buffers[steps % 2], CL_TRUE, 0, bytes, plate, 0, NULL, NULL));
  if (options.with_times) {
    app_times("heat_step", step_events, steps);
    app_times("cool_rim", cool_events, steps);
  }
  app_write(options.output, plate, bytes);

  for (int i = 0; i < 2; i++) clReleaseMemObject(buffers[i]);
  clReleaseMemObject(heating);
  clReleaseKernel(step);
  clReleaseKernel(cool);
  clReleaseProgram(program);
  clReleaseCommandQueue(queue);
  clReleaseContext(context);
  free(plate);
  free(power);
  free(step_events);
  free(cool_events);
  return 0;
}
