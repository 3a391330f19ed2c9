/* A small image pipeline, as an application has it: an image is blurred, then made black and white. The blur has tuning
 * parameters. At its start the program looks up what is known for its device and image size; with --tune it tunes once
 * before, and every later start knows the result.
 *
 *     pipeline FOLDER [--tune]        FOLDER holds blur.cl and blur.json */
#include <clatune/tune.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"

#define WIDTH 512
#define HEIGHT 512

static const clt_size sizes[] = {{"width", WIDTH}, {"height", HEIGHT}};

static int fail(const char *what, long code) { return fprintf(stderr, "pipeline: %s (%ld)\n", what, code), 1; }

static int fail_of(const clt_error *error) {
  char text[1024];
  clt_error_format(error, text, sizeof text);
  return fprintf(stderr, "pipeline: %s\n", text), 1;
}

/* --- what clatune is asked --- */

/* In worker processes: whatever a candidate does, this program goes on. */
static int tune(const char *problem_path, const clt_device_info *device) {
  clt_problem *problem = NULL;
  clt_instance *instance = NULL;
  clt_store *store = NULL;
  clt_tune_settings settings;
  clt_tune_result *result;
  clt_error error = {0};
  int rc = clt_problem_load(&problem, problem_path, &error);
  if (rc == 0) rc = clt_instance_new(&instance, problem, sizes, 2, device, &error);
  if (rc == 0) rc = clt_store_open(&store, NULL, NULL, &error);
  clt_tune_settings_init(&settings);
  settings.instance = instance;
  settings.store = store;
  settings.budget = 40;
  if (rc == 0) {
    rc = clt_tune(&result, &settings, &error);
    clt_tune_result_free(result);
  }
  clt_store_close(store);
  clt_instance_free(instance);
  clt_problem_free(problem);
  return rc ? fail_of(&error) : 0;
}

static int look_up(clt_lookup_result *found, const char *problem_path, const clt_device_info *device) {
  clt_catalog *catalog = NULL;
  clt_error error = {0};
  int rc = clt_catalog_open(&catalog, NULL, 0, &error);
  if (rc == 0) rc = clt_catalog_lookup(catalog, found, problem_path, sizes, 2, device, &error);
  clt_catalog_close(catalog);
  return rc ? fail_of(&error) : 0;
}

/* The number of "name=N" in a configuration; the same parameters decide how the kernel is launched. */
static size_t parameter(const clt_lookup_result *found, const char *name) {
  size_t n = strlen(name);
  for (const char *at = found->configuration; at; at = strchr(at, ' ')) {
    at += *at == ' ';
    if (strncmp(at, name, n) == 0 && at[n] == '=') return strtoul(at + n + 1, NULL, 10);
  }
  return 1;
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

static size_t round_up(size_t x, size_t multiple) { return (x + multiple - 1) / multiple * multiple; }

static int run(pipeline *p, const clt_lookup_result *found, float *image) {
  const size_t bytes = WIDTH * HEIGHT * sizeof(float), all = (size_t)WIDTH * HEIGHT;
  const size_t local[2] = {parameter(found, "wg_x"), parameter(found, "wg_y")};
  const size_t columns = round_up(WIDTH, local[0] * parameter(found, "pixels")) / parameter(found, "pixels");
  const size_t global[2] = {columns, round_up(HEIGHT, local[1])};
  cl_int status = clEnqueueWriteBuffer(p->queue, p->in, CL_TRUE, 0, bytes, image, 0, NULL, NULL);
  clSetKernelArg(p->blur, 0, sizeof p->in, &p->in);
  clSetKernelArg(p->blur, 1, sizeof p->out, &p->out);
  clSetKernelArg(p->threshold, 0, sizeof p->out, &p->out);
  if (!status) status = clEnqueueNDRangeKernel(p->queue, p->blur, 2, NULL, global, local, 0, NULL, NULL);
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
  static float image[WIDTH * HEIGHT];
  char problem_path[1024];
  pipeline p = {0};
  clt_lookup_result found;
  clt_device_info info;
  clt_error error = {0};
  cl_device_id device;
  if (argc < 2) return fail("usage: pipeline FOLDER [--tune]", 2);
  snprintf(problem_path, sizeof problem_path, "%s/blur.json", argv[1]);
  if (choose_device(&device)) return fail("there is no such device", 0);
  if (clt_device_describe(&info, device, &error)) return fail_of(&error);
  if (argc > 2 && strcmp(argv[2], "--tune") == 0 && tune(problem_path, &info)) return 1;
  if (look_up(&found, problem_path, &info)) return 1;
  printf("%s: %s\n", clt_tier_name(found.tier), found.configuration);
  paint(image);
  int rc = open_pipeline(&p, device, argv[1], found.options);
  if (rc == 0) rc = run(&p, &found, image);
  size_t n_white = 0;
  for (size_t i = 0; i < (size_t)WIDTH * HEIGHT; i++) n_white += image[i] == 1.0f;
  if (rc == 0) printf("%zu of %d pixels are white\n", n_white, WIDTH * HEIGHT);
  close_pipeline(&p);
  clt_lookup_result_release(&found);
  return rc;
}
