/* hill-climb, local, annealing, genetic, ants: their common rules, and those of each one. */
#include "bench.h"
#include "base/json.h"

static const char *const names[] = {"hill-climb", "local", "annealing", "genetic", "ants"};
#define N_NAMES (sizeof names / sizeof *names)

static bench on_bench(const char *name, const clt_space *space, int64_t budget) {
  return (bench){.type = clt_searcher_find(name),
                 .setup = {.space = space, .budget = budget, .seed = 7, .threads = 1},
                 .objective = bench_bowl_failing,
                 .batch = 1};
}

static clt_space *small_space(const char *values, const char *condition) {
  clt_space_builder *builder;
  clt_space *space;
  assert_int_equal(clt_space_builder_new(&builder, NULL), 0);
  assert_int_equal(clt_space_builder_parameter_text(builder, "a", NULL, values, NULL), 0);
  assert_int_equal(clt_space_builder_parameter_text(builder, "b", NULL, "[1]", NULL), 0);
  assert_int_equal(clt_space_builder_constraint(builder, condition, CLT_CONDITION, NULL, NULL), 0);
  assert_int_equal(clt_space_new(&space, builder, NULL), 0);
  clt_space_builder_free(builder);
  return space;
}

static double first_value(const clt_space *space, clt_config config) {
  return 1e-3 * (1 + clt_value_number(clt_space_value(space, config, 0)));
}

static double always_fails(const clt_space *space, clt_config config) {
  (void)space, (void)config;
  return NAN;
}

static void requests_depend_on_neither_order_nor_lateness(void **state) {
  (void)state;
  clt_space *space = bench_space(true);
  for (size_t i = 0; i < N_NAMES; i++) {
    bench a = on_bench(names[i], space, 300);
    bench_begin_at(&a, clt_space_at(space, 77));
    a.batch = 6;
    bench b = a;
    b.shuffled = true;
    bench_run(&a);
    bench_run(&b);
    assert_int_equal(a.n_asked, 299);
    assert_int_equal(b.n_asked, 299);
    assert_memory_equal(a.asked, b.asked, 299 * sizeof *a.asked);
  }
  clt_space_free(space);
}

static void tiny_spaces_end(void **state) {
  (void)state;
  const char *const values[] = {"[0, 1]", "[0]", "[0, 1]", "[0, 1, 2]"}, *const conditions[] = {"a > 5", "a == 0",
                                                                                                "a < 2", "a < 3"};
  for (size_t k = 0; k < 4; k++) {
    clt_space *space = small_space(values[k], conditions[k]);
    assert_int_equal(clt_space_valid(space), k);
    for (size_t i = 0; i < N_NAMES; i++) {
      bench b = on_bench(names[i], space, INT64_MAX);
      b.objective = first_value;
      b.batch = 1 + i % 3;
      bench_run(&b);
      assert_int_equal(b.n_asked, k);
      b.objective = always_fails;
      bench_run(&b);
      assert_int_equal(b.n_asked, k);
      if (k == 0) continue;
      bench_begin_at(&b, 0);
      bench_run(&b);
      assert_int_equal(b.n_asked, k - 1);
    }
    clt_space_free(space);
  }
}

/* Excess over the optimum after 100 evaluations, geometric mean over 20 seeds. */
static double excess(const char *name, const clt_space *space) {
  double sum = 0, optimum_s = bench_optimum_s(space, bench_bowl_failing);
  for (uint64_t seed = 1; seed <= 20; seed++) {
    bench b = on_bench(name, space, 100);
    b.setup.seed = seed;
    bench_run(&b);
    sum += log(b.best_s / optimum_s);
  }
  return sum / 20;
}

static void each_is_better_than_random(void **state) {
  (void)state;
  clt_space *space = bench_space(false);
  double random = excess("random", space);
  for (size_t i = 0; i < N_NAMES; i++) {
    double own = excess(names[i], space);
    if (own > 0.7 * random) fail_msg("%s: %.4f, random: %.4f", names[i], own, random);
  }
  clt_space_free(space);
}

