/* Finalists: interleaved rounds, and when they have decided. */
#include "pool_fixture.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>

#include "eval/rounds.h"

static void the_sign_test_is_exact(void **state) {
  (void)state;
  const double a[] = {1, 1, 1, 1, 1}, b[] = {2, 2, 2, 2, 2}, c[] = {2, 2, 2, 2, 0};
  assert_true(fabs(clt_sign_test(a, b, 5) - 1.0 / 32) < 1e-15);
  assert_true(fabs(clt_sign_test(a, c, 5) - 6.0 / 32) < 1e-15);
  assert_true(clt_sign_test(b, a, 5) == 1);
  assert_true(clt_sign_test(a, a, 5) == 1); /* ties say nothing */
  assert_true(clt_sign_test(a, b, 0) == 1);
}

/* n_rounds of two contenders; NULL: out. */
static bool decided(const double *a, const double *b, size_t n_rounds, double tolerance) {
  clt_standing standings[2];
  return clt_rounds_judge((clt_contender[]){{a, n_rounds}, {b, n_rounds}}, 2, tolerance, standings);
}

static void rounds_decide_by_lead_or_by_nearness(void **state) {
  (void)state;
  const double fast[] = {1.00, 1.01, 1.02, 1.00, 1.01}, near[] = {1.01, 1.02, 1.00, 1.02, 1.02};
  const double slow[] = {1.10, 1.12, 1.11, 1.13, 1.12}, wild[] = {0.90, 1.30, 0.95, 1.40, 1.35};
  assert_true(decided(fast, near, 5, 0.03));
  assert_true(decided(slow, fast, 5, 0.02));
  assert_false(decided(slow, fast, 4, 0.02)); /* 1 in 16 by chance */
  assert_false(decided(fast, wild, 5, 0.02));
  assert_true(decided(fast, wild, 5, 0.4));
  assert_true(decided(NULL, wild, 5, 0.02));
  assert_true(decided(NULL, NULL, 5, 0.02));
}

static void nearness_needs_medians_that_are_known(void **state) {
  (void)state;
  double noisy[100], other[100];
  for (int i = 0; i < 100; i++) {
    noisy[i] = 1 + 0.02 * (i % 11 - 5);
    other[i] = 1 + 0.02 * ((i + 3) % 11 - 5);
  }
  assert_false(decided(noisy, other, 11, 0.04)); /* equal medians, known to 3 % */
  assert_true(decided(noisy, other, 99, 0.04));
  assert_true(fabs(clt_median_error(noisy, 99) - 1.2533 * 1.4826 * 0.06 / sqrt(99)) < 1e-6);
  assert_true(isinf(clt_median_error(noisy, 1)));
}

static void who_is_beaten_may_come_back(void **state) {
  (void)state;
  double fast[20], slow[20];
  clt_standing standings[2];
  for (int i = 0; i < 20; i++) {
    fast[i] = 1 + 0.001 * i;
    slow[i] = 1.2 + 0.001 * i;
  }
  assert_true(clt_rounds_judge((clt_contender[]){{fast, 5}, {slow, 5}}, 2, 0.02, standings));
  assert_int_equal(standings[1], CLT_STANDING_BEHIND); /* 1 in 32 by chance */
  assert_true(clt_rounds_judge((clt_contender[]){{fast, 20}, {slow, 8}}, 2, 0.02, standings));
  assert_int_equal(standings[1], CLT_STANDING_BEHIND); /* 1 in 256, and others have the same chance */
  assert_true(clt_rounds_judge((clt_contender[]){{fast, 20}, {slow, 10}}, 2, 0.02, standings));
  assert_int_equal(standings[1], CLT_STANDING_BEATEN);
  for (int i = 0; i < 20; i++) fast[i] += 0.15;
  clt_rounds_judge((clt_contender[]){{fast, 20}, {slow, 10}}, 2, 0.1, standings);
  assert_int_equal(standings[1], CLT_STANDING_NEAR);
}

static void finalists_are_interleaved_verified_and_ranked_by_median(void **state) {
  fixture *f = *state;
  const clt_config configs[] = {300, 100, 200 + WRONG_ON_OTHER_DATA, 400, 500};
  const clt_compare_policy policy = {.min_rounds = 5, .max_rounds = 20, .max_total_s = 60, .tolerance = 0.02};
  clt_measurement m[5];
  clt_error error = {0};
  for (int quiet = 0; quiet < 2; quiet++) {
    clt_pool_setup setup = pool_setup(f);
    setup.quiet_builds = quiet;
    clt_pool *pool = open_pool(&setup);
    if (clt_pool_compare(pool, configs, 5, &policy, m, &error)) fail_msg("%s", error.message);
    for (size_t i = 0; i < 5; i++) {
      assert_true(m[i].config == configs[i]);
      expect(&m[i], i == 2 ? CLT_REASON_WRONG_OUTPUT : CLT_REASON_NONE);
      if (i == 2) continue;
      assert_int_equal(m[i].n_runs, 5); /* decided by then */
      assert_true(m[i].time_s == FAKE_TIME_S(configs[i]) && m[i].phases.build_s == 0.25);
    }
    release_all(m, 5);
    clt_pool_free(pool);
    assert_true(all_gone(f));
  }
  assert_int_equal(count_log(f, "verify"), 10);
  assert_int_equal(count_log(f, "make data"), 4); /* seeds 1 and 2, in both pools once */
}

