/* A tuning over several devices: work is spread, all use the first device's times, failing devices are left out. */
#include "pool_fixture.h"
#include "worker/pools.h"

#define N 3

typedef struct spread {
  clt_pools pools;
  json_t *opens[N];
  char said[2000];
} spread;

static void append(void *user, clt_log_level level, const char *text) {
  if (level == CLT_LOG_WARNING) strcat(strcat(user, text), "\n");
}

/* slowness, holiday: of the i-th device's workers. */
static spread *open_spread(const fixture *f, size_t n, const double *slowness, const bool *holiday) {
  clt_pool_setup setups[N];
  clt_error error = {0};
  spread *s = calloc(1, sizeof *s);
  assert_non_null(s);
  for (size_t i = 0; i < n; i++) {
    s->opens[i] = json_pack("{s:s, s:f, s:b}", "request", "open", "slowness", slowness[i], "holiday", holiday[i]);
    setups[i] = pool_setup(f);
    setups[i].quiet_builds = false;
    snprintf(setups[i].lock_key, sizeof setups[i].lock_key, "gpu-%zu", i + 1);
    setups[i].open = s->opens[i];
    setups[i].evaluator.log = append;
    setups[i].evaluator.log_user = s->said;
    snprintf(setups[i].label, sizeof setups[i].label, "0:%zu", i);
  }
  if (clt_pools_open(&s->pools, setups, n, GOOD, &error)) fail_msg("%s", error.message);
  return s;
}

static void close_spread(spread *s) {
  clt_pools_close(&s->pools);
  clt_pools_close(&s->pools); /* does nothing */
  for (size_t i = 0; i < N; i++) json_decref(s->opens[i]);
  free(s);
}

/* Measures n configurations, of which out[i] belongs to configs[i], each delivered once. */
static int measure_on_all(spread *s, const clt_config *configs, size_t n, clt_measurement *out, clt_error *error) {
  size_t submitted = 0, received = 0;
  for (size_t i = 0; i < n; i++) clt_measurement_init(&out[i], CLT_CONFIG_NONE);
  while (received < n) {
    clt_measurement m;
    size_t i = 0;
    for (; submitted < n && submitted - received < s->pools.capacity; submitted++)
      assert_int_equal(clt_pools_submit(&s->pools, configs[submitted], 0, NULL), 0);
    int rc = clt_pools_wait(&s->pools, &m, 60, error);
    if (rc) return rc;
    while (i < n && configs[i] != m.config) i++;
    assert_true(i < n && out[i].config == CLT_CONFIG_NONE);
    out[i] = m;
    received++;
  }
  return 0;
}

/* Measures the configuration by which all are compared, and waits until all know how fast they are. */
static void compare_all(spread *s) {
  clt_measurement m;
  assert_int_equal(measure_on_all(s, (clt_config[]){GOOD}, 1, &m, NULL), 0);
  assert_true(m.config == GOOD && m.time_s == FAKE_TIME_S(GOOD));
  clt_measurement_release(&m);
  for (size_t i = 0; i < s->pools.n; i++)
    while (s->pools.devices[i].stage < CLT_POOLS_READY)
      assert_int_equal(clt_pools_wait(&s->pools, &m, 0, NULL), CLT_E_AGAIN);
}

static void number_all(clt_config *configs, size_t n) {
  for (size_t i = 0; i < n; i++) configs[i] = 100 * (i + 1) + GOOD;
}

static void work_is_spread_and_data_are_made_once(void **state) {
  fixture *f = *state;
  clt_config configs[24];
  clt_measurement m[24];
  spread *s = open_spread(f, 3, (double[]){1, 1, 1}, (bool[]){false, false, false});
  compare_all(s);
  number_all(configs, 24);
  assert_int_equal(measure_on_all(s, configs, 24, m, NULL), 0);
  for (size_t i = 0; i < 24; i++) assert_true(m[i].time_s == FAKE_TIME_S(configs[i]));
  for (size_t i = 0; i < 3; i++) assert_true(s->pools.devices[i].pool.n_builds > 2); /* two fit before any is done */
  release_all(m, 24);
  assert_string_equal(s->said, "");
  assert_int_equal(clt_pools_wait(&s->pools, &(clt_measurement){0}, 60, NULL), CLT_E_AGAIN);
  close_spread(s);
  assert_int_equal(count_log(f, "make data"), 1);
  assert_true(all_gone(f));
}

static void times_of_a_slower_device_are_scaled(void **state) {
  fixture *f = *state;
  clt_config configs[24];
  clt_measurement m[24];
  spread *s = open_spread(f, 3, (double[]){1, 1.25, 1.02}, (bool[]){false, false, false});
  compare_all(s);
  assert_string_equal(s->said,
                      "0:1: takes 1.25 times as long as the first device for the same configuration; its times are "
                      "divided by this factor\n");
  number_all(configs, 24);
  assert_int_equal(measure_on_all(s, configs, 24, m, NULL), 0);
  for (size_t i = 0; i < 24; i++) {
    const double right_s = FAKE_TIME_S(configs[i]);
    assert_true(fabs(m[i].time_s - right_s) < 0.021 * right_s);
    for (size_t k = 0; k < m[i].n_runs; k++) assert_true(m[i].runs_s[k] == m[i].time_s);
  }
  release_all(m, 24);
  close_spread(s);
}