static void the_default_is_where_they_begin(void **state) {
  (void)state;
  clt_space *space = bench_space(false);
  clt_config best = CLT_CONFIG_NONE;
  for (uint64_t rank = 0; rank < clt_space_valid(space); rank++) {
    clt_config config = clt_space_at(space, rank);
    if (best == CLT_CONFIG_NONE || bench_bowl(space, config) < bench_bowl(space, best)) best = config;
  }
  const char *const climbing[] = {"hill-climb", "annealing"};
  for (size_t i = 0; i < 2; i++) {
    const clt_setting cold[] = {{"temperature", "1e-6"}, {"final-temperature", "1e-6"}};
    bench b = on_bench(climbing[i], space, 11);
    b.objective = bench_bowl;
    bench_begin_at(&b, best);
    b.settings = cold;
    b.n_settings = i == 1 ? 2 : 0;
    bench_run(&b);
    double equal = 0;
    for (size_t k = 0; k < b.n_asked; k++) {
      uint32_t x[5], y[5];
      clt_space_positions(x, space, best);
      clt_space_positions(y, space, b.asked[k]);
      for (size_t p = 0; p < 5; p++) equal += x[p] == y[p];
    }
    assert_true(equal >= 10 * 3); /* of 5; unrelated ones agree in 1.6 on average */
  }
  clt_space_free(space);
}

/* --- local --- */

static bool are_neighbours(const clt_space *space, clt_config a, clt_config b) {
  clt_config neighbours[64];
  size_t n = clt_space_neighbours(neighbours, 64, space, a);
  for (size_t i = 0; i < n; i++)
    if (neighbours[i] == b) return true;
  return false;
}

static bool was_asked(const bench *b, size_t n, clt_config config) {
  for (size_t i = 0; i < n; i++)
    if (b->asked[i] == config) return true;
  return false;
}

/* The neighbours of `centre` are asked for next, all that are new; returns where they end. */
static size_t expect_neighbourhood(const bench *b, clt_config centre, size_t at) {
  const clt_space *space = b->setup.space;
  clt_config neighbours[64];
  size_t n = clt_space_neighbours(neighbours, 64, space, centre), n_new = 0;
  for (size_t i = 0; i < n; i++) n_new += !was_asked(b, at, neighbours[i]);
  for (size_t i = 0; i < n_new && at < b->n_asked; i++) assert_true(are_neighbours(space, centre, b->asked[at++]));
  return at;
}

static clt_config fastest_neighbour(const clt_space *space, clt_config centre) {
  clt_config neighbours[64], best = centre;
  size_t n = clt_space_neighbours(neighbours, 64, space, centre);
  for (size_t i = 0; i < n; i++)
    if (bench_bowl(space, neighbours[i]) < bench_bowl(space, best)) best = neighbours[i];
  return best;
}

static void local_measures_all_neighbours_and_moves_to_the_fastest(void **state) {
  (void)state;
  clt_space *space = bench_space(false);
  const clt_setting one_start = {"starts", "1"};
  bench b = on_bench("local", space, 400);
  b.objective = bench_bowl;
  b.settings = &one_start;
  b.n_settings = 1;
  bench_run(&b);
  size_t at = 0, n_moves = 0, n_starts = 0;
  while (at < b.n_asked) {
    clt_config centre = b.asked[at++], next;
    for (n_starts++;; centre = next, n_moves++) {
      at = expect_neighbourhood(&b, centre, at);
      if ((next = fastest_neighbour(space, centre)) == centre) break;
    }
  }
  assert_true(n_moves > 5 && n_starts > 1);
  clt_space_free(space);
}

/* --- annealing --- */

