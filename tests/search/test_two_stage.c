/* The two-stage search: how it divides the budget, its results, how it handles failures. */
#include "bench.h"
#include "base/plugin.h"

static bench two_stage(const clt_space *space, const clt_setting *settings, size_t n, uint64_t seed) {
  return (bench){.type = clt_searcher_find("two-stage"),
                 .setup = {.space = space, .budget = 1000, .seed = seed, .tolerance = 0.02, .confidence = 0.9},
                 .settings = settings,
                 .n_settings = n,
                 .objective = bench_bowl,
                 .batch = 8};
}

/* With this budget, n random samples are measured and m in the second stage. */
static void divides(const char *samples, const char *second_stage, int64_t budget, size_t n, size_t m) {
  clt_space *space = bench_space(false);
  const clt_setting settings[] = {{"samples", samples}, {"second-stage", second_stage}};
  bench b = two_stage(space, settings, 2, 1);
  b.setup.budget = budget;
  bench_run(&b);
  assert_int_equal((size_t)bench_note(&b, "second_stage_measured"), m);
  assert_int_equal(b.n_asked, n + m);
  clt_space_free(space);
}

static void the_budget_is_divided(void **state) {
  (void)state;
  divides("0", "rest", 99, 50, 49);
  divides("0", "rest", 1, 1, 0);
  divides("0", "20", 100, 80, 20);
  divides("0", "200", 100, 50, 50);
  divides("80", "40", 120, 80, 40);
  divides("80", "40", 100, 80, 20);
  divides("120", "rest", 100, 100, 0);
}

/* The options with these settings. */
static void *parse(const char *samples, const char *second_stage) {
  const clt_searcher_type *type = clt_searcher_find("two-stage");
  const clt_setting settings[] = {{"samples", samples}, {"second-stage", second_stage}};
  void *options = calloc(1, type->options_size);
  assert_int_equal(clt_options_parse(options, type->options_size, type->options, type->n_options, settings, 2, NULL),
                   0);
  return options;
}

static void a_bad_second_stage_is_named(void **state) {
  (void)state;
  const clt_searcher_type *type = clt_searcher_find("two-stage");
  const char *const bad[] = {"many", "-1", "10x", ""};
  clt_space *space = bench_space(false);
  const clt_search_setup setup = {.space = space, .budget = 10};
  for (size_t i = 0; i < 4; i++) {
    void *options = parse("0", bad[i]), *searcher = calloc(1, type->state_size);
    clt_error error = {0};
    assert_int_equal(type->init(searcher, &setup, options, &error), CLT_E_ARGUMENT);
    assert_non_null(strstr(error.message, "second-stage"));
    type->fini(searcher);
    free(searcher);
    free(options);
  }
  clt_space_free(space);
}

static int64_t own_budget(const char *samples, const char *second_stage) {
  void *options = parse(samples, second_stage);
  int64_t budget = clt_searcher_find("two-stage")->budget(options);
  free(options);
  return budget;
}

static void options_may_imply_a_budget(void **state) {
  (void)state;
  assert_int_equal(own_budget("2000", "200"), 2200);
  assert_int_equal(own_budget("0", "rest"), 0);
  assert_int_equal(own_budget("0", "auto"), 0);
  assert_int_equal(own_budget("0", "0"), 0);
  assert_int_equal(own_budget("300", "rest"), 600);
  assert_int_equal(own_budget("300", "auto"), 1300);
  assert_int_equal(own_budget("0", "40"), 80);
}

static void the_second_stage_finds_the_optimum_of_a_smooth_space(void **state) {
  (void)state;
  clt_space *space = bench_space(true);
  const clt_setting settings[] = {{"samples", "150"}, {"second-stage", "40"}};
  double optimum_s = bench_optimum_s(space, bench_bowl);
  int close = 0;
  for (uint64_t seed = 1; seed <= 5; seed++) {
    bench b = two_stage(space, settings, 2, seed);
    bench_run(&b);
    assert_int_equal(b.n_asked, 190);
    assert_true(b.report.has_model && bench_note(&b, "second_stage_measured") == 40);
    close += b.best_s <= 1.03 * optimum_s;
  }
  assert_true(close >= 4);
  clt_space_free(space);
}

static void the_second_stage_is_not_mostly_invalid(void **state) {
  (void)state;
  clt_space *space = bench_space(false);
  const clt_setting settings[] = {{"samples", "200"}, {"second-stage", "60"}};
  for (uint64_t seed = 1; seed <= 3; seed++) {
    bench b = two_stage(space, settings, 2, seed);
    b.objective = bench_bowl_failing;
    bench_run(&b);
    assert_true(b.n_failed > 20); /* there were failures to learn from */
    assert_int_equal((int)bench_note(&b, "second_stage_measured"), 60);
    assert_true(2 * bench_note(&b, "second_stage_failed") < bench_note(&b, "second_stage_measured"));
  }
  clt_space_free(space);
}

