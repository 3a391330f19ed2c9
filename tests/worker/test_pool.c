/* The pool of workers, against workers that misbehave. */
#include "pool_fixture.h"

#include <math.h>

#include "worker/process.h"

/* --- faults --- */

static void every_fault_has_its_reason_and_the_pool_goes_on(void **state) {
  static const struct {
    int deed;
    clt_reason reason;
    const char *log;
  } cases[] = {{GOOD, CLT_REASON_NONE, NULL},
               {CRASH_BUILD, CLT_REASON_COMPILE_CRASH, "the compiler is unwell"},
               {COMPILE_ERROR, CLT_REASON_COMPILE_ERROR, "a remark of the compiler"},
               {CRASH_LAUNCH, CLT_REASON_COMPILE_CRASH, "SIGABRT"},
               {CRASH_RUN, CLT_REASON_RUN_CRASH, "SIGFPE"},
               {GARBAGE, CLT_REASON_COMPILE_CRASH, "invalid message"},
               {TOO_LONG, CLT_REASON_COMPILE_CRASH, "invalid message"},
               {CRASH_TIME, CLT_REASON_RUN_CRASH, "SIGABRT"},
               {OTHER_CONFIG, CLT_REASON_RUN_CRASH, "invalid answer"},
               {OUT_OF_BOUNDS, CLT_REASON_OUT_OF_BOUNDS, NULL},
               {FLOOD, CLT_REASON_NONE, NULL},
               {LEAVE_CHILD, CLT_REASON_COMPILE_CRASH, NULL},
               {DIE_IDLE, CLT_REASON_RUN_CRASH, NULL}};
  const size_t n_cases = sizeof cases / sizeof *cases, n = 3 * n_cases;
  fixture *f = *state;
  clt_config configs[3 * sizeof cases / sizeof *cases];
  clt_measurement m[3 * sizeof cases / sizeof *cases];
  for (size_t i = 0; i < n; i++) configs[i] = 100 * i + (clt_config)cases[i % n_cases].deed;
  for (int quiet = 0; quiet < 2; quiet++) {
    clt_pool_setup setup = pool_setup(f);
    setup.quiet_builds = quiet;
    clt_pool *pool = open_pool(&setup);
    measure_all(pool, configs, n, m);
    for (size_t i = 0; i < n; i++) {
      expect(&m[i], cases[i % n_cases].reason);
      expect_log(&m[i], cases[i % n_cases].log);
      if (m[i].reason != CLT_REASON_NONE) continue;
      assert_true(m[i].time_s == FAKE_TIME_S(configs[i]) && m[i].n_runs == 3 && m[i].phases.build_s == 0.25);
      assert_true(m[i].phases.wait_s >= 0 && m[i].phases.wait_s < 60);
    }
    release_all(m, n);
    close_pool(pool);
    assert_true(all_gone(f));
    assert_true(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
    assert_int_equal(count_folders(f, "clatune"), 1); /* of the locks */
  }
}

static void builds_may_take_ten_times_what_nine_of_ten_took(void **state) {
  static const char *const takes[] = {"0.25", "0.25", "7"};
  static const double given_s[] = {20, 0, 0}, known_s[] = {20, 30, 70};
  fixture *f = *state;
  clt_config configs[12];
  clt_measurement m[12];
  for (size_t i = 0; i < 12; i++) configs[i] = 100 * (clt_config)i + GOOD;
  for (size_t i = 0; i < 3; i++) {
    clt_pool_setup setup = pool_setup(f);
    setup.compile_timeout_s = given_s[i];
    setenv("FAKE_BUILD_S", takes[i], 1);
    clt_pool *pool = open_pool(&setup);
    assert_true(clt_pool_deadlines(pool, 0).compile_s == (given_s[i] > 0 ? given_s[i] : 60));
    measure_all(pool, configs, 12, m);
    assert_true(clt_pool_deadlines(pool, 0).compile_s == known_s[i]);
    release_all(m, 12);
    close_pool(pool);
  }
  unsetenv("FAKE_BUILD_S");
}

static void deadlines_are_those_of_the_phase(void **state) {
  fixture *f = *state;
  clt_measurement m[4];
  clt_pool_setup setup = pool_setup(f);
  setup.compile_timeout_s = setup.run_timeout_s = 0.3;
  clt_pool *pool = open_pool(&setup);
  measure_all(pool, (clt_config[]){HANG_BUILD, HANG_RUN, HANG_TIME, GOOD}, 4, m);
  expect(&m[0], CLT_REASON_COMPILE_TIMEOUT);
  expect(&m[1], CLT_REASON_RUN_TIMEOUT);
  expect(&m[2], CLT_REASON_RUN_TIMEOUT);
  expect(&m[3], CLT_REASON_NONE);
  assert_non_null(strstr(m[0].log, "took too long (limit "));
  assert_non_null(strstr(m[0].log, "-timeout"));
  release_all(m, 4);
  close_pool(pool);
  assert_true(all_gone(f));
}

static void runs_may_take_a_multiple_of_the_best_so_far(void **state) {
  fixture *f = *state;
  clt_measurement m;
  clt_pool_setup setup = pool_setup(f);
  setup.run_timeout_factor = 100;
  setup.run_timeout_floor_s = 0.1;
  setup.run_timeout_s = 1e6;
  clt_pool *pool = open_pool(&setup);
  assert_true(clt_pool_deadlines(pool, 0).run_s == 1e6);
  assert_true(clt_pool_deadlines(pool, 5e-4).run_s == 0.1);
  assert_true(fabs(clt_pool_deadlines(pool, 5e-3).run_s - 0.5) < 1e-9);
  assert_int_equal(clt_pool_submit(pool, HANG_RUN, 1e-4, NULL), 0);
  assert_int_equal(wait_pool(pool, &m, 60, NULL), 0);
  expect(&m, CLT_REASON_ABANDONED); /* slow, as far as anybody knows; only run_timeout_s makes it a failure */
  clt_measurement_release(&m);
  close_pool(pool);
}

static void a_gpu_gets_more_workers_as_configurations_wait(void **state) {
  fixture *f = *state;
  clt_config configs[40];
  clt_measurement m[40];
  for (size_t i = 0; i < 40; i++) configs[i] = 100 * i + GOOD;
  clt_pool_setup setup = pool_setup(f);
  setup.n_workers = 6;
  setup.quiet_builds = false;
  clt_pool *pool = open_pool(&setup);
  measure_all(pool, configs, 1, m);
  assert_in_range(count_log(f, "start"), 1, 2); /* the other one may not have come far yet */
  release_all(m, 1);
  measure_all(pool, configs + 1, 39, m);
  assert_in_range(count_log(f, "start"), 3, 6);
  release_all(m, 39);
  close_pool(pool);
}

static void a_worker_is_not_replaced_without_need(void **state) {
  fixture *f = *state;
  clt_config configs[40];
  clt_measurement m[40];
  for (size_t i = 0; i < 40; i++) configs[i] = 100 * i + (i % 2 ? COMPILE_ERROR : GOOD);
  clt_pool_setup setup = pool_setup(f);
  clt_pool *pool = open_pool(&setup);
  measure_all(pool, configs, 40, m);
  release_all(m, 40);
  close_pool(pool);
  assert_int_equal(count_log(f, "start"), 2);
  assert_int_equal(count_log(f, "make data"), 1);
}

/* --- errors: the tuner's own --- */

static int first_error(clt_pool *pool, clt_error *error) {
  clt_measurement m;
  assert_int_equal(clt_pool_submit(pool, GOOD, 0, NULL), 0);
  return wait_pool(pool, &m, 60, error);
}

static void workers_that_cannot_start_are_an_error(void **state) {
  static const char *const how[] = {"exit", "hang", "garbage", "other", "crash-data"};
  static const char *const text[] = {"no driver today", "took too long", "invalid message", "version 9.9", "SIGABRT"};
  fixture *f = *state;
  for (size_t i = 0; i < 5; i++) {
    clt_error error = {0};
    setenv("FAKE_START", how[i], 1);
    clt_pool_setup setup = pool_setup(f);
    setup.host_timeout_s = 0.5;
    clt_pool *pool = open_pool(&setup);
    assert_int_equal(first_error(pool, &error), CLT_E_WORKER);
    if (strstr(error.message, text[i]) == NULL) fail_msg("'%s' does not say '%s'", error.message, text[i]);
    memset(&error, 0, sizeof error);
    assert_int_equal(wait_pool(pool, &(clt_measurement){0}, 0, &error), CLT_E_WORKER); /* and stays one */
    assert_true(error.message[0]);
    close_pool(pool);
  }
  assert_true(all_gone(f));
}

static void a_workers_own_error_is_tried_again_then_reported(void **state) {
  fixture *f = *state;
  clt_error error = {0};
  clt_measurement m;
  clt_pool_setup setup = pool_setup(f);
  setup.n_workers = 1;
  clt_pool *pool = open_pool(&setup);
  assert_int_equal(clt_pool_submit(pool, OWN_ERROR, 0, NULL), 0);
  assert_int_equal(wait_pool(pool, &m, 60, &error), CLT_E_OPENCL);
  assert_string_equal(error.message, "the device is on holiday");
  close_pool(pool);
  assert_true(count_log(f, "start") > 1);
}

static void a_reference_kernel_that_crashes_is_named(void **state) {
  fixture *f = *state;
  clt_error error = {0};
  clt_pool_setup setup = pool_setup(f);
  setenv("FAKE_START", "crash-reference", 1);
  clt_pool *pool = open_pool(&setup);
  assert_int_equal(first_error(pool, &error), CLT_E_WORKER);
  static const char begin[] =
      "running the kernel of the reference failed 3 times in a row: lost at phase running: the worker was "
      "killed by SIGSEGV; it had printed:\n...\nline ";
  static const char end[] = " of what nobody wants to read\nthese are my last words";
  if (strncmp(error.message, begin, strlen(begin)) != 0) fail_msg("%s", error.message);
  assert_string_equal(error.message + strlen(error.message) - strlen(end), end);
  close_pool(pool);
}

static void the_figure_of_quality_comes_from_who_made_the_data(void **state) {
  fixture *f = *state;
  double quality = NAN;
  clt_measurement m;
  clt_error error = {0};
  clt_pool_setup setup = pool_setup(f);
  setup.evaluator.quality = &quality;
  setenv("FAKE_START", "quality", 1);
  clt_pool *pool = open_pool(&setup);
  measure_all(pool, (clt_config[]){100}, 1, &m);
  expect(&m, CLT_REASON_NONE);
  assert_true(quality == 0.375);
  close_pool(pool);
  quality = NAN;
  setenv("FAKE_START", "bad-quality", 1);
  pool = open_pool(&setup);
  clt_pool_submit(pool, 100, 0, NULL);
  assert_int_equal(wait_pool(pool, &m, 60, &error), CLT_E_WORKER);
  assert_non_null(strstr(error.message, "3 times in a row: a message lacks the number 'quality'"));
  assert_true(isnan(quality));
  close_pool(pool);
}

static void append_warning(void *user, clt_log_level level, const char *text) {
  if (level == CLT_LOG_WARNING) strcat(strcat(user, text), "\n");
}

static void warnings_come_once_from_who_made_the_data(void **state) {
  fixture *f = *state;
  char said[1000] = "";
  clt_measurement m[4];
  clt_pool_setup setup = pool_setup(f);
  setup.evaluator.log = append_warning;
  setup.evaluator.log_user = said;
  setenv("FAKE_START", "warnings", 1);
  clt_pool *pool = open_pool(&setup);
  measure_all(pool, (clt_config[]){100, 200, 300, 400 + CRASH_BUILD}, 4, m);
  assert_string_equal(said, "the reference is odd\nso is the tolerance %s\n");
  release_all(m, 4);
  close_pool(pool);
}

static void a_missing_worker_is_named(void **state) {
  fixture *f = *state;
  clt_error error = {0};
  clt_pool pool = {0};
  clt_pool_setup setup = pool_setup(f);
  setenv("CLATUNE_WORKER", "/nowhere/worker", 1);
  assert_int_equal(clt_pool_open(&pool, &setup, &error), CLT_E_WORKER);
  assert_non_null(strstr(error.message, "/nowhere/worker"));
  setenv("CLATUNE_WORKER", FAKE_WORKER, 1);
}

/* --- the caller's side --- */

static void waiting_has_a_limit_and_needs_something_submitted(void **state) {
  fixture *f = *state;
  clt_measurement m;
  clt_pool_setup setup = pool_setup(f);
  clt_pool *pool = open_pool(&setup);
  assert_int_equal(wait_pool(pool, &m, 60, NULL), CLT_E_AGAIN);
  assert_int_equal(clt_pool_submit(pool, HANG_BUILD, 0, NULL), 0);
  assert_int_equal(wait_pool(pool, &m, 0.1, NULL), CLT_E_AGAIN);
  close_pool(pool); /* with any work under way */
  assert_true(all_gone(f));
}

static void more_than_the_capacity_is_refused(void **state) {
  fixture *f = *state;
  clt_pool_setup setup = pool_setup(f);
  clt_pool *pool = open_pool(&setup);
  assert_int_equal(pool->capacity, 4);
  for (clt_config i = 0; i < 4; i++) assert_int_equal(clt_pool_submit(pool, 100 * i, 0, NULL), 0);
  assert_int_equal(clt_pool_submit(pool, 900, 0, NULL), CLT_E_ARGUMENT);
  close_pool(pool);
}

/* --- who disturbs whom --- */

typedef struct span {
  double begin_s, end_s;
} span;

/* The spans that a kind of work took, of all workers. */
static size_t read_spans(const fixture *f, const char *kind, span *out, size_t capacity) {
  int pid, open_pid[8];
  double open_s[8];
  char at[40], what[100];
  size_t n = 0, n_open = 0;
  FILE *file = fopen(f->log, "r");
  while (fscanf(file, "%d %39s %99[^\n]", &pid, at, what) == LAST_COLUMN) {
    if (strncmp(what, kind, strlen(kind)) != 0) continue;
    if (strstr(what, "begins")) {
      open_pid[n_open] = pid;
      open_s[n_open++] = clt_strtod(at, NULL);
      continue;
    }
    for (size_t i = 0; i < n_open; i++) {
      if (open_pid[i] != pid) continue;
      assert_true(n < capacity);
      out[n++] = (span){open_s[i], clt_strtod(at, NULL)};
      open_pid[i] = open_pid[n_open - 1];
      open_s[i] = open_s[--n_open];
      break;
    }
  }
  fclose(file);
  return n;
}

static size_t count_overlaps(const span *a, size_t n, const span *b, size_t m) {
  size_t overlaps = 0;
  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; k < m; k++)
      overlaps += !(a == b && i == k) && a[i].begin_s < b[k].end_s && b[k].begin_s < a[i].end_s;
  return overlaps;
}

