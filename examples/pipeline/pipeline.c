/* A small image pipeline, as an application has it: an image is blurred, then made black and white. The blur has tuning
 * parameters. At its start the program looks up what is known for its device and image size; with --tune it tunes once
 * before, and every later start knows the result.
 *
 *     pipeline FOLDER [--tune]        FOLDER holds blur.cl and blur.json */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"

#define WIDTH 512
#define HEIGHT 512

static int fail(const char *what, long code) { return fprintf(stderr, "pipeline: %s (%ld)\n", what, code), 1; }

static int fail_of(const clt_error *error) {
  char text[1024];
  clt_error_format(text, sizeof text, error);
  return fprintf(stderr, "pipeline: %s\n", text), 1;
}

/* --- the application --- */

static const char threshold_text[] =
    "__kernel void threshold(__global float *image) {\n"
    "  image[get_global_id(0)] = image[get_global_id(0)] < 0.5f ? 0.0f : 1.0f;\n"
    "}\n";

typedef struct pipeline {
  cl_context context;
  cl_command_queue queue;
  cl_kernel blur, threshold;
  cl_mem in, out;
} pipeline;

static cl_kernel build(const pipeline *p, cl_device_id device, const char *text, const char *options,
                       const char *name) {
  cl_int status;
  cl_program program = clCreateProgramWithSource(p->context, 1, &text, NULL, &status);
  if (program == NULL || clBuildProgram(program, 1, &device, options, NULL, NULL) != CL_SUCCESS) return NULL;
  cl_kernel kernel = clCreateKernel(program, name, &status);
  clReleaseProgram(program); /* the kernel holds it */
  return kernel;
}

static int open_pipeline(pipeline *p, cl_device_id device, const char *folder, const char *options) {
  cl_int status = 0;
  char *text = read_text(folder, "blur.cl");
  if (text == NULL) return fail("cannot read blur.cl", 0);
  p->context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
  if (p->context) p->queue = clCreateCommandQueue(p->context, device, 0, &status);
  if (p->queue) p->blur = build(p, device, text, options, "blur");
  if (p->blur) p->threshold = build(p, device, threshold_text, "", "threshold");
  free(text);
  if (p->threshold == NULL) return fail("cannot build the kernels", status);
  p->in = clCreateBuffer(p->context, CL_MEM_READ_ONLY, WIDTH * HEIGHT * sizeof(float), NULL, &status);
  p->out = clCreateBuffer(p->context, CL_MEM_READ_WRITE, WIDTH * HEIGHT * sizeof(float), NULL, &status);
  return p->in && p->out ? 0 : fail("cannot make the buffers", status);
}

static void close_pipeline(pipeline *p) {
  if (p->in) clReleaseMemObject(p->in);
  if (p->out) clReleaseMemObject(p->out);
  if (p->blur) clReleaseKernel(p->blur);
  if (p->threshold) clReleaseKernel(p->threshold);
  if (p->queue) clReleaseCommandQueue(p->queue);
  if (p->context) clReleaseContext(p->context);
}

static int run(pipeline *p, const clt_answer *answer, float *image) {
  const size_t bytes = WIDTH * HEIGHT * sizeof(float), all = (size_t)WIDTH * HEIGHT;
  const clt_launch_sizes *launch = clt_answer_launch(answer, 0);
  if (launch == NULL) return fail("blur.json says no launch", 0);
  cl_int status = clEnqueueWriteBuffer(p->queue, p->in, CL_TRUE, 0, bytes, image, 0, NULL, NULL);
  clSetKernelArg(p->blur, 0, sizeof p->in, &p->in);
  clSetKernelArg(p->blur, 1, sizeof p->out, &p->out);
  clSetKernelArg(p->threshold, 0, sizeof p->out, &p->out);
  if (!status) status = clEnqueueNDRangeKernel(p->queue, p->blur, 2, NULL, launch->global, launch->local, 0, NULL,
                                                NULL);
  if (!status) status = clEnqueueNDRangeKernel(p->queue, p->threshold, 1, NULL, &all, NULL, 0, NULL, NULL);
  if (!status) status = clEnqueueReadBuffer(p->queue, p->out, CL_TRUE, 0, bytes, image, 0, NULL, NULL);
  return status ? fail("cannot run the kernels", status) : 0;
}

/* A white square on black, with noise that the blur takes away. */
static void paint(float *image) {
  for (int y = 0; y < HEIGHT; y++)
    for (int x = 0; x < WIDTH; x++)
      image[y * WIDTH + x] = (x / 128 + y / 128) % 2 ? (x * 7 + y * 13) % 11 != 0 : (x * 5 + y * 3) % 13 == 0;
}

int main(int argc, char **argv) {
  static const clt_size sizes[] = {{"width", WIDTH}, {"height", HEIGHT}};
  static float image[WIDTH * HEIGHT];
  const clt_tuner_options options = {.struct_size = sizeof options, .budget = 40};
  char problem_path[1024];
  pipeline p = {0};
  clt_tuner *tuner = NULL;
  clt_answer *answer = NULL;
  clt_error error = {0};
  cl_device_id device;
  if (argc < 2) return fail("usage: pipeline FOLDER [--tune]", 2);
  snprintf(problem_path, sizeof problem_path, "%s/blur.json", argv[1]);
  if (choose_device(&device)) return fail("there is no such device", 0);
  if (clt_open(&tuner, problem_path, sizes, 2, device, &options, &error)) return fail_of(&error);

  /* Tuning runs in worker processes: whatever a candidate does, this program goes on. The look-up then finds the
   * result. */
  int rc = 0;
  if (argc > 2 && strcmp(argv[2], "--tune") == 0) rc = clt_tune(&answer, tuner, &error);
  clt_answer_free(answer);
  answer = NULL;
  if (rc == 0) rc = clt_lookup(&answer, tuner, &error);
  clt_close(tuner);
  if (rc) return fail_of(&error);
  printf("%s: %s\n", clt_answer_text(answer, CLT_ANSWER_SOURCE), clt_answer_text(answer, CLT_ANSWER_CONFIGURATION));

  paint(image);
  rc = open_pipeline(&p, device, argv[1], clt_answer_text(answer, CLT_ANSWER_OPTIONS));
  if (rc == 0) rc = run(&p, answer, image);
  size_t n_white = 0;
  for (size_t i = 0; i < (size_t)WIDTH * HEIGHT; i++) n_white += image[i] == 1.0f;
  if (rc == 0) printf("%zu of %d pixels are white\n", n_white, WIDTH * HEIGHT);
  close_pipeline(&p);
  clt_answer_free(answer);
  return rc;
}
