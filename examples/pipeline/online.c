/* Tuning while working: a simulation runs one step after the other, and each step is also an experiment. No step is
 * wasted: the result of every one is used, whichever configuration made it.
 *
 *     online FOLDER [STEPS]        FOLDER holds blur.cl and blur.json (examples/pipeline) */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common.h"

#define WIDTH 256
#define HEIGHT 256
#define BYTES (WIDTH * HEIGHT * sizeof(float))

typedef struct simulation {
  cl_device_id device;
  cl_context context;
  cl_command_queue queue;
  cl_mem field[2];
  char *text;
  char built[512]; /* the options that kernel was built with */
  cl_kernel kernel;
  int n_steps; /* made; the field is the one of that parity */
} simulation;

static int fail(const char *what) { return fprintf(stderr, "online: %s\n", what), 1; }

static double now_s(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The kernel of a configuration; the last one is kept. */
static cl_kernel kernel_of(simulation *s, const clt_answer *answer) {
  const char *options = clt_answer_text(answer, CLT_ANSWER_OPTIONS);
  cl_int status;
  if (s->kernel && strcmp(s->built, options) == 0) return s->kernel;
  if (s->kernel) clReleaseKernel(s->kernel);
  s->kernel = NULL;
  cl_program program = clCreateProgramWithSource(s->context, 1, (const char **)&s->text, NULL, &status);
  if (program && clBuildProgram(program, 1, &s->device, options, NULL, NULL) == CL_SUCCESS)
    s->kernel = clCreateKernel(program, "blur", &status);
  if (program) clReleaseProgram(program);
  snprintf(s->built, sizeof s->built, "%s", options);
  return s->kernel;
}

/* One step, from one field to the other; its seconds, or a negative number where it failed. Compiling is no part of it.
 */
static double step(simulation *s, const clt_answer *answer) {
  cl_kernel kernel = kernel_of(s, answer);
  const clt_launch_sizes *launch = clt_answer_launch(answer, 0);
  if (kernel == NULL || launch == NULL) return -1;
  clSetKernelArg(kernel, 0, sizeof(cl_mem), &s->field[s->n_steps % 2]);
  clSetKernelArg(kernel, 1, sizeof(cl_mem), &s->field[1 - s->n_steps % 2]);
  double start_s = now_s();
  if (clEnqueueNDRangeKernel(s->queue, kernel, 2, NULL, launch->global, launch->local, 0, NULL, NULL)) return -1;
  if (clFinish(s->queue)) return -1;
  s->n_steps++;
  return now_s() - start_s;
}

static int open_simulation(simulation *s, const char *folder) {
  static float zero[WIDTH * HEIGHT];
  cl_int status;
  zero[WIDTH * (HEIGHT / 2) + WIDTH / 2] = 1;
  s->text = read_text(folder, "blur.cl");
  s->context = clCreateContext(NULL, 1, &s->device, NULL, NULL, &status);
  if (s->text == NULL || s->context == NULL) return fail("cannot read blur.cl or open the device");
  s->queue = clCreateCommandQueue(s->context, s->device, 0, &status);
  for (int i = 0; i < 2; i++)
    s->field[i] = clCreateBuffer(s->context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, BYTES, zero, &status);
  return s->queue && s->field[0] && s->field[1] ? 0 : fail("cannot make the queue and the buffers");
}

static void close_simulation(simulation *s) {
  if (s->kernel) clReleaseKernel(s->kernel);
  for (int i = 0; i < 2; i++)
    if (s->field[i]) clReleaseMemObject(s->field[i]);
  if (s->queue) clReleaseCommandQueue(s->queue);
  if (s->context) clReleaseContext(s->context);
  free(s->text);
}

/* The first run of a kernel may compile; so a configuration that is explored runs twice, and both steps count. */
static int simulate(simulation *s, clt_tuner *tuner, int n_steps) {
  clt_error error = {0};
  clt_answer *answer = NULL;
  int n_explored = 0;
  while (s->n_steps < n_steps) {
    bool exploring;
    clt_answer_free(answer);
    answer = NULL;
    if (clt_ask(&answer, &exploring, tuner, &error)) return fail(error.message);
    double time_s = step(s, answer);
    if (exploring && time_s > 0) time_s = step(s, answer);
    n_explored += exploring;
    if (!exploring && time_s < 0) return fail("a step failed");
    if (exploring && clt_tell(tuner, answer, time_s, &error)) return fail(error.message);
  }
  printf("%d steps, %d configurations tried; the fastest: %s\n", s->n_steps, n_explored,
         clt_answer_text(answer, CLT_ANSWER_CONFIGURATION));
  clt_answer_free(answer);
  return 0;
}

/* The field's sum does not change but for rounding. */
static int check(const simulation *s) {
  static float field[WIDTH * HEIGHT];
  double sum = 0;
  if (clEnqueueReadBuffer(s->queue, s->field[s->n_steps % 2], CL_TRUE, 0, BYTES, field, 0, NULL, NULL)) return 1;
  for (int i = 0; i < WIDTH * HEIGHT; i++) sum += field[i];
  printf("the field's sum is %.3f\n", sum);
  return 0;
}

int main(int argc, char **argv) {
  const clt_size sizes[] = {{"width", WIDTH}, {"height", HEIGHT}};
  const clt_tuner_options options = {.struct_size = sizeof options, .budget = 30, .seed = 1};
  simulation s = {0};
  char path[1024];
  clt_tuner *tuner = NULL;
  clt_error error = {0};
  int n_steps = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 200;
  if (argc < 2) return fail("usage: online FOLDER [STEPS]");
  snprintf(path, sizeof path, "%s/blur.json", argv[1]);
  if (choose_device(&s.device)) return fail("there is no such device");
  if (clt_open(&tuner, path, sizes, 2, s.device, &options, &error)) return fail(error.message);
  int rc = open_simulation(&s, argv[1]);
  if (rc == 0) rc = simulate(&s, tuner, n_steps);
  if (rc == 0) rc = check(&s);
  close_simulation(&s);
  clt_close(tuner);
  return rc;
}
