/* Training and sweeping the ensemble on the stereo problem's parameters (2,359,296 configurations), compared with FANN:
 *   - 11 networks on 2,000 rows, the default trainer and FANN's RPROP for 1,000 epochs: seconds, error on unseen rows;
 *   - every configuration predicted: the sweep, with and without constraints and validity, and fann_run one by one.
 * The landscape is synthetic: occupancy, reuse, memory and unrolling interact, with 3 % noise. */
#include <clatune/model.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "../tests/model/fann_run.h"
#include "../tests/model/row.h"
#include "base/base.h"
#include "model/model.h"

#define ROWS 2000
#define UNSEEN 5000
#define FANN_RUNS 20000

static const struct {
  const char *name, *type, *values;
} parameters[] = {
    {"wg_x", "int", "[2**i for i in range(8)]"},
    {"wg_y", "int", "[2**i for i in range(8)]"},
    {"ppt_x", "int", "[2**i for i in range(8)]"},
    {"ppt_y", "int", "[2**i for i in range(8)]"},
    {"image_left", "bool", "[0, 1]"},
    {"image_right", "bool", "[0, 1]"},
    {"local_left", "bool", "[0, 1]"},
    {"local_right", "bool", "[0, 1]"},
    {"unroll_disparity", "int", "[1, 2, 4, 8]"},
    {"unroll_dx", "int", "[1, 2, 4]"},
    {"unroll_dy", "int", "[1, 2, 4]"},
};

static clt_space *stereo(bool constrained, clt_error *error) {
  clt_space_builder *b = NULL;
  clt_space *space = NULL;
  int rc = clt_space_builder_new(&b, error);
  for (size_t i = 0; !rc && i < sizeof parameters / sizeof *parameters; i++)
    rc = clt_space_builder_parameter_text(b, parameters[i].name, parameters[i].type, parameters[i].values, error);
  if (!rc && constrained)
    rc = clt_space_builder_constraint(b, "wg_x * wg_y <= 1024", CLT_DEVICE_LIMIT, "work-group", error);
  if (!rc && constrained)
    rc =
        clt_space_builder_constraint(b, "(local_left + local_right) * (wg_x * ppt_x + 8) * (wg_y * ppt_y + 8) <= 49152",
                                     CLT_DEVICE_LIMIT, "local", error);
  if (!rc) rc = clt_space_new(&space, b, error);
  clt_space_builder_free(b);
  return rc ? NULL : space;
}

static double value(const clt_space *space, clt_config config, size_t parameter) {
  return clt_value_number(clt_space_value(space, config, parameter));
}

static double true_log_time(const clt_space *s, clt_config c) {
  double x = log2(value(s, c, 0)), y = log2(value(s, c, 1)), p = log2(value(s, c, 2)), q = log2(value(s, c, 3));
  double images = value(s, c, 4) + value(s, c, 5), locals = value(s, c, 6) + value(s, c, 7);
  double u = log2(value(s, c, 8)), dx = log2(value(s, c, 9)), dy = log2(value(s, c, 10));
  double threads = x + y, waste = fmax(0, x + p - 9) + fmax(0, y + q - 9);
  double warps = threads < 5 ? 0.5 * (5 - threads) : 0.06 * (threads - 7) * (threads - 7);
  double coalescing = x < 4 ? 0.25 * (4 - x) * (2 - images) / 2 : 0;
  double reuse = -0.1 * fmin(p + q, 5) * (1 + 0.3 * locals) + 0.15 * fmax(0, p + q + u - 7);
  double staging = locals * (0.2 - 0.05 * (threads - 6)) - 0.1 * images * (2 - locals);
  double unrolling = -0.08 * u - 0.05 * (dx + dy) + 0.04 * (u + dx + dy) * (p + q > 6);
  return -6 + warps + coalescing + reuse + staging + unrolling + 0.3 * waste;
}

static row *sample(const clt_space *space, size_t n, double noise, uint64_t seed) {
  clt_rng rng;
  clt_rng_init(&rng, seed);
  clt_config *configs = calloc(n, sizeof *configs);
  row *rows = calloc(n, sizeof *rows);
  if (!configs || !rows || clt_space_sample(configs, space, &rng, n, NULL) != (int64_t)n) abort();
  for (size_t i = 0; i < n; i++) {
    double products = value(space, configs[i], 0) * value(space, configs[i], 1);
    double time_s = exp(true_log_time(space, configs[i]) + noise * clt_rng_normal(&rng));
    rows[i] = (row){configs[i], time_s, products > 4096};
  }
  free(configs);
  return rows;
}

static double unseen_error(const clt_space *space, const clt_model *model) {
  row *rows = sample(space, UNSEEN, 0, 77);
  clt_config *configs = calloc(UNSEEN, sizeof *configs);
  clt_prediction *p = calloc(UNSEEN, sizeof *p);
  double sum = 0;
  if (!configs || !p) abort();
  for (size_t i = 0; i < UNSEEN; i++) configs[i] = rows[i].config;
  if (clt_model_predict(p, model, configs, UNSEEN, NULL)) abort();
  for (size_t i = 0; i < UNSEEN; i++) sum += fabs(expm1(p[i].log_cost - log(rows[i].time_s)));
  free(rows);
  free(configs);
  free(p);
  return sum / UNSEEN;
}