static void a_finalist_that_fails_does_not_take_others_along(void **state) {
  fixture *f = *state;
  const clt_config configs[] = {100 + CRASH_TIME, 200 + CRASH_BUILD, 300, 400, 500 + CRASH_TIME, 600};
  const clt_compare_policy policy = {.min_rounds = 3, .max_rounds = 3, .max_total_s = 60};
  clt_measurement m[6];
  clt_error error = {0};
  clt_pool_setup setup = pool_setup(f);
  clt_pool *pool = open_pool(&setup);
  if (clt_pool_compare(pool, configs, 6, &policy, m, &error)) fail_msg("%s", error.message);
  expect(&m[0], CLT_REASON_RUN_CRASH);
  expect(&m[1], CLT_REASON_COMPILE_CRASH);
  expect(&m[4], CLT_REASON_RUN_CRASH);
  assert_true(isnan(m[0].time_s));
  const size_t good[] = {2, 3, 5};
  for (size_t i = 0; i < 3; i++) {
    expect(&m[good[i]], CLT_REASON_NONE);
    assert_int_equal(m[good[i]].n_runs, 3);
  }
  release_all(m, 6);
  clt_pool_free(pool);
  assert_true(all_gone(f));
}

static void the_time_limit_is_obeyed_after_any_round(void **state) {
  fixture *f = *state;
  const clt_compare_policy policy = {.min_rounds = 5, .max_rounds = 20, .max_total_s = 1e-9};
  clt_measurement m[3];
  clt_pool_setup setup = pool_setup(f);
  clt_pool *pool = open_pool(&setup);
  assert_int_equal(clt_pool_compare(pool, (clt_config[]){300, 100, 200}, 3, &policy, m, NULL), 0);
  for (size_t i = 0; i < 3; i++) {
    expect(&m[i], CLT_REASON_NONE);
    assert_int_equal(m[i].n_runs, 1);
    assert_true(m[i].time_s == FAKE_TIME_S(m[i].config));
  }
  assert_int_equal(count_log(f, "verify"), 3);
  release_all(m, 3);
  clt_pool_free(pool);
}

/* Sets `stop` when the fake workers' log has a line. */
typedef struct stopper {
  const fixture *f;
  const char *line;
  volatile int stop;
  double at_s;
} stopper;

static void *stop_at_line(void *user) {
  stopper *s = user;
  double until_s = clt_now_s() + 60;
  while (count_log(s->f, s->line) == 0 && clt_now_s() < until_s) sched_yield();
  s->at_s = clt_now_s();
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
    clt_compare_policy policy = {.min_rounds = 5, .max_rounds = 20, .stop = &s.stop};
    clt_pool_setup setup = pool_setup(f);
    clt_pool *pool = open_pool(&setup);
    assert_int_equal(pthread_create(&thread, NULL, stop_at_line, &s), 0);
    const clt_config configs[] = {100 + (clt_config)cases[i].deed, 200 + (clt_config)cases[i].deed, 300};
    assert_int_equal(clt_pool_compare(pool, configs, 3, &policy, m, &error), CLT_E_STOPPED);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(clt_now_s() - s.at_s < 5);                       /* far less than the deadlines */
    measure_all(pool, (clt_config[]){400, 500, 600, 700}, 4, m); /* nothing is left of it */
    for (size_t k = 0; k < 4; k++) expect(&m[k], CLT_REASON_NONE);
    release_all(m, 4);
    clt_pool_free(pool);
  }
}

static void an_error_leaves_no_request_behind(void **state) {
  fixture *f = *state;
  const clt_compare_policy policy = {.min_rounds = 1, .max_rounds = 1};
  clt_measurement m[4];
  clt_error error = {0};
  clt_pool_setup setup = pool_setup(f);
  setup.compile_timeout_s = 1;
  clt_pool *pool = open_pool(&setup);
  assert_int_equal(clt_pool_compare(pool, (clt_config[]){OWN_ERROR, HANG_BUILD}, 2, &policy, m, &error), CLT_E_OPENCL);
  measure_all(pool, (clt_config[]){100, HANG_BUILD, 300, 400}, 4, m); /* beyond the deadline of what hung */
  expect(&m[1], CLT_REASON_COMPILE_TIMEOUT);
  expect(&m[3], CLT_REASON_NONE);
  release_all(m, 4);
  clt_pool_free(pool);
}

static void searching_goes_on_after_a_comparison(void **state) {
  fixture *f = *state;
  const clt_compare_policy policy = {.min_rounds = 1, .max_rounds = 1};
  clt_measurement m[4];
  clt_pool_setup setup = pool_setup(f);
  clt_pool *pool = open_pool(&setup);
  measure_all(pool, (clt_config[]){100, 200, 300, 400}, 4, m);
  release_all(m, 4);
  assert_int_equal(clt_pool_compare(pool, (clt_config[]){100, 200}, 2, &policy, m, NULL), 0);
  release_all(m, 2);
  measure_all(pool, (clt_config[]){500, 600, 700, 800}, 4, m);
  release_all(m, 4);
  assert_int_equal(clt_pool_submit(pool, 100, 0, NULL), 0);
  assert_int_equal(clt_pool_compare(pool, (clt_config[]){100}, 1, &policy, m, NULL), CLT_E_ARGUMENT);
  clt_pool_free(pool);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_sign_test_is_exact),
      cmocka_unit_test(rounds_decide_by_lead_or_by_nearness),
      cmocka_unit_test(nearness_needs_medians_that_are_known),
      cmocka_unit_test(who_is_beaten_may_come_back),
      TEST(finalists_are_interleaved_verified_and_ranked_by_median),
      TEST(a_finalist_that_fails_does_not_take_others_along),
      TEST(the_time_limit_is_obeyed_after_any_round),
      TEST(a_stop_is_obeyed_while_something_hangs),
      TEST(an_error_leaves_no_request_behind),
      TEST(searching_goes_on_after_a_comparison),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
