/* Finalists: kept prepared in a pool, and timed again. */
#include "pool_fixture.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>

static const size_t all[] = {0, 1, 2, 3, 4, 5};

static void finalists_are_kept_verified_and_timed(void **state) {
  fixture *f = *state;
  const clt_config configs[] = {300, 100, 200 + WRONG_ON_OTHER_DATA, 400, 500};
  clt_measurement m[5];
  clt_error error = {0};
  for (int quiet = 0; quiet < 2; quiet++) {
    clt_pool_setup setup = pool_setup(f);
    setup.quiet_builds = quiet;
    clt_pool *pool = open_pool(&setup);
    if (clt_pool_keep(pool, configs, 5, m, &error)) fail_msg("%s", error.message);
    for (size_t i = 0; i < 5; i++) {
      assert_true(m[i].config == configs[i] && m[i].n_runs == 0);
      expect(&m[i], i == 2 ? CLT_REASON_WRONG_OUTPUT : CLT_REASON_NONE);
      assert_true(m[i].phases.build_s == 0.25);
    }
    release_all(m, 5);
    for (size_t n_runs = 1; n_runs < 4; n_runs++) {
      if (clt_pool_time_again(pool, all, 5, n_runs, m, &error)) fail_msg("%s", error.message);
      for (size_t i = 0; i < 5; i++) {
        expect(&m[i], i == 2 ? CLT_REASON_WRONG_OUTPUT : CLT_REASON_NONE);
        assert_true(i == 2 || (m[i].n_runs == n_runs && m[i].time_s == FAKE_TIME_S(configs[i])));
      }
      release_all(m, 5);
    }
    assert_int_equal(clt_pool_time_again(pool, (size_t[]){5}, 1, 1, m, NULL), CLT_E_ARGUMENT);
    close_pool(pool);
    assert_true(all_gone(f));
  }
  assert_int_equal(count_log(f, "verify"), 10);
  assert_int_equal(count_log(f, "make data"), 4); /* seeds 1 and 2, in both pools once */
}

static void what_is_kept_is_not_prepared_anew(void **state) {
  fixture *f = *state;
  clt_measurement m[3];
  clt_pool_setup setup = pool_setup(f);
  clt_pool *pool = open_pool(&setup);
  assert_int_equal(clt_pool_keep(pool, (clt_config[]){300, 100, 200}, 3, m, NULL), 0);
  release_all(m, 3);
  assert_int_equal(clt_pool_keep(pool, (clt_config[]){200, 300, 400}, 3, m, NULL), 0);
  release_all(m, 3);
  assert_int_equal(count_log(f, "verify"), 4);
  assert_int_equal(clt_pool_time_again(pool, all, 3, 1, m, NULL), 0);
  const clt_config expected[] = {200, 300, 400};
  for (size_t i = 0; i < 3; i++) assert_true(m[i].config == expected[i] && m[i].time_s == FAKE_TIME_S(expected[i]));
  release_all(m, 3);
  close_pool(pool);
}

static void who_is_to_be_timed_unbound_is(void **state) {
  fixture *f = *state;
  clt_measurement m[2];
  bool unbound = false;
  clt_pool_setup setup = pool_setup(f);
  setup.evaluator.unbound = &unbound;
  clt_pool *pool = open_pool(&setup);
  assert_int_equal(clt_pool_keep(pool, (clt_config[]){300, 100}, 2, m, NULL), 0);
  release_all(m, 2);
  for (size_t round = 0; round < 2; round++, unbound = true) {
    assert_int_equal(clt_pool_time_again(pool, all, 2, 1, m, NULL), 0);
    release_all(m, 2);
    assert_int_equal(count_log(f, "unbound"), 2 * round);
  }
  close_pool(pool);
}

static void a_finalist_that_fails_does_not_take_others_along(void **state) {
  fixture *f = *state;
  const clt_config configs[] = {100 + CRASH_TIME, 200 + CRASH_BUILD, 300, 400, 500 + CRASH_TIME, 600};
  clt_measurement m[6];
  clt_error error = {0};
  clt_pool_setup setup = pool_setup(f);
  clt_pool *pool = open_pool(&setup);
  if (clt_pool_keep(pool, configs, 6, m, &error)) fail_msg("%s", error.message);
  for (size_t i = 0; i < 6; i++) expect(&m[i], i == 1 ? CLT_REASON_COMPILE_CRASH : CLT_REASON_NONE);
  release_all(m, 6);
  for (int round = 0; round < 3; round++) {
    if (clt_pool_time_again(pool, all, 6, 1, m, &error)) fail_msg("%s", error.message);
    expect(&m[0], CLT_REASON_RUN_CRASH);
    expect(&m[1], CLT_REASON_COMPILE_CRASH);
    expect(&m[4], CLT_REASON_RUN_CRASH);
    assert_true(isnan(m[0].time_s));
    for (size_t i = 0; i < 6; i++) assert_true(m[i].n_runs == 1 || m[i].reason != CLT_REASON_NONE);
    release_all(m, 6);
  }
  close_pool(pool);
  assert_true(all_gone(f));
}

