/* A session that dies by SIGKILL, again and again, loses nothing and measures nothing twice. */
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../search/bench.h"
#include "clatune/tune.h"
#include "search/search.h"

#define BUDGET 120

static clt_tune_settings settings_for(const char *searcher, const clt_space *space, clt_store *store) {
  static const clt_setting synthetic[] = {{"capacity", "3"}};
  clt_tune_settings settings;
  clt_tune_settings_init(&settings);
  settings.searcher = searcher;
  settings.space = space;
  settings.store = store;
  settings.evaluator = "synthetic";
  settings.evaluator_settings = synthetic;
  settings.n_evaluator_settings = 1;
  settings.budget = BUDGET;
  settings.threads = 1;
  settings.finalists = 0;
  return settings;
}

static void die_at(void *user, const clt_progress *progress) {
  if (progress->so_far->measured >= *(const int64_t *)user) raise(SIGKILL);
}

/* In a process of its own: measures `measured` configurations and is gone. */
static void run_and_die(const char *searcher, const clt_space *space, const char *path, int64_t measured) {
  int status;
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    clt_store *store;
    clt_tune_result *result;
    if (clt_store_new(&store, "sqlite", path, NULL)) _exit(1);
    clt_tune_settings settings = settings_for(searcher, space, store);
    settings.progress = die_at;
    settings.user = &measured;
    clt_tune_run(&result, &settings, NULL);
    _exit(2);
  }
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void expect_to_go_on(const char *searcher) {
  clt_space *space = bench_space(true);
  char folder[] = "/tmp/clatune-killed-XXXXXX", path[64];
  assert_non_null(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/store.sqlite", folder);
  for (int i = 0; i < 4; i++) run_and_die(searcher, space, path, 25);
  clt_store *store;
  clt_tune_result *resumed, *whole;
  assert_int_equal(clt_store_new(&store, "sqlite", path, NULL), 0);
  clt_tune_settings settings = settings_for(searcher, space, store);
  assert_int_equal(clt_tune_run(&resumed, &settings, NULL), 0);
  assert_int_equal(resumed->reused, 100);
  assert_int_equal(resumed->measured, BUDGET - 100);
  settings.store = NULL;
  assert_int_equal(clt_tune_run(&whole, &settings, NULL), 0);
  assert_true(whole->best.config == resumed->best.config && whole->best.time_s == resumed->best.time_s);
  for (int i = 0; i < CLT_N_REASONS; i++)
    assert_int_equal(clt_tune_n_failed(NULL, whole, (clt_reason)i), clt_tune_n_failed(NULL, resumed, (clt_reason)i));
  clt_tune_result_free(whole);
  clt_tune_result_free(resumed);
  clt_store_free(store);
  const char *const rests[] = {"", "-wal", "-shm"};
  for (int i = 0; i < 3; i++) {
    snprintf(path, sizeof path, "%s/store.sqlite%s", folder, rests[i]);
    unlink(path);
  }
  assert_int_equal(rmdir(folder), 0);
  clt_space_free(space);
}

static void killed_sessions_go_on_where_they_were(void **state) {
  (void)state;
  for (size_t i = 0; i < clt_n_plugins(&clt_searchers); i++) expect_to_go_on(clt_plugin_name(&clt_searchers, i));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(killed_sessions_go_on_where_they_were)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
