/* Finalists: who is compared, who is rejected, who wins. */
#include "stage.h"

#include "base/base.h"

static clt_config of_e(const clt_space *space, int e) {
  char text[64];
  snprintf(text, sizeof text, "a=16 b=4 c=0 d=0 e=%d", e);
  return config_of(space, text);
}

/* Evaluates the whole neighbourhood of the optimum, so that several are within the window; ranked[0] is the fastest. */
static void evaluate_many(struct stage *stage, const clt_space *space) {
  begin(stage, space);
  n_script = 0;
  for (int e = 1; e <= 12; e++) script[n_script++] = of_e(space, e);
  assert_int_equal(search_stage(stage, NULL), 0);
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
  assert_true(stage.result->best_is_finalist);
  assert_true(stage.result->best.config == config_of(space, "a=16 b=4 c=0 d=0 e=7"));
  end(&stage);
  clt_space_free(space);
}

static void what_one_voice_claims_displaces_nothing(void **state) {
  (void)state;
  clt_space *space = bench_space(false);
  struct stage stage;
  clt_search_loop *loop = &stage.session.loop;
  begin(&stage, space);
  stage.settings.finalists = 2;
  loop->key = (clt_store_key){.problem = "p", .device = "d", .driver = "1"};
  assert_int_equal(clt_store_new(&loop->store, "memory", NULL, NULL), 0);
  const double best_s = bench_bowl(space, of_e(space, 7));
  say(loop->store, space, AGENT, of_e(space, 12), 5 * best_s);
  say(loop->store, space, LIAR, of_e(space, 12), 5 * best_s);
  for (int e = 1; e <= 4; e++) say(loop->store, space, LIAR, of_e(space, e), 0.85 * best_s);
  const clt_config elsewhere = config_of(space, "a=16 b=4 c=0 d=1 e=7"), of_liar = config_of(space, "a=16 b=4 c=1 d=0 e=7");
  say(loop->store, space, AGENT, elsewhere, 0.9 * best_s);
  say(loop->store, space, LIAR, of_liar, 0.001 * best_s);
  assert_int_equal(clt_loop_reuse(loop, false, NULL), 0);
  n_script = 0;
  for (int e = 12; e >= 1; e--) script[n_script++] = of_e(space, e);
  assert_int_equal(search_stage(&stage, NULL), 0);
  assert_int_equal(stage.result->reused, 5);
  assert_int_equal(clt_session_finalists(&stage.session, NULL), 0);
  assert_true(stage.result->best.config == of_e(space, 7));
  assert_int_equal(stage.evaluator.n_compared, 6);
  bool has_both[2] = {false, false}; /* nor does it keep others' claims from being compared */
  for (size_t i = 0; i < 6; i++) {
    has_both[0] |= stage.evaluator.kept[i] == elsewhere;
    has_both[1] |= stage.evaluator.kept[i] == of_liar;
  }
  assert_true(has_both[0] && has_both[1]);
  assert_int_equal(clt_session_take_best_known(&stage.session, NULL), 0);
  assert_true(stage.result->best.config == of_e(space, 7));
  clt_store_free(loop->store);
  end(&stage);
  clt_space_free(space);
}

static void what_a_refuted_voice_claimed_is_measured_and_ranked_once(void **state) {
  (void)state;
  clt_space *space = bench_space(false);
  struct stage stage;
  clt_search_loop *loop = &stage.session.loop;
  const int order[] = {12, 11, 10, 9, 8, 7, 5, 4, 3, 2, 1, 6};
  begin(&stage, space);
  loop->key = (clt_store_key){.problem = "p", .device = "d", .driver = "1"};
  assert_int_equal(clt_store_new(&loop->store, "memory", NULL, NULL), 0);
  const double best_s = bench_bowl(space, of_e(space, 7));
  say(loop->store, space, AGENT, of_e(space, 12), 5 * best_s);
  say(loop->store, space, LIAR, of_e(space, 12), 5 * best_s);
  for (int e = 1; e <= 3; e++) say(loop->store, space, LIAR, of_e(space, e), 0.85 * best_s);
  say(loop->store, space, LIAR, of_e(space, 6), 50 * best_s);
  assert_int_equal(clt_loop_reuse(loop, false, NULL), 0);
  for (n_script = 0; n_script < 12; n_script++) script[n_script] = of_e(space, order[n_script]);
  assert_int_equal(search_stage(&stage, NULL), 0);
  assert_int_equal(stage.result->reused, 4);
  assert_int_equal(stage.result->evaluations, 12 + 3);
  assert_int_equal(stage.session.n_ranked, 12);
  assert_true(stage.result->best.config == of_e(space, 7) && stage.result->best.time_s == best_s);
  clt_store_free(loop->store);
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
  assert_true(stage.result->best.config == config_of(space, "a=16 b=4 c=0 d=0 e=8"));
  assert_true(stage.result->best_is_finalist);
  end(&stage);
  clt_space_free(space);
}

