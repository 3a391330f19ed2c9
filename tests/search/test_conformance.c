/* The rules for every searcher of the table. bench_run checks each request: valid, never twice, never one that was
 * evaluated before the searcher is asked. */
#include "bench.h"
#include "search/search.h"
#include "base/plugin.h"

static bench on_bench(const clt_searcher_type *type, const clt_space *space, int64_t budget) {
  return (bench){
      .type = type,
      .setup = {.space = space, .budget = budget, .seed = 7, .threads = 1, .tolerance = 0.02, .confidence = 0.9},
      .objective = bench_bowl,
      .batch = 1};
}

static void the_table_names_each_searcher_once(void **state) {
  (void)state;
  for (size_t i = 0; i < clt_n_plugins(&clt_searchers); i++) {
    const clt_searcher_type *type = clt_searchers.types[i];
    assert_ptr_equal(clt_searcher_find(type->name), type);
    assert_true(type->summary[0] != 0 && type->state_size > 0);
    assert_true(type->init && type->ask && type->tell && type->fini);
  }
  assert_null(clt_searchers.types[clt_n_plugins(&clt_searchers)]);
  assert_null(clt_searcher_find("no such searcher"));
}

static void searchers_from_outside_are_registered_once(void **state) {
  (void)state;
  clt_error error = {0};
  static clt_searcher_type mine;
  mine = *clt_searcher_find("random");
  size_t n = clt_n_plugins(&clt_searchers);
  assert_int_equal(clt_searcher_register(&mine, &error), CLT_E_ARGUMENT); /* the name is taken */
  mine.name = "mine";
  mine.abi++;
  assert_int_equal(clt_searcher_register(&mine, &error), CLT_E_ARGUMENT);
  mine.abi--;
  mine.tell = NULL;
  assert_int_equal(clt_searcher_register(&mine, &error), CLT_E_ARGUMENT);
  mine.tell = clt_searcher_find("random")->tell;
  assert_int_equal(clt_n_plugins(&clt_searchers), n);
  assert_int_equal(clt_searcher_register(&mine, &error), CLT_OK);
  assert_ptr_equal(clt_searcher_find("mine"), &mine);
  assert_int_equal(clt_n_plugins(&clt_searchers), n + 1);
}

static void budgets_are_used_up_and_not_exceeded(void **state) {
  (void)state;
  clt_space *space = bench_space(true);
  for (size_t i = 0; i < clt_n_plugins(&clt_searchers); i++) {
    for (int64_t budget = 1; budget <= 60; budget = budget * 2 + 1) {
      bench b = on_bench(clt_searchers.types[i], space, budget);
      bench_run(&b);
      assert_int_equal(b.n_asked, budget);
      bench_begin_at(&b, clt_space_at(space, 5));
      bench_run(&b);
      assert_int_equal(b.n_asked, budget - 1);
    }
  }
  clt_space_free(space);
}

static void what_is_begun_with_counts_and_is_not_asked_for(void **state) {
  (void)state;
  clt_space *space = bench_space(true);
  const clt_config begun[] = {clt_space_canonical(space, clt_space_at(space, 700)), clt_space_at(space, 0),
                              clt_space_canonical(space, clt_space_at(space, 1400))};
  for (size_t i = 0; i < clt_n_plugins(&clt_searchers); i++) {
    for (int64_t budget = 2; budget <= 60; budget = budget * 2 + 1) {
      bench b = on_bench(clt_searchers.types[i], space, budget);
      b.objective = bench_bowl_failing;
      bench_begin_at(&b, clt_space_at(space, 5));
      b.warm_start = begun;
      b.n_warm_start = 3;
      b.batch = (size_t)budget;
      bench_run(&b);
      assert_int_equal(b.n_asked, budget > 4 ? budget - 4 : 0);
    }
  }
  clt_space_free(space);
}

static size_t n_canonical(const clt_space *space) {
  size_t n = 0;
  for (uint64_t rank = 0; rank < clt_space_valid(space); rank++) {
    clt_config config = clt_space_at(space, rank);
    n += clt_space_canonical(space, config) == config;
  }
  return n;
}

