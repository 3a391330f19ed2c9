/* One step at a time behind batches; variations of configurations. */
#include "bench.h"
#include "search/search.h"

/* An algorithm whose every proposal depends on all results before, in order. */
typedef struct follower {
  clt_steps steps;
  uint64_t mark;
  clt_config learnt[BENCH_CAPACITY];
  size_t n_learnt, n_waits;
} follower;

static int follow(void *state, clt_config *out, clt_error *error) {
  (void)error;
  follower *f = state;
  *out = CLT_CONFIG_NONE;
  if (f->mark % 5 == 0 && f->n_learnt % 4 != 0) return f->n_waits++, CLT_OK;
  for (uint64_t i = 0; i < 50 && *out == CLT_CONFIG_NONE; i++) {
    clt_config config = clt_space_at(f->steps.space, (f->mark + i * i) % clt_space_valid(f->steps.space));
    if (clt_steps_is_new(&f->steps, config)) *out = config;
  }
  return CLT_OK;
}

static int mark(void *state, clt_config config, double time_s, clt_error *error) {
  (void)error;
  follower *f = state;
  assert_true(clt_steps_cost(&f->steps, config) == time_s);
  f->learnt[f->n_learnt++] = config;
  f->mark = f->mark * 31 + config + (uint64_t)(isfinite(time_s) ? time_s * 1e9 : 0);
  return CLT_OK;
}

static const clt_steps_rules rules = {.propose = follow, .learn = mark};
static const clt_steps_rules rules_of_blocks = {.propose = follow, .learn = mark, .most_in_block = 4};

static int follower_init(void *state, const clt_search_setup *setup, const void *options, clt_error *error) {
  (void)options;
  return clt_steps_init(&((follower *)state)->steps, setup, &rules, error);
}

static int follower_ask(void *state, size_t n, clt_config *out, size_t *n_out, clt_error *error) {
  return clt_steps_ask(&((follower *)state)->steps, n, out, n_out, error);
}

static size_t last_n_learnt, last_n_waits;
static clt_config last_learnt[BENCH_CAPACITY];

static int follower_tell(void *state, clt_config config, double cost, const clt_measurement *m, clt_error *error) {
  return clt_steps_tell(&((follower *)state)->steps, config, cost, m, error);
}

static void follower_fini(void *state) {
  follower *f = state;
  last_n_learnt = f->n_learnt;
  last_n_waits = f->n_waits;
  memcpy(last_learnt, f->learnt, sizeof last_learnt);
  clt_steps_fini(&f->steps);
}

static const clt_searcher_type type = {.name = "follower",
                                       .state_size = sizeof(follower),
                                       .init = follower_init,
                                       .ask = follower_ask,
                                       .tell = follower_tell,
                                       .fini = follower_fini};

static bench on_bench(const clt_space *space, int64_t budget, size_t batch) {
  return (bench){.type = &type,
                 .setup = {.space = space, .budget = budget, .seed = 3},
                 .objective = bench_bowl_failing,
                 .batch = batch};
}

static void requests_depend_on_neither_order_nor_lateness(void **state) {
  (void)state;
  clt_space *space = bench_space(true);
  for (size_t batch = 1; batch <= 16; batch *= 2) {
    bench a = on_bench(space, 300, batch), b = on_bench(space, 300, batch);
    bench_run(&a);
    assert_true(last_n_waits > 0 || batch == 1);
    b.shuffled = true;
    bench_run(&b);
    assert_int_equal(a.n_asked, 300);
    assert_int_equal(b.n_asked, 300);
    assert_memory_equal(a.asked, b.asked, 300 * sizeof *a.asked);
    assert_memory_equal(last_learnt, a.asked, last_n_learnt * sizeof *last_learnt); /* in the order of asking */
  }
  clt_space_free(space);
}

/* One that has proposed nothing yet. */
static follower *new_follower(const clt_space *space, const clt_steps_rules *of) {
  follower *f = calloc(1, sizeof *f);
  const clt_search_setup setup = {.space = space, .budget = 100, .seed = 3};
  assert_int_equal(clt_steps_init(&f->steps, &setup, of, NULL), 0);
  f->mark = 1;
  return f;
}

static void nothing_is_learnt_earlier_than_the_window_allows(void **state) {
  (void)state;
  clt_space *space = bench_space(false);
  follower *f = new_follower(space, &rules);
  clt_config asked[4], more[4];
  size_t n;
  assert_int_equal(follower_ask(f, 4, asked, &n, NULL), 0);
  assert_int_equal(n, 4);
  assert_int_equal(follower_ask(f, 4, more, &n, NULL), 0);
  assert_int_equal(n, 0); /* all four are under way */
  assert_int_equal(follower_tell(f, asked[1], 1e-3, NULL, NULL), 0);
  assert_true(isnan(clt_steps_cost(&f->steps, asked[1])));
  assert_false(clt_steps_is_new(&f->steps, asked[1]));
  assert_int_equal(follower_ask(f, 1, more, &n, NULL), 0);
  assert_int_equal(n, 0); /* asked[0] is missing */
  assert_int_equal(follower_tell(f, asked[0], 1e-3, NULL, NULL), 0);
  assert_int_equal(follower_ask(f, 1, more, &n, NULL), 0);
  assert_int_equal(n, 1);
  assert_int_equal(f->n_learnt, 1); /* asked[1] is known, but not due */
  follower_fini(f);
  free(f);
  clt_space_free(space);
}

