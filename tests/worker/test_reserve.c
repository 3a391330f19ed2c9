/* Workers between two tunings. */
#include "pool_fixture.h"

#include <fcntl.h>
#include <glob.h>
#include <sys/stat.h>

#include "worker/pool.h"

static int begin(void **state) {
  if (set_up(state)) return -1;
  clt_workers_reserve(true, false);
  return 0;
}

/* In no case is anything left. */
static int end(void **state) {
  fixture *f = *state;
  clt_workers_reserve(false, false);
  assert_true(all_gone(f));
  assert_true(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
  assert_int_equal(count_folders(f, "clatune-"), 0);
  return tear_down(state);
}

/* A tuning of so many configurations that do such things; the first one's number. */
static void tune(const clt_pool_setup *setup, clt_config first, size_t n, int deed, clt_reason reason) {
  clt_config configs[8];
  clt_measurement m[8];
  for (size_t i = 0; i < n; i++) configs[i] = 100 * (first + i) + (clt_config)deed;
  clt_pool *pool = open_pool(setup);
  measure_all(pool, configs, n, m);
  for (size_t i = 0; i < n; i++) expect(&m[i], reason);
  release_all(m, n);
  close_pool(pool);
}

static void workers_of_one_tuning_serve_the_next(void **state) {
  fixture *f = *state;
  clt_pool_setup setup = pool_setup(f);
  for (clt_config i = 0; i < 4; i++) tune(&setup, 8 * i, 8, GOOD, CLT_REASON_NONE);
  assert_int_equal(count_log(f, "start"), 2 + 3); /* a process that has run nothing makes the data */
  assert_int_equal(count_log(f, "make data"), 4);
  assert_int_equal(count_log(f, "open"), 2 + 3 * 3);
  assert_int_equal(count_folders(f, "clatune-"), 1);
}

/* Puts a file where a driver would; its path. */
static void fill_cache(const fixture *f, char path[700]) {
  glob_t found;
  char pattern[600];
  snprintf(pattern, sizeof pattern, "%s/clatune-*", f->folder);
  assert_int_equal(glob(pattern, 0, NULL, &found), 0);
  assert_int_equal(found.gl_pathc, 1);
  snprintf(path, 700, "%s/cache", found.gl_pathv[0]);
  globfree(&found);
  mkdir(path, 0700);
  strcat(path, "/object");
  close(open(path, O_CREAT | O_WRONLY, 0600));
}

/* The content of a driver's cache is there for the next tuning if that is wanted. */
static void what_was_compiled_is_kept_where_it_is_wanted(void **state) {
  fixture *f = *state;
  clt_pool_setup setup = pool_setup(f);
  for (int keeps = 0; keeps < 2; keeps++) {
    char path[700];
    clt_workers_reserve(true, keeps);
    tune(&setup, 8 * (clt_config)keeps, 4, GOOD, CLT_REASON_NONE);
    fill_cache(f, path);
    tune(&setup, 8 * (clt_config)keeps + 4, 4, GOOD, CLT_REASON_NONE);
    assert_int_equal(access(path, R_OK) == 0, keeps);
  }
}

static void renewed_workers_are_other_processes_with_the_same_cache(void **state) {
  fixture *f = *state;
  clt_pool_setup setup = pool_setup(f);
  char path[700];
  clt_workers_reserve(true, true);
  clt_workers_renew(); /* nothing yet */
  tune(&setup, 0, 4, GOOD, CLT_REASON_NONE);
  fill_cache(f, path);
  clt_workers_renew();
  assert_true(all_gone(f));
  assert_int_equal(access(path, R_OK), 0);
  tune(&setup, 10, 4, GOOD, CLT_REASON_NONE);
  assert_int_equal(count_log(f, "start"), 4);
  assert_int_equal(access(path, R_OK), 0);
  assert_int_equal(count_folders(f, "clatune-"), 1);
  clt_workers_renew();
  clt_workers_renew();
}

static void nobody_waits_unless_it_is_wanted(void **state) {
  fixture *f = *state;
  clt_pool_setup setup = pool_setup(f);
  clt_workers_reserve(false, false);
  tune(&setup, 0, 4, GOOD, CLT_REASON_NONE);
  assert_true(all_gone(f));
  assert_int_equal(count_log(f, "close"), 0);
}

/* Processes of which the log has both. */
static size_t count_both(const fixture *f, const char *first, const char *second) {
  int pid, pids[100];
  char text[100];
  size_t n = 0, n_both = 0;
  FILE *file = fopen(f->log, "r");
  while (file && n < 100 && fscanf(file, "%d %*s %99[^\n]", &pid, text) == 2) {
    if (strcmp(text, first) == 0) pids[n++] = pid;
    bool both = false;
    for (size_t i = 0; i < n; i++) both = both || (pids[i] == pid && strcmp(text, second) == 0);
    n_both += both;
  }
  if (file) fclose(file);
  return n_both;
}

/* A process that met with a fault does not go on. */
static void what_was_faulty_ends(void **state) {
  static const struct {
    int deed;
    clt_reason reason;
  } cases[] = {{OUT_OF_BOUNDS, CLT_REASON_OUT_OF_BOUNDS}, {CRASH_RUN, CLT_REASON_RUN_CRASH}};
  fixture *f = *state;
  clt_pool_setup setup = pool_setup(f);
  for (size_t i = 0; i < 2; i++) tune(&setup, 0, 4, cases[i].deed, cases[i].reason);
  assert_int_equal(count_both(f, "prepare begins", "close"), 0);
}

static void other_processes_are_of_no_use(void **state) {
  fixture *f = *state;
  clt_pool_setup setup = pool_setup(f);
  tune(&setup, 0, 4, GOOD, CLT_REASON_NONE);
  setup.memory_limit_bytes = (int64_t)1 << 40;
  tune(&setup, 10, 4, GOOD, CLT_REASON_NONE);
  assert_int_equal(count_log(f, "start"), 4);
  setenv("FAKE_BUILD_S", "0.25", 1); /* any variable */
  tune(&setup, 20, 4, GOOD, CLT_REASON_NONE);
  unsetenv("FAKE_BUILD_S");
  assert_int_equal(count_log(f, "start"), 6);
}

static void kill_all(const fixture *f) {
  int pid;
  char rest[100];
  FILE *file = fopen(f->log, "r");
  assert_non_null(file);
  while (fscanf(file, "%d %99[^\n]", &pid, rest) == 2)
    if (strstr(rest, "start")) kill(pid, SIGKILL);
  fclose(file);
}

static void one_that_has_ended_meanwhile_is_replaced(void **state) {
  fixture *f = *state;
  clt_pool_setup setup = pool_setup(f);
  tune(&setup, 0, 4, GOOD, CLT_REASON_NONE);
  kill_all(f);
  tune(&setup, 10, 4, GOOD, CLT_REASON_NONE);
  assert_int_equal(count_log(f, "start"), 4);
}

/* A failure in a process that has served before is believed if a new one says the same. */
static void a_failure_in_a_used_process_is_no_failure_yet(void **state) {
  fixture *f = *state;
  clt_pool_setup setup = pool_setup(f);
  tune(&setup, 0, 4, GOOD, CLT_REASON_NONE);
  tune(&setup, 10, 1, CRASH_RUN, CLT_REASON_RUN_CRASH);
  tune(&setup, 20, 4, GOOD, CLT_REASON_NONE);
  assert_in_range(count_log(f, "start"), 4, 7);
}

static void finalists_leave_the_searchs_workers_for_the_next(void **state) {
  fixture *f = *state;
  clt_pool_setup setup = pool_setup(f);
  for (clt_config i = 0; i < 2; i++) {
    const clt_config configs[] = {100 * (4 * i), 100 * (4 * i + 1)};
    clt_measurement m[2];
    clt_pool *pool = open_pool(&setup);
    measure_all(pool, configs, 2, m);
    release_all(m, 2);
    assert_int_equal(clt_pool_keep(pool, configs, 2, m, NULL), 0);
    for (size_t k = 0; k < 2; k++) expect(&m[k], CLT_REASON_NONE);
    release_all(m, 2);
    close_pool(pool);
  }
  assert_int_equal(count_log(f, "start"), 2 + 2 + 1 + 2); /* each finalist has a process of its own */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(workers_of_one_tuning_serve_the_next, begin, end),
      cmocka_unit_test_setup_teardown(what_was_compiled_is_kept_where_it_is_wanted, begin, end),
      cmocka_unit_test_setup_teardown(renewed_workers_are_other_processes_with_the_same_cache, begin, end),
      cmocka_unit_test_setup_teardown(nobody_waits_unless_it_is_wanted, begin, end),
      cmocka_unit_test_setup_teardown(what_was_faulty_ends, begin, end),
      cmocka_unit_test_setup_teardown(other_processes_are_of_no_use, begin, end),
      cmocka_unit_test_setup_teardown(one_that_has_ended_meanwhile_is_replaced, begin, end),
      cmocka_unit_test_setup_teardown(a_failure_in_a_used_process_is_no_failure_yet, begin, end),
      cmocka_unit_test_setup_teardown(finalists_leave_the_searchs_workers_for_the_next, begin, end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
