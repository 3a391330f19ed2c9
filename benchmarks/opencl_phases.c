/* Where the time of one configuration goes: a box filter of N x N floats is built, verified and timed again and again,
 * each time with other options, as in a search. Usage: opencl_phases [N] [configurations]; the first device is used. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/base.h"
#include "opencl/executor.h"

enum { RADIUS = 2, RUNS = 7 };

static const char source[] =
    "kernel void box(global const float *in, global float *out) {\n"
    "  int x = get_global_id(0), y = get_global_id(1);\n"
    "  float sum = 0;\n"
    "  for (int j = 0; j < 5; j++)\n"
    "    for (int i = 0; i < 5; i++) sum += in[(y + j) * (N + 4) + x + i];\n"
    "  out[y * N + x] = SALT < 0 ? 0 : sum / 25;\n"
    "}\n";

typedef struct box_problem {
  clt_array arrays[2];
  clt_data data;
  clt_plan_arg args[2];
  size_t arg_indices[2];
  clt_plan_launch launch;
  clt_plan plan;
  char options[80];
} box_problem;

/* Seconds by who spends them. */
typedef struct split {
  double build_s, launch_s, runs_s, total_s;
  double launched_at_s;
} split;

static void on_phase(void *user, clt_phase phase) {
  split *s = user;
  if (phase == CLT_PHASE_LAUNCH) s->launched_at_s = clt_now_s();
  if (phase == CLT_PHASE_VERIFY && s->launched_at_s > 0) {
    s->launch_s += clt_now_s() - s->launched_at_s;
    s->launched_at_s = 0;
  }
}

static int make_problem(box_problem *p, size_t n) {
  static char *const names[] = {"in", "out"};
  for (int i = 0; i < 2; i++) {
    clt_array *array = &p->arrays[i];
    *array = (clt_array){.name = names[i], .extent = {n, n, 1}, .input = i == 0, .verified = i == 1};
    array->absolute_tolerance = array->relative_tolerance = 1e-4;
    clt_element_parse(&array->element, "float");
    array->bytes = n * n * sizeof(float);
    p->args[i] = (clt_plan_arg){.name = names[i],
                                .kind = CLT_ARG_BUFFER,
                                .element = array->element,
                                .extent = {n, n, 1},
                                .bytes = array->bytes,
                                .has_data = i == 0,
                                .verified = i == 1};
    p->arg_indices[i] = (size_t)i;
  }
  p->args[0].border[0] = p->args[0].border[1] = RADIUS;
  p->args[0].bytes = (n + 2 * RADIUS) * (n + 2 * RADIUS) * sizeof(float);
  p->args[1].access = CLT_WRITE_ONLY;
  float *in = malloc(p->arrays[0].bytes);
  for (size_t i = 0; in && i < n * n; i++) in[i] = (float)(i * 7919 % 1000) * 0.01f;
  p->arrays[0].data = in;
  p->data = (clt_data){.arrays = p->arrays, .n_arrays = 2, .seed = 1};
  p->launch = (clt_plan_launch){.kernel = "box",
                                .n_dimensions = 2,
                                .global = {n, n, 1},
                                .local = {16, 4, 1},
                                .has_local = true,
                                .args = p->arg_indices,
                                .n_args = 2,
                                .repeat = 1};
  p->plan = (clt_plan){.source = (char *)source,
                       .options = p->options,
                       .args = p->args,
                       .n_args = 2,
                       .launches = &p->launch,
                       .n_launches = 1};
  return in ? CLT_OK : CLT_E_MEMORY;
}

static int measure(split *s, clt_executor *executor, box_problem *p, clt_error *error) {
  clt_measurement m;
  clt_prepared *prepared = NULL;
  clt_timing_policy policy;
  clt_timing_policy_init(&policy);
  policy.min_runs = policy.max_runs = RUNS;
  clt_measurement_init(&m, 0);
  double started = clt_now_s();
  int rc = clt_executor_prepare(executor, &prepared, &p->plan, &p->data, &m, error);
  if (rc == 0 && prepared) rc = clt_executor_time(executor, prepared, &policy, &m, error);
  clt_prepared_free(prepared);
  s->total_s += clt_now_s() - started;
  s->build_s += m.phases.build_s;
  s->runs_s += m.phases.runs_s;
  if (m.reason != CLT_REASON_NONE) fprintf(stderr, "%s: %s\n", clt_reason_name(m.reason), m.log ? m.log : "");
  clt_measurement_release(&m);
  return rc;
}

static long resident_kib(void) {
  long total, resident = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (file && fscanf(file, "%ld %ld", &total, &resident) != 2) resident = 0;
  if (file) fclose(file);
  return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

static int run(clt_executor *executor, box_problem *p, size_t n, int count, clt_error *error) {
  split s = {0};
  long salt = (long)getpid() * 100000, resident = 0;
  snprintf(p->options, sizeof p->options, "-DN=%zu -DSALT=%ld", n, salt++);
  int rc = clt_executor_reference(executor, &p->plan, &p->data, error);
  clt_executor_on_phase(executor, on_phase, &s);
  for (int i = 0; rc == 0 && i < count; i++) {
    if (i == count / 2) resident = resident_kib();
    snprintf(p->options, sizeof p->options, "-DN=%zu -DSALT=%ldL", n, salt++);
    rc = measure(&s, executor, p, error);
  }
  if (rc) return rc;
  double own_s = s.total_s - s.build_s - s.launch_s - s.runs_s;
  printf("%s, %zu x %zu, %d configurations of %d runs\n", clt_executor_device(executor)->name, n, n, count, RUNS);
  printf("ms a configuration: build %.1f, first launch %.1f, runs and warm-up %.1f, all else %.1f (%.1f %%)\n",
         1e3 * s.build_s / count, 1e3 * s.launch_s / count, 1e3 * s.runs_s / count, 1e3 * own_s / count,
         100 * own_s / s.total_s);
  printf("memory kept by the process: %.0f KiB a configuration\n",
         (double)(resident_kib() - resident) / (count - count / 2));
  return CLT_OK;
}

int main(int argc, char **argv) {
  size_t n = argc > 1 ? (size_t)atol(argv[1]) : 512;
  int count = argc > 2 ? atoi(argv[2]) : 20;
  clt_executor *executor = NULL;
  clt_error error = {0};
  box_problem problem = {0};
  if (n < 16 || n % 16 || count < 2) return 2;
  int rc = make_problem(&problem, n);
  if (rc == 0) rc = clt_executor_new(&executor, 0, 0, &error);
  bool none = rc == CLT_E_DEVICE;
  if (rc == 0) rc = run(executor, &problem, n, count, &error);
  if (rc) fprintf(stderr, "%s\n", error.message);
  clt_executor_free(executor);
  free(problem.arrays[0].data);
  free(problem.arrays[1].reference);
  return none ? 77 : rc ? 1 : 0;
}
