/* Resources of a problem as inputs of the models. */
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

#include "fann_run.h"
#include "model/model.h"
#include "problem/guidance.h"
#include "row.h"

#define N 300

static const char text[] =
    "{\"ConfigurationSpace\": {\"TuningParameters\": ["
    "  {\"Name\": \"unroll\", \"Type\": \"int\", \"Values\": \"[1, 2, 4, 8]\"},"
    "  {\"Name\": \"wg_x\", \"Type\": \"int\", \"Values\": \"[2**i for i in range(8)]\"},"
    "  {\"Name\": \"order\", \"Type\": \"string\", \"Values\": \"['rows', 'tiles', 'morton']\"},"
    "  {\"Name\": \"wg_y\", \"Type\": \"int\", \"Values\": \"[2**i for i in range(8)]\"},"
    "  {\"Name\": \"ppt\", \"Type\": \"int\", \"Values\": \"[1, 2, 3, 4, 6, 8]\"},"
    "  {\"Name\": \"use_local\", \"Type\": \"bool\", \"Values\": [0, 1]},"
    "  {\"Name\": \"pad\", \"Type\": \"bool\", \"Values\": [0, 1]}]},"
    "\"KernelSpecification\": {\"KernelName\": \"k\", \"KernelFile\": \"none.cl\","
    " \"GlobalSize\": [4096, 4096], \"LocalSize\": [\"wg_x\", \"wg_y\"], \"Arguments\": [],"
    " \"Resources\": {\"WorkGroupSize\": \"wg_x * wg_y\", \"Fixed\": \"3 * 4\", \"Fill\": \"1 // (wg_x - 1)\","
    "  \"LocalMemoryBytes\": \"4 * use_local * (wg_x * ppt + 4) * (wg_y + 4)\"}}}";

struct setting {
  char folder[64], path[96];
  clt_problem *problem;
  clt_instance *instance;
  const clt_space *space;
  row rows[N];
};

static double value(const struct setting *s, clt_config config, const char *name) {
  return clt_value_number(clt_space_value(s->space, config, (size_t)clt_space_find_parameter(s->space, name)));
}

static bool fails(const struct setting *s, clt_config c) {
  return value(s, c, "use_local") * (value(s, c, "wg_x") * value(s, c, "ppt") + 4) * (value(s, c, "wg_y") + 4) > 4096;
}

static void fill_rows(struct setting *s) {
  clt_config configs[N];
  clt_rng rng;
  clt_rng_init(&rng, 2);
  assert_int_equal(clt_space_sample(configs, s->space, &rng, N, NULL), N);
  for (size_t i = 0; i < N; i++) {
    double group = log2(value(s, configs[i], "wg_x") * value(s, configs[i], "wg_y"));
    double log_cost = 0.1 * (group - 7) * (group - 7) + 0.1 * value(s, configs[i], "pad");
    s->rows[i] = (row){configs[i], exp(log_cost), fails(s, configs[i])};
  }
}

static int set_up(void **state) {
  struct setting *s = calloc(1, sizeof *s);
  strcpy(s->folder, "/tmp/clatune-resources-XXXXXX");
  if (mkdtemp(s->folder) == NULL) return -1;
  snprintf(s->path, sizeof s->path, "%s/p.json", s->folder);
  FILE *file = fopen(s->path, "w");
  if (file == NULL || fputs(text, file) < 0 || fclose(file)) return -1;
  clt_error error = {0};
  int rc = clt_problem_new(&s->problem, s->path, &error);
  if (!rc) rc = clt_instance_new(&s->instance, s->problem, NULL, 0, NULL, &error);
  if (rc) return fprintf(stderr, "%s\n", error.message), -1;
  s->space = clt_instance_space(s->instance);
  fill_rows(s);
  *state = s;
  return 0;
}

static int tear_down(void **state) {
  struct setting *s = *state;
  remove(s->path);
  rmdir(s->folder);
  clt_instance_free(s->instance);
  clt_problem_free(s->problem);
  free(s);
  return 0;
}

static clt_model *fit(const struct setting *s, const char *resources) {
  const clt_setting settings[] = {{"resources", resources}, {"iterations", "300"}};
  clt_model *model = NULL;
  clt_error error = {0};
  if (fit_rows(&model, "ensemble", settings, 2, s->space, s->instance, s->rows, N, 1, 0, &error))
    fail_msg("%s", error.message);
  return model;
}

