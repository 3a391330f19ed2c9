/* The surrogate search: its results with few evaluations, failures, batches, large and huge spaces. */
#include "base/plugin.h"
#include "bench.h"
#include "space/space.h"

static bench surrogate(const clt_space *space, int64_t budget, uint64_t seed) {
  return (bench){
      .type = clt_searcher_find("surrogate"),
      .setup = {.space = space, .budget = budget, .seed = seed, .threads = 1, .tolerance = 0.02, .confidence = 0.9},
      .objective = bench_bowl,
      .batch = 1};
}

static void it_comes_close_with_few_evaluations(void **state) {
  (void)state;
  clt_space *space = bench_space(true);
  double optimum_s = bench_optimum_s(space, bench_bowl);
  int close = 0;
  for (uint64_t seed = 1; seed <= 4; seed++) {
    bench b = surrogate(space, 80, seed);
    bench_run(&b);
    assert_int_equal(b.n_asked, 80);
    close += b.best_s <= 1.03 * optimum_s;
  }
  assert_true(close >= 3);
  clt_space_free(space);
}

static void batches_come_close_too(void **state) {
  (void)state;
  clt_space *space = bench_space(false);
  double optimum_s = bench_optimum_s(space, bench_bowl);
  int close = 0;
  for (uint64_t seed = 1; seed <= 4; seed++) {
    bench b = surrogate(space, 120, seed);
    b.batch = 4;
    bench_run(&b);
    close += b.best_s <= 1.15 * optimum_s;
  }
  assert_true(close >= 3);
  clt_space_free(space);
}

static void the_order_of_results_makes_no_difference(void **state) {
  (void)state;
  clt_space *space = bench_space(true);
  bench a = surrogate(space, 70, 4);
  a.objective = bench_bowl_failing;
  a.batch = 5;
  bench b = a;
  b.shuffled = true;
  bench_run(&a);
  bench_run(&b);
  assert_int_equal(a.n_asked, b.n_asked);
  assert_memory_equal(a.asked, b.asked, a.n_asked * sizeof *a.asked);
  clt_space_free(space);
}

static int ascending(const void *a, const void *b) {
  clt_config x = *(const clt_config *)a, y = *(const clt_config *)b;
  return (x > y) - (x < y);
}

/* The performance of all configurations, by the true times. */
static void know_all(const clt_space *space, clt_config *configs, float *log_costs) {
  size_t n = clt_space_valid(space);
  assert_int_equal(clt_space_enumerate(space, 0, n, configs), n);
  qsort(configs, n, sizeof *configs, ascending);
  for (size_t i = 0; i < n; i++) log_costs[i] = (float)log(bench_bowl(space, configs[i]));
}

/* The fastest there come first. */
static void it_takes_what_is_fastest_elsewhere(void **state) {
  (void)state;
  clt_space *space = bench_space(false);
  size_t n = clt_space_valid(space);
  clt_config *configs = malloc(n * sizeof *configs);
  float *log_costs = malloc(n * sizeof *log_costs);
  know_all(space, configs, log_costs);
  const clt_search_source source = {"elsewhere", configs, log_costs, n};
  bench b = surrogate(space, 1, 1);
  b.setup.sources = &source;
  b.setup.n_sources = 1;
  bench_run(&b);
  assert_true(b.best_s == bench_optimum_s(space, bench_bowl));
  free(configs);
  free(log_costs);
  clt_space_free(space);
}

#define N_SOURCES 8

static double noise_of(clt_config config, size_t source) {
  return (double)((config * 8 + source) * 2654435761u % 1000) / 1000;
}

/* Mean of optimum / best after so many evaluations. */
static double mean_fraction(const clt_space *space, int64_t budget, const clt_search_source *sources, size_t n) {
  double sum = 0, optimum_s = bench_optimum_s(space, bench_bowl);
  for (uint64_t seed = 1; seed <= 20; seed++) {
    bench b = surrogate(space, budget, seed);
    b.setup.sources = sources;
    b.setup.n_sources = n;
    bench_run(&b);
    sum += optimum_s / b.best_s / 20;
  }
  return sum;
}

/* One or seven sources in reverse, or at random, and a related one behind them. */
static void sources_that_do_not_fit_are_recognised(void **state) {
  (void)state;
  clt_space *space = bench_space(false);
  size_t n = clt_space_valid(space);
  clt_config *configs = malloc(n * sizeof *configs);
  float *own = malloc(n * sizeof *own), *log_costs = malloc(N_SOURCES * n * sizeof *log_costs);
  clt_search_source sources[N_SOURCES];
  know_all(space, configs, own);
  for (int reversed = 0; reversed <= 1; reversed++) {
    for (size_t k = 0; k < N_SOURCES; k++) {
      float *to = log_costs + k * n;
      sources[k] = (clt_search_source){"elsewhere", configs, to, n};
      for (size_t i = 0; i < n; i++) {
        double noise = noise_of(configs[i], k);
        to[i] = (float)(k == N_SOURCES - 1 ? (double)own[i] + 0.2 * noise : reversed ? noise - (double)own[i] : noise);
      }
    }
    double cold = mean_fraction(space, 10, NULL, 0), seven = mean_fraction(space, 10, sources, 7);
    double related = mean_fraction(space, 10, sources + 7, 1), all = mean_fraction(space, 10, sources, N_SOURCES);
    double one = mean_fraction(space, 10, sources, 1);
    print_message("%s: without %.3f, with one %.3f, with seven %.3f, with the related one %.3f, with all %.3f\n",
                  reversed ? "reversed" : "random", cold, one, seven, related, all);
    assert_true(one > cold - 0.05); /* one standard error */
    assert_true(seven > cold - 0.1);
    assert_true(all > cold + 0.5 * (related - cold));
  }
  free(configs);
  free(own);
  free(log_costs);
  clt_space_free(space);
}