static void the_end_of_the_space_ends_the_search(void **state) {
  (void)state;
  clt_space *space = bench_small_space();
  size_t all = n_canonical(space);
  assert_true(all < clt_space_valid(space));
  for (size_t i = 0; i < clt_n_plugins(&clt_searchers); i++) {
    bench b = on_bench(clt_searchers.types[i], space, (int64_t)all + 100);
    b.batch = 50;
    bench_run(&b);
    assert_int_equal(b.n_asked, all);
  }
  clt_space_free(space);
}

static void the_same_seed_asks_for_the_same(void **state) {
  (void)state;
  clt_space *space = bench_space(true);
  for (size_t i = 0; i < clt_n_plugins(&clt_searchers); i++) {
    bench a = on_bench(clt_searchers.types[i], space, 60);
    a.shuffled = true;
    a.batch = 4;
    bench b = a;
    bench_run(&a);
    b.setup.threads = 2;
    bench_run(&b);
    assert_int_equal(a.n_asked, b.n_asked);
    assert_memory_equal(a.asked, b.asked, a.n_asked * sizeof *a.asked);
  }
  clt_space_free(space);
}

static void a_dropped_search_begins_again_in_the_same_way(void **state) {
  (void)state;
  clt_space *space = bench_space(true);
  for (size_t i = 0; i < clt_n_plugins(&clt_searchers); i++) {
    bench dropped = on_bench(clt_searchers.types[i], space, 60);
    dropped.objective = bench_bowl_failing;
    bench_begin_at(&dropped, clt_space_at(space, 9));
    bench again = dropped;
    dropped.stop_after = 40;
    bench_run(&dropped);
    bench_run(&again);
    assert_int_equal(dropped.n_asked, 40);
    assert_int_equal(again.n_asked, 59);
    assert_memory_equal(dropped.asked, again.asked, 40 * sizeof *again.asked);
  }
  clt_space_free(space);
}

static void any_batch_and_order_is_legal(void **state) {
  (void)state;
  clt_space *space = bench_space(false);
  const size_t batches[] = {1, 3, 64};
  for (size_t i = 0; i < clt_n_plugins(&clt_searchers); i++) {
    for (int k = 0; k < 3; k++) {
      bench b = on_bench(clt_searchers.types[i], space, 80);
      b.batch = batches[k];
      b.shuffled = k > 0;
      b.objective = bench_bowl_failing;
      bench_run(&b);
      assert_int_equal(b.n_asked, 80);
    }
  }
  clt_space_free(space);
}

/* A permutation of twenty items has too many combinations to number them; one of four is searched to the end. */
static void orders_of_items_are_searched(void **state) {
  (void)state;
  clt_space *large = bench_orders(20), *small = bench_orders(4);
  for (size_t i = 0; i < clt_n_plugins(&clt_searchers); i++) {
    bench b = on_bench(clt_searchers.types[i], large, 20);
    b.objective = bench_order;
    b.batch = 4;
    bench_begin_at(&b, clt_space_at(large, 5));
    bench_run(&b);
    assert_int_equal(b.n_asked, 19);
    b = on_bench(clt_searchers.types[i], small, 100);
    b.objective = bench_order;
    b.batch = 10;
    bench_run(&b);
    assert_int_equal(b.n_asked, 48);
    assert_float_equal(b.best_s, 1e-3, 1e-12);
  }
  clt_space_free(small);
  clt_space_free(large);
}

/* Of a hundred items, the orders have no numbers until they are met. Two spaces meet the same ones. */
static void orders_of_many_items_are_searched(void **state) {
  (void)state;
  uint32_t positions[2][CLT_MAX_PARAMETERS];
  for (size_t i = 0; i < clt_n_plugins(&clt_searchers); i++) {
    const clt_searcher_type *type = clt_searchers.types[i];
    clt_space *spaces[] = {bench_orders(100), bench_orders(100)};
    bench b[2];
    clt_error error = {0};
    void *s = calloc(1, type->state_size), *options = calloc(1, type->options_size + 1);
    b[0] = on_bench(type, spaces[0], 16);
    clt_options_parse(options, type->options_size, type->options, type->n_options, NULL, 0, NULL);
    const int rc = type->init(s, &b[0].setup, options, &error);
    type->fini(s);
    free(s);
    free(options);
    const bool lists = strcmp(type->name, "exhaustive") == 0 || strcmp(type->name, "groups") == 0;
    assert_int_equal(rc, lists ? CLT_E_RANGE : CLT_OK);
    assert_true(!lists || strstr(error.message, "choose another searcher, such as surrogate"));
    for (size_t k = 0; k < 2 && !lists; k++) {
      b[k] = on_bench(type, spaces[k], 16);
      b[k].objective = bench_order;
      b[k].batch = 4;
      bench_begin_at(&b[k], clt_space_at(spaces[k], 5));
      bench_run(&b[k]);
      assert_int_equal(b[k].n_asked, 15);
    }
    for (size_t a = 0; a < 15 && !lists; a++) {
      for (size_t k = 0; k < 2; k++) clt_space_positions(positions[k], spaces[k], b[k].asked[a]);
      assert_memory_equal(positions[0], positions[1], 101 * sizeof **positions);
    }
    for (size_t k = 0; k < 2; k++) clt_space_free(spaces[k]);
  }
}