static void what_incorrect_finalists_have_in_common_lets_others_pass(void **state) {
  (void)state;
  clt_space *space = bench_space(false);
  struct stage stage;
  begin(&stage, space);
  n_script = 0;
  for (int e = 1; e <= 12; e++) script[n_script++] = of_e(space, e);
  for (size_t i = 0; i < 12; i++) fails(&stage, script[i], CLT_REASON_WRONG_OUTPUT, 1);
  const clt_config slower = config_of(space, "a=16 b=4 c=0 d=1 e=7");
  script[n_script++] = slower;
  script[n_script++] = config_of(space, "a=16 b=4 c=0 d=1 e=8");
  assert_int_equal(search_stage(&stage, NULL), 0);
  stage.settings.finalists = 3;
  assert_int_equal(clt_session_finalists(&stage.session, NULL), 0);
  assert_true(stage.result->best.config == slower);
  assert_int_equal(stage.evaluator.n_comparisons, 2);
  assert_int_equal(stage.result->n_notes, 1);
  assert_non_null(strstr(stage.result->notes[0], "3 finalists failed, all with d=0;"));
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
  assert_true(stage.result->best.config == CLT_CONFIG_NONE);
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
  assert_true(stage.result->best.config == of_e(space, 8));
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
    stage.session.ranked[i].cost = rank == 0 ? 1 : 1.2 + 0.2 * rank;
  }
  assert_int_equal(clt_session_finalists(&stage.session, NULL), 0);
  assert_int_equal(stage.evaluator.n_comparisons, 2); /* 6 and 8 are within, 5 and 9 are not */
  assert_int_equal(stage.evaluator.n_compared, 4);
  assert_true(stage.result->best.config == of_e(space, 7));
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
  assert_int_equal(
      clt_store_each(stage->session.loop.store, &stage->session.loop.key, space, count_any, &n, NULL, NULL), 0);
  return n;
}

static void open_memory_store(struct stage *stage) {
  assert_int_equal(clt_store_new(&stage->session.loop.store, "memory", NULL, NULL), 0);
  stage->session.loop.key = (clt_store_key){.problem = "p", .device = "d", .driver = "1"};
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
  assert_true(stage.result->best.config == of_e(space, 6) || stage.result->best.config == of_e(space, 8));
  clt_store_free(stage.session.loop.store);
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
      bool wrong = rejected && e == 7; /* a configuration known as incorrect is not believed */
      fails(&stage, of_e(space, e), wrong ? CLT_REASON_WRONG_OUTPUT : CLT_REASON_OUT_OF_MEMORY, 1);
    }
    assert_int_equal(clt_session_finalists(&stage.session, NULL), 0);
    clt_config best = stage.result->best.config;
    assert_true(rejected ? best == of_e(space, 6) || best == of_e(space, 8) : best == of_e(space, 7));
    assert_true(stage.result->best.time_s == bench_bowl(space, best));
    assert_true(stage.result->best.n_runs == 1); /* complete, without a store, too */
    assert_false(stage.result->best_is_finalist);
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
    stage.searcher.report = (clt_search_report){.timed_beside = sample};
    script[0] = of_e(space, 7), script[1] = sample, n_script = 2;
    assert_int_equal(search_stage(&stage, NULL), 0);
    stage.settings.finalists = 3;
    if (i > 0) fails(&stage, slow, reasons[i], 1), fails(&stage, sample, reasons[i], 1);
    assert_int_equal(clt_session_finalists(&stage.session, NULL), 0);
    assert_int_equal(stage.evaluator.n_compared, 3);
    assert_int_equal(stage.result->has_default, reasons[i] != CLT_REASON_WRONG_OUTPUT);
    assert_true(stage.result->default_measurement.config == slow);
    assert_int_equal(clt_measurement_correct(&stage.result->default_measurement), stage.result->has_default);
    assert_true(stage.result->timed_beside.config == (i == 0 ? sample : CLT_CONFIG_NONE));
    assert_true(stage.result->best.config == of_e(space, 7));
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
    clt_config best = stage.result->best.config;
    assert_true(stage.result->best.n_runs == 1); /* complete, without a store, too */
    assert_true(stopped_in == 1 ? best == of_e(space, 7) : best == of_e(space, 6) || best == of_e(space, 8));
    assert_true(stage.result->best.time_s == bench_bowl(space, best));
    assert_false(stage.result->best_is_finalist);
    end(&stage);
  }
  clt_space_free(space);
}

