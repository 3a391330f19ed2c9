/* bench_filterbank - the filterbank correlation at sizes of every kind, in GFLOP/s: the reference configuration, the
 * best of some configurations that suit a CPU and of random ones, a naive OpenCL kernel (the best of some of its
 * work-groups), a plain OpenMP loop, and the CPU's maximum. All of a size's contestants take turns. Usage:
 * bench-filterbank [device [random configurations]]. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "opencl/executor.h"
#include "plain_loops.h"

enum { N_SIZES = 6, MIN_ROUNDS = 3, MAX_ROUNDS = 200 };
#define ROUNDS_S 1.5 /* the contest of a size */

static const clt_size sizes[][N_SIZES] = {
#define SIZES(r, d, f, h)                                                                                    \
  {                                                                                                          \
    {"height", r}, {"width", r}, {"depth", d}, {"n_filters", f}, {"filter_height", h}, { "filter_width", h } \
  }
    SIZES(128, 8, 16, 5), SIZES(64, 64, 8, 9),  SIZES(32, 128, 64, 3), SIZES(64, 8, 256, 3),
    SIZES(256, 4, 4, 9),  SIZES(256, 1, 64, 3), SIZES(256, 32, 1, 5),  SIZES(64, 16, 32, 5),
};

/* Blocks that hold vectors, all rows and filters in one pass. */
static const char *const suited[] = {"block_h=8 block_w=16",  "block_h=8 block_w=32",  "block_h=16 block_w=32",
                                     "block_h=16 block_w=64", "block_h=4 block_w=128", "block_h=32 block_w=32"};
#define SUITED_REST \
  "n_filter_rows=all n_output_4s=all spill=0 imul_fast=0 pad_shared=0 use_tex1d=0 maxrreg=unlimited fast_math=0"

/* A problem at one of the sizes, and its best configuration so far. */
typedef struct contestant {
  clt_problem *problem;
  clt_instance *instance;
  clt_data *data;
  clt_plan *plan;
  clt_prepared *prepared;
  clt_config best;
  double best_s; /* while it is looked for; then in the contest */
  size_t measured;
} contestant;

typedef struct bench {
  clt_executor *executor;
  size_t n_random;
  double operations;
  contestant tuned, reference, naive;
  double plain_s, plain_error, peak; /* peak: operations a second */
} bench;

static int open_contestant(contestant *c, const char *path, const clt_size *at, clt_executor *executor,
                           clt_error *error) {
  *c = (contestant){.best_s = INFINITY, .best = CLT_CONFIG_NONE};
  int rc = clt_problem_new(&c->problem, path, error);
  if (rc == CLT_OK) rc = clt_instance_new(&c->instance, c->problem, at, N_SIZES, clt_executor_device(executor), error);
  if (rc == CLT_OK) rc = clt_data_new(&c->data, c->instance, &clt_own_inputs, error);
  return rc;
}

static void close_contestant(contestant *c, clt_executor *executor) {
  clt_prepared_free(c->prepared);
  clt_plan_free(c->plan);
  clt_executor_forget(executor, NULL);
  clt_data_free(c->data);
  clt_instance_free(c->instance);
  clt_problem_free(c->problem);
}

/* Makes a configuration ready to run; *prepared stays NULL if it fails. */
static int prepare(contestant *c, clt_executor *executor, clt_config config, clt_plan **plan, clt_prepared **prepared,
                   clt_measurement *m, clt_error *error) {
  int rc = clt_plan_new(plan, c->instance, config, error);
  if (rc == CLT_OK) rc = clt_executor_prepare(executor, prepared, *plan, c->data, m, error);
  return rc;
}

