/* bench_kernels - the shipped problems at their full sizes: plain C loops on all cores, the default configuration, and
 * the best of some configurations that suit a CPU and some random ones. Usage: bench-kernels [device [random
 * configurations [problem]]]. The plain loops are compiled for this machine (-O3 -march=native -fopenmp). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "opencl/executor.h"
#include "plain_loops.h"
#include "stereo.h"

enum { MAX_SUITED = 6, MIN_ROUNDS = 3, MAX_ROUNDS = 50 };
#define ROUNDS_S 1.0 /* the duel between plain loop and best configuration */

typedef struct bench {
  clt_executor *executor;
  clt_problem *problem;
  clt_instance *instance;
  clt_data *data;
  clt_config best;
  double best_s, default_s;
  size_t measured, failed;
} bench;

/* Runs the plain loop once; returns its error, or NaN. */
typedef double (*plain_fn)(const bench *b, double *time_s);

typedef struct entry {
  const char *name;
  plain_fn plain;
  const char *suited[MAX_SUITED]; /* wide rows of neighbouring pixels, which CPU drivers turn into vector code */
} entry;

static int size_of(const bench *b, const char *name) {
  for (size_t i = 0; i < clt_instance_n_sizes(b->instance); i++)
    if (strcmp(clt_instance_size(b->instance, i).name, name) == 0) return (int)clt_instance_size(b->instance, i).value;
  return 0;
}

/* A copy of an input with its edges repeated around it; the caller frees. */
static void *bordered(const bench *b, const char *name, size_t border_x, size_t border_y) {
  const clt_array *array = clt_data_find(b->data, name);
  clt_plan_arg arg = {.element = array->element, .border = {border_x, border_y}, .border_mode = CLT_BORDER_CLAMP};
  memcpy(arg.extent, array->extent, sizeof arg.extent);
  arg.bytes = (arg.extent[0] + 2 * border_x) * (arg.extent[1] + 2 * border_y) * array->element.bytes;
  void *stored = malloc(arg.bytes);
  if (stored) clt_array_store(stored, &arg, array->data);
  return stored;
}

static double wrong_by(const bench *b, const char *name, const void *result) {
  clt_comparison compared;
  clt_array_matches(&compared, clt_data_find(b->data, name), result);
  return compared.max_abs_error;
}

static double plain_convolution(const bench *b, double *time_s) {
  const int width = size_of(b, "width"), height = size_of(b, "height");
  float *image = bordered(b, "input", 2, 2), *out = malloc(clt_data_find(b->data, "output")->bytes);
  double error = NAN;
  if (image && out) {
    const double start = clt_now_s();
    plain_box_5x5(out, image, width, height);
    *time_s = clt_now_s() - start;
    error = wrong_by(b, "output", out);
  }
  free(image);
  free(out);
  return error;
}

static double plain_rays(const bench *b, double *time_s) {
  float(*picture)[4] = malloc(clt_data_find(b->data, "picture")->bytes);
  if (!picture) return NAN;
  const double start = clt_now_s();
  plain_raycasting(picture, clt_data_find(b->data, "volume")->data,
                   (const float(*)[4])clt_data_find(b->data, "transfer")->data,
                   (const int32_t(*)[4])clt_data_find(b->data, "camera")->data, size_of(b, "width"),
                   size_of(b, "height"), size_of(b, "volume_size"));
  *time_s = clt_now_s() - start;
  const double error = wrong_by(b, "picture", picture);
  free(picture);
  return error;
}

static double plain_matching(const bench *b, double *time_s) {
  const int width = size_of(b, "width"), height = size_of(b, "height");
  const int disparities = size_of(b, "disparities"), radius = size_of(b, "window_radius");
  const size_t r = (size_t)radius;
  unsigned char *left = bordered(b, "left", r, r), *right = bordered(b, "right", r + (size_t)disparities - 1, r);
  unsigned char *out = malloc((size_t)width * (size_t)height);
  double error = NAN;
  if (left && right && out) {
    const double start = clt_now_s();
    const int rc = plain_stereo(out, left, right, width, height, disparities, radius);
    *time_s = clt_now_s() - start;
    if (rc == 0) error = wrong_by(b, "disparity", out);
  }
  free(left);
  free(right);
  free(out);
  return error;
}

