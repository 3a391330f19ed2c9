/* Parts of a session with a scripted searcher and evaluator: aliases, the reuse of records, finalists that are
 * rejected. */
#include "../search/bench.h"
#include "base/fail.h"
#include "session/session.h"

#define MAX 64

/* Asks for a list. */
static clt_config script[MAX];
static size_t n_script;

struct scripted {
  size_t next;
  clt_config told[MAX];
  double told_s[MAX];
  size_t n_told;
  clt_search_report report;
};

static int scripted_ask(void *state, size_t n, clt_config *out, size_t *n_out, clt_error *error) {
  struct scripted *s = state;
  (void)error;
  for (*n_out = 0; *n_out < n && s->next < n_script;) out[(*n_out)++] = script[s->next++];
  return 0;
}

static int scripted_tell(void *state, const clt_measurement *measurement, clt_error *error) {
  struct scripted *s = state;
  (void)error;
  s->told[s->n_told] = measurement->config;
  s->told_s[s->n_told++] = measurement->time_s;
  return 0;
}

static void scripted_report(const void *state, clt_search_report *out) {
  *out = ((const struct scripted *)state)->report;
}

static const clt_searcher_type scripted = {
    .name = "scripted", .ask = scripted_ask, .tell = scripted_tell, .report = scripted_report};

/* Times are bench_bowl's; answers the newest first, three at a time. Those in `fails` fail when compared, for the
 * reason, beginning with a comparison. The comparison `stopped_in` is stopped. */
struct failure {
  clt_config config;
  clt_reason reason;
  size_t from;
};

struct fake {
  const clt_space *space;
  clt_config pending[MAX];
  size_t n_pending, n_submitted, n_compared, n_comparisons;
  struct failure fails[MAX];
  size_t n_fails, stopped_in;
  clt_compare_policy policy;
};

static size_t fake_capacity(const void *state) { return (void)state, 3; }

static int fake_submit(void *state, clt_config config, double best_s, clt_error *error) {
  struct fake *f = state;
  (void)best_s, (void)error;
  f->pending[f->n_pending++] = config;
  f->n_submitted++;
  return 0;
}

static void measure(const struct fake *f, clt_config config, clt_measurement *out) {
  clt_measurement_init(out, config);
  out->time_s = out->runs_s[0] = bench_bowl(f->space, config);
  out->n_runs = 1;
}

static int fake_wait(void *state, clt_measurement *out, double timeout_s, clt_error *error) {
  struct fake *f = state;
  (void)timeout_s, (void)error;
  if (f->n_pending == 0) return CLT_E_AGAIN;
  measure(f, f->pending[--f->n_pending], out);
  return 0;
}

static int fake_compare(void *state, const clt_config *configs, size_t n, const clt_compare_policy *policy,
                        clt_measurement *out, clt_error *error) {
  struct fake *f = state;
  f->policy = *policy;
  if (++f->n_comparisons == f->stopped_in) return clt_fail(error, CLT_E_STOPPED, "stopped");
  for (size_t i = 0; i < n; i++, f->n_compared++) {
    measure(f, configs[i], &out[i]);
    for (size_t k = 0; k < f->n_fails; k++)
      if (configs[i] == f->fails[k].config && f->n_comparisons >= f->fails[k].from)
        clt_measurement_fail(&out[i], f->fails[k].reason, NULL);
  }
  return 0;
}

static const clt_evaluator_type fake = {
    .name = "fake", .capacity = fake_capacity, .submit = fake_submit, .wait = fake_wait, .compare = fake_compare};

/* A session around them; everything is on the caller's stack but what clt_session_end frees. */
struct stage {
  clt_tune_settings settings;
  clt_tune_result result;
  struct scripted searcher;
  struct fake evaluator;
  clt_session session;
};

static void begin(struct stage *stage, const clt_space *space) {
  memset(stage, 0, sizeof *stage);
  clt_tune_settings_init(&stage->settings);
  clt_measurement_init(&stage->result.best, CLT_CONFIG_NONE);
  clt_measurement_init(&stage->result.default_measurement, CLT_CONFIG_NONE);
  clt_measurement_init(&stage->result.first_stage_best, CLT_CONFIG_NONE);
  stage->evaluator.space = space;
  stage->session = (clt_session){.settings = &stage->settings,
                                 .result = &stage->result,
                                 .space = space,
                                 .tolerance = 0.02,
                                 .budget = INT64_MAX,
                                 .first = CLT_CONFIG_NONE,
                                 .evaluator = &fake,
                                 .evaluator_state = &stage->evaluator,
                                 .searcher = &scripted,
                                 .searcher_state = &stage->searcher};
}

