/* Parts of a session: aliases, the reuse of records, and several tuners of one store. */
#include <unistd.h>

#include "space/space.h"
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

/* A loop next to others, with its answers. */
struct tuner {
  clt_search_loop loop;
  struct scripted searcher;
  size_t n_by_origin[3];
};

static int note_origin(void *user, clt_config asked, double cost, const clt_measurement *m, clt_origin origin,
                       clt_error *error) {
  (void)asked, (void)cost, (void)m, (void)error;
  return ((struct tuner *)user)->n_by_origin[origin]++, 0;
}

static bool two_at_once(void *user) { return ((struct tuner *)user)->loop.n_measuring < 2; }

static void begin_tuner(struct tuner *t, const clt_space *space, const char *path, bool wait) {
  *t = (struct tuner){.loop = {.space = space,
                               .budget = INT64_MAX,
                               .searcher = &scripted,
                               .on_answer = note_origin,
                               .may_begin = two_at_once,
                               .key = {.problem = "p", .device = "d", .driver = "1"}}};
  t->loop.user = t;
  next_scripted = &t->searcher;
  assert_int_equal(clt_objective_new_for(&t->loop.objective, space, NULL, 0, NULL, NULL, NULL), 0);
  assert_int_equal(clt_store_new(&t->loop.store, NULL, path, NULL), 0);
  assert_int_equal(clt_loop_reuse(&t->loop, wait, NULL), 0);
  assert_int_equal(clt_loop_start(&t->loop, (clt_search_setup){.seed = 1}, NULL), 0);
}

static void end_tuner(struct tuner *t) {
  clt_loop_release(&t->loop);
  clt_store_free(t->loop.store);
}

static clt_config next(struct tuner *t) {
  clt_config config;
  assert_int_equal(clt_loop_next(&t->loop, 1, &config, NULL), 0);
  return config;
}

static void answer(struct tuner *t, clt_config config) {
  clt_measurement m;
  clt_measurement_init(&m, config);
  m.time_s = m.runs_s[0] = 1;
  m.n_runs = 1;
  assert_int_equal(clt_loop_answer(&t->loop, &m, NULL), 0);
}

static int count_record(void *user, clt_record_kind kind, const clt_measurement *m) {
  (void)kind, (void)m;
  return ++*(size_t *)user, 0;
}

static size_t count_records(struct tuner *t) {
  size_t n = 0;
  assert_int_equal(clt_store_each(t->loop.store, &t->loop.key, t->loop.space, count_record, &n, NULL, NULL), 0);
  return n;
}

static void tuners_of_one_store_share_the_work(void **state) {
  (void)state;
  clt_space *space = bench_space(false);
  struct tuner *a = calloc(1, sizeof *a), *b = calloc(1, sizeof *b);
  char folder[] = "/tmp/clatune-session-XXXXXX", path[64], command[64];
  assert_true(a && b && mkdtemp(folder));
  snprintf(path, sizeof path, "%s/store.sqlite", folder);
  setenv("XDG_RUNTIME_DIR", folder, 1);
  for (n_script = 0; n_script < 4; n_script++) script[n_script] = clt_space_at(space, n_script);
  begin_tuner(a, space, path, true);
  begin_tuner(b, space, path, true);
  assert_true(next(a) == script[0] && next(a) == script[1] && next(a) == CLT_CONFIG_NONE);
  assert_true(next(b) == CLT_CONFIG_NONE); /* waits for both */
  assert_int_equal(b->loop.n_elsewhere, 2);
  answer(a, script[0]);
  assert_true(next(b) == script[2]); /* the first is known by now */
  assert_int_equal(b->n_by_origin[CLT_FROM_STORE], 1);
  assert_true(next(a) == CLT_CONFIG_NONE); /* waits for the third */
  end_tuner(a);                            /* before it has answered the second */
  assert_true(next(b) == script[1]);
  answer(b, script[2]);
  answer(b, script[1]);
  assert_true(next(b) == script[3]);
  answer(b, script[3]);
  assert_true(next(b) == CLT_CONFIG_NONE);
  assert_int_equal(b->loop.n_pending + b->loop.n_measuring + b->loop.n_elsewhere, 0);
  assert_int_equal(b->n_by_origin[CLT_NOT_KNOWN], 3);
  assert_int_equal(b->searcher.n_told, 4);
  assert_int_equal(count_records(b), 4);
  end_tuner(b);
  /* If none can wait, both measure, and the first answer is kept. */
  unlink(path);
  begin_tuner(a, space, path, false);
  begin_tuner(b, space, path, false);
  assert_true(next(a) == script[0] && next(b) == script[0]);
  answer(a, script[0]);
  answer(b, script[0]);
  assert_int_equal(b->n_by_origin[CLT_FROM_STORE], 1);
  assert_int_equal(count_records(b), 1);
  end_tuner(a);
  end_tuner(b);
  free(a);
  free(b);
  snprintf(command, sizeof command, "rm -r '%s'", folder);
  assert_int_equal(system(command), 0);
  clt_space_free(space);
}