static int measure(contestant *c, clt_executor *executor, clt_config config, clt_error *error) {
  clt_plan *plan = NULL;
  clt_prepared *prepared = NULL;
  clt_measurement m;
  clt_timing_policy policy;
  clt_timing_policy_init(&policy);
  policy.best_s = c->best_s < INFINITY ? c->best_s : 0;
  clt_measurement_init(&m, config);
  int rc = prepare(c, executor, config, &plan, &prepared, &m, error);
  if (rc == CLT_OK && prepared) rc = clt_executor_time(executor, prepared, &policy, &m, error);
  c->measured++;
  if (rc == CLT_OK && clt_measurement_correct(&m) && m.time_s < c->best_s) {
    c->best_s = m.time_s;
    c->best = config;
  }
  clt_prepared_free(prepared);
  clt_plan_free(plan);
  clt_measurement_release(&m);
  return rc;
}

static int measure_text(contestant *c, clt_executor *executor, const char *text, clt_error *error) {
  const clt_space *space = clt_instance_space(c->instance);
  clt_config config;
  int rc = clt_config_parse(&config, space, text, error);
  return rc == CLT_OK && clt_space_contains(space, config) ? measure(c, executor, config, error) : rc;
}

static int measure_random(contestant *c, clt_executor *executor, size_t n, clt_error *error) {
  clt_config *configs = malloc((n + 1) * sizeof *configs);
  if (!configs) return CLT_E_MEMORY;
  clt_rng rng;
  clt_rng_init(&rng, 1);
  const int64_t got = clt_space_sample(configs, clt_instance_space(c->instance), &rng, n, error);
  int rc = got < 0 ? (int)got : CLT_OK;
  for (int64_t i = 0; rc == CLT_OK && i < got; i++) rc = measure(c, executor, configs[i], error);
  free(configs);
  return rc;
}

static int find_tuned(bench *b, clt_error *error) {
  int rc = CLT_OK;
  for (size_t i = 0; rc == CLT_OK && i < sizeof suited / sizeof *suited; i++) {
    char text[512];
    snprintf(text, sizeof text, "%s %s", suited[i], SUITED_REST);
    rc = measure_text(&b->tuned, b->executor, text, error);
  }
  return rc ? rc : measure_random(&b->tuned, b->executor, b->n_random, error);
}

static int run_once(contestant *c, clt_executor *executor, clt_error *error) {
  clt_measurement m;
  clt_timing_policy policy;
  clt_timing_policy_init(&policy);
  policy.min_runs = policy.max_runs = 1;
  clt_measurement_init(&m, c->best);
  int rc = clt_executor_time(executor, c->prepared, &policy, &m, error);
  if (rc == CLT_OK) c->best_s = fmin(c->best_s, m.time_s);
  clt_measurement_release(&m);
  return rc;
}

static int make_ready(contestant *c, clt_executor *executor, const char *what, clt_error *error) {
  clt_measurement m;
  clt_measurement_init(&m, c->best);
  int rc = c->best == CLT_CONFIG_NONE ? clt_fail(error, CLT_E_NOT_FOUND, "%s: no configuration ran", what)
                                      : prepare(c, executor, c->best, &c->plan, &c->prepared, &m, error);
  if (rc == CLT_OK && c->prepared == NULL) rc = clt_fail(error, CLT_E_NOT_FOUND, "%s does not run any more", what);
  clt_measurement_release(&m);
  c->best_s = INFINITY;
  return rc;
}

static int plain_once(bench *b, float *out, const clt_size *at) {
  const clt_data *data = b->tuned.data;
  const double start = clt_now_s();
  plain_filterbank(out, clt_data_find(data, "input")->data, clt_data_find(data, "filters")->data, (int)at[0].value,
                   (int)at[1].value, (int)at[2].value, (int)at[3].value, (int)at[4].value, (int)at[5].value);
  b->plain_s = fmin(b->plain_s, clt_now_s() - start);
  clt_comparison compared;
  clt_array_matches(&compared, clt_data_find(data, "output"), out);
  b->plain_error = compared.max_abs_error;
  double operations, time_s;
  if (!isfinite(plain_multiply_add(&operations, &time_s))) return CLT_E_RANGE;
  b->peak = fmax(b->peak, operations / time_s);
  return CLT_OK;
}

