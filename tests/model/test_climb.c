/* Climbing on a model instead of sweeping, and a model's importance of the parameters. */
#include "fitting.h"
#include "model/model.h"

static clt_model *models[8]; /* one of each type, as soon as one is asked for */

static const clt_model *fit_well(const struct setting *s, size_t type) {
  assert_true(type < sizeof models / sizeof *models);
  if (models[type] == NULL) models[type] = fit_named(s, clt_plugin_name(&clt_models, type), N, 1, 0, NULL, NULL);
  return models[type];
}

static int free_models(void **state) {
  for (size_t t = 0; t < sizeof models / sizeof *models; t++) clt_model_free(models[t]);
  return tear_down(state);
}

static void climbing_comes_near_what_a_sweep_finds(void **state) {
  const struct setting *s = *state;
  for (size_t t = 0; t < clt_n_plugins(&clt_models); t++) {
    const clt_model *model = fit_well(s, t);
    clt_config swept, climbed;
    clt_prediction best, p;
    size_t n;
    assert_int_equal(clt_model_best(&swept, &best, &n, model, 1, 0.5, NULL, 0, NULL), 0);
    assert_int_equal(clt_model_climb(model, 1, 0.5, 320, &climbed, &p, &n, NULL), 0);
    assert_int_equal(n, 1);
    assert_true(clt_space_contains(s->space, climbed));
    assert_true(p.log_cost >= best.log_cost && p.log_cost < best.log_cost + 0.05);
    clt_prediction again;
    assert_int_equal(clt_model_predict(&again, model, &climbed, 1, NULL), 0);
    assert_memory_equal(&p, &again, sizeof p);
  }
}

static void a_small_space_is_swept(void **state) {
  const struct setting *s = *state;
  clt_model *model = fit(s, 100);
  static clt_config swept[50], climbed[50];
  size_t n, m;
  uint64_t n_predictions = clt_space_valid(s->space);
  assert_int_equal(clt_model_best(swept, NULL, &n, model, 50, 0.5, NULL, 0, NULL), 0);
  assert_int_equal(clt_model_climb(model, 50, 0.5, n_predictions, climbed, NULL, &m, NULL), 0);
  assert_int_equal(n, 50);
  assert_int_equal(m, 50);
  assert_memory_equal(swept, climbed, sizeof swept);
  clt_model_free(model);
}

static void few_predictions_give_few_answers(void **state) {
  const struct setting *s = *state;
  clt_model *model = fit(s, 100);
  clt_config out[20];
  size_t n = 0;
  assert_int_equal(clt_model_climb(model, 20, 0.5, 7, out, NULL, &n, NULL), 0);
  assert_int_equal(n, 7);
  clt_model_free(model);
}

static double importance_of(const clt_space *space, const double *importance, const char *name) {
  return importance[clt_space_find_parameter(space, name)];
}

/* The work-group's sides make most of the landscape, padding next to nothing, and a constant nothing at all. */
static void what_matters_is_known_to_all_models(void **state) {
  const struct setting *s = *state;
  for (size_t t = 0; t < clt_n_plugins(&clt_models); t++) {
    const clt_model *model = fit_well(s, t);
    double importance[16], sum = 0;
    assert_int_equal(clt_model_importance(model, importance, NULL), 0);
    for (size_t p = 0; p < clt_space_n_parameters(s->space); p++) {
      assert_true(importance[p] >= 0 && importance[p] < 1.1);
      sum += importance[p];
    }
    assert_true(sum > 0.95);
    assert_true(importance_of(s->space, importance, "wg_x") > 0.3);
    assert_true(importance_of(s->space, importance, "wg_y") > 0.2);
    assert_true(importance_of(s->space, importance, "pad") < 0.05);
    assert_true(importance_of(s->space, importance, "radius") == 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(climbing_comes_near_what_a_sweep_finds),
      cmocka_unit_test(a_small_space_is_swept),
      cmocka_unit_test(few_predictions_give_few_answers),
      cmocka_unit_test(what_matters_is_known_to_all_models),
  };
  return cmocka_run_group_tests(tests, set_up, free_models);
}
