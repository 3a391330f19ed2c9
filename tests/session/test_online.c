/* Online tuning: an application asks, runs, tells. */
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../store/store_support.h"
#include "clatune/online.h"
#include "session/session.h"

/* 512 configurations; the shortest takes 1 ms at a=16 b=8 c=4. */
static clt_space *make(void) {
  return make_space("a", "[1, 2, 4, 8, 16, 32, 64, 128]", "b", "[1, 2, 4, 8, 16, 32, 64, 128]", "c",
                    "[1, 2, 4, 8, 16, 32, 64, 128]", NULL);
}

static double value(const clt_space *space, clt_config config, size_t parameter, double best) {
  return fabs(log2((double)clt_space_value(space, config, parameter).integer / best));
}

static double time_of(const clt_space *space, clt_config c) {
  return 1e-3 * (1 + 0.2 * value(space, c, 0, 16) + 0.1 * value(space, c, 1, 8) + 0.05 * value(space, c, 2, 4));
}

static clt_online *begin(const clt_space *space, const char *searcher, int64_t budget) {
  clt_online *online = NULL;
  clt_error error = {0};
  const clt_online_settings settings = {
      .struct_size = sizeof settings, .space = space, .searcher = searcher, .budget = budget, .seed = 1, .threads = 1};
  if (clt_online_new(&online, &settings, &error)) fail_msg("%s", error.message);
  return online;
}

static clt_config ask(clt_online *online, bool *exploring) {
  clt_config config = CLT_CONFIG_NONE;
  clt_error error = {0};
  if (clt_online_ask(&config, exploring, online, &error)) fail_msg("%s", error.message);
  return config;
}

static void an_application_finds_the_fastest_while_it_works(void **state) {
  (void)state;
  static const char *const searchers[] = {"surrogate", "local", "random", NULL};
  clt_space *space = make();
  for (size_t i = 0; i < sizeof searchers / sizeof *searchers; i++) {
    clt_online *online = begin(space, searchers[i], 60);
    bool exploring = true, seen[512] = {false};
    int n_explored = 0;
    clt_config config = CLT_CONFIG_NONE;
    for (int call = 0; call < 200; call++) {
      config = ask(online, &exploring);
      if (!exploring) continue;
      assert_false(seen[config]);
      seen[config] = true;
      n_explored++;
      assert_int_equal(clt_online_tell(online, config, time_of(space, config), NULL), 0);
    }
    assert_int_equal(n_explored, 60);
    assert_false(exploring);
    assert_true(time_of(space, config) < (i == 2 ? 1.6e-3 : 1.15e-3));
    clt_online_free(online);
  }
  clt_space_free(space);
}

static void another_objective_has_another_best(void **state) {
  (void)state;
  clt_space *space = make();
  clt_online_settings settings = {.struct_size = sizeof settings,
                                  .space = space,
                                  .searcher = "exhaustive",
                                  .budget = 512,
                                  .objective = "minimise time_s * a"};
  clt_online *online = NULL;
  bool exploring = true;
  clt_config config = CLT_CONFIG_NONE;
  double time_s = 0;
  assert_int_equal(clt_online_new(&online, &settings, NULL), 0);
  for (config = ask(online, &exploring); exploring; config = ask(online, &exploring))
    assert_int_equal(clt_online_tell(online, config, time_of(space, config), NULL), 0);
  assert_int_equal(clt_space_value(space, config, 0).integer, 1); /* 1.8 ms x 1 is less than 1 ms x 16 */
  assert_int_equal(clt_space_value(space, config, 1).integer, 8);
  assert_true(clt_online_best(&config, &time_s, online));
  assert_true(fabs(time_s - 1.8e-3) < 1e-9);
  clt_online_free(online);
  settings.objective = "energy";
  clt_error error = {0};
  assert_int_equal(clt_online_new(&online, &settings, &error), CLT_E_UNSUPPORTED);
  settings.objective = "minimise time_s *";
  assert_int_not_equal(clt_online_new(&online, &settings, &error), 0);
  clt_space_free(space);
}

static void until_something_ran_the_default_is_the_answer(void **state) {
  (void)state;
  clt_space *space = make();
  clt_online *online = begin(space, "random", 4);
  bool exploring;
  clt_config config, best;
  double time_s;
  for (int i = 0; i < 4; i++) {
    config = ask(online, &exploring);
    assert_true(exploring);
    assert_int_equal(clt_online_fail(online, config, CLT_REASON_WRONG_OUTPUT, NULL), 0);
  }
  assert_false(clt_online_best(&best, &time_s, online));
  config = ask(online, &exploring);
  assert_false(exploring);
  assert_true(config == clt_space_at(space, 0));
  clt_online_free(online);
  clt_space_free(space);
}

