/* Models of several sizes: their predictions for unseen sizes; for every entry of the table of models. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <math.h>

#include "model/model.h"
#include "model/rows.h"
#include "row.h"
#include "space/space.h"

#define N_SIZES 14
#define ROWS 80 /* a size */
#define MOST_MODELS 8

static const char text[] =
    "{\"ConfigurationSpace\": {\"TuningParameters\": ["
    "  {\"Name\": \"tile\", \"Type\": \"int\", \"Values\": \"[2**i for i in range(8)]\"},"
    "  {\"Name\": \"unroll\", \"Type\": \"int\", \"Values\": \"[1, 2, 3, 4, 6, 8]\"},"
    "  {\"Name\": \"pad\", \"Type\": \"bool\", \"Values\": [0, 1]}],"
    "  \"Conditions\": [{\"Parameters\": [\"tile\"], \"Expression\": \"tile <= n\"}]},"
    "\"ProblemParameters\": [{\"Name\": \"n\", \"Default\": 64}, {\"Name\": \"m\", \"Default\": 64}],"
    "\"KernelSpecification\": {\"KernelName\": \"k\", \"KernelFile\": \"none.cl\","
    " \"GlobalSize\": [\"n\"], \"LocalSize\": [1], \"Arguments\": [],"
    " \"Resources\": {\"Groups\": \"n // tile\"}}}";

struct setting {
  char folder[64], path[96];
  clt_problem *problem;
  clt_instance *instances[N_SIZES], *unseen;
  row rows[N_SIZES][ROWS];
  size_t n_rows[N_SIZES];
  clt_model *models[MOST_MODELS]; /* of all sizes, one of each type, as soon as one is asked for */
};

static double value(const clt_space *space, clt_config config, const char *name) {
  return clt_value_number(clt_space_value(space, config, (size_t)clt_space_find_parameter(space, name)));
}

/* The best tile grows with n, the best unroll falls with m. */
static double true_time(const clt_instance *instance, clt_config config) {
  const clt_space *space = clt_instance_space(instance);
  double n = log2((double)clt_instance_size(instance, 0).value), m = log2((double)clt_instance_size(instance, 1).value);
  double tile = log2(value(space, config, "tile")) - (n - 4) * 0.8, unroll = value(space, config, "unroll") - (10 - m);
  double slow = 0.08 * tile * tile + 0.05 * fabs(unroll) + 0.1 * value(space, config, "pad");
  return 1e-9 * exp2(n + m) * exp(slow);
}

static int new_instance(clt_instance **out, const clt_problem *problem, int64_t n, int64_t m) {
  clt_size sizes[] = {{"n", n}, {"m", m}};
  clt_error error = {0};
  int rc = clt_instance_new(out, problem, sizes, 2, NULL, &error);
  if (rc) fprintf(stderr, "%s\n", error.message);
  return rc;
}

static int fill_rows(struct setting *s, size_t k, clt_rng *rng) {
  clt_config configs[ROWS];
  const clt_space *space = clt_instance_space(s->instances[k]);
  size_t n = clt_space_valid(space) < ROWS ? (size_t)clt_space_valid(space) : ROWS;
  if (clt_space_sample(configs, space, rng, n, NULL) != (int64_t)n) return -1;
  for (size_t i = 0; i < n; i++) s->rows[k][i] = (row){configs[i], true_time(s->instances[k], configs[i]), false};
  s->n_rows[k] = n;
  return 0;
}

static int set_up(void **state) {
  struct setting *s = calloc(1, sizeof *s);
  strcpy(s->folder, "/tmp/clatune-sizes-XXXXXX");
  if (mkdtemp(s->folder) == NULL) return -1;
  snprintf(s->path, sizeof s->path, "%s/p.json", s->folder);
  FILE *file = fopen(s->path, "w");
  clt_error error = {0};
  clt_rng rng;
  clt_rng_init(&rng, 3);
  if (file == NULL || fputs(text, file) < 0 || fclose(file)) return -1;
  if (clt_problem_new(&s->problem, s->path, &error)) return fprintf(stderr, "%s\n", error.message), -1;
  int rc = new_instance(&s->unseen, s->problem, 300, 100);
  for (size_t k = 0; !rc && k < N_SIZES; k++) {
    rc = new_instance(&s->instances[k], s->problem, 16 << k % 7, 32 + 37 * (int64_t)k);
    if (!rc) rc = fill_rows(s, k, &rng);
  }
  *state = s;
  return rc;
}