static void a_block_is_proposed_with_the_results_of_those_before(void **state) {
  (void)state;
  clt_space *space = bench_space(false);
  follower *f = new_follower(space, &rules_of_blocks);
  clt_config asked[8], more[8];
  size_t n;
  assert_int_equal(follower_ask(f, 8, asked, &n, NULL), 0);
  assert_int_equal(n, 4);
  for (size_t i = 4; i-- > 0;) { /* nothing before the block is told */
    assert_int_equal(follower_ask(f, 1, more, &n, NULL), 0);
    assert_int_equal(n, 0);
    assert_int_equal(follower_tell(f, asked[i], 1e-3, NULL, NULL), 0);
  }
  for (size_t i = 0; i < 4; i++) { /* the whole of the next one with the same knowledge */
    assert_int_equal(follower_ask(f, 1, more, &n, NULL), 0);
    assert_int_equal(n, 1);
    assert_int_equal(f->n_learnt, 4);
    assert_int_equal(follower_tell(f, more[0], 1e-3, NULL, NULL), 0);
  }
  follower_fini(f);
  free(f);
  clt_space_free(space);
}

static void first_is_learnt_at_once(void **state) {
  (void)state;
  clt_space *space = bench_space(true);
  bench b = on_bench(space, 10, 4);
  bench_begin_at(&b, clt_space_at(space, 5));
  bench_run(&b);
  assert_int_equal(b.n_asked, 9);
  assert_int_equal(last_learnt[0], clt_space_canonical(space, b.first));
  clt_space_free(space);
}

/* --- variations --- */

static void variations_are_valid_and_keep_what_they_should(void **state) {
  (void)state;
  clt_space *space = bench_space(true);
  clt_rng rng;
  clt_steps steps;
  const clt_search_setup setup = {.space = space, .seed = 1};
  clt_rng_init(&rng, 1);
  assert_int_equal(clt_steps_init(&steps, &setup, &rules, NULL), 0);
  size_t n_equal[3] = {0};
  for (int i = 0; i < 2000; i++) {
    clt_config two[2];
    assert_int_equal(clt_space_sample(two, space, &rng, 2, NULL), 2);
    clt_config a = clt_space_canonical(space, two[0]), b = clt_space_canonical(space, two[1]);
    uint32_t of_a[5], of_b[5], of_child[5], of_next[5];
    clt_config child = clt_steps_mix(&steps, a, b, 0), next = clt_vary(space, a, &steps.rng);
    clt_config other = clt_steps_mix(&steps, a, a, 0.25);
    assert_true(clt_space_contains(space, child) && clt_space_canonical(space, child) == child);
    assert_true(clt_space_contains(space, next) && clt_space_canonical(space, next) == next && next != a);
    assert_true(clt_space_contains(space, other) && clt_space_canonical(space, other) == other);
    clt_space_positions(of_a, space, a);
    clt_space_positions(of_b, space, b);
    clt_space_positions(of_child, space, child);
    clt_space_positions(of_next, space, next);
    for (size_t p = 0; p < 5; p++) {
      n_equal[0] += of_child[p] == of_a[p] || of_child[p] == of_b[p];
      n_equal[1] += of_next[p] == of_a[p];
    }
    clt_space_positions(of_next, space, other);
    for (size_t p = 0; p < 5; p++) n_equal[2] += of_next[p] == of_a[p];
  }
  assert_true(n_equal[0] > 9900);                        /* but for aliases, and parents with nothing between them */
  assert_true(n_equal[1] >= 7600 && n_equal[1] <= 8000); /* four of five, but for aliases */
  assert_true(n_equal[2] > 7000 && n_equal[2] < 8500);   /* drawn again with 0.25, sometimes to the same value */
  clt_steps_fini(&steps);
  clt_space_free(space);
}

/* One configuration in 10,000 is valid, too few to be met by chance: the tree leads there. */
static void variations_of_a_sparse_space_are_valid(void **state) {
  (void)state;
  clt_space_builder *builder;
  clt_space *space;
  assert_int_equal(clt_space_builder_new(&builder, NULL), 0);
  const char *const names[] = {"a", "b", "c", "d", "e"};
  for (size_t i = 0; i < 5; i++)
    assert_int_equal(clt_space_builder_parameter_text(builder, names[i], NULL, "list(range(100))", NULL), 0);
  assert_int_equal(clt_space_builder_constraint(builder, "a == b and b == c and c == d and d % 10 == e % 10",
                                                CLT_CONDITION, NULL, NULL),
                   0);
  assert_int_equal(clt_space_new(&space, builder, NULL), 0);
  clt_space_builder_free(builder);
  clt_rng rng;
  clt_steps steps;
  const clt_search_setup setup = {.space = space, .seed = 1};
  clt_rng_init(&rng, 1);
  assert_int_equal(clt_steps_init(&steps, &setup, &rules, NULL), 0);
  size_t n_others = 0;
  for (int i = 0; i < 300; i++) {
    clt_config from = clt_space_at(space, clt_rng_below(&rng, clt_space_valid(space)));
    clt_config config = clt_steps_mix(&steps, from, from, 0.8);
    assert_true(clt_space_contains(space, config));
    n_others += config != from;
  }
  assert_true(n_others > 150);
  clt_steps_fini(&steps);
  clt_space_free(space);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(requests_depend_on_neither_order_nor_lateness),
      cmocka_unit_test(nothing_is_learnt_earlier_than_the_window_allows),
      cmocka_unit_test(a_block_is_proposed_with_the_results_of_those_before),
      cmocka_unit_test(first_is_learnt_at_once),
      cmocka_unit_test(variations_are_valid_and_keep_what_they_should),
      cmocka_unit_test(variations_of_a_sparse_space_are_valid),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