/* What the searchers learn about orders helps, over some seeds together. local goes through whole neighbourhoods, which
 * have 1,300 orders with 30 items. */
static void orders_are_learnt(void **state) {
  (void)state;
  static const char *const learning[] = {"surrogate", "ants", "annealing", "genetic", "hill-climb", "local"};
  for (int n_items = 7; n_items <= 30; n_items += 23) {
    clt_space *space = bench_orders(n_items);
    double random_s = 0;
    for (size_t i = 0; i <= sizeof learning / sizeof *learning - (n_items > 7); i++) {
      double sum_s = 0;
      for (uint64_t seed = 1; seed <= (n_items > 7 ? 3 : 5); seed++) {
        bench b = on_bench(clt_searcher_find(i ? learning[i - 1] : "random"), space, 40);
        b.objective = bench_order;
        b.setup.seed = seed;
        bench_run(&b);
        sum_s += b.best_s;
      }
      if (i == 0) random_s = sum_s;
      if (i > 0 && sum_s >= random_s)
        fail_msg("%d items, %s: %g s, random %g s", n_items, learning[i - 1], sum_s, random_s);
    }
    clt_space_free(space);
  }
}

static double always_fails(const clt_space *space, clt_config config) {
  (void)space, (void)config;
  return NAN;
}

static void a_search_where_all_fails_ends(void **state) {
  (void)state;
  clt_space *space = bench_space(false);
  for (size_t i = 0; i < clt_n_plugins(&clt_searchers); i++) {
    bench b = on_bench(clt_searchers.types[i], space, 40);
    b.objective = always_fails;
    bench_begin_at(&b, clt_space_at(space, 0));
    bench_run(&b);
    assert_int_equal(b.n_failed, 40);
  }
  clt_space_free(space);
}

static void stopping_early_leaks_nothing(void **state) {
  (void)state;
  clt_space *space = bench_space(false);
  for (size_t i = 0; i < clt_n_plugins(&clt_searchers); i++) {
    const clt_searcher_type *type = clt_searchers.types[i];
    bench b = on_bench(type, space, 40);
    void *s = calloc(1, type->state_size), *options = calloc(1, type->options_size + 1);
    clt_config asked[3];
    size_t n;
    clt_options_parse(options, type->options_size, type->options, type->n_options, NULL, 0, NULL);
    assert_int_equal(type->init(s, &b.setup, options, NULL), 0);
    assert_int_equal(type->ask(s, 3, asked, &n, NULL), 0);
    type->fini(s);
    free(s);
    free(options);
  }
  clt_space_free(space);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_table_names_each_searcher_once),
      cmocka_unit_test(searchers_from_outside_are_registered_once),
      cmocka_unit_test(budgets_are_used_up_and_not_exceeded),
      cmocka_unit_test(what_is_begun_with_counts_and_is_not_asked_for),
      cmocka_unit_test(the_end_of_the_space_ends_the_search),
      cmocka_unit_test(the_same_seed_asks_for_the_same),
      cmocka_unit_test(any_batch_and_order_is_legal),
      cmocka_unit_test(orders_of_items_are_searched),
      cmocka_unit_test(orders_of_many_items_are_searched),
      cmocka_unit_test(orders_are_learnt),
      cmocka_unit_test(a_search_where_all_fails_ends),
      cmocka_unit_test(stopping_early_leaks_nothing),
      cmocka_unit_test(a_dropped_search_begins_again_in_the_same_way),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