static int tear_down(void **state) {
  struct setting *s = *state;
  for (size_t t = 0; t < MOST_MODELS; t++) clt_model_free(s->models[t]);
  remove(s->path);
  rmdir(s->folder);
  for (size_t k = 0; k < N_SIZES; k++) clt_instance_free(s->instances[k]);
  clt_instance_free(s->unseen);
  clt_problem_free(s->problem);
  free(s);
  return 0;
}

static clt_model *fit(const struct setting *s, const char *type, size_t n_sizes) {
  clt_model *model = NULL;
  clt_error error = {0};
  clt_rows rows = {0};
  int rc = 0;
  for (size_t k = 0; !rc && k < n_sizes; k++) {
    rc = clt_rows_add_instance(&rows, s->instances[k], &error);
    if (!rc) rc = add_rows(&rows, s->rows[k], s->n_rows[k], k, &error);
  }
  if (!rc) rc = clt_model_new(&model, type, NULL, 0, &rows, 1, 0, &error);
  if (rc) fail_msg("%s", error.message);
  clt_rows_release(&rows);
  return model;
}

/* Of all sizes; fitted once, for all tests. A binding stays: each test binds a model to its own sizes. */
static clt_model *model_of(struct setting *s, size_t t) {
  assert_true(t < MOST_MODELS && t < clt_n_plugins(&clt_models));
  if (s->models[t] == NULL) s->models[t] = fit(s, clt_plugin_name(&clt_models, t), N_SIZES);
  return s->models[t];
}

static size_t type_of(const char *name) {
  size_t t = 0;
  while (strcmp(clt_plugin_name(&clt_models, t), name) != 0) t++;
  return t;
}

static double best_time(const clt_instance *instance) {
  const clt_space *space = clt_instance_space(instance);
  double best = INFINITY;
  for (uint64_t r = 0; r < clt_space_valid(space); r++) best = fmin(best, true_time(instance, clt_space_at(space, r)));
  return best;
}

static clt_prediction predicted_best(const clt_model *model, clt_config *config) {
  clt_prediction prediction;
  size_t n = 0;
  assert_int_equal(clt_model_best(config, &prediction, &n, model, 1, 0.5, NULL, 0, NULL), 0);
  assert_int_equal(n, 1);
  return prediction;
}

static void a_size_never_seen_is_predicted(void **state) {
  struct setting *s = *state;
  for (size_t t = 0; t < clt_n_plugins(&clt_models); t++) {
    clt_model *model = model_of(s, t);
    clt_config config;
    assert_int_equal(clt_model_bind(model, s->unseen, NULL), 0);
    clt_prediction p = predicted_best(model, &config);
    double time_s = true_time(s->unseen, config);
    assert_true(time_s < 1.1 * best_time(s->unseen));
    assert_true(fabs((double)p.log_cost - log(time_s)) < 0.3);
  }
}

/* The smallest size forbids most tiles; bound to it, as it is at first, the model speaks of its space and of its times. */
static void binding_changes_space_and_level(void **state) {
  struct setting *s = *state;
  clt_model *model = model_of(s, type_of("auto"));
  clt_config config;
  clt_prediction small = predicted_best(model, &config);
  double small_tile = value(clt_instance_space(s->instances[0]), config, "tile");
  assert_int_equal(clt_model_bind(model, s->unseen, NULL), 0);
  clt_prediction large = predicted_best(model, &config);
  assert_true(value(clt_instance_space(s->unseen), config, "tile") > small_tile);
  assert_true(large.log_cost > small.log_cost + 2);
}

static void accuracy_is_that_on_sizes_left_out(void **state) {
  struct setting *s = *state;
  for (size_t t = 0; t < clt_n_plugins(&clt_models); t++) {
    clt_model *model = model_of(s, t);
    clt_model_accuracy accuracy;
    size_t n, n_rows = 0;
    clt_model_accuracy_get(&accuracy, model);
    clt_model_residuals(model, &n);
    for (size_t k = 0; k < N_SIZES; k++) n_rows += s->n_rows[k];
    assert_int_equal(n, n_rows);
    assert_true(accuracy.mean_relative_error > 0.001 && accuracy.mean_relative_error < 0.4);
  }
}