/* Sets `stop` when the fake workers' log has a line. */
typedef struct stopper {
  const fixture *f;
  const char *line;
  volatile int stop;
} stopper;

static void *stop_at_line(void *user) {
  stopper *s = user;
  double until_s = clt_now_s() + 60;
  while (count_log(s->f, s->line) == 0 && clt_now_s() < until_s) sched_yield();
  __atomic_store_n(&s->stop, 1, __ATOMIC_RELAXED);
  return NULL;
}

static void a_stop_is_obeyed_while_something_hangs(void **state) {
  static const struct {
    int deed;
    const char *line;
  } cases[] = {{HANG_BUILD, "prepare begins"}, {HANG_RUN, "launch begins"}, {HANG_TIME, "time begins"}};
  fixture *f = *state;
  for (size_t i = 0; i < 3; i++) {
    clt_measurement m[4];
    clt_error error = {0};
    pthread_t thread;
    unlink(f->log);
    stopper s = {.f = f, .line = cases[i].line};
    clt_pool_setup setup = pool_setup(f);
    setup.evaluator.stop = &s.stop;
    clt_pool *pool = open_pool(&setup);
    assert_int_equal(pthread_create(&thread, NULL, stop_at_line, &s), 0);
    const clt_config configs[] = {100 + (clt_config)cases[i].deed, 200 + (clt_config)cases[i].deed, 300};
    int rc = clt_pool_keep(pool, configs, 3, m, &error);
    if (rc == 0) release_all(m, 3);
    if (rc == 0) rc = clt_pool_time_again(pool, all, 3, 1, m, &error);
    assert_int_equal(rc, CLT_E_STOPPED);
    assert_int_equal(pthread_join(thread, NULL), 0);
    s.stop = 0;
    measure_all(pool, (clt_config[]){400, 500, 600, 700}, 4, m); /* nothing is left of it */
    for (size_t k = 0; k < 4; k++) expect(&m[k], CLT_REASON_NONE);
    release_all(m, 4);
    close_pool(pool);
  }
}

static void who_may_take_so_long_is_ended_then(void **state) {
  fixture *f = *state;
  clt_measurement m;
  clt_pool_setup setup = pool_setup(f);
  setup.evaluator.limit_s = 0.3;
  setup.compile_timeout_s = setup.run_timeout_s = setup.host_timeout_s = 1e6;
  clt_pool *pool = open_pool(&setup);
  const clt_config configs[] = {100 + HANG_RUN};
  assert_int_equal(clt_pool_keep(pool, configs, 1, &m, NULL), CLT_E_AGAIN);
  close_pool(pool);
}

static void an_error_leaves_no_request_behind(void **state) {
  fixture *f = *state;
  clt_measurement m[4];
  clt_error error = {0};
  clt_pool_setup setup = pool_setup(f);
  setup.compile_timeout_s = 1;
  clt_pool *pool = open_pool(&setup);
  assert_int_equal(clt_pool_keep(pool, (clt_config[]){OWN_ERROR, HANG_BUILD}, 2, m, &error), CLT_E_OPENCL);
  measure_all(pool, (clt_config[]){100, HANG_BUILD, 300, 400}, 4, m); /* beyond the deadline of the hanging one */
  expect(&m[1], CLT_REASON_COMPILE_TIMEOUT);
  expect(&m[3], CLT_REASON_NONE);
  release_all(m, 4);
  close_pool(pool);
}

static void searching_goes_on_after_finalists(void **state) {
  fixture *f = *state;
  clt_measurement m[4];
  clt_pool_setup setup = pool_setup(f);
  clt_pool *pool = open_pool(&setup);
  measure_all(pool, (clt_config[]){100, 200, 300, 400}, 4, m);
  release_all(m, 4);
  assert_int_equal(clt_pool_keep(pool, (clt_config[]){100, 200}, 2, m, NULL), 0);
  release_all(m, 2);
  measure_all(pool, (clt_config[]){500, 600, 700, 800}, 4, m);
  release_all(m, 4);
  assert_int_equal(clt_pool_submit(pool, 100, 0, NULL), 0);
  assert_int_equal(clt_pool_keep(pool, (clt_config[]){100}, 1, m, NULL), CLT_E_ARGUMENT);
  close_pool(pool);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(finalists_are_kept_verified_and_timed),
      TEST(what_is_kept_is_not_prepared_anew),
      TEST(who_is_to_be_timed_unbound_is),
      TEST(a_finalist_that_fails_does_not_take_others_along),
      TEST(a_stop_is_obeyed_while_something_hangs),
      TEST(who_may_take_so_long_is_ended_then),
      TEST(an_error_leaves_no_request_behind),
      TEST(searching_goes_on_after_finalists),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