static void measure_good_ones(clt_pool *pool, size_t n) {
  clt_config configs[64];
  clt_measurement m[64];
  for (size_t i = 0; i < n; i++) configs[i] = 100 * i;
  measure_all(pool, configs, n, m);
  for (size_t i = 0; i < n; i++) expect(&m[i], CLT_REASON_NONE);
  release_all(m, n);
}

static void on_a_cpu_nothing_is_prepared_while_something_is_timed(void **state) {
  fixture *f = *state;
  span timed[64], prepared[64];
  clt_pool_setup setup = pool_setup(f);
  setup.n_workers = 4;
  clt_pool *pool = open_pool(&setup);
  measure_good_ones(pool, 48);
  close_pool(pool);
  size_t n_timed = read_spans(f, "time", timed, 64), n_prepared = read_spans(f, "prepare", prepared, 64);
  assert_true(n_timed == 48 && n_prepared == 48);
  assert_int_equal(count_overlaps(timed, n_timed, timed, n_timed), 0);
  assert_int_equal(count_overlaps(timed, n_timed, prepared, n_prepared), 0);
  assert_true(count_overlaps(prepared, n_prepared, prepared, n_prepared) > 0); /* in parallel */
}

static void elsewhere_compiling_goes_on_but_launches_wait(void **state) {
  fixture *f = *state;
  span timed[64], prepared[64], launched[64];
  clt_pool_setup setup = pool_setup(f);
  setup.n_workers = 4;
  setup.quiet_builds = false;
  clt_pool *pool = open_pool(&setup);
  measure_good_ones(pool, 48);
  close_pool(pool);
  size_t n_timed = read_spans(f, "time", timed, 64), n_prepared = read_spans(f, "prepare", prepared, 64);
  size_t n_launched = read_spans(f, "launch", launched, 64);
  assert_true(n_timed == 48 && n_prepared == 48 && n_launched == 48);
  assert_int_equal(count_overlaps(timed, n_timed, timed, n_timed), 0);
  assert_int_equal(count_overlaps(timed, n_timed, launched, n_launched), 0);
  assert_true(count_overlaps(timed, n_timed, prepared, n_prepared) > 0);
}