/* How much longer what a model predicts to be the best of the rows takes than the best of them, over all sizes. */
static double regret(const struct setting *s, const clt_model *model) {
  size_t n, i = 0;
  const float *residuals = clt_model_residuals(model, &n);
  double sum = 0;
  for (size_t k = 0; k < N_SIZES; k++) {
    double least = INFINITY, predicted = INFINITY, chosen = 0;
    for (size_t r = 0; r < s->n_rows[k]; r++, i++) {
      double measured = log(s->rows[k][r].time_s);
      least = fmin(least, measured);
      if (measured + (double)residuals[i] < predicted) predicted = measured + (double)residuals[i], chosen = measured;
    }
    sum += chosen - least;
  }
  assert_int_equal(i, n);
  return sum;
}

static double regret_of(struct setting *s, const char *name) { return regret(s, model_of(s, type_of(name))); }

/* Trees, unless others are clearly better. */
static void auto_chooses_no_worse_than_trees(void **state) {
  assert_true(regret_of(*state, "auto") <= regret_of(*state, "trees") + 1e-6);
}

static void a_file_keeps_it_to_the_bit(void **state) {
  struct setting *s = *state;
  char path[128];
  snprintf(path, sizeof path, "%s/model", s->folder);
  for (size_t t = 0; t < clt_n_plugins(&clt_models); t++) {
    clt_model *model = model_of(s, t), *back = NULL;
    clt_error error = {0};
    clt_config configs[2];
    clt_prediction a[2], b[2];
    clt_space_enumerate(clt_instance_space(s->unseen), 10, 2, configs);
    assert_int_equal(clt_model_bind(model, s->unseen, NULL), 0);
    assert_int_equal(clt_model_save(model, path, NULL), 0);
    if (clt_model_new_saved(&back, clt_instance_space(s->unseen), s->unseen, path, &error)) fail_msg("%s", error.message);
    assert_int_equal(clt_model_predict(a, model, configs, 2, NULL), 0);
    assert_int_equal(clt_model_predict(b, back, configs, 2, NULL), 0);
    assert_memory_equal(a, b, sizeof a);
    clt_model_free(back);
    back = NULL;
    assert_int_equal(clt_model_new_saved(&back, clt_instance_space(s->unseen), NULL, path, NULL), CLT_E_FORMAT);
  }
  remove(path);
}

static void a_model_of_one_size_is_for_that_size(void **state) {
  struct setting *s = *state;
  clt_model *model = fit(s, "trees", 1);
  assert_int_equal(clt_model_bind(model, s->unseen, NULL), CLT_E_FORMAT);
  assert_int_equal(clt_model_bind(model, s->instances[0], NULL), 0);
  clt_model_free(model);
}

static void sizes_that_differ_are_inputs(void **state) {
  struct setting *s = *state;
  clt_encoding *one = NULL, *many = NULL;
  const clt_instance *instances[N_SIZES];
  for (size_t k = 0; k < N_SIZES; k++) instances[k] = s->instances[k];
  assert_int_equal(clt_encoding_new(&one, clt_instance_space(s->unseen), NULL, NULL), 0);
  assert_int_equal(clt_encoding_new_over(&many, clt_instance_space(instances[0]), instances, N_SIZES, false, NULL), 0);
  assert_int_equal(many->n_inputs, one->n_inputs + 2);
  float x[16];
  clt_encoding_bind(many, s->instances[6]);
  clt_encode(many, 0, x);
  assert_float_equal(x[one->n_inputs], 1, 1e-6); /* the largest n */
  clt_encoding_free(one);
  clt_encoding_free(many);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(binding_changes_space_and_level), /* the first: before any other binds it */
      cmocka_unit_test(sizes_that_differ_are_inputs),
      cmocka_unit_test(a_size_never_seen_is_predicted),
      cmocka_unit_test(accuracy_is_that_on_sizes_left_out),
      cmocka_unit_test(auto_chooses_no_worse_than_trees),
      cmocka_unit_test(a_file_keeps_it_to_the_bit),
      cmocka_unit_test(a_model_of_one_size_is_for_that_size),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