static void end(struct stage *stage) {
  clt_known_release(&stage->session.known);
  free(stage->session.queue);
  free(stage->session.pending);
  free(stage->session.ranked);
  clt_tune_result_release(&stage->result);
}

static clt_config config_of(const clt_space *space, const char *text) {
  clt_config config;
  assert_int_equal(clt_config_parse(&config, space, text, NULL), 0);
  return config;
}

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
  assert_int_equal(clt_session_search(&stage.session, NULL), 0);
  assert_int_equal(stage.evaluator.n_submitted, 2);
  assert_int_equal(stage.result.evaluations, 4);
  assert_int_equal(stage.result.measured, 2);
  assert_int_equal(stage.result.aliased, 2);
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
  assert_int_equal(clt_session_search(&stage.session, &error), CLT_E_ARGUMENT);
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
  assert_int_equal(clt_store_open(&store, "memory", NULL, NULL), 0);
  add_record(store, &key, space, a, CLT_RECORD_SEARCH, 2);
  add_record(store, &key, space, a, CLT_RECORD_SEARCH, 1.5);
  add_record(store, &key, space, a, CLT_RECORD_FINALIST, 9);
  add_failure(store, &key, space, b, CLT_RECORD_SEARCH, CLT_REASON_RUN_CRASH);
  add_record(store, &key, space, c, CLT_RECORD_FINALIST, 9);
  assert_int_equal(clt_known_load(&known, store, &key, space, NULL), 0);
  assert_int_equal(clt_known_take(&known, a, &m), CLT_KNOWN_STORE);
  assert_true(m.time_s == 1.5 && m.n_runs == 1 && m.config == a);
  clt_measurement_release(&m);
  assert_int_equal(clt_known_take(&known, a, &m), CLT_KNOWN_SESSION);
  assert_true(m.time_s == 1.5);
  clt_measurement_release(&m);
  assert_int_equal(clt_known_take(&known, b, &m), CLT_KNOWN_STORE);
  assert_int_equal(m.reason, CLT_REASON_RUN_CRASH);
  clt_measurement_release(&m);
  assert_int_equal(clt_known_take(&known, c, &m), CLT_KNOWN_NOT);
  clt_known_release(&known);
  clt_store_close(store);
  clt_space_free(space);
}

static clt_measurement take(clt_known *known, clt_config config) {
  clt_measurement m;
  assert_int_equal(clt_known_take(known, config, &m), CLT_KNOWN_STORE);
  return m;
}

static void what_failed_as_a_finalist_has_failed(void **state) {
  (void)state;
  clt_space *space = bench_space(false);
  clt_store *store;
  clt_store_key key = {.problem = "p", .device = "d", .driver = "1"};
  clt_config failed = clt_space_at(space, 3), crowded = clt_space_at(space, 4), fresh = clt_space_at(space, 5);
  clt_known known = {0};
  assert_int_equal(clt_store_open(&store, "memory", NULL, NULL), 0);
  for (uint64_t rank = 3; rank <= 5; rank++)
    add_record(store, &key, space, clt_space_at(space, rank), CLT_RECORD_SEARCH, 1);
  add_failure(store, &key, space, failed, CLT_RECORD_FINALIST, CLT_REASON_WRONG_OUTPUT);
  add_failure(store, &key, space, crowded, CLT_RECORD_FINALIST, CLT_REASON_OUT_OF_MEMORY);
  add_failure(store, &key, space, fresh, CLT_RECORD_FINALIST, CLT_REASON_WRONG_OUTPUT);
  add_record(store, &key, space, fresh, CLT_RECORD_SEARCH, 2);
  assert_int_equal(clt_known_load(&known, store, &key, space, NULL), 0);
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
  clt_store_close(store);
  clt_space_free(space);
}

/* --- finalists --- */

