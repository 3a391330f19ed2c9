/* A model's predictions, corrected by measurements. */
#include "base/hash.h"
#include "bench.h"
#include "search/surrogate.h"
#include "space/space.h"

#define N_SPREAD 6
#define N_ROWS 14

/* Faster than it is if c is on. */
static double believed(const clt_space *space, clt_config config) {
  bool on = clt_value_number(clt_space_value(space, config, (size_t)clt_space_find_parameter(space, "c"))) != 0;
  return bench_bowl(space, config) / (on ? 1.3 : 1);
}

typedef struct fixture {
  clt_space *space;
  clt_encoding *encoding;
  clt_config *configs;
  float *log_costs;
  clt_search_source source;
  clt_prior prior;
} fixture;

static int set_up(void **state) {
  fixture *f = calloc(1, sizeof *f);
  assert_non_null(f);
  f->space = bench_space(true);
  size_t n = (size_t)clt_space_valid(f->space);
  f->configs = calloc(n, sizeof *f->configs);
  f->log_costs = calloc(n, sizeof *f->log_costs);
  assert_true(f->configs && f->log_costs);
  clt_space_enumerate(f->space, 0, n, f->configs);
  clt_sort_u64(f->configs, n);
  for (size_t i = 0; i < n; i++) f->log_costs[i] = (float)log(believed(f->space, f->configs[i]));
  f->source = (clt_search_source){"a model", f->configs, f->log_costs, n};
  assert_int_equal(clt_encoding_new(&f->encoding, f->space, NULL, NULL), 0);
  assert_int_equal(clt_prior_init(&f->prior, &f->source, 1, (bool[]){true}, true, f->encoding, NULL), 0);
  *state = f;
  return 0;
}

static int tear_down(void **state) {
  fixture *f = *state;
  clt_arena_release(&f->prior.memory);
  clt_encoding_free(f->encoding);
  clt_space_free(f->space);
  free(f->configs);
  free(f->log_costs);
  free(f);
  return 0;
}

static clt_config best(const fixture *f, const clt_result_row *rows, size_t n, const clt_map *asked,
                       const clt_forest *failures) {
  clt_config config;
  assert_int_equal(clt_prior_best(&config, &f->prior, rows, n, n, asked, failures, NULL), 0);
  return config;
}

static double number(const fixture *f, clt_config config, const char *name) {
  return clt_value_number(clt_space_value(f->space, config, (size_t)clt_space_find_parameter(f->space, name)));
}

static void without_measurements_the_prediction_counts(void **state) {
  const fixture *f = *state;
  clt_map asked = {0};
  clt_config config = best(f, NULL, 0, &asked, NULL);
  assert_true(believed(f->space, config) == bench_optimum_s(f->space, believed));
  assert_true(clt_space_canonical(f->space, config) == config);
  assert_int_equal(number(f, config, "c"), 1);
}

/* Some that are spread; then each is the best by the predictions so far. */
static void measurements_correct_it(void **state) {
  const fixture *f = *state;
  clt_map asked = {0};
  clt_result_row rows[N_ROWS];
  double least = INFINITY;
  for (size_t i = 0; i < N_ROWS; i++) {
    clt_config config = i < N_SPREAD ? f->prior.configs[i * 397 % f->prior.n] : best(f, rows, i, &asked, NULL);
    assert_null(clt_map_find(&asked, config));
    assert_non_null(clt_map_add(&asked, config, NULL));
    rows[i] = (clt_result_row){.config = config, .cost = bench_bowl(f->space, config)};
    least = fmin(least, rows[i].cost);
  }
  assert_true(least == bench_optimum_s(f->space, bench_bowl));
  clt_map_release(&asked);
}

static void the_level_makes_no_difference(void **state) {
  const fixture *f = *state;
  clt_map asked = {0};
  clt_result_row one[2], thousand[2];
  for (size_t i = 0; i < 2; i++) {
    clt_config config = f->configs[500 * i];
    one[i] = thousand[i] = (clt_result_row){.config = config, .cost = bench_bowl(f->space, config)};
    thousand[i].cost *= 1000;
  }
  assert_true(best(f, one, 2, &asked, NULL) == best(f, thousand, 2, &asked, NULL));
}