static clt_model *train(const clt_space *space, const row *rows, const char *type, const char *label, const clt_setting *settings,
                        size_t n_settings, unsigned threads) {
  clt_model *model = NULL;
  clt_error error = {0};
  clt_model_accuracy a;
  if (fit_rows(&model, type, settings, n_settings, space, NULL, rows, ROWS, 1, threads, &error)) {
    fprintf(stderr, "%s\n", error.message);
    exit(1);
  }
  clt_model_accuracy_get(&a, model);
  printf("%-46s %7.2f s   error on unseen %5.2f %%, out of fold %5.2f %%\n", label, a.fit_s,
         100 * unseen_error(space, model), 100 * a.mean_relative_error);
  return model;
}

static int ignore(void *user, uint64_t first, size_t n, const clt_prediction *p) {
  (void)first, (void)p;
  *(uint64_t *)user += n;
  return 0;
}

static double time_sweep(clt_model *model, unsigned threads, bool validity, uint64_t *n) {
  clt_forest *forest = model->forest;
  model->threads = threads;
  if (!validity) model->forest = NULL;
  double best_s = INFINITY;
  for (int i = 0; i < 3; i++) {
    double start_s = clt_now_s();
    *n = 0;
    if (clt_model_sweep(model, ignore, n, NULL)) abort();
    best_s = fmin(best_s, clt_now_s() - start_s);
  }
  model->forest = forest;
  return best_s;
}

static double time_best(clt_model *model, unsigned threads) {
  clt_config best[200];
  size_t n;
  model->threads = threads;
  double start_s = clt_now_s();
  if (clt_model_best(best, NULL, &n, model, 200, 0.5, NULL, 0, NULL)) abort();
  return clt_now_s() - start_s;
}

/* All networks for a part of the space, scaled up to n configurations. */
static double time_fann(const clt_model *model, uint64_t n) {
  const clt_ensemble *e = model->state;
  float x[64];
  volatile double sink = 0;
  struct fann *members[64];
  for (size_t m = 0; m < e->n_members; m++) members[m] = fann_member(e, m);
  double start_s = clt_now_s();
  for (size_t i = 0; i < FANN_RUNS; i++) {
    clt_encode(e->encoding, clt_space_at(model->space, i * (n / FANN_RUNS)), x);
    for (size_t m = 0; m < e->n_members; m++) sink = sink + *fann_run(members[m], x);
  }
  double run_s = clt_now_s() - start_s;
  for (size_t m = 0; m < e->n_members; m++) fann_destroy(members[m]);
  return run_s / FANN_RUNS * (double)n;
}

static void report_sweeps(clt_model *model, const char *label) {
  uint64_t n;
  double one_s = time_sweep(model, 1, false, &n), two_s = time_sweep(model, 2, false, &n);
  double valid_s = time_sweep(model, 2, true, &n), fann_s = time_fann(model, n);
  printf(
      "%-22s %8llu configurations: fann_run, one core %6.2f s | sweep, one thread %.3f s (x%.0f), two %.3f s (x%.0f), "
      "two with validity %.3f s, 200 best %.3f s\n",
      label, (unsigned long long)n, fann_s, one_s, fann_s / one_s, two_s, fann_s / two_s, valid_s, time_best(model, 2));
}

int main(void) {
  static const clt_setting rprop[] = {
      {"trainer", "rprop"}, {"iterations", "1000"}, {"patience", "1000"}, {"hidden2", "0"}};
  static const clt_setting shallow[] = {{"hidden2", "0"}};
  clt_error error = {0};
  clt_space *space = stereo(false, &error), *constrained = stereo(true, &error);
  if (!space || !constrained) return fprintf(stderr, "%s\n", error.message), 1;
  row *rows = sample(space, ROWS, 0.03, 1), *few = sample(constrained, ROWS, 0.03, 1);
  printf("11 networks on %d rows\n", ROWS);
  clt_model *model = train(space, rows, "ensemble", "  default, two threads", NULL, 0, 2);
  clt_model_free(train(space, rows, "ensemble", "  FANN's RPROP, 1,000 epochs, one layer, one thread", rprop, 4, 1));
  clt_model *boosted = train(space, rows, "trees", "  boosted trees, two threads", NULL, 0, 2);
  clt_model *one_layer = train(space, rows, "ensemble", "  one layer, two threads", shallow, 1, 2);
  clt_model *small = train(constrained, few, "ensemble", "  with constraints, two threads", NULL, 0, 2);
  report_sweeps(model, "stereo");
  report_sweeps(small, "stereo with constraints");
  report_sweeps(one_layer, "stereo, one layer");
  clt_model_free(model);
  clt_model_free(boosted);
  clt_model_free(one_layer);
  clt_model_free(small);
  clt_space_free(space);
  clt_space_free(constrained);
  free(rows);
  free(few);
  return 0;
}