static void mistakes_are_said(void **state) {
  (void)state;
  clt_space *space = make();
  clt_online *online = begin(space, "random", 4);
  clt_error error = {0};
  bool exploring;
  clt_config config = ask(online, &exploring);
  assert_int_equal(clt_online_tell(online, config, 0, &error), CLT_E_ARGUMENT);
  assert_int_equal(clt_online_tell(online, config, NAN, NULL), CLT_E_ARGUMENT);
  assert_int_equal(clt_online_tell(online, config + 1, 1, NULL), CLT_E_ARGUMENT);
  assert_int_equal(clt_online_fail(online, config, CLT_REASON_NONE, NULL), CLT_E_ARGUMENT);
  assert_int_equal(clt_online_tell(online, config, 1, NULL), 0);
  assert_int_equal(clt_online_tell(online, config, 1, NULL), CLT_E_ARGUMENT); /* twice */
  clt_online_free(online);
  const clt_online_settings wrong = {.struct_size = sizeof wrong, .space = space, .searcher = "luck"};
  error = (clt_error){0};
  assert_int_equal(clt_online_new(&online, &wrong, &error), CLT_E_NOT_FOUND);
  assert_non_null(strstr(error.message, "luck"));
  const clt_online_settings nothing = {.struct_size = sizeof nothing}, unsized = {.space = space};
  assert_int_equal(clt_online_new(&online, &nothing, &error), CLT_E_ARGUMENT);
  assert_int_equal(clt_online_new(&online, &unsized, &error), CLT_E_ARGUMENT);
  clt_space_free(space);
}

typedef struct caller {
  clt_online *online;
  const clt_space *space;
  int n_explored;
} caller;

static void *work(void *data) {
  caller *c = data;
  for (int call = 0; call < 100; call++) {
    clt_config config;
    bool exploring;
    if (clt_online_ask(&config, &exploring, c->online, NULL)) break;
    if (exploring && clt_online_tell(c->online, config, time_of(c->space, config), NULL) == 0) c->n_explored++;
  }
  return NULL;
}

static void several_threads_share_a_search(void **state) {
  (void)state;
  clt_space *space = make();
  clt_online *online = begin(space, "random", 80);
  pthread_t threads[4];
  caller callers[4];
  int sum = 0;
  for (int i = 0; i < 4; i++) {
    callers[i] = (caller){online, space, 0};
    assert_int_equal(pthread_create(&threads[i], NULL, work, &callers[i]), 0);
  }
  for (int i = 0; i < 4; i++) {
    pthread_join(threads[i], NULL);
    sum += callers[i].n_explored;
  }
  assert_int_equal(sum, 80);
  clt_online_free(online);
  clt_space_free(space);
}

static void what_the_store_knows_is_not_asked_again(void **state) {
  (void)state;
  char *folder = make_folder();
  clt_problem *problem = make_add_problem(folder);
  clt_device_info device = make_device();
  clt_instance *instance = NULL;
  clt_store *store = NULL;
  clt_online *online = NULL;
  bool exploring;
  assert_int_equal(clt_instance_new(&instance, problem, NULL, 0, &device, NULL), 0);
  assert_int_equal(clt_store_new(&store, "memory", NULL, NULL), 0);
  const clt_online_settings settings = {
      .struct_size = sizeof settings, .instance = instance, .store = store, .searcher = "exhaustive", .seed = 1};
  for (int session = 0; session < 2; session++) {
    int n = 0;
    assert_int_equal(clt_online_new(&online, &settings, NULL), 0);
    for (clt_config config; config = ask(online, &exploring), exploring; n++)
      assert_int_equal(clt_online_tell(online, config, 1e-3 * (double)(2 - config), NULL), 0);
    assert_int_equal(n, session == 0 ? 2 : 0);
    assert_true(ask(online, &exploring) == 1);
    clt_online_free(online);
  }
  clt_store_free(store);
  clt_instance_free(instance);
  clt_problem_free(problem);
  remove_folder(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_application_finds_the_fastest_while_it_works),
      cmocka_unit_test(another_objective_has_another_best),
      cmocka_unit_test(until_something_ran_the_default_is_the_answer),
      cmocka_unit_test(mistakes_are_said),
      cmocka_unit_test(several_threads_share_a_search),
      cmocka_unit_test(what_the_store_knows_is_not_asked_again),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