/* In how many parameters the i-th request differs from the fastest before it. */
static int steps_from_the_fastest(const bench *b, size_t i) {
  clt_config best = b->first;
  uint32_t x[5], y[5];
  int n = 0;
  for (size_t k = 0; k < i; k++)
    if (bench_bowl(b->setup.space, b->asked[k]) < bench_bowl(b->setup.space, best)) best = b->asked[k];
  clt_space_positions(x, b->setup.space, best);
  clt_space_positions(y, b->setup.space, b->asked[i]);
  for (size_t p = 0; p < 5; p++) n += x[p] != y[p];
  return n;
}

/* From a default, so that there are no random starts. Half of the steps change one parameter. */
static void annealing_makes_short_steps(void **state) {
  (void)state;
  clt_space *space = bench_space(false);
  const clt_setting hot[] = {{"temperature", "1e6"}, {"final-temperature", "1e6"}};
  const clt_setting cold[] = {{"temperature", "1e-6"}, {"final-temperature", "1e-6"}};
  bench b = on_bench("annealing", space, 201);
  bench_begin_at(&b, clt_space_at(space, 1000));
  b.objective = bench_bowl;
  b.settings = hot;
  b.n_settings = 2;
  bench_run(&b);
  size_t n_last = 0;
  int n_steps = 0;
  for (size_t i = 1; i < b.n_asked; i++) n_last += are_neighbours(space, b.asked[i - 1], b.asked[i]);
  assert_true(n_last > 60 && n_last < 160); /* everything is accepted; unrelated ones are neighbours once in a hundred */
  b.settings = cold;
  b.setup.budget = 41;
  bench_run(&b);
  for (size_t i = 0; i < b.n_asked; i++) n_steps += steps_from_the_fastest(&b, i);
  assert_true(n_steps < 40 * 2.5); /* nothing slower is accepted; unrelated ones differ in 3.4 */
  clt_space_free(space);
}

/* Without a default: from the fastest of random search's first requests. */
static void annealing_begins_at_the_best_of_ten(void **state) {
  (void)state;
  clt_space *space = bench_space(false);
  bench b = on_bench("annealing", space, 30), random = on_bench("random", space, 10);
  bench_run(&b);
  bench_run(&random);
  assert_memory_equal(b.asked, random.asked, 10 * sizeof *b.asked);
  clt_space_free(space);
}

/* --- genetic --- */

static void genetic_begins_as_random_does_and_inherits(void **state) {
  (void)state;
  clt_space *space = bench_space(false);
  const clt_setting pure[] = {{"population", "8"}, {"mutation", "0"}};
  size_t n_inherited = 0, n_all = 0;
  for (uint64_t seed = 1; seed <= 20; seed++) {
    bench b = on_bench("genetic", space, 14), random = on_bench("random", space, 8);
    b.objective = random.objective = bench_bowl;
    b.setup.seed = random.setup.seed = seed;
    b.settings = pure;
    b.n_settings = 2;
    bench_run(&b);
    bench_run(&random);
    assert_memory_equal(b.asked, random.asked, 8 * sizeof *b.asked);
    for (size_t i = 8; i < 14; i++) {
      for (size_t p = 0; p < 5; p++, n_all++) {
        clt_value value = clt_space_value(space, b.asked[i], p);
        bool found = false;
        for (size_t k = 0; k < 8; k++) found |= clt_value_equal(clt_space_value(space, b.asked[k], p), value);
        n_inherited += found;
      }
    }
  }
  assert_true((double)n_inherited > 0.97 * (double)n_all);
  clt_space_free(space);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(requests_depend_on_neither_order_nor_lateness),
      cmocka_unit_test(tiny_spaces_end),
      cmocka_unit_test(each_is_better_than_random),
      cmocka_unit_test(the_default_is_where_they_begin),
      cmocka_unit_test(local_measures_all_neighbours_and_moves_to_the_fastest),
      cmocka_unit_test(annealing_makes_short_steps),
      cmocka_unit_test(annealing_begins_at_the_best_of_ten),
      cmocka_unit_test(genetic_begins_as_random_does_and_inherits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