/* Stopped at any step, the result is the last complete one: of the search, with its runs, or of a comparison. */
static void a_stop_at_any_step_leaves_a_complete_result(void **state) {
  (void)state;
  clt_space *space = bench_space(false);
  size_t n_found[2] = {0, 0};
  int rc = CLT_E_STOPPED;
  for (size_t step = 1; rc == CLT_E_STOPPED; step++) {
    struct stage stage;
    begin(&stage, space);
    stage.evaluator.scatters = true;
    n_script = 0;
    for (int e = 1; e <= 12; e++) script[n_script++] = of_e(space, e);
    assert_int_equal(search_stage(&stage, NULL), 0);
    stage.settings.finalists = 3;
    fails(&stage, of_e(space, 8), CLT_REASON_WRONG_OUTPUT, 1); /* so there is a second comparison */
    stage.evaluator.stops_at = step;
    rc = clt_session_finalists(&stage.session, NULL);
    assert_int_equal(clt_session_summarise(&stage.session, NULL), 0);
    const clt_measurement *best = &stage.result->best;
    assert_true(best->config != CLT_CONFIG_NONE && best->n_runs >= 3 && isfinite(stage.result->best_spread));
    if (!stage.result->best_is_finalist) assert_true(best->time_s == stage.result->least_s);
    n_found[stage.result->best_is_finalist]++;
    assert_true(step < 10000);
    end(&stage);
  }
  assert_int_equal(rc, 0);
  assert_true(n_found[0] >= 7 && n_found[1] >= 7);
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
  assert_int_equal(search_stage(&stage, NULL), 0);
  assert_true(stage.searcher.told[0] == stage.session.first);
  assert_true(stage.result->has_default);
  stage.settings.finalists = 5;
  assert_int_equal(clt_session_finalists(&stage.session, NULL), 0);
  assert_int_equal(stage.evaluator.n_compared, 2); /* far too slow for a finalist, but there */
  assert_true(stage.result->default_measurement.config == stage.session.first);
  assert_true(stage.result->best.config == script[0]);
  end(&stage);
  clt_space_free(space);
}

/* --- notes on the result --- */

/* The first note with the text, and how many notes there are. */
static const char *find_note(struct stage *stage, const char *text, size_t n) {
  assert_int_equal(clt_session_summarise(&stage->session, NULL), 0);
  assert_int_equal(stage->result->n_notes, n);
  for (size_t i = 0; i < n; i++)
    if (strstr(stage->result->notes[i], text)) return stage->result->notes[i];
  return NULL;
}

static void why_the_fastest_of_the_search_has_not_won_is_said(void **state) {
  (void)state;
  clt_space *space = bench_space(false);
  struct stage stage;
  for (int fate = 0; fate < 4; fate++) { /* it wins; fails; is beaten; is far down in a ranking by medians */
    evaluate_many(&stage, space);
    stage.settings.finalists = 2;
    clt_ranked *fastest = stage.session.ranked;
    for (size_t i = 0; i < stage.session.n_ranked; i++)
      if (stage.session.ranked[i].cost < fastest->cost) fastest = &stage.session.ranked[i];
    assert_true(fastest->config == of_e(space, 7));
    if (fate == 1) fails(&stage, of_e(space, 7), CLT_REASON_WRONG_OUTPUT, 1);
    for (size_t i = 0; fate == 2 && i < stage.session.n_ranked; i++) /* only lucky */
      if (stage.session.ranked[i].config == of_e(space, 1)) stage.session.ranked[i].cost = fastest->cost / 1.1;
    for (size_t i = 0; fate == 3 && i < stage.session.n_ranked; i++) stage.session.ranked[i].spread = 0.06;
    if (fate == 3) fastest->median_cost *= 10;
    assert_int_equal(clt_session_finalists(&stage.session, NULL), 0);
    static const char *const told[] = {"", "e=7 ", "e=1 ", "e=7 "};
    static const char *const because[] = {"", "failed as a finalist: the result differs", "final comparison",
                                          "medians"};
    const char *note = find_note(&stage, "the best of the search, ", fate > 0);
    if (fate > 0 && (note == NULL || !strstr(note, told[fate]) || !strstr(note, because[fate])))
      fail_msg("%d: %s", fate, note ? note : "nothing");
    end(&stage);
  }
  clt_space_free(space);
}