/* The evaluations spent on a misleading source are part of the start of eight: the models pick the ninth. */
static void a_source_that_misleads_does_not_prolong_the_start(void **state) {
  (void)state;
  clt_space *space = bench_space(false);
  size_t n = clt_space_valid(space);
  clt_config *configs = malloc(n * sizeof *configs);
  float *log_costs = malloc(n * sizeof *log_costs);
  know_all(space, configs, log_costs);
  for (size_t i = 0; i < n; i++) log_costs[i] = -log_costs[i];
  const clt_search_source source = {"elsewhere", configs, log_costs, n};
  for (uint64_t seed = 1; seed <= 4; seed++) {
    for (int64_t budget = 8; budget <= 9; budget++) {
      bench b = surrogate(space, budget, seed);
      b.setup.sources = &source;
      b.setup.n_sources = 1;
      bench_run(&b);
      assert_int_equal(bench_note(&b, "fit_s") > 0, budget == 9);
    }
  }
  free(configs);
  free(log_costs);
  clt_space_free(space);
}

/* A third of this space fails; the fast ones are elsewhere. */
static double failing_far_away(const clt_space *space, clt_config config) {
  uint32_t positions[8];
  clt_space_positions(positions, space, config);
  return positions[4] >= 9 || positions[1] >= 6 ? NAN : bench_bowl(space, config);
}

/* A model's predictions are enough; if they are slightly wrong, measurements correct them. */
static void it_follows_predictions_and_corrects_them(void **state) {
  (void)state;
  clt_space *space = bench_space(false);
  size_t n = clt_space_valid(space);
  clt_config *configs = malloc(n * sizeof *configs);
  float *log_costs = malloc(n * sizeof *log_costs);
  double optimum_s = bench_optimum_s(space, bench_bowl);
  know_all(space, configs, log_costs);
  const clt_search_source source = {"a model", configs, log_costs, n};
  bench b = surrogate(space, 1, 1);
  b.setup.sources = &source;
  b.setup.n_sources = 1;
  b.setup.predicted = true;
  bench_run(&b);
  assert_true(b.best_s == optimum_s);
  for (size_t i = 0; i < n; i++) log_costs[i] -= logf(0.7f + 0.3f * (float)(configs[i] * 2654435761u % 1000) / 1000);
  b.setup.budget = 25;
  b.batch = 2;
  bench_run(&b);
  assert_true(b.best_s <= 1.1 * optimum_s);
  free(configs);
  free(log_costs);
  clt_space_free(space);
}

static void it_learns_from_what_was_begun_with(void **state) {
  (void)state;
  clt_space *space = bench_space(false);
  clt_config begun[8];
  for (size_t i = 0; i < 8; i++) begun[i] = clt_space_at(space, 13 + 301 * i);
  bench b = surrogate(space, 30, 1);
  b.stop_after = 1;
  bench_run(&b);
  assert_true(bench_note(&b, "fit_s") == 0);
  b.warm_start = begun;
  b.n_warm_start = 8;
  bench_run(&b);
  assert_true(bench_note(&b, "fit_s") > 0); /* and not a well-spread point */
  clt_space_free(space);
}

static void failures_are_avoided(void **state) {
  (void)state;
  clt_space *space = bench_space(false);
  size_t n_random = 0, n_surrogate = 0;
  for (uint64_t seed = 1; seed <= 3; seed++) {
    bench b = surrogate(space, 120, seed);
    b.objective = failing_far_away;
    bench_run(&b);
    n_surrogate += b.n_failed;
    b.type = clt_searcher_find("random");
    bench_run(&b);
    n_random += b.n_failed;
  }
  assert_true(n_random > 60);
  assert_true(2 * n_surrogate < n_random);
  clt_space_free(space);
}

/* One parameter decides whether anything works at all. */
static double rarely_correct(const clt_space *space, clt_config config) {
  return config % 13 ? NAN : bench_bowl(space, config);
}

static void it_goes_on_while_hardly_anything_is_correct(void **state) {
  (void)state;
  clt_space *space = bench_space(false);
  bench b = surrogate(space, 150, 2);
  b.objective = rarely_correct;
  bench_run(&b);
  assert_int_equal(b.n_asked, 150);
  assert_true(isfinite(b.best_s));
  clt_space_free(space);
}

