/* Parts of a session: aliases, and the reuse of records. */
#include "stage.h"

static void an_alias_gets_the_result_of_what_it_stands_for(void **state) {
  (void)state;
  clt_space *space = bench_space(true);
  struct stage stage;
  clt_config alias = config_of(space, "a=4 b=4 c=1 d=1 e=5"), real = config_of(space, "a=4 b=4 c=1 d=0 e=5");
  clt_config other = config_of(space, "a=8 b=4 c=0 d=0 e=5");
  begin(&stage, space);
  /* twice at once, and once after it was answered */
  script[0] = alias, script[1] = real, script[2] = other, script[3] = alias;
  n_script = 4;
  stage.settings.batch = 3;
  assert_int_equal(search_stage(&stage, NULL), 0);
  assert_int_equal(stage.evaluator.n_submitted, 2);
  assert_int_equal(stage.result->evaluations, 4);
  assert_int_equal(stage.result->measured, 2);
  assert_int_equal(stage.result->aliased, 2);
  assert_int_equal(stage.searcher.n_told, 4);
  assert_int_equal(stage.session.n_ranked, 2);
  int n_alias = 0;
  for (size_t i = 0; i < 4; i++) {
    if (stage.searcher.told[i] != other) assert_true(stage.searcher.told_s[i] == bench_bowl(space, real));
    n_alias += stage.searcher.told[i] == alias;
  }
  assert_int_equal(n_alias, 2);
  end(&stage);
  clt_space_free(space);
}

static void a_searcher_that_leaves_the_space_is_an_error(void **state) {
  (void)state;
  clt_space *space = bench_space(false);
  struct stage stage;
  clt_error error = {0};
  begin(&stage, space);
  script[0] = config_of(space, "a=128 b=128 c=0 d=0 e=1");
  n_script = 1;
  assert_int_equal(search_stage(&stage, &error), CLT_E_ARGUMENT);
  assert_non_null(strstr(error.message, "scripted"));
  assert_int_equal(stage.evaluator.n_submitted, 0);
  end(&stage);
  clt_space_free(space);
}

static void add_failure(clt_store *store, const clt_store_key *key, const clt_space *space, clt_config config,
                        clt_record_kind kind, clt_reason reason) {
  clt_measurement m;
  clt_measurement_init(&m, config);
  clt_measurement_fail(&m, reason, "signal 11");
  assert_int_equal(clt_store_add(store, key, space, kind, &m, NULL), 0);
  clt_measurement_release(&m);
}

static void add_record(clt_store *store, const clt_store_key *key, const clt_space *space, clt_config config,
                       clt_record_kind kind, double time_s) {
  clt_measurement m;
  clt_measurement_init(&m, config);
  m.time_s = m.runs_s[0] = time_s;
  m.n_runs = 1;
  assert_int_equal(clt_store_add(store, key, space, kind, &m, NULL), 0);
  clt_measurement_release(&m);
}

static void the_newest_search_record_is_used_failures_too(void **state) {
  (void)state;
  clt_space *space = bench_space(false);
  clt_store *store;
  clt_store_key key = {.problem = "p", .device = "d", .driver = "1"};
  clt_config a = clt_space_at(space, 3), b = clt_space_at(space, 4), c = clt_space_at(space, 5);
  clt_known known = {0};
  clt_measurement m;
  assert_int_equal(clt_store_new(&store, "memory", NULL, NULL), 0);
  add_record(store, &key, space, a, CLT_RECORD_SEARCH, 2);
  add_record(store, &key, space, a, CLT_RECORD_SEARCH, 1.5);
  add_record(store, &key, space, a, CLT_RECORD_FINALIST, 9);
  add_failure(store, &key, space, b, CLT_RECORD_SEARCH, CLT_REASON_RUN_CRASH);
  add_record(store, &key, space, c, CLT_RECORD_FINALIST, 9);
  assert_int_equal(clt_known_load(&known, store, &key, space, false, NULL), 0);
  assert_int_equal(clt_known_take(&known, a, &m), CLT_FROM_STORE);
  assert_true(m.time_s == 1.5 && m.n_runs == 1 && m.config == a);
  clt_measurement_release(&m);
  assert_int_equal(clt_known_take(&known, a, &m), CLT_FROM_SESSION);
  assert_true(m.time_s == 1.5);
  clt_measurement_release(&m);
  assert_int_equal(clt_known_take(&known, b, &m), CLT_FROM_STORE);
  assert_int_equal(m.reason, CLT_REASON_RUN_CRASH);
  clt_measurement_release(&m);
  assert_int_equal(clt_known_take(&known, c, &m), CLT_NOT_KNOWN);
  clt_known_release(&known);
  clt_store_free(store);
  clt_space_free(space);
}

static clt_measurement take(clt_known *known, clt_config config) {
  clt_measurement m;
  assert_int_equal(clt_known_take(known, config, &m), CLT_FROM_STORE);
  return m;
}

static void what_failed_as_a_finalist_has_failed(void **state) {
  (void)state;
  clt_space *space = bench_space(false);
  clt_store *store;
  clt_store_key key = {.problem = "p", .device = "d", .driver = "1"};
  clt_config failed = clt_space_at(space, 3), crowded = clt_space_at(space, 4), fresh = clt_space_at(space, 5);
  clt_known known = {0};
  assert_int_equal(clt_store_new(&store, "memory", NULL, NULL), 0);
  for (uint64_t rank = 3; rank <= 5; rank++)
    add_record(store, &key, space, clt_space_at(space, rank), CLT_RECORD_SEARCH, 1);
  add_failure(store, &key, space, failed, CLT_RECORD_FINALIST, CLT_REASON_WRONG_OUTPUT);
  add_failure(store, &key, space, crowded, CLT_RECORD_FINALIST, CLT_REASON_OUT_OF_MEMORY);
  add_failure(store, &key, space, fresh, CLT_RECORD_FINALIST, CLT_REASON_WRONG_OUTPUT);
  add_record(store, &key, space, fresh, CLT_RECORD_SEARCH, 2);
  assert_int_equal(clt_known_load(&known, store, &key, space, false, NULL), 0);
  clt_measurement m = take(&known, failed);
  assert_int_equal(m.reason, CLT_REASON_WRONG_OUTPUT);
  clt_measurement_release(&m);
  m = take(&known, crowded);
  assert_true(clt_measurement_correct(&m) && m.time_s == 1);
  clt_measurement_release(&m);
  m = take(&known, fresh);
  assert_true(clt_measurement_correct(&m) && m.time_s == 2);
  clt_measurement_release(&m);
  clt_known_release(&known);
  clt_store_free(store);
  clt_space_free(space);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_alias_gets_the_result_of_what_it_stands_for),
      cmocka_unit_test(a_searcher_that_leaves_the_space_is_an_error),
      cmocka_unit_test(the_newest_search_record_is_used_failures_too),
      cmocka_unit_test(what_failed_as_a_finalist_has_failed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