static void measurements_that_disagree_and_a_busy_machine_are_said(void **state) {
  (void)state;
  clt_space *space = bench_space(false);
  clt_evaluator_type device = fake;
  struct stage stage;
  device.measures_device = true;
  for (int busy = 0; busy < 2; busy++)
    for (int slower = 1; slower <= 3; slower += 2) {
      begin(&stage, space);
      stage.session.evaluator = &device;
      stage.session.first = config_of(space, "a=1 b=64 c=1 d=0 e=1");
      n_script = 2;
      script[0] = of_e(space, 7), script[1] = of_e(space, 8);
      stage.evaluator.slower = slower;
      stage.session.used = clt_processor_time_now();
      stage.session.used.all_s -= 1e6; /* a tuning of many days, and its and others' use of them */
      stage.session.used.busy_s -= busy ? 8e5 : 0;
      stage.session.used.own_s -= 2e5;
      assert_int_equal(search_stage(&stage, NULL), 0);
      assert_int_equal(clt_session_finalists(&stage.session, NULL), 0);
      const size_t n = (size_t)(2 * (slower > 1) + busy) + (slower > 1 || busy);
      const char *note = find_note(&stage, "", n);
      if (slower > 1) {
        assert_non_null(strstr(note, "the default configuration's median run took "));
        assert_non_null(strstr(stage.result->notes[1], "3 of 3 configurations"));
      }
      if (busy) assert_non_null(strstr(stage.result->notes[n - 2], "other programs used 60 % of the processor time"));
      if (n) assert_non_null(strstr(stage.result->notes[n - 1], "quieter machine: it compares"));
      end(&stage);
    }
  begin(&stage, space); /* if nothing was correct, there is nothing to compare again */
  stage.session.evaluator = &device;
  stage.session.used = clt_processor_time_now();
  stage.session.used.all_s -= 1e6;
  stage.session.used.busy_s -= 8e5;
  assert_non_null(find_note(&stage, "other programs used 80 %", 1));
  end(&stage);
  clt_space_free(space);
}

static void who_is_faster_where_nothing_is_bound_is_said(void **state) {
  static const struct {
    bool binds;
    int slower;
    bool said;
  } cases[] = {{false, 7, false}, {true, 0, false}, {true, 7, true}, {true, 8, false}};
  (void)state;
  clt_space *space = bench_space(false);
  for (size_t i = 0; i < 4; i++) {
    struct stage stage;
    evaluate_many(&stage, space);
    stage.settings.finalists = 3;
    stage.session.limits.binds = cases[i].binds;
    stage.evaluator.unbound = &stage.session.unbound;
    stage.evaluator.slower_unbound = cases[i].slower ? of_e(space, cases[i].slower) : CLT_CONFIG_NONE;
    assert_int_equal(clt_session_finalists(&stage.session, NULL), 0);
    assert_true(stage.result->best.config == of_e(space, 7));
    assert_true(stage.result->best.time_s == bench_bowl(space, of_e(space, 7)));
    assert_false(stage.session.unbound);
    const char *note = find_note(&stage, "if the driver's threads are not bound", cases[i].said);
    if (cases[i].said && (note == NULL || !(strstr(note, "e=6") || strstr(note, "e=8"))))
      fail_msg("%s", note ? note : "nothing");
    end(&stage);
  }
  clt_space_free(space);
}