/* Evaluates the whole neighbourhood of the optimum, so that several are within the window; ranked[0] is the fastest. */
static void evaluate_many(struct stage *stage, const clt_space *space) {
  begin(stage, space);
  n_script = 0;
  for (int e = 1; e <= 12; e++) {
    char text[64];
    snprintf(text, sizeof text, "a=16 b=4 c=0 d=0 e=%d", e);
    script[n_script++] = config_of(space, text);
  }
  assert_int_equal(clt_session_search(&stage->session, NULL), 0);
}

static clt_config of_e(const clt_space *space, int e) {
  char text[64];
  snprintf(text, sizeof text, "a=16 b=4 c=0 d=0 e=%d", e);
  return config_of(space, text);
}

static void fails(struct stage *stage, clt_config config, clt_reason reason, size_t from) {
  stage->evaluator.fails[stage->evaluator.n_fails++] = (struct failure){config, reason, from};
}

static void the_fastest_few_are_compared(void **state) {
  (void)state;
  clt_space *space = bench_space(false);
  struct stage stage;
  evaluate_many(&stage, space);
  stage.settings.finalists = 3;
  assert_int_equal(clt_session_finalists(&stage.session, NULL), 0);
  assert_int_equal(stage.evaluator.n_compared, 3);
  assert_true(stage.result.best_is_finalist);
  assert_true(stage.result.best.config == config_of(space, "a=16 b=4 c=0 d=0 e=7"));
  end(&stage);
  clt_space_free(space);
}

static void a_rejected_finalist_makes_room_for_the_next_best(void **state) {
  (void)state;
  clt_space *space = bench_space(false);
  struct stage stage;
  evaluate_many(&stage, space);
  stage.settings.finalists = 2;
  fails(&stage, of_e(space, 7), CLT_REASON_WRONG_OUTPUT, 1);
  fails(&stage, of_e(space, 6), CLT_REASON_WRONG_OUTPUT, 1);
  assert_int_equal(clt_session_finalists(&stage.session, NULL), 0);
  assert_int_equal(stage.evaluator.n_comparisons, 2);
  assert_true(stage.result.best.config == config_of(space, "a=16 b=4 c=0 d=0 e=8"));
  assert_true(stage.result.best_is_finalist);
  end(&stage);
  clt_space_free(space);
}

static void where_no_finalist_stands_verification_has_failed(void **state) {
  (void)state;
  clt_space *space = bench_space(false);
  struct stage stage;
  clt_error error = {0};
  evaluate_many(&stage, space);
  stage.settings.finalists = 5;
  for (size_t i = 0; i < n_script; i++) fails(&stage, script[i], CLT_REASON_WRONG_OUTPUT, 1);
  assert_int_equal(clt_session_finalists(&stage.session, &error), CLT_E_VERIFY);
  assert_true(stage.result.best.config == CLT_CONFIG_NONE);
  assert_non_null(strstr(error.message, "other data"));
  end(&stage);
  clt_space_free(space);
}

static void a_finalist_that_stands_is_not_forgotten_for_others_that_fail(void **state) {
  (void)state;
  clt_space *space = bench_space(false);
  struct stage stage;
  evaluate_many(&stage, space);
  stage.settings.finalists = 3; /* 7, 6 and 8 */
  fails(&stage, of_e(space, 6), CLT_REASON_WRONG_OUTPUT, 1);
  fails(&stage, of_e(space, 7), CLT_REASON_RUN_CRASH, 2);
  assert_int_equal(clt_session_finalists(&stage.session, NULL), 0);
  assert_int_equal(stage.evaluator.n_comparisons, 3);
  assert_true(stage.result.best.config == of_e(space, 8));
  end(&stage);
  clt_space_free(space);
}

static void the_window_does_not_move_while_the_fastest_stands(void **state) {
  (void)state;
  clt_space *space = bench_space(false);
  struct stage stage;
  evaluate_many(&stage, space);
  stage.settings.finalists = 2;
  /* The one behind the fastest fails, and so does everything that takes its place. */
  for (int e = 1; e <= 12; e++)
    if (e != 7) fails(&stage, of_e(space, e), CLT_REASON_WRONG_OUTPUT, 1);
  for (size_t i = 0; i < stage.session.n_ranked; i++) { /* 1 s, 1.4 s, 1.6 s, 1.8 s ... */
    int rank = abs((int)clt_space_value(space, stage.session.ranked[i].config, 4).integer - 7);
    stage.session.ranked[i].time_s = rank == 0 ? 1 : 1.2 + 0.2 * rank;
  }
  assert_int_equal(clt_session_finalists(&stage.session, NULL), 0);
  assert_int_equal(stage.evaluator.n_comparisons, 2); /* 6 and 8 are within, 5 and 9 are not */
  assert_int_equal(stage.evaluator.n_compared, 4);
  assert_true(stage.result.best.config == of_e(space, 7));
  end(&stage);
  clt_space_free(space);
}

