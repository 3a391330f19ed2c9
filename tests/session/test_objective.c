/* A session by another objective than time: the costs that searchers are told, the best, the winner in the end, and the
 * stored records. */
#include "measurement/measurement.h"
#include "stage.h"

/* Of the middle of the bowl, with another e. */
static clt_config with_e(const clt_space *space, int e) {
  char text[64];
  clt_config config;
  snprintf(text, sizeof text, "a=16 b=4 c=0 d=0 e=%d", e);
  assert_int_equal(clt_config_parse(&config, space, text, NULL), 0);
  return config;
}

static void search(struct stage *stage, const clt_space *space, const char *text) {
  begin(stage, space);
  clt_error error = {0};
  clt_objective_free(stage->session.loop.objective);
  if (clt_objective_new_for(&stage->session.loop.objective, space, NULL, 0, NULL, text, &error))
    fail_msg("%s", error.message);
  for (n_script = 0; n_script < 12; n_script++) script[n_script] = with_e(space, (int)n_script + 1);
  assert_int_equal(search_stage(stage, NULL), 0);
}

static void searchers_are_told_costs(void **state) {
  (void)state;
  clt_space *space = bench_space(false);
  struct stage stage;
  search(&stage, space, "maximise 1 / (time_s * e)");
  assert_int_equal(stage.searcher.n_told, 12);
  for (size_t i = 0; i < 12; i++) {
    clt_config config = stage.searcher.told[i];
    double e = clt_value_number(clt_space_value(space, config, 4)), cost = bench_bowl(space, config) * e;
    assert_true(fabs(stage.searcher.told_s[i] / cost - 1) < 1e-12);
  }
  assert_true(stage.result->best.config == with_e(space, 1));
  assert_true(stage.result->best.time_s == bench_bowl(space, with_e(space, 1))); /* a time stays one */
  end(&stage);
  clt_space_free(space);
}

static void what_has_no_value_is_told_as_failed_and_is_correct_all_the_same(void **state) {
  (void)state;
  clt_space *space = bench_space(false);
  struct stage stage;
  search(&stage, space, "minimise time_s / log(e - 3)");
  size_t n = 0;
  for (size_t i = 0; i < 12; i++) n += isnan(stage.searcher.told_s[i]);
  assert_int_equal(n, 4);
  assert_int_equal(stage.result->n_without_value, 4);
  assert_int_equal(stage.result->n_correct, 12);
  assert_int_equal(stage.session.n_ranked, 8);
  end(&stage);
  clt_space_free(space);
}

struct kinds {
  size_t n[CLT_RECORD_COMPARED + 1];
};

static int count_kind(void *user, clt_record_kind kind, const clt_measurement *m) {
  (void)m;
  ((struct kinds *)user)->n[kind]++;
  return 0;
}

static void the_winner_among_the_finalists_is_the_objectives(void **state) {
  static const struct {
    const char *text;
    int best;
    bool by_time;
  } cases[] = {{"time", 7, true}, {"minimise time_s * (20 - e)", 12, false}};
  (void)state;
  clt_space *space = bench_space(false);
  for (size_t i = 0; i < 2; i++) {
    struct stage stage;
    struct kinds kinds = {{0}};
    search(&stage, space, cases[i].text);
    assert_int_equal(clt_store_new(&stage.session.loop.store, "memory", NULL, NULL), 0);
    stage.session.loop.key = (clt_store_key){.problem = "p", .device = "d", .driver = "1"};
    stage.settings.finalists = 3;
    assert_int_equal(clt_session_finalists(&stage.session, NULL), 0);
    assert_true(stage.result->best.config == with_e(space, cases[i].best));
    assert_true(stage.result->best_is_finalist);
    assert_int_equal(
        clt_store_each(stage.session.loop.store, &stage.session.loop.key, space, count_kind, &kinds, NULL, NULL), 0);
    assert_int_equal(kinds.n[CLT_RECORD_FINALIST], cases[i].by_time ? 3 : 0);
    assert_int_equal(kinds.n[CLT_RECORD_COMPARED], cases[i].by_time ? 0 : 3);
    clt_store_free(stage.session.loop.store);
    end(&stage);
  }
  clt_space_free(space);
}

static void a_target_and_stagnation_are_the_objectives(void **state) {
  (void)state;
  clt_space *space = bench_space(false);
  struct stage stage;
  search(&stage, space, "maximise e / time_s");
  double best = clt_objective_value(stage.session.loop.objective, &stage.result->best);
  stage.settings.target = best * 1.01;
  assert_int_equal(clt_session_ending(&stage.session), CLT_NOT_ENDED);
  stage.settings.target = best * 0.99;
  assert_int_equal(clt_session_ending(&stage.session), CLT_ENDED_BY_TARGET);
  stage.settings.target = 0;
  stage.settings.stagnation = 1;
  clt_measurement m;
  clt_measurement_init(&m, with_e(space, 3));
  m.time_s = 1;
  double cost = stage.session.improved_cost;
  assert_int_equal(clt_session_count(&stage.session, m.config, cost / 2, &m, CLT_FROM_SESSION, NULL), 0);
  assert_int_equal(clt_session_ending(&stage.session), CLT_NOT_ENDED);
  cost = stage.session.improved_cost * 0.999; /* within the tolerance */
  assert_int_equal(clt_session_count(&stage.session, m.config, cost, &m, CLT_FROM_SESSION, NULL), 0);
  assert_int_equal(clt_session_ending(&stage.session), CLT_ENDED_BY_STAGNATION);
  end(&stage);
  clt_space_free(space);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(searchers_are_told_costs),
      cmocka_unit_test(what_has_no_value_is_told_as_failed_and_is_correct_all_the_same),
      cmocka_unit_test(the_winner_among_the_finalists_is_the_objectives),
      cmocka_unit_test(a_target_and_stagnation_are_the_objectives),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