static void waiting_for_leave_to_launch_is_not_compiling(void **state) {
  fixture *f = *state;
  clt_measurement m[2];
  clt_pool_setup setup = pool_setup(f);
  clt_device_lock other;
  clt_measurement early;
  setup.quiet_builds = false;
  setup.compile_timeout_s = 0.5;
  assert_int_equal(clt_lock_open(&other, "cpu", NULL), 0);
  assert_true(clt_lock_try(&other, CLT_LOCK_EXCLUSIVE, NULL, NULL));
  clt_pool *pool = open_pool(&setup);
  assert_int_equal(clt_pool_submit(pool, 100, 0, NULL), 0);
  assert_int_equal(wait_pool(pool, &early, 1.5, NULL), CLT_E_AGAIN); /* another tuner has the device */
  clt_lock_close(&other);
  assert_int_equal(wait_pool(pool, &m[0], 60, NULL), 0);
  expect(&m[0], CLT_REASON_NONE);
  clt_measurement_release(&m[0]);
  close_pool(pool);
}

static void one_that_has_nothing_to_do_gives_the_device_back(void **state) {
  fixture *f = *state;
  clt_measurement m;
  clt_pool_setup setup = pool_setup(f);
  clt_device_lock other;
  clt_pool *pool = open_pool(&setup); /* holds it while its workers start */
  assert_int_equal(clt_lock_open(&other, "cpu", NULL), 0);
  assert_false(clt_lock_try(&other, CLT_LOCK_EXCLUSIVE, NULL, NULL));
  while (!clt_lock_try(&other, CLT_LOCK_EXCLUSIVE, NULL, NULL))
    assert_int_equal(wait_pool(pool, &m, 60, NULL), CLT_E_AGAIN);
  clt_lock_close(&other);
  close_pool(pool);
}