static void what_fails_comes_last(void **state) {
  const fixture *f = *state;
  enum { N = 200 };
  size_t n_inputs = f->encoding->n_inputs;
  float *x = calloc(N, n_inputs * sizeof *x);
  float failed[N];
  clt_forest *failures = NULL;
  clt_map asked = {0};
  for (size_t i = 0; i < N; i++) {
    clt_config config = f->configs[i * 11];
    clt_encode(f->encoding, config, x + i * n_inputs);
    failed[i] = number(f, config, "c") != 0;
  }
  assert_int_equal(clt_forest_fit(&failures, f->encoding, x, failed, N, 1, NULL), 0);
  assert_int_equal(number(f, best(f, NULL, 0, &asked, failures), "c"), 0);
  clt_forest_free(failures);
  free(x);
}

static void what_is_predicted_to_fail_or_was_asked_for_is_left_out(void **state) {
  fixture *f = *state;
  clt_map asked = {0};
  clt_arena_release(&f->prior.memory);
  for (size_t i = 0; i < f->source.n; i++)
    if (i != 77 && i != 78) f->log_costs[i] = NAN;
  assert_int_equal(clt_prior_init(&f->prior, &f->source, 1, (bool[]){true}, true, f->encoding, NULL), 0);
  size_t n = 0;
  for (clt_config config; (config = best(f, NULL, 0, &asked, NULL)) != CLT_CONFIG_NONE; n++) {
    assert_true(config == f->configs[77] || config == f->configs[78]);
    assert_non_null(clt_map_add(&asked, config, NULL));
  }
  assert_true(n >= 1 && n <= 2); /* one may replace the other */
  clt_map_release(&asked);
}

/* The mean over those that fit and have it; a failure there counts as slower than all others. */
static void sources_are_expected_to_agree(void **state) {
  fixture *f = *state;
  const clt_config *all = f->prior.configs, c[] = {all[10], all[500], all[1000], all[1500]}; /* canonical ones */
  const clt_config first[] = {c[0], c[1], c[2]}, second[] = {c[0], c[1], c[3]};
  const float one[] = {1, 0, 0.5f}, other[] = {2.5f, 3, 2}, failing[] = {1, NAN, 0.5f};
  const clt_search_source sources[] = {{"one", first, one, 3}, {"other", second, other, 3}, {"failing", first, failing, 3}};
  clt_map asked = {0};
  clt_arena_release(&f->prior.memory);
  assert_int_equal(clt_prior_init(&f->prior, sources, 3, (bool[]){true, true, false}, false, f->encoding, NULL), 0);
  assert_int_equal(f->prior.n, 4);
  assert_true(best(f, NULL, 0, &asked, NULL) == c[3]); /* 0, of the only one with it */
  assert_non_null(clt_map_add(&asked, c[3], NULL));
  assert_non_null(clt_map_add(&asked, c[2], NULL));
  assert_true(best(f, NULL, 0, &asked, NULL) == c[1]); /* 0 and 1, where c[0] has 1 and 0.5 */
  clt_arena_release(&f->prior.memory);
  assert_int_equal(clt_prior_init(&f->prior, sources, 3, (bool[]){true, true, true}, false, f->encoding, NULL), 0);
  assert_true(best(f, NULL, 0, &asked, NULL) == c[0]);
  clt_map_release(&asked);
}

/* A requested configuration without a result makes its neighbours less uncertain: the next is another one. */
static void what_is_under_way_is_not_asked_for_again(void **state) {
  fixture *f = *state;
  clt_map asked = {0};
  clt_config config;
  for (size_t i = 0; i < f->source.n; i++) f->log_costs[i] = 0; /* nothing but the uncertainty tells them apart */
  clt_arena_release(&f->prior.memory);
  assert_int_equal(clt_prior_init(&f->prior, &f->source, 1, (bool[]){true}, false, f->encoding, NULL), 0);
  const clt_result_row rows[] = {{.config = f->prior.configs[0], .cost = 1}, {.config = f->prior.configs[f->prior.n - 1], .cost = NAN}};
  assert_int_equal(clt_prior_best(&config, &f->prior, rows, 1, 1, &asked, NULL, NULL), 0);
  const clt_config farthest = config;
  clt_result_row more[] = {rows[0], {.config = farthest, .cost = NAN}};
  assert_int_equal(clt_prior_best(&config, &f->prior, more, 1, 2, &asked, NULL, NULL), 0);
  assert_true(clt_space_difference(f->space, config, farthest) > 1);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      CASE(without_measurements_the_prediction_counts),
      CASE(measurements_correct_it),
      CASE(the_level_makes_no_difference),
      CASE(what_fails_comes_last),
      CASE(what_is_predicted_to_fail_or_was_asked_for_is_left_out),
      CASE(sources_are_expected_to_agree),
      CASE(what_is_under_way_is_not_asked_for_again),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