/* A check that the given configurations do not pass. */
struct gate {
  clt_config fail[3];
  size_t n_asked;
};

static int check_at_gate(void *user, clt_measurement *winner, clt_error *error) {
  struct gate *gate = user;
  (void)error;
  gate->n_asked++;
  for (size_t i = 0; i < 3; i++)
    if (winner->config == gate->fail[i]) clt_measurement_fail(winner, CLT_REASON_WRONG_OUTPUT, "it has a race");
  return 0;
}

static void a_winner_that_does_not_pass_the_check_makes_way_for_the_next(void **state) {
  (void)state;
  clt_space *space = bench_space(false);
  struct stage stage;
  for (int n_fail = 0; n_fail <= 3; n_fail++) { /* 7, 6 and 8 are the fastest; with three all of the field are out */
    struct gate gate = {.fail = {CLT_CONFIG_NONE, CLT_CONFIG_NONE, CLT_CONFIG_NONE}};
    const int order[] = {7, 6, 8, 5};
    for (int i = 0; i < n_fail; i++) gate.fail[i] = of_e(space, order[i]);
    evaluate_many(&stage, space);
    open_memory_store(&stage);
    stage.settings.finalists = 3;
    stage.settings.check = check_at_gate;
    stage.settings.user = &gate;
    assert_int_equal(clt_session_finalists(&stage.session, NULL), 0);
    clt_config best = stage.result->best.config;
    assert_true(stage.result->best_is_finalist);
    for (int i = 0; i < n_fail; i++) assert_true(best != gate.fail[i]);
    assert_true(n_fail > 0 || best == of_e(space, 7));
    assert_int_equal(gate.n_asked, n_fail + 1); /* none twice */
    clt_store_free(stage.session.loop.store);
    end(&stage);
  }
  clt_space_free(space);
}

static void what_is_waited_for_the_device_is_not_counted_as_time(void **state) {
  (void)state;
  clt_space *space = bench_space(false);
  for (int waits = 0; waits < 2; waits++) {
    struct stage stage;
    begin(&stage, space);
    n_script = 0;
    for (int e = 1; e <= 3; e++) script[n_script++] = of_e(space, e);
    stage.settings.time_s = 1;
    stage.session.start_s = clt_now_s() - 1e6; /* all of which was waited for another tuner, or none of it */
    if (waits) stage.result->waited_s = 2e6;
    assert_int_equal(search_stage(&stage, NULL), 0);
    assert_int_equal(stage.result->evaluations, waits ? 3 : 0);
    assert_int_equal(stage.result->ending == CLT_ENDED_BY_TIME, !waits);
    end(&stage);
  }
  clt_space_free(space);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_fastest_few_are_compared),
      cmocka_unit_test(what_one_voice_claims_displaces_nothing),
      cmocka_unit_test(what_a_refuted_voice_claimed_is_measured_and_ranked_once),
      cmocka_unit_test(a_rejected_finalist_makes_room_for_the_next_best),
      cmocka_unit_test(what_incorrect_finalists_have_in_common_lets_others_pass),
      cmocka_unit_test(where_no_finalist_stands_verification_has_failed),
      cmocka_unit_test(a_finalist_that_stands_is_not_forgotten_for_others_that_fail),
      cmocka_unit_test(the_window_does_not_move_while_the_fastest_stands),
      cmocka_unit_test(out_of_memory_beside_others_is_no_failure),
      cmocka_unit_test(where_memory_suffices_for_no_finalist_the_search_is_believed),
      cmocka_unit_test(companions_keep_what_is_known_of_them),
      cmocka_unit_test(stopped_among_the_finalists_the_search_is_believed),
      cmocka_unit_test(a_stop_at_any_step_leaves_a_complete_result),
      cmocka_unit_test(a_rejected_finalist_is_named_with_the_reason),
      cmocka_unit_test(the_default_is_timed_side_by_side),
      cmocka_unit_test(why_the_fastest_of_the_search_has_not_won_is_said),
      cmocka_unit_test(measurements_that_disagree_and_a_busy_machine_are_said),
      cmocka_unit_test(who_is_faster_where_nothing_is_bound_is_said),
      cmocka_unit_test(what_is_waited_for_the_device_is_not_counted_as_time),
      cmocka_unit_test(a_winner_that_does_not_pass_the_check_makes_way_for_the_next),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