/* The next ones to measure, which take 1 s each. */
static void expect_measured(struct tuner *t, const clt_config *configs, size_t n) {
  for (size_t i = 0; i < n; i++) {
    const clt_config config = next(t);
    assert_true(config == configs[i]);
    answer(t, config);
  }
}

/* One liar, whom others' failures confirm: she lies about neighbours of the best, where the search is kept away by
 * failures and by times that are too long. */
static void a_voice_is_believed_until_it_said_something_untrue(void **state) {
  (void)state;
  clt_space *space = bench_space(false);
  struct tuner *t = calloc(1, sizeof *t);
  clt_store *store;
  char folder[] = "/tmp/clatune-session-XXXXXX", path[64], command[64];
  clt_config near[8], far[64];
  size_t n_near = 0, n_far = 0;
  assert_true(t && mkdtemp(folder));
  snprintf(path, sizeof path, "%s/store.sqlite", folder);
  setenv("XDG_RUNTIME_DIR", folder, 1);
  const clt_config best = clt_space_at(space, 0);
  for (uint64_t rank = 1; rank < clt_space_valid(space) && n_far < 64; rank++) {
    const clt_config config = clt_space_at(space, rank);
    if (clt_space_difference(space, config, best) > 1)
      far[n_far++] = config;
    else if (n_near < 8)
      near[n_near++] = config;
  }
  assert_true(n_near >= 5 && n_far == 64);
  assert_int_equal(clt_store_new(&store, NULL, path, NULL), 0);
  say(store, space, 0, best, 1);
  say(store, space, AGENT, far[0], NAN);
  say(store, space, LIAR, far[0], NAN);
  for (size_t i = 1; i < 30; i++) say(store, space, LIAR, far[i], i < 29 ? NAN : 1.2);
  say(store, space, LIAR, near[0], 50);
  say(store, space, LIAR, near[1], NAN);
  say(store, space, LIAR, near[2], 1.1);
  say(store, space, LIAR, near[3], 0.6);
  say(store, space, AGENT, near[4], 1);
  clt_store_free(store);
  n_script = 0;
  script[n_script++] = best;
  for (size_t i = 0; i < 30; i++) script[n_script++] = far[i];
  for (size_t i = 0; i < 5; i++) script[n_script++] = near[i];
  begin_tuner(t, space, path, false);
  t->loop.budget = (int64_t)n_script;
  expect_measured(t, near, 1);
  assert_int_equal(t->n_by_origin[CLT_FROM_STORE], 31);
  expect_measured(t, far + 1, 29);
  expect_measured(t, near + 1, 3);
  assert_true(next(t) == CLT_CONFIG_NONE && t->loop.n_pending == 0);
  assert_int_equal(t->n_by_origin[CLT_FROM_STORE], 32); /* with what the other said */
  assert_int_equal(t->loop.n_begun, (int64_t)n_script + 29);
  assert_int_equal(t->searcher.n_told, n_script); /* once of each */
  end_tuner(t);
  /* Without her. What is faster by a fifth than all that others know is measured here, and counts instead of what she
   * says meanwhile. */
  unlink(path);
  assert_int_equal(clt_store_new(&store, NULL, path, NULL), 0);
  say(store, space, 0, best, 1);
  say(store, space, AGENT, best, 1);
  say(store, space, AGENT, near[0], 0.9);
  say(store, space, AGENT, near[1], 0.6);
  script[0] = best, script[1] = near[0], script[2] = near[1], script[3] = near[2];
  n_script = 4;
  begin_tuner(t, space, path, false);
  assert_true(next(t) == near[1] && next(t) == near[2]);
  say(store, space, LIAR, near[2], 40);
  answer(t, near[2]);
  assert_int_equal(t->n_by_origin[CLT_NOT_KNOWN], 1);
  end_tuner(t);
  clt_store_free(store);
  free(t);
  snprintf(command, sizeof command, "rm -r '%s'", folder);
  assert_int_equal(system(command), 0);
  clt_space_free(space);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_alias_gets_the_result_of_what_it_stands_for),
      cmocka_unit_test(a_searcher_that_leaves_the_space_is_an_error),
      cmocka_unit_test(the_newest_search_record_is_used_failures_too),
      cmocka_unit_test(what_failed_as_a_finalist_has_failed),
      cmocka_unit_test(tuners_of_one_store_share_the_work),
      cmocka_unit_test(a_voice_is_believed_until_it_said_something_untrue),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
