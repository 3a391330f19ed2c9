/* Tuning in place, on the first OpenCL device there is. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <CL/cl.h>
#include <cmocka.h>

#include "../store/store_support.h"
#include "clatune/tune_kernel.h"

#define N 256

/* Doubles a buffer, but for block=16 triples it, and for block=32 does not build. */
static const char kernel[] =
    "#if block == 32\n#error this one does not build\n#endif\n"
    "kernel void twice(global float *x, const int count, local float *tile) {\n"
    "  int i = get_global_id(0), l = get_local_id(0);\n"
    "  tile[l] = i < count ? x[i] : 0;\n"
    "  if (i < count) x[i] = tile[l] * (block == 16 ? 3 : 2);\n"
    "}\n";
static const char problem_text[] =
    "{\"General\": {\"BenchmarkName\": \"twice\"}, \"ProblemParameters\": [{\"Name\": \"n\", \"Default\": 256}],"
    " \"ConfigurationSpace\": {\"TuningParameters\": [{\"Name\": \"block\", \"Type\": \"int\", \"Values\": [8, 16, 32, "
    "64]}]},"
    " \"KernelSpecification\": {\"KernelFile\": \"twice.cl\", \"KernelName\": \"twice\", \"GlobalSize\": {\"X\": "
    "\"n\"},"
    " \"LocalSize\": {\"X\": \"block\"}, \"Arguments\": ["
    "{\"Name\": \"x\", \"Type\": \"float\", \"MemoryType\": \"Vector\", \"AccessType\": \"ReadWrite\"},"
    "{\"Name\": \"count\", \"Type\": \"int\", \"MemoryType\": \"Scalar\"},"
    "{\"Name\": \"tile\", \"Type\": \"float\", \"MemoryType\": \"Local\", \"Size\": \"block\"}]}}";

typedef struct application {
  char *folder;
  cl_device_id device;
  cl_context context;
  cl_command_queue queue;
  cl_mem x;
  clt_problem *problem;
  clt_instance *instance;
  clt_progress_fn progress;
  clt_log_fn log;
  volatile int stop;
  int n_progress, n_logged;
  char log_text[4096]; /* the last one */
} application;

static cl_device_id first_device(void) {
  cl_platform_id platforms[16];
  cl_uint n = 0;
  cl_device_id device = NULL;
  clGetPlatformIDs(16, platforms, &n);
  for (cl_uint i = 0; i < n && i < 16 && device == NULL; i++)
    if (clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS) device = NULL;
  return device;
}

static float original(int i) { return (float)(i % 7 + 1); }

static int set_up(void **state) {
  application *a = calloc(1, sizeof *a);
  clt_device_info info;
  clt_error error = {0};
  float x[N];
  char path[600];
  cl_int status;
  assert_non_null(a);
  a->folder = make_folder();
  a->device = first_device();
  write_text(a->folder, "twice.cl", kernel);
  write_text(a->folder, "twice.json", problem_text);
  snprintf(path, sizeof path, "%s/twice.json", a->folder);
  if (clt_device_describe(&info, a->device, &error) || clt_problem_new(&a->problem, path, &error) ||
      clt_instance_new(&a->instance, a->problem, NULL, 0, &info, &error))
    fail_msg("%s", error.message);
  for (int i = 0; i < N; i++) x[i] = original(i);
  a->context = clCreateContext(NULL, 1, &a->device, NULL, NULL, &status);
  a->queue = clCreateCommandQueue(a->context, a->device, 0, &status); /* without profiling */
  a->x = clCreateBuffer(a->context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof x, x, &status);
  assert_non_null(a->x);
  *state = a;
  return 0;
}

static int tear_down(void **state) {
  application *a = *state;
  clReleaseMemObject(a->x);
  clReleaseCommandQueue(a->queue);
  clReleaseContext(a->context);
  clt_instance_free(a->instance);
  clt_problem_free(a->problem);
  remove_folder(a->folder);
  free(a);
  return 0;
}

static bool holds(const application *a, float factor) {
  float x[N];
  if (clEnqueueReadBuffer(a->queue, a->x, CL_TRUE, 0, sizeof x, x, 0, NULL, NULL)) return false;
  for (int i = 0; i < N; i++)
    if (x[i] != factor * original(i)) return false;
  return true;
}

static bool is_doubled(void *user) { return holds(user, 2); }

static int tune(application *a, clt_kernel_tuned *out, clt_store *store, size_t n_arguments, bool (*right)(void *user),
                clt_error *error) {
  const cl_int n = N;
  const clt_host_argument arguments[] = {{sizeof a->x, &a->x, a->x}, {sizeof n, &n, NULL}, {0, NULL, NULL}};
  const clt_kernel_tuning tuning = {.struct_size = sizeof tuning,
                                    .instance = a->instance,
                                    .context = a->context,
                                    .device = a->device,
                                    .queue = a->queue,
                                    .arguments = arguments,
                                    .n_arguments = n_arguments,
                                    .right = right,
                                    .user = a,
                                    .store = store,
                                    .seed = 1,
                                    .progress = a->progress,
                                    .log = a->log,
                                    .stop = &a->stop};
  return clt_tune_kernel(out, &tuning, error);
}

