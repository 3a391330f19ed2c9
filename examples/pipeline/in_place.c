/* Tuning in place: the kernel is tuned on the program's own context, queue and buffers, by clt_tune_kernel. Nothing is
 * isolated, so this is for kernels that are trusted; the problem file says neither how large the buffers are nor what
 * is in them, as the program brings them along.
 *
 *     in_place FOLDER        FOLDER holds blur.cl and in_place.json (examples/pipeline) */
#include <clatune/tune_kernel.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common.h"

#define WIDTH 512
#define HEIGHT 512
#define RADIUS 2
#define BYTES (WIDTH * HEIGHT * sizeof(float))

static float image[WIDTH * HEIGHT], expected[WIDTH * HEIGHT], result[WIDTH * HEIGHT];

static int fail(const char *what) { return fprintf(stderr, "in_place: %s\n", what), 1; }

static int within(int x, int n) { return x < 0 ? 0 : x >= n ? n - 1 : x; }

/* The image, and what the kernel should make of it. */
static void paint(void) {
  for (int i = 0; i < WIDTH * HEIGHT; i++) image[i] = (float)(i * 7 % 11) / 11;
  for (int y = 0; y < HEIGHT; y++)
    for (int x = 0; x < WIDTH; x++) {
      float sum = 0;
      for (int dy = -RADIUS; dy <= RADIUS; dy++)
        for (int dx = -RADIUS; dx <= RADIUS; dx++) sum += image[within(y + dy, HEIGHT) * WIDTH + within(x + dx, WIDTH)];
      expected[y * WIDTH + x] = sum / ((2 * RADIUS + 1) * (2 * RADIUS + 1));
    }
}

typedef struct application {
  cl_context context;
  cl_command_queue queue;
  cl_mem in, out;
} application;

/* Asked after the first run of each configuration. */
static bool is_right(void *user) {
  const application *a = user;
  if (clEnqueueReadBuffer(a->queue, a->out, CL_TRUE, 0, BYTES, result, 0, NULL, NULL)) return false;
  for (int i = 0; i < WIDTH * HEIGHT; i++)
    if (!(fabsf(result[i] - expected[i]) < 1e-4f)) return false;
  return true;
}

static int tune(application *a, cl_device_id device, const clt_instance *instance) {
  const clt_host_argument arguments[] = {{.bytes = sizeof a->in, .value = &a->in},
                                         {.bytes = sizeof a->out, .value = &a->out}};
  const clt_kernel_tuning tuning = {.struct_size = sizeof tuning,
                                    .instance = instance,
                                    .context = a->context,
                                    .device = device,
                                    .queue = a->queue,
                                    .arguments = arguments,
                                    .n_arguments = 2,
                                    .right = is_right,
                                    .user = a,
                                    .budget = 20,
                                    .seed = 1};
  clt_kernel_tuned tuned;
  clt_error error = {0};
  if (clt_tune_kernel(&tuned, &tuning, &error)) return fail(error.message);
  printf("%d configurations were correct, %d failed\nthe fastest: %s\n", (int)tuned.n_right, (int)tuned.n_failed,
         tuned.options);
  clt_kernel_tuned_release(&tuned);
  return 0;
}

int main(int argc, char **argv) {
  application a = {0};
  char path[1024];
  cl_device_id device;
  cl_int status = 0;
  clt_device_info info;
  clt_problem *problem = NULL;
  clt_instance *instance = NULL;
  clt_error error = {0};
  if (argc < 2) return fail("usage: in_place FOLDER");
  snprintf(path, sizeof path, "%s/in_place.json", argv[1]);
  if (choose_device(&device)) return fail("there is no such device");
  if (clt_device_describe(&info, device, &error) || clt_problem_new(&problem, path, &error) ||
      clt_instance_new(&instance, problem, NULL, 0, &info, &error))
    return fail(error.message);
  paint();
  a.context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
  if (a.context) a.queue = clCreateCommandQueue(a.context, device, CL_QUEUE_PROFILING_ENABLE, &status);
  if (a.queue) a.in = clCreateBuffer(a.context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, BYTES, image, &status);
  if (a.in) a.out = clCreateBuffer(a.context, CL_MEM_WRITE_ONLY, BYTES, NULL, &status);
  int rc = a.out ? tune(&a, device, instance) : fail("cannot make the queue and the buffers");
  if (a.out) clReleaseMemObject(a.out);
  if (a.in) clReleaseMemObject(a.in);
  if (a.queue) clReleaseCommandQueue(a.queue);
  if (a.context) clReleaseContext(a.context);
  clt_instance_free(instance);
  clt_problem_free(problem);
  return rc;
}