static const entry entries[] = {
    {"convolution",
     plain_convolution,
     {"wg_x=128 wg_y=8 ppt_x=1 ppt_y=1 use_image=0 use_local=0 pad=1 interleave=0 unroll=1",
      "wg_x=1 wg_y=1 ppt_x=128 ppt_y=1 use_image=0 use_local=0 pad=1 interleave=0 unroll=1",
      "wg_x=4 wg_y=32 ppt_x=64 ppt_y=16 use_image=0 use_local=0 pad=1 interleave=0 unroll=1"}},
    {"raycasting",
     plain_rays,
     {"wg_x=16 wg_y=16 ppt_x=1 ppt_y=1 image_data=0 image_tf=0 local_tf=0 constant_tf=0 interleave=0 unroll=16",
      "wg_x=8 wg_y=8 ppt_x=1 ppt_y=1 image_data=0 image_tf=0 local_tf=0 constant_tf=0 interleave=0 unroll=16",
      "wg_x=4 wg_y=32 ppt_x=4 ppt_y=4 image_data=0 image_tf=1 local_tf=1 constant_tf=0 interleave=1 unroll=16"}},
    {"stereo",
     plain_matching,
     {"wg_x=1 wg_y=1 ppt_x=32 ppt_y=16 image_left=0 image_right=0 local_left=0 local_right=0 unroll_disparity=8 "
      "unroll_dx=4 unroll_dy=1",
      "wg_x=8 wg_y=8 ppt_x=32 ppt_y=1 image_left=0 image_right=0 local_left=0 local_right=0 unroll_disparity=1 "
      "unroll_dx=4 unroll_dy=4",
      "wg_x=2 wg_y=8 ppt_x=128 ppt_y=8 image_left=0 image_right=1 local_left=1 local_right=1 unroll_disparity=2 "
      "unroll_dx=2 unroll_dy=2"}},
};

/* Measures a configuration with the executor; *time_s is NaN if it fails. */
static int measure(bench *b, clt_config config, double *time_s, clt_error *error) {
  clt_plan *plan = NULL;
  clt_prepared *prepared = NULL;
  clt_measurement m;
  clt_timing_policy policy;
  clt_timing_policy_init(&policy);
  policy.best_s = b->best_s < INFINITY ? b->best_s : 0;
  clt_measurement_init(&m, config);
  int rc = clt_plan_new(&plan, b->instance, config, error);
  if (rc == CLT_OK) rc = clt_executor_prepare(b->executor, &prepared, plan, b->data, &m, error);
  if (rc == CLT_OK && clt_measurement_correct(&m)) rc = clt_executor_time(b->executor, prepared, &policy, &m, error);
  *time_s = rc == CLT_OK && clt_measurement_correct(&m) ? m.time_s : NAN;
  b->measured++;
  b->failed += isnan(*time_s) != 0;
  if (*time_s < b->best_s) {
    b->best_s = *time_s;
    b->best = config;
  }
  clt_prepared_free(prepared);
  clt_plan_free(plan);
  clt_measurement_release(&m);
  return rc;
}

static int measure_suited(bench *b, const entry *e, clt_error *error) {
  const clt_space *space = clt_instance_space(b->instance);
  double ignored;
  int rc = measure(b, clt_instance_default(b->instance), &b->default_s, error);
  for (size_t i = 0; rc == CLT_OK && i < MAX_SUITED && e->suited[i]; i++) {
    clt_config config;
    rc = clt_config_parse(&config, space, e->suited[i], error);
    if (rc == CLT_OK && clt_space_contains(space, config)) rc = measure(b, config, &ignored, error);
  }
  return rc;
}

static int measure_random(bench *b, size_t n, clt_error *error) {
  clt_config *configs = malloc((n + 1) * sizeof *configs);
  if (!configs) return CLT_E_MEMORY;
  clt_rng rng;
  clt_rng_init(&rng, 1);
  double ignored;
  const int64_t got = clt_space_sample(configs, clt_instance_space(b->instance), &rng, n, error);
  int rc = got < 0 ? (int)got : CLT_OK;
  for (int64_t i = 0; rc == CLT_OK && i < got; i++) rc = measure(b, configs[i], &ignored, error);
  free(configs);
  return rc;
}

static void print_disparity_error(const bench *b) {
  const clt_array *disparity = clt_data_find(b->data, "disparity");
  double mean_pixels, wrong_share;
  if (!disparity) return;
  if (stereo_disparity_error(disparity->reference, size_of(b, "width"), size_of(b, "height"), size_of(b, "disparities"),
                             b->data->seed, &mean_pixels, &wrong_share) == 0)
    printf("  disparity is off by %.3f pixels on average, by more than one in %.2f %%\n", mean_pixels,
           100 * wrong_share);
}