static int count_any(void *user, clt_record_kind kind, const clt_measurement *measurement) {
  (void)measurement;
  *(size_t *)user += kind == CLT_RECORD_FINALIST;
  return 0;
}

static size_t n_finalist_records(struct stage *stage, const clt_space *space) {
  size_t n = 0;
  assert_int_equal(clt_store_each(stage->settings.store, &stage->session.key, space, count_any, &n, NULL, NULL), 0);
  return n;
}

static void open_memory_store(struct stage *stage) {
  assert_int_equal(clt_store_open(&stage->settings.store, "memory", NULL, NULL), 0);
  stage->session.key = (clt_store_key){.problem = "p", .device = "d", .driver = "1"};
}

static void out_of_memory_beside_others_is_no_failure(void **state) {
  (void)state;
  clt_space *space = bench_space(false);
  struct stage stage;
  evaluate_many(&stage, space);
  open_memory_store(&stage);
  stage.settings.finalists = 3;
  fails(&stage, of_e(space, 7), CLT_REASON_OUT_OF_MEMORY, 1);
  assert_int_equal(clt_session_finalists(&stage.session, NULL), 0);
  assert_int_equal(stage.evaluator.n_comparisons, 1); /* it is not replaced */
  assert_int_equal(n_finalist_records(&stage, space), 2);
  assert_true(stage.result.best.config == of_e(space, 6) || stage.result.best.config == of_e(space, 8));
  clt_store_close(stage.settings.store);
  end(&stage);
  clt_space_free(space);
}

static void where_memory_suffices_for_no_finalist_the_search_is_believed(void **state) {
  (void)state;
  clt_space *space = bench_space(false);
  struct stage stage;
  for (int rejected = 0; rejected < 2; rejected++) {
    evaluate_many(&stage, space);
    stage.settings.finalists = 3;
    for (int e = 1; e <= 12; e++) {
      bool wrong = rejected && e == 7; /* what is known to be wrong is not believed */
      fails(&stage, of_e(space, e), wrong ? CLT_REASON_WRONG_OUTPUT : CLT_REASON_OUT_OF_MEMORY, 1);
    }
    assert_int_equal(clt_session_finalists(&stage.session, NULL), 0);
    clt_config best = stage.result.best.config;
    assert_true(rejected ? best == of_e(space, 6) || best == of_e(space, 8) : best == of_e(space, 7));
    assert_true(stage.result.best.time_s == bench_bowl(space, best));
    assert_false(stage.result.best_is_finalist);
    end(&stage);
  }
  clt_space_free(space);
}

static void companions_keep_what_is_known_of_them(void **state) {
  static const clt_reason reasons[] = {CLT_REASON_NONE, CLT_REASON_OUT_OF_MEMORY, CLT_REASON_WRONG_OUTPUT};
  (void)state;
  clt_space *space = bench_space(false);
  for (int i = 0; i < 3; i++) {
    struct stage stage;
    clt_config slow = config_of(space, "a=1 b=64 c=1 d=0 e=1"), sample = config_of(space, "a=1 b=64 c=1 d=0 e=2");
    begin(&stage, space);
    stage.session.first = slow;
    stage.searcher.report = (clt_search_report){.has_first_stage_best = true, .first_stage_best = sample};
    script[0] = of_e(space, 7), script[1] = sample, n_script = 2;
    assert_int_equal(clt_session_search(&stage.session, NULL), 0);
    stage.settings.finalists = 3;
    if (i > 0) fails(&stage, slow, reasons[i], 1), fails(&stage, sample, reasons[i], 1);
    assert_int_equal(clt_session_finalists(&stage.session, NULL), 0);
    assert_int_equal(stage.evaluator.n_compared, 3);
    assert_int_equal(stage.result.has_default, reasons[i] != CLT_REASON_WRONG_OUTPUT);
    assert_true(stage.result.default_measurement.config == slow);
    assert_int_equal(clt_measurement_correct(&stage.result.default_measurement), stage.result.has_default);
    assert_true(stage.result.first_stage_best.config == (i == 0 ? sample : CLT_CONFIG_NONE));
    assert_true(stage.result.best.config == of_e(space, 7));
    end(&stage);
  }
  clt_space_free(space);
}