static void a_kernel_is_tuned_on_the_applications_buffers(void **state) {
  application *a = *state;
  clt_kernel_tuned tuned;
  clt_error error = {0};
  if (tune(a, &tuned, NULL, 3, is_doubled, &error)) fail_msg("%s", error.message);
  assert_int_equal(tuned.n_right, 2);
  assert_int_equal(tuned.n_failed, 2); /* 16 is incorrect, 32 does not build */
  assert_true(tuned.time_s > 0);
  assert_true(strstr(tuned.options, "-Dblock=8") || strstr(tuned.options, "-Dblock=64"));
  assert_true(holds(a, 1)); /* its earlier content */
  clt_kernel_tuned_release(&tuned);
}

static void what_the_store_knows_is_not_run_again(void **state) {
  application *a = *state;
  clt_kernel_tuned first, second;
  clt_store *store = NULL;
  clt_error error = {0};
  assert_int_equal(clt_store_new(&store, "memory", NULL, NULL), 0);
  if (tune(a, &first, store, 3, is_doubled, &error) || tune(a, &second, store, 3, is_doubled, &error))
    fail_msg("%s", error.message);
  assert_int_equal(second.n_right + second.n_failed, 0);
  assert_true(second.config == first.config && second.time_s == first.time_s);
  clt_kernel_tuned_release(&first);
  clt_kernel_tuned_release(&second);
  clt_store_free(store);
}

static void on_progress(void *user, const clt_progress *now) {
  application *a = user;
  a->n_progress++;
  assert_int_equal(now->done, a->n_progress);
  assert_int_equal(now->total, 4);
  assert_non_null(now->last);
  assert_true(now->so_far->n_correct == 0 || now->best_value == now->so_far->best.time_s);
  assert_int_equal(now->so_far->n_correct + clt_tune_n_failed(NULL, now->so_far, CLT_REASON_WRONG_OUTPUT) +
                       clt_tune_n_failed(NULL, now->so_far, CLT_REASON_COMPILE_ERROR),
                   now->done);
}

static void on_log(void *user, clt_log_level level, const char *text) {
  application *a = user;
  (void)level;
  a->n_logged++;
  if (strstr(text, "block=32")) snprintf(a->log_text, sizeof a->log_text, "%s", text);
}

static void it_says_how_far_it_is_and_what_failed(void **state) {
  application *a = *state;
  clt_kernel_tuned tuned;
  clt_error error = {0};
  a->progress = on_progress;
  a->log = on_log;
  if (tune(a, &tuned, NULL, 3, is_doubled, &error)) fail_msg("%s", error.message);
  assert_int_equal(a->n_progress, 4);
  assert_int_equal(a->n_logged, 2);
  assert_non_null(strstr(a->log_text, "this one does not build"));
  clt_kernel_tuned_release(&tuned);
}

static void stop_after_one(void *user, const clt_progress *now) { ((application *)user)->stop = now->so_far->n_correct > 0; }

static void what_is_stopped_has_the_best_so_far(void **state) {
  application *a = *state;
  clt_kernel_tuned tuned;
  clt_error error = {0};
  a->progress = stop_after_one;
  if (tune(a, &tuned, NULL, 3, is_doubled, &error)) fail_msg("%s", error.message);
  assert_int_equal(tuned.n_right, 1);
  clt_kernel_tuned_release(&tuned);
  assert_int_equal(tune(a, &tuned, NULL, 3, is_doubled, &error), CLT_E_STOPPED); /* before anything ran */
  assert_true(holds(a, 1));
}

static bool never(void *user) { return (void)user, false; }

static void where_nothing_is_right_that_is_said(void **state) {
  clt_kernel_tuned tuned;
  clt_error error = {0};
  assert_int_equal(tune(*state, &tuned, NULL, 3, never, &error), CLT_E_NO_VALID);
  assert_non_null(strstr(error.message, "of 4 configurations"));
  assert_true(holds(*state, 1));
}

static void arguments_must_be_the_kernels(void **state) {
  clt_kernel_tuned tuned;
  clt_error error = {0};
  assert_int_equal(tune(*state, &tuned, NULL, 2, NULL, &error), CLT_E_UNSUPPORTED);
  assert_non_null(strstr(error.message, "with 3 arguments"));
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      CASE(a_kernel_is_tuned_on_the_applications_buffers),
      CASE(what_the_store_knows_is_not_run_again),
      CASE(it_says_how_far_it_is_and_what_failed),
      CASE(what_is_stopped_has_the_best_so_far),
      CASE(where_nothing_is_right_that_is_said),
      CASE(arguments_must_be_the_kernels),
  };
  if (first_device() == NULL) return 77;
  return cmocka_run_group_tests(tests, NULL, NULL);
}