/* Plain loop and best configuration by turns, so that other load affects both; the shortest time of each. */
typedef struct duel {
  double plain_s, best_s, plain_error;
} duel;

static int fight(const bench *b, const entry *e, duel *d, clt_error *error) {
  clt_plan *plan = NULL;
  clt_prepared *prepared = NULL;
  clt_measurement m;
  clt_timing_policy policy;
  clt_timing_policy_init(&policy);
  policy.min_runs = policy.max_runs = 1;
  clt_measurement_init(&m, b->best);
  *d = (duel){INFINITY, INFINITY, NAN};
  int rc = clt_plan_new(&plan, b->instance, b->best, error);
  if (rc == CLT_OK) rc = clt_executor_prepare(b->executor, &prepared, plan, b->data, &m, error);
  const double end = clt_now_s() + ROUNDS_S;
  for (int i = 0; rc == CLT_OK && prepared && (i < MIN_ROUNDS || (i < MAX_ROUNDS && clt_now_s() < end)); i++) {
    double time_s = INFINITY;
    d->plain_error = e->plain(b, &time_s);
    d->plain_s = fmin(d->plain_s, time_s);
    rc = clt_executor_time(b->executor, prepared, &policy, &m, error);
    d->best_s = fmin(d->best_s, m.time_s);
  }
  clt_prepared_free(prepared);
  clt_plan_free(plan);
  clt_measurement_release(&m);
  return rc;
}

static void print_result(const bench *b, const entry *e, const duel *d) {
  char config[512];
  clt_config_print(config, sizeof config, clt_instance_space(b->instance), b->best);
  printf("%s\n  plain loop %.2f ms (largest error %.2g), default %.2f ms, best of %zu (%zu failed) %.2f ms\n", e->name,
         d->plain_s * 1e3, d->plain_error, b->default_s * 1e3, b->measured, b->failed, d->best_s * 1e3);
  printf("  best is %.2f times as fast as the plain loop, %.2f times as fast as the default\n  %s\n",
         d->plain_s / d->best_s, b->default_s / d->best_s, config);
  print_disparity_error(b);
  fflush(stdout);
}

static int run(clt_executor *executor, const entry *e, size_t n_random, clt_error *error) {
  bench b = {.executor = executor, .best_s = INFINITY, .default_s = NAN};
  duel d;
  char path[1024];
  snprintf(path, sizeof path, "%s/%s.json", KERNELS_FOLDER, e->name);
  int rc = clt_problem_new(&b.problem, path, error);
  if (rc == CLT_OK) rc = clt_instance_new(&b.instance, b.problem, NULL, 0, clt_executor_device(executor), error);
  if (rc == CLT_OK) rc = clt_data_new(&b.data, b.instance, &clt_own_inputs, error);
  if (rc == CLT_OK) rc = measure_suited(&b, e, error);
  if (rc == CLT_OK) rc = measure_random(&b, n_random, error);
  if (rc == CLT_OK && !(b.best_s < INFINITY))
    rc = clt_fail(error, CLT_E_NOT_FOUND, "no configuration of %s ran", e->name);
  if (rc == CLT_OK) rc = fight(&b, e, &d, error);
  if (rc == CLT_OK) print_result(&b, e, &d);
  clt_executor_forget(executor, NULL);
  clt_data_free(b.data);
  clt_instance_free(b.instance);
  clt_problem_free(b.problem);
  return rc;
}

int main(int argc, char **argv) {
  const size_t n_random = argc > 2 ? strtoul(argv[2], NULL, 10) : 20;
  clt_error error = {0};
  clt_device_info *devices = NULL;
  clt_executor *executor = NULL;
  size_t n_devices = 0, chosen = 0;
  int rc = clt_opencl_devices(&devices, &n_devices, &error);
  if (rc == CLT_OK && n_devices == 0) return 77;
  if (rc == CLT_OK) rc = clt_device_select(&chosen, devices, n_devices, argc > 1 ? argv[1] : "0:0", &error);
  if (rc == CLT_OK)
    rc = clt_executor_new(&executor, devices[chosen].platform_index, devices[chosen].device_index, &error);
  if (rc == CLT_OK) printf("%s\n", devices[chosen].name);
  for (size_t i = 0; rc == CLT_OK && i < sizeof entries / sizeof *entries; i++)
    if (argc <= 3 || strcmp(argv[3], entries[i].name) == 0) rc = run(executor, &entries[i], n_random, &error);
  if (rc != CLT_OK) fprintf(stderr, "%s\n", error.message);
  clt_executor_free(executor);
  free(devices);
  return rc != CLT_OK;
}