static void what_a_device_leaves_undone_others_do(void **state) {
  fixture *f = *state;
  clt_config configs[12];
  clt_measurement m[12];
  spread *s = open_spread(f, 3, (double[]){1, 1, 1}, (bool[]){true, false, true});
  compare_all(s);
  number_all(configs, 12);
  assert_int_equal(measure_on_all(s, configs, 12, m, NULL), 0);
  for (size_t i = 0; i < 12; i++) assert_true(m[i].time_s == FAKE_TIME_S(configs[i]));
  release_all(m, 12);
  assert_non_null(strstr(s->said, "0:0: the device is on holiday; continuing without this device\n"));
  assert_non_null(strstr(s->said, "0:2: the device is on holiday; continuing without this device\n"));
  /* Finalists are then on the remaining one. */
  assert_int_equal(clt_pools_keep(&s->pools, (clt_config[]){100, 200}, 2, m, NULL), 0);
  assert_int_equal(clt_pools_time_again(&s->pools, (size_t[]){0, 1}, 2, 1, m, NULL), 0);
  assert_true(m[0].n_runs == 1 && m[1].n_runs == 1);
  release_all(m, 2);
  close_spread(s);
  assert_true(all_gone(f));
}

static void where_no_device_is_left_that_is_an_error(void **state) {
  fixture *f = *state;
  clt_config configs[4];
  clt_measurement m[4];
  clt_error error = {0};
  spread *s = open_spread(f, 2, (double[]){1, 1}, (bool[]){true, true});
  compare_all(s);
  number_all(configs, 4);
  assert_int_equal(measure_on_all(s, configs, 4, m, &error), CLT_E_OPENCL);
  assert_string_equal(error.message, "the device is on holiday");
  close_spread(s);
  assert_true(all_gone(f));
}

/* Two tuners name the same devices, the other way round: none holds one device while it waits for another. */
static void a_device_that_another_tuner_has_holds_nobody_up(void **state) {
  fixture *f = *state;
  clt_device_lock other;
  clt_config configs[6];
  clt_measurement m[6];
  assert_int_equal(clt_lock_open(&other, "gpu-2", NULL), 0);
  assert_true(clt_lock_try(&other, CLT_LOCK_EXCLUSIVE, NULL, NULL));
  spread *s = open_spread(f, 2, (double[]){1, 1}, (bool[]){false, false});
  number_all(configs, 6);
  assert_int_equal(measure_on_all(s, configs, 6, m, NULL), 0);
  assert_int_equal(s->pools.devices[1].pool.n_builds, 0);
  release_all(m, 6);
  clt_lock_close(&other);
  compare_all(s);
  assert_int_equal(s->pools.devices[1].pool.n_builds, 1);
  close_spread(s);
}

static void finalists_are_on_the_first_device(void **state) {
  fixture *f = *state;
  clt_measurement m[2];
  spread *s = open_spread(f, 2, (double[]){1, 1.25}, (bool[]){false, false});
  compare_all(s);
  assert_int_equal(clt_pools_submit(&s->pools, 100, 0, NULL), 0);
  assert_int_equal(clt_pools_keep(&s->pools, (clt_config[]){100}, 1, m, NULL), CLT_E_ARGUMENT); /* one is under way */
  assert_int_equal(clt_pools_wait(&s->pools, &m[0], 60, NULL), 0);
  clt_measurement_release(&m[0]);
  for (size_t i = 0; i < 2; i++) clt_measurement_init(&m[i], CLT_CONFIG_NONE);
  assert_int_equal(clt_pools_keep(&s->pools, (clt_config[]){100, 200}, 2, m, NULL), 0);
  for (size_t i = 0; i < CLT_POOL_MAX_WORKERS; i++) assert_false(s->pools.devices[1].pool.workers[i].process.alive);
  assert_int_equal(clt_pools_time_again(&s->pools, (size_t[]){0, 1}, 2, 2, m, NULL), 0);
  for (size_t i = 0; i < 2; i++) assert_true(m[i].n_runs == 2 && m[i].runs_s[0] == FAKE_TIME_S(100 * (i + 1)));
  release_all(m, 2);
  assert_int_equal(clt_pools_submit(&s->pools, 300, 0, NULL), 0); /* and a search may go on */
  assert_int_equal(clt_pools_wait(&s->pools, &m[0], 60, NULL), 0);
  clt_measurement_release(&m[0]);
  close_spread(s);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(work_is_spread_and_data_are_made_once),
      TEST(times_of_a_slower_device_are_scaled),
      TEST(what_a_device_leaves_undone_others_do),
      TEST(where_no_device_is_left_that_is_an_error),
      TEST(a_device_that_another_tuner_has_holds_nobody_up),
      TEST(finalists_are_on_the_first_device),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