static void resources_are_further_inputs_but_constants_are_not(void **state) {
  struct setting *s = *state;
  clt_encoding *with = NULL, *without = NULL;
  assert_int_equal(clt_encoding_new(&with, s->space, s->instance, NULL), 0);
  assert_int_equal(clt_encoding_new(&without, s->space, NULL, NULL), 0);
  assert_int_equal(with->n_inputs, without->n_inputs + 3); /* "Fixed" tells nothing */
  clt_config low, high;
  assert_int_equal(clt_config_parse(&low, s->space, "unroll=1 wg_x=1 order=rows wg_y=1 ppt=1 use_local=0 pad=0", NULL),
                   0);
  assert_int_equal(
      clt_config_parse(&high, s->space, "unroll=1 wg_x=128 order=rows wg_y=128 ppt=1 use_local=0 pad=0", NULL), 0);
  float a[3], b[3];
  clt_encode_resources(with, low, a);
  clt_encode_resources(with, high, b);
  for (size_t r = 0; r < 3; r++) {
    const char *name = clt_instance_resource_name(s->instance, with->resources[r].index);
    if (strcmp(name, "WorkGroupSize") == 0) assert_true(a[r] == -1 && b[r] == 1 && with->resources[r].log2);
    if (strcmp(name, "Fill") == 0) assert_float_equal(a[r], 0, 0); /* 1 // 0 has no value */
    if (strcmp(name, "LocalMemoryBytes") == 0) assert_true(a[r] == -1 && b[r] == -1 && with->resources[r].log2);
  }
  clt_encoding_free(with);
  clt_encoding_free(without);
}

static void only_parameters_without_resources_are_in_the_table(void **state) {
  struct setting *s = *state;
  clt_model *with = fit(s, "yes"), *without = fit(s, "no");
  const clt_ensemble *e = with->state, *f = without->state;
  assert_int_equal(e->shape.n_inputs, f->shape.n_inputs + 3);
  assert_int_equal(e->split.n_rows, 4 * 3 * 2); /* unroll, order, pad */
  assert_true(f->split.n_rows > 24);
  clt_model_free(with);
  clt_model_free(without);
}

static int compare_with_fann(void *user, uint64_t first, size_t n, const clt_prediction *p) {
  const clt_model *model = user;
  for (size_t i = 0; i < n; i += 53) {
    clt_config config = clt_space_at(model->space, first + i);
    clt_prediction alone, networks;
    assert_int_equal(model->type->predict(model->state, &config, 1, false, &networks, NULL), 0);
    assert_true(fabs(networks.log_cost - fann_log_cost(model->state, config, NULL)) < 1e-4);
    assert_int_equal(clt_model_predict(&alone, model, &config, 1, NULL), 0);
    assert_memory_equal(&alone, &p[i], sizeof alone);
  }
  return 0;
}

static void the_sweep_with_resources_agrees_with_fann_run(void **state) {
  struct setting *s = *state;
  clt_model *model = fit(s, "yes");
  assert_int_equal(clt_model_sweep(model, compare_with_fann, model, NULL), 0);
  clt_model_free(model);
}

static void limits_on_products_are_learnt(void **state) {
  struct setting *s = *state;
  clt_model *model = fit(s, "yes");
  size_t wrong = 0, failed = 0;
  for (uint64_t rank = 0; rank < clt_space_valid(s->space); rank += 41) {
    clt_config config = clt_space_at(s->space, rank);
    clt_prediction p;
    assert_int_equal(clt_model_predict(&p, model, &config, 1, NULL), 0);
    wrong += (p.p_valid < 0.5) != fails(s, config);
    failed += fails(s, config);
  }
  assert_true(failed > 30 && wrong * 30 < clt_space_valid(s->space) / 41);
  clt_model_free(model);
}

static void a_model_file_needs_the_same_resources(void **state) {
  struct setting *s = *state;
  clt_model *model = fit(s, "yes"), *back = NULL;
  char path[128];
  snprintf(path, sizeof path, "%s/m", s->folder);
  clt_error error = {0};
  assert_int_equal(clt_model_save(model, path, NULL), 0);
  assert_int_equal(clt_model_new_saved(&back, s->space, NULL, path, &error), CLT_E_FORMAT);
  assert_int_equal(clt_model_new_saved(&back, s->space, s->instance, path, NULL), 0);
  for (size_t i = 0; i < N; i++) {
    clt_prediction a, b;
    assert_int_equal(clt_model_predict(&a, model, &s->rows[i].config, 1, NULL), 0);
    assert_int_equal(clt_model_predict(&b, back, &s->rows[i].config, 1, NULL), 0);
    assert_memory_equal(&a, &b, sizeof a);
  }
  clt_model_free(model);
  clt_model_free(back);
  remove(path);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(resources_are_further_inputs_but_constants_are_not),
      cmocka_unit_test(only_parameters_without_resources_are_in_the_table),
      cmocka_unit_test(the_sweep_with_resources_agrees_with_fann_run),
      cmocka_unit_test(limits_on_products_are_learnt),
      cmocka_unit_test(a_model_file_needs_the_same_resources),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