/* Failures of the second stage, summed over seeds. */
static double second_stage_failures(const clt_space *space, const char *validity) {
  const clt_setting settings[] = {{"samples", "200"}, {"second-stage", "60"}, {"validity", validity}};
  double failed = 0;
  for (uint64_t seed = 1; seed <= 4; seed++) {
    bench b = two_stage(space, settings, 3, seed);
    b.objective = bench_bowl_failing;
    bench_run(&b);
    failed += bench_note(&b, "second_stage_failed");
  }
  return failed;
}

static void the_validity_model_spares_failures(void **state) {
  (void)state;
  clt_space *space = bench_space(false);
  assert_true(2 * second_stage_failures(space, "yes") < second_stage_failures(space, "no"));
  clt_space_free(space);
}

static void neither_batches_nor_order_change_what_is_asked(void **state) {
  (void)state;
  clt_space *space = bench_space(true);
  const clt_setting settings[] = {{"samples", "100"}, {"second-stage", "auto"}, {"second-stage-max", "80"}};
  bench a = two_stage(space, settings, 3, 4);
  a.objective = bench_bowl_failing;
  bench b = a;
  a.batch = 1;
  bench_run(&a);
  b.batch = 13;
  b.shuffled = true;
  bench_run(&b);
  assert_int_equal(a.n_asked, b.n_asked);
  assert_memory_equal(a.asked, b.asked, a.n_asked * sizeof *a.asked);
  clt_space_free(space);
}

/* Correct for few configurations only. */
static double hardly_ever_correct(const clt_space *space, clt_config config) {
  return config % 11 ? NAN : bench_bowl(space, config);
}

static void sampling_goes_on_until_a_model_is_possible(void **state) {
  (void)state;
  clt_space *space = bench_space(false);
  const clt_setting settings[] = {{"samples", "10"}, {"second-stage", "20"}};
  bench b = two_stage(space, settings, 2, 1);
  b.objective = hardly_ever_correct;
  bench_run(&b);
  assert_true(b.report.has_model);
  assert_true(b.n_asked > 30);
  assert_int_equal((int)bench_note(&b, "second_stage_measured"), 20);
  clt_space_free(space);
}

static void a_chosen_second_stage_says_what_it_needed(void **state) {
  (void)state;
  clt_space *space = bench_space(true);
  const clt_setting open[] = {{"samples", "200"}, {"second-stage", "auto"}};
  const clt_setting tight[] = {{"samples", "80"}, {"second-stage", "auto"}, {"second-stage-max", "3"}};
  bench a = two_stage(space, open, 2, 1), b = two_stage(space, tight, 3, 1);
  bench_run(&a);
  assert_true(bench_note(&a, "second_stage_needed") == bench_note(&a, "second_stage_measured"));
  assert_true(a.n_asked < 1000);
  bench_run(&b);
  assert_int_equal((int)bench_note(&b, "second_stage_measured"), 3);
  assert_true(bench_note(&b, "second_stage_needed") > 3);
  clt_space_free(space);
}

static void more_confidence_measures_more(void **state) {
  (void)state;
  clt_space *space = bench_space(true);
  const clt_setting settings[] = {{"samples", "150"}, {"second-stage", "auto"}};
  size_t n_asked[2] = {0, 0};
  for (uint64_t seed = 1; seed <= 3; seed++) {
    for (int i = 0; i < 2; i++) {
      bench b = two_stage(space, settings, 2, seed);
      b.setup.confidence = i ? 0.95 : 0.5;
      bench_run(&b);
      n_asked[i] += b.n_asked;
    }
  }
  assert_true(n_asked[1] > n_asked[0]);
  clt_space_free(space);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_budget_is_divided),
      cmocka_unit_test(a_bad_second_stage_is_named),
      cmocka_unit_test(options_may_imply_a_budget),
      cmocka_unit_test(the_second_stage_finds_the_optimum_of_a_smooth_space),
      cmocka_unit_test(the_second_stage_is_not_mostly_invalid),
      cmocka_unit_test(the_validity_model_spares_failures),
      cmocka_unit_test(neither_batches_nor_order_change_what_is_asked),
      cmocka_unit_test(sampling_goes_on_until_a_model_is_possible),
      cmocka_unit_test(a_chosen_second_stage_says_what_it_needed),
      cmocka_unit_test(more_confidence_measures_more),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