static void stopped_among_the_finalists_the_search_is_believed(void **state) {
  (void)state;
  clt_space *space = bench_space(false);
  for (size_t stopped_in = 1; stopped_in <= 2; stopped_in++) {
    struct stage stage;
    int stop = 0;
    evaluate_many(&stage, space);
    stage.settings.finalists = 1;
    stage.settings.stop = &stop;
    stage.evaluator.stopped_in = stopped_in;
    fails(&stage, of_e(space, 7), CLT_REASON_WRONG_OUTPUT, 1);
    assert_int_equal(clt_session_finalists(&stage.session, NULL), CLT_E_STOPPED);
    assert_true(stage.evaluator.policy.stop == &stop);
    clt_config best = stage.result.best.config;
    assert_true(stopped_in == 1 ? best == of_e(space, 7) : best == of_e(space, 6) || best == of_e(space, 8));
    assert_true(stage.result.best.time_s == bench_bowl(space, best));
    assert_false(stage.result.best_is_finalist);
    end(&stage);
  }
  clt_space_free(space);
}

static void keep_text(void *user, clt_log_level level, const char *text) {
  if (level == CLT_LOG_WARNING) snprintf(user, 256, "%s", text);
}

static void a_rejected_finalist_is_named_with_the_reason(void **state) {
  (void)state;
  clt_space *space = bench_space(false);
  struct stage stage;
  char text[256] = "";
  evaluate_many(&stage, space);
  stage.settings.finalists = 1;
  stage.settings.log = keep_text;
  stage.settings.user = text;
  fails(&stage, of_e(space, 7), CLT_REASON_WRONG_OUTPUT, 1);
  assert_int_equal(clt_session_finalists(&stage.session, NULL), 0);
  assert_non_null(strstr(text, "a=16 b=4 c=0 d=0 e=7"));
  assert_non_null(strstr(text, clt_reason_text(CLT_REASON_WRONG_OUTPUT)));
  end(&stage);
  clt_space_free(space);
}

static void the_default_is_timed_side_by_side(void **state) {
  (void)state;
  clt_space *space = bench_space(false);
  struct stage stage;
  begin(&stage, space);
  stage.session.first = config_of(space, "a=1 b=64 c=1 d=0 e=1");
  script[0] = config_of(space, "a=16 b=4 c=0 d=0 e=7");
  n_script = 1;
  assert_int_equal(clt_session_search(&stage.session, NULL), 0);
  assert_true(stage.searcher.told[0] == stage.session.first);
  assert_true(stage.result.has_default);
  stage.settings.finalists = 5;
  assert_int_equal(clt_session_finalists(&stage.session, NULL), 0);
  assert_int_equal(stage.evaluator.n_compared, 2); /* far too slow for a finalist, but there */
  assert_true(stage.result.default_measurement.config == stage.session.first);
  assert_true(stage.result.best.config == script[0]);
  end(&stage);
  clt_space_free(space);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_alias_gets_the_result_of_what_it_stands_for),
      cmocka_unit_test(a_searcher_that_leaves_the_space_is_an_error),
      cmocka_unit_test(the_newest_search_record_is_used_failures_too),
      cmocka_unit_test(what_failed_as_a_finalist_has_failed),
      cmocka_unit_test(the_fastest_few_are_compared),
      cmocka_unit_test(a_rejected_finalist_makes_room_for_the_next_best),
      cmocka_unit_test(where_no_finalist_stands_verification_has_failed),
      cmocka_unit_test(a_finalist_that_stands_is_not_forgotten_for_others_that_fail),
      cmocka_unit_test(the_window_does_not_move_while_the_fastest_stands),
      cmocka_unit_test(out_of_memory_beside_others_is_no_failure),
      cmocka_unit_test(where_memory_suffices_for_no_finalist_the_search_is_believed),
      cmocka_unit_test(companions_keep_what_is_known_of_them),
      cmocka_unit_test(stopped_among_the_finalists_the_search_is_believed),
      cmocka_unit_test(a_rejected_finalist_is_named_with_the_reason),
      cmocka_unit_test(the_default_is_timed_side_by_side),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
