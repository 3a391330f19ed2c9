/* Sessions that begin with something: in which order it is told, and the additions of a model. */
#include "clatune/model.h"
#include "../model/row.h"
#include "stage.h"
#include "search/search.h"

static void the_searcher_is_told_in_the_order_of_the_list(void **state) {
  (void)state;
  clt_space *space = bench_space(false);
  struct stage stage;
  begin(&stage, space);
  clt_config begun[6];
  for (size_t i = 0; i < 6; i++) begun[i] = clt_space_at(space, 900 - 101 * i);
  n_script = 1;
  script[0] = clt_space_at(space, 7);
  stage.warm_start = begun;
  stage.n_warm_start = 6;
  assert_int_equal(search_stage(&stage, NULL), 0);
  assert_int_equal(stage.searcher.n_told, 7); /* although the evaluator answers the newest first */
  for (size_t i = 0; i < 6; i++) {
    assert_true(stage.searcher.told[i] == begun[i]);
    assert_true(stage.searcher.told_s[i] == bench_bowl(space, begun[i]));
  }
  assert_int_equal(stage.result->evaluations, 7);
  end(&stage);
  clt_space_free(space);
}

static clt_model *fit(const clt_space *space) {
  enum { N = 300 };
  row rows[N];
  clt_model *model = NULL;
  clt_error error = {0};
  for (size_t i = 0; i < N; i++) {
    clt_config config = clt_space_at(space, i * 997 % clt_space_valid(space));
    rows[i] = (row){.config = config, .time_s = bench_bowl(space, config)};
  }
  if (fit_rows(&model, "ensemble", NULL, 0, space, NULL, rows, N, 1, 1, &error)) fail_msg("%s", error.message);
  return model;
}

static clt_tune_result *tune(const clt_space *space, const clt_model *model, const char *searcher, int64_t budget) {
  static const clt_setting objective = {"noise", "0"};
  clt_tune_settings settings;
  clt_tune_result *result;
  clt_error error = {0};
  clt_tune_settings_init(&settings);
  settings.space = space;
  settings.evaluator = "synthetic";
  settings.evaluator_settings = &objective;
  settings.n_evaluator_settings = 1;
  settings.searcher = searcher;
  settings.model = model;
  settings.budget = budget;
  settings.threads = 1;
  settings.finalists = 0;
  if (clt_tune_run(&result, &settings, &error)) fail_msg("%s", error.message);
  return result;
}

static void a_model_is_a_source_for_who_transfers(void **state) {
  (void)state;
  clt_space *space = bench_space(true);
  clt_model *model = fit(space);
  const char *const searchers[] = {"random", "surrogate"};
  for (size_t i = 0; i < 2; i++) {
    clt_tune_result *result = tune(space, model, searchers[i], 10);
    assert_int_equal(result->n_sources, i == 1);
    assert_false(result->comparable);
    clt_tune_result_free(result);
  }
  clt_model_free(model);
  clt_space_free(space);
}

static void no_evaluation_is_wasted_whatever_the_searcher(void **state) {
  (void)state;
  clt_space *space = bench_space(true);
  clt_model *model = fit(space);
  for (size_t i = 0; i < clt_n_plugins(&clt_searchers); i++) {
    for (int64_t budget = 3; budget <= 24; budget *= 2) {
      clt_tune_result *result = tune(space, model, clt_plugin_name(&clt_searchers, i), budget);
      assert_int_equal(result->evaluations, budget);
      assert_int_equal(result->measured, budget);
      clt_tune_result_free(result);
    }
  }
  clt_model_free(model);
  clt_space_free(space);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_searcher_is_told_in_the_order_of_the_list),
      cmocka_unit_test(a_model_is_a_source_for_who_transfers),
      cmocka_unit_test(no_evaluation_is_wasted_whatever_the_searcher),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