/* As after Ctrl-Z: the worker went on compiling, reached the gate and waited there, beyond its deadline. */
static void a_caller_that_was_away_does_not_bill_those_who_waited_for_it(void **state) {
  fixture *f = *state;
  clt_measurement m;
  clt_pool_setup setup = pool_setup(f);
  setup.quiet_builds = false;
  setup.compile_timeout_s = 0.3;
  clt_pool *pool = open_pool(&setup);
  assert_int_equal(clt_pool_submit(pool, 900, 0, NULL), 0); /* compiles longest */
  while (count_log(f, "prepare begins") == 0) assert_int_equal(wait_pool(pool, &m, 0, NULL), CLT_E_AGAIN);
  double deadline_s = 0; /* of the one that compiles; it passes while the caller is away */
  for (size_t i = 0; i < setup.n_workers; i++)
    if (pool->workers[i].load == CLT_LOAD_GATED)
      deadline_s = fmax(deadline_s, pool->workers[i].process.deadline_s);
  while (clt_now_s() <= deadline_s || count_log(f, "waits for leave") == 0) continue;
  assert_int_equal(count_log(f, "launch begins"), 0);
  assert_int_equal(wait_pool(pool, &m, 60, NULL), 0);
  expect(&m, CLT_REASON_NONE);
  clt_measurement_release(&m);
  close_pool(pool);
}