/* Flat but for one place: nothing improves, so the search begins anew, again and again. */
static double flat(const clt_space *space, clt_config config) {
  (void)space;
  return config == 1234 ? 1e-3 : 2e-3;
}

static void new_beginnings_ask_for_nothing_twice(void **state) {
  (void)state;
  clt_space *space = bench_space(true);
  const clt_setting settings[] = {{"restart-after", "10"}};
  bench never = surrogate(space, 120, 3);
  never.objective = flat;
  bench often = never;
  often.settings = settings;
  often.n_settings = 1;
  bench_run(&never);
  bench_run(&often);
  assert_int_equal(often.n_asked, 120);
  assert_memory_not_equal(often.asked, never.asked, 120 * sizeof *often.asked);
  clt_space_free(space);
}

/* n_each ^ n_parameters configurations. */
static clt_space *grid(int n_parameters, int n_each) {
  clt_space_builder *builder;
  clt_space *space;
  clt_value values[64];
  char name[] = "a";
  for (int i = 0; i < n_each; i++) values[i] = (clt_value){CLT_INT, .integer = i + 1};
  assert_int_equal(clt_space_builder_new(&builder, NULL), 0);
  for (int p = 0; p < n_parameters; p++, name[0]++)
    assert_int_equal(clt_space_builder_parameter(builder, name, values, (size_t)n_each, NULL), 0);
  assert_int_equal(clt_space_new(&space, builder, NULL), 0);
  clt_space_builder_free(builder);
  return space;
}

static double distance_from_middle(const clt_space *space, clt_config config) {
  uint32_t positions[16];
  double sum = 0;
  clt_space_positions(positions, space, config);
  for (size_t p = 0; p < clt_space_n_parameters(space); p++) sum += pow((double)positions[p] - 3.0 - (double)p / 2, 2);
  return 1e-3 * (1 + 0.1 * sum);
}

static double best_of(const char *searcher, const clt_space *space, int64_t budget) {
  bench b = surrogate(space, budget, 1);
  b.type = clt_searcher_find(searcher);
  b.objective = distance_from_middle;
  bench_run(&b);
  assert_int_equal(b.n_asked, budget);
  return b.best_s;
}

static void large_spaces_are_predicted_by_a_short_list(void **state) {
  (void)state;
  clt_space *space = grid(5, 9); /* 59,049 */
  assert_true(best_of("surrogate", space, 120) < best_of("random", space, 120));
  clt_space_free(space);
}

static void huge_spaces_are_sampled(void **state) {
  (void)state;
  clt_space *space = grid(8, 9); /* 43,046,721 */
  best_of("surrogate", space, 30);
  clt_space_free(space);
}

static void unknown_models_are_named(void **state) {
  (void)state;
  const clt_searcher_type *type = clt_searcher_find("surrogate");
  clt_space *space = bench_space(false);
  const clt_search_setup setup = {.space = space, .budget = 10};
  const clt_setting settings[] = {{"models", "forests"}};
  void *options = calloc(1, type->options_size), *searcher = calloc(1, type->state_size);
  clt_error error = {0};
  assert_int_equal(clt_options_parse(options, type->options_size, type->options, type->n_options, settings, 1, NULL),
                   0);
  assert_int_equal(type->init(searcher, &setup, options, &error), CLT_E_ARGUMENT);
  assert_non_null(strstr(error.message, "'models' needs all or networks, not 'forests'"));
  type->fini(searcher);
  free(searcher);
  free(options);
  clt_space_free(space);
}

static void a_space_of_one_configuration_is_no_trouble(void **state) {
  (void)state;
  clt_space *space = grid(2, 1);
  bench b = surrogate(space, 10, 1);
  b.objective = distance_from_middle;
  bench_run(&b);
  assert_int_equal(b.n_asked, 1);
  clt_space_free(space);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(it_comes_close_with_few_evaluations),
      cmocka_unit_test(batches_come_close_too),
      cmocka_unit_test(the_order_of_results_makes_no_difference),
      cmocka_unit_test(it_takes_what_is_fastest_elsewhere),
      cmocka_unit_test(sources_that_do_not_fit_are_recognised),
      cmocka_unit_test(a_source_that_misleads_does_not_prolong_the_start),
      cmocka_unit_test(it_follows_predictions_and_corrects_them),
      cmocka_unit_test(it_learns_from_what_was_begun_with),
      cmocka_unit_test(failures_are_avoided),
      cmocka_unit_test(it_goes_on_while_hardly_anything_is_correct),
      cmocka_unit_test(new_beginnings_ask_for_nothing_twice),
      cmocka_unit_test(large_spaces_are_predicted_by_a_short_list),
      cmocka_unit_test(huge_spaces_are_sampled),
      cmocka_unit_test(unknown_models_are_named),
      cmocka_unit_test(a_space_of_one_configuration_is_no_trouble),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