/* All by turns, so that other load affects each; the shortest times. */
static int contest(bench *b, const clt_size *at, clt_error *error) {
  contestant *const all[] = {&b->tuned, &b->reference, &b->naive};
  static const char *const names[] = {"tuned", "reference", "naive"};
  float *out = malloc(clt_data_find(b->tuned.data, "output")->bytes);
  int rc = out ? CLT_OK : clt_fail_memory(error);
  for (size_t i = 0; rc == CLT_OK && i < 3; i++) rc = make_ready(all[i], b->executor, names[i], error);
  const double end = clt_now_s() + ROUNDS_S;
  for (int n = 0; rc == CLT_OK && (n < MIN_ROUNDS || (n < MAX_ROUNDS && clt_now_s() < end)); n++) {
    for (size_t i = 0; rc == CLT_OK && i < 3; i++) rc = run_once(all[i], b->executor, error);
    if (rc == CLT_OK) rc = plain_once(b, out, at);
  }
  free(out);
  return rc;
}

static void print(const bench *b, const clt_size *at) {
  char config[512];
  clt_config_print(config, sizeof config, clt_instance_space(b->tuned.instance), b->tuned.best);
  printf("%5.0f %5.0f %5.0f %5.0f %6.3f | %9.1f %7.1f %7.1f %7.1f %7.1f %6.2f  %s\n", (double)at[0].value,
         (double)at[2].value, (double)at[3].value, (double)at[4].value, b->operations / 1e9,
         b->operations / b->reference.best_s / 1e9, b->operations / b->naive.best_s / 1e9,
         b->operations / b->plain_s / 1e9, b->operations / b->tuned.best_s / 1e9, b->peak / 1e9,
         b->operations / b->tuned.best_s / b->peak, config);
  if (!(b->plain_error < 1e-3)) printf("the plain loop is off by %g\n", b->plain_error);
  fflush(stdout);
}

static int run(clt_executor *executor, const clt_size *at, size_t n_random, clt_error *error) {
  bench b = {.executor = executor, .n_random = n_random, .plain_s = INFINITY, .plain_error = NAN};
  const char *tuned = KERNELS_FOLDER "/filterbank.json", *naive = BENCHMARKS_FOLDER "/filterbank_naive.json";
  b.operations = 2.0 * (double)(at[2].value * at[3].value * at[4].value * at[5].value) *
                 (double)((at[0].value - at[4].value + 1) * (at[1].value - at[5].value + 1));
  int rc = open_contestant(&b.tuned, tuned, at, executor, error);
  if (rc == CLT_OK) rc = open_contestant(&b.reference, tuned, at, executor, error);
  if (rc == CLT_OK) rc = open_contestant(&b.naive, naive, at, executor, error);
  if (rc == CLT_OK) rc = measure(&b.reference, executor, clt_instance_default(b.reference.instance), error);
  if (rc == CLT_OK) rc = measure_random(&b.naive, executor, 8, error);
  if (rc == CLT_OK) rc = find_tuned(&b, error);
  if (rc == CLT_OK) rc = contest(&b, at, error);
  if (rc == CLT_OK) print(&b, at);
  close_contestant(&b.tuned, executor);
  close_contestant(&b.reference, executor);
  close_contestant(&b.naive, executor);
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
  if (rc == CLT_OK)
    printf("%s, GFLOP/s\n  R=C     D     F   H=W  GFLOP | reference   naive   plain   tuned    peak  share\n",
           devices[chosen].name);
  for (size_t i = 0; rc == CLT_OK && i < sizeof sizes / sizeof *sizes; i++)
    rc = run(executor, sizes[i], n_random, &error);
  if (rc != CLT_OK) fprintf(stderr, "%s\n", error.message);
  clt_executor_free(executor);
  free(devices);
  return rc != CLT_OK;
}