static void tuners_share_a_device_without_disturbing_each_other(void **state) {
  fixture *f = *state;
  span timed[128], prepared[128];
  pid_t children[2];
  for (int i = 0; i < 2; i++) {
    children[i] = fork();
    if (children[i] != 0) continue;
    clt_pool_setup setup = pool_setup(f);
    clt_pool *pool = open_pool(&setup);
    measure_good_ones(pool, 32);
    close_pool(pool);
    _exit(0);
  }
  for (int i = 0; i < 2; i++) {
    int status;
    assert_int_equal(waitpid(children[i], &status, 0), children[i]);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  size_t n_timed = read_spans(f, "time", timed, 128), n_prepared = read_spans(f, "prepare", prepared, 128);
  assert_true(n_timed == 64 && n_prepared == 64);
  assert_int_equal(count_overlaps(timed, n_timed, timed, n_timed), 0);
  assert_int_equal(count_overlaps(timed, n_timed, prepared, n_prepared), 0);
}

/* --- a tuner that is killed --- */

static void nothing_outlives_a_killed_tuner(void **state) {
  fixture *f = *state;
  pid_t tuner = fork();
  if (tuner == 0) {
    clt_pool_setup setup = pool_setup(f);
    clt_pool *pool = open_pool(&setup);
    clt_measurement m;
    clt_pool_submit(pool, HANG_BUILD, 0, NULL);
    wait_pool(pool, &m, 600, NULL);
    _exit(0);
  }
  while (count_log(f, "prepare begins") == 0) assert_int_equal(waitpid(tuner, NULL, WNOHANG), 0);
  kill(tuner, SIGKILL);
  waitpid(tuner, NULL, 0);
  assert_true(all_gone(f));
  assert_int_equal(count_folders(f, "clatune-"), 1);
  clt_run_folder folder;
  assert_int_equal(clt_run_folder_new(&folder, NULL), 0);
  assert_int_equal(count_folders(f, "clatune-"), 1); /* the new one */
  clt_run_folder_remove(&folder);
  assert_int_equal(count_folders(f, "clatune-"), 0);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(every_fault_has_its_reason_and_the_pool_goes_on),
      TEST(builds_may_take_ten_times_what_nine_of_ten_took),
      TEST(deadlines_are_those_of_the_phase),
      TEST(runs_may_take_a_multiple_of_the_best_so_far),
      TEST(a_gpu_gets_more_workers_as_configurations_wait),
      TEST(a_worker_is_not_replaced_without_need),
      TEST(workers_that_cannot_start_are_an_error),
      TEST(a_workers_own_error_is_tried_again_then_reported),
      TEST(a_reference_kernel_that_crashes_is_named),
      TEST(the_figure_of_quality_comes_from_who_made_the_data),
      TEST(warnings_come_once_from_who_made_the_data),
      TEST(a_missing_worker_is_named),
      TEST(waiting_has_a_limit_and_needs_something_submitted),
      TEST(more_than_the_capacity_is_refused),
      TEST(on_a_cpu_nothing_is_prepared_while_something_is_timed),
      TEST(elsewhere_compiling_goes_on_but_launches_wait),
      TEST(waiting_for_leave_to_launch_is_not_compiling),
      TEST(one_that_has_nothing_to_do_gives_the_device_back),
      TEST(a_caller_that_was_away_does_not_bill_those_who_waited_for_it),
      TEST(tuners_share_a_device_without_disturbing_each_other),
      TEST(nothing_outlives_a_killed_tuner),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
