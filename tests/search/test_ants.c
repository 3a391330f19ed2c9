/* Pheromones, desirability, and the ants that use them. */
#include "../problem/scratch.h"
#include "bench.h"
#include "problem/guidance.h"
#include "search/ants.h"
#include "space/space.h"
#include "base/plugin.h"

/* "pad" has a choice only if "local" is 1. */
static clt_space *conditional_space(void) {
  clt_space_builder *builder;
  clt_space *space;
  assert_int_equal(clt_space_builder_new(&builder, NULL), 0);
  assert_int_equal(clt_space_builder_parameter_text(builder, "local", NULL, "[0, 1]", NULL), 0);
  assert_int_equal(clt_space_builder_parameter_text(builder, "pad", NULL, "[0, 1, 2, 3]", NULL), 0);
  assert_int_equal(clt_space_builder_parameter_text(builder, "wg", NULL, "[8, 16, 32]", NULL), 0);
  assert_int_equal(clt_space_builder_constraint(builder, "local or pad == 0", CLT_CONDITION, NULL, NULL), 0);
  /* a list is walked in the order of the parameters */
  uint32_t rows[15][3];
  size_t n = 0;
  assert_int_equal(clt_space_new(&space, builder, NULL), 0);
  for (uint64_t rank = 0; rank < clt_space_valid(space); rank++) clt_space_positions(rows[n++], space, clt_space_at(space, rank));
  clt_space_free(space);
  assert_int_equal(clt_space_new_explicit(&space, builder, rows[0], n, NULL), 0);
  clt_space_builder_free(builder);
  return space;
}

static clt_config parse(const clt_space *space, const char *text) {
  clt_config config;
  assert_int_equal(clt_config_parse(&config, space, text, NULL), 0);
  return config;
}

static double trail_of(const clt_pheromones *p, size_t parameter, uint32_t position) {
  return p->trail[p->first[parameter] + position];
}

static bool near(double x, double y) { return fabs(x - y) < 1e-12; }

static void trails_move_on_the_way_and_not_where_there_is_no_choice(void **state) {
  (void)state;
  clt_space *space = conditional_space();
  clt_pheromones p;
  assert_int_equal(clt_pheromones_init(&p, space, 1, 1, NULL), 0);
  clt_pheromones_deposit(&p, parse(space, "local=0 pad=0 wg=16"), 0.1);
  assert_true(near(trail_of(&p, 0, 0), 0.55) && near(trail_of(&p, 0, 1), 0.45));
  for (uint32_t v = 0; v < 4; v++) assert_true(near(trail_of(&p, 1, v), 0.5));
  assert_true(near(trail_of(&p, 2, 0), 0.45) && near(trail_of(&p, 2, 1), 0.55));
  clt_pheromones_deposit(&p, parse(space, "local=1 pad=2 wg=16"), 0.1);
  assert_true(near(trail_of(&p, 1, 2), 0.55) && near(trail_of(&p, 1, 0), 0.45));
  for (int i = 0; i < 500; i++) clt_pheromones_deposit(&p, parse(space, "local=1 pad=2 wg=16"), 0.1);
  assert_true(near(trail_of(&p, 1, 2), 0.999) && near(trail_of(&p, 1, 1), 0.001));
  clt_pheromones_reset(&p);
  assert_true(near(trail_of(&p, 1, 2), 0.5));
  clt_pheromones_release(&p);
  clt_space_free(space);
}

/* In an order, trails are on what follows what, too; other constraints still hold. */
static void orders_follow_edges(void **state) {
  (void)state;
  clt_space *space = bench_orders(6);
  clt_pheromones p;
  clt_rng rng;
  uint32_t positions[CLT_MAX_PARAMETERS];
  clt_rng_init(&rng, 5);
  assert_int_equal(clt_pheromones_init(&p, space, 1, 1, NULL), 0);
  assert_int_equal(p.n_orders, 1);
  const clt_order_trail *o = &p.orders[0];
  assert_true(o->n == 6 && o->items[0] == 1);
  const clt_config good = parse(space, "on=0 p0=3 p1=0 p2=1 p3=2 p4=5 p5=4"); /* 1 2 3 0 5 4 */
  clt_pheromones_deposit(&p, good, 0.1);
  const size_t order[] = {6, 1, 2, 3, 0, 5, 4};
  for (size_t k = 1; k < 7; k++)
    for (size_t next = 0; next < 6; next++)
      assert_true(near(o->trail[order[k - 1] * 6 + next], next == order[k] ? 0.55 : 0.45));
  for (size_t next = 0; next < 6; next++) assert_true(near(o->trail[4 * 6 + next], 0.5)); /* nothing follows the last */
  for (int i = 0; i < 100; i++) clt_pheromones_deposit(&p, good, 0.1);
  for (size_t v = 0; v < p.first[7]; v++) p.trail[v] = 0.5; /* as if only the edges had been learnt */
  for (size_t k = 0; k < 6; k++) o->trail[6 * 6 + k] = 0.5;
  int n_edges = 0;
  for (int i = 0; i < 1000; i++) {
    clt_space_positions(positions, space, clt_pheromones_path(&p, &rng));
    for (size_t k = 2; k < 7; k++) n_edges += positions[1 + order[k]] == positions[1 + order[k - 1]] + 1;
  }
  assert_true(n_edges > 3000); /* of 5,000; 833 at random */
  clt_pheromones_reset(&p);
  assert_true(near(o->trail[1 * 6 + 2], 0.5));
  clt_pheromones_release(&p);
  clt_space_free(space);
}

static double share_of_local(clt_pheromones *p, const clt_space *space) {
  clt_rng rng;
  clt_rng_init(&rng, 11);
  double n = 0;
  for (int i = 0; i < 4000; i++) {
    clt_config config = clt_pheromones_path(p, &rng);
    assert_true(clt_space_contains(space, config));
    n += clt_space_value(space, config, 0).integer;
  }
  return n / 4000;
}

static void paths_follow_trails_and_desirability(void **state) {
  (void)state;
  clt_space *space = conditional_space();
  clt_pheromones p;
  assert_int_equal(clt_pheromones_init(&p, space, 1, 1, NULL), 0);
  assert_true(fabs(share_of_local(&p, space) - 0.5) < 0.04); /* values count alike, not their subtrees */
  p.desirable[p.first[0] + 1] = 3;
  assert_true(fabs(share_of_local(&p, space) - 0.75) < 0.04);
  p.beta = 0;
  assert_true(fabs(share_of_local(&p, space) - 0.5) < 0.04);
  for (int i = 0; i < 10; i++) clt_pheromones_deposit(&p, parse(space, "local=1 pad=2 wg=16"), 0.1);
  double trail = trail_of(&p, 0, 1);
  assert_true(trail > 0.8 && fabs(share_of_local(&p, space) - trail) < 0.04);
  clt_pheromones_release(&p);
  clt_space_free(space);
}

/* --- desirability --- */

#define PROBLEM(DESIRABILITY)                                                                    \
  "{\"ConfigurationSpace\": {\"TuningParameters\": ["                                            \
  "  {\"Name\": \"wg\", \"Values\": [1, 2, 4, 8]}, {\"Name\": \"image\", \"Values\": [0, 1]}]}," \
  "\"KernelSpecification\": {\"KernelName\": \"k\", \"KernelFile\": \"none.cl\", \"GlobalSize\": 64" DESIRABILITY "}}"

static void values_are_as_desirable_as_the_configurations_that_have_them(void **state) {
  (void)state;
  clt_problem *problem = scratch_problem(PROBLEM(", \"Desirability\": \"wg if image else 1 // (wg - 1)\""));
  clt_instance *instance = scratch_instance(problem, NULL, 0, NULL);
  const clt_space *space = clt_instance_space(instance);
  clt_pheromones p;
  /* image=0: none (division by zero), 1, 0, 0; image=1: 1, 2, 4, 8. The mean of all eight is 2. */
  assert_true(clt_instance_desirability(instance, scratch_config(instance, "wg=8 image=1")) == 8);
  assert_true(isnan(clt_instance_desirability(instance, scratch_config(instance, "wg=1 image=0"))));
  assert_int_equal(clt_pheromones_init(&p, space, 1, 1, NULL), 0);
  assert_int_equal(clt_pheromones_guess(&p, instance, 1, NULL), 0);
  const double *wg = &p.desirable[p.first[0]], *image = &p.desirable[p.first[1]];
  assert_true(near(wg[0], 0.25) && near(wg[1], 0.75) && near(wg[2], 1) && near(wg[3], 2));
  assert_true(near(image[0], 0.125) && near(image[1], 1.875));
  clt_pheromones_release(&p);
  clt_instance_free(instance);
  clt_problem_free(problem);
}

static void without_desirability_all_values_are_alike(void **state) {
  (void)state;
  const char *const problems[] = {PROBLEM(""), PROBLEM(", \"Desirability\": \"-wg\""),
                                  PROBLEM(", \"Desirability\": \"wg * device.compute_units\"")};
  for (size_t i = 0; i < 3; i++) {
    clt_problem *problem = scratch_problem(problems[i]);
    clt_instance *instance = scratch_instance(problem, NULL, 0, NULL);
    clt_pheromones p;
    assert_int_equal(clt_instance_has_desirability(instance), i == 1);
    assert_int_equal(clt_pheromones_init(&p, clt_instance_space(instance), 1, 1, NULL), 0);
    assert_int_equal(clt_pheromones_guess(&p, instance, 1, NULL), 0);
    for (size_t v = 0; v < 6; v++) assert_true(p.desirable[v] == 1);
    clt_pheromones_release(&p);
    clt_instance_free(instance);
    clt_problem_free(problem);
  }
}

static void the_first_ants_go_where_it_is_desirable(void **state) {
  (void)state;
  clt_problem *problem = scratch_problem(
      "{\"ConfigurationSpace\": {\"TuningParameters\": ["
      "  {\"Name\": \"a\", \"Values\": \"list(range(40))\"}, {\"Name\": \"b\", \"Values\": \"list(range(40))\"}]},"
      "\"KernelSpecification\": {\"KernelName\": \"k\", \"KernelFile\": \"none.cl\", \"GlobalSize\": 64,"
      " \"Desirability\": \"1 if a < 10 else 0.01\"}}");
  clt_instance *instance = scratch_instance(problem, NULL, 0, NULL);
  size_t n_low = 0;
  bench b = {.type = clt_searcher_find("ants"),
             .setup = {.space = clt_instance_space(instance), .instance = instance, .budget = 10, .seed = 4},
             .objective = NULL,
             .batch = 10};
  clt_config asked[10];
  size_t n;
  void *searcher = calloc(1, b.type->state_size), *options = calloc(1, b.type->options_size);
  assert_int_equal(clt_options_parse(options, b.type->options_size, b.type->options, b.type->n_options, NULL, 0, NULL),
                   0);
  assert_int_equal(b.type->budget(options), 50);
  assert_int_equal(b.type->init(searcher, &b.setup, options, NULL), 0);
  assert_int_equal(b.type->ask(searcher, 10, asked, &n, NULL), 0);
  assert_int_equal(n, 10);
  for (size_t i = 0; i < n; i++) n_low += clt_space_value(b.setup.space, asked[i], 0).integer < 10;
  assert_true(n_low >= 8); /* 0.97 of them, a quarter without it */
  b.type->fini(searcher);
  free(searcher);
  free(options);
  clt_instance_free(instance);
  clt_problem_free(problem);
}

/* --- the filter --- */

static double mean_log_time(const clt_space *space, const char *filter) {
  double sum = 0;
  for (uint64_t seed = 1; seed <= 20; seed++) {
    const clt_setting setting = {"filter", filter};
    bench b = {.type = clt_searcher_find("ants"),
               .setup = {.space = space, .budget = 60, .seed = seed},
               .settings = &setting,
               .n_settings = 1,
               .objective = bench_bowl,
               .batch = 1};
    bench_run(&b);
    for (size_t i = 10; i < b.n_asked; i++) sum += log(bench_bowl(space, b.asked[i]));
  }
  return sum / (20 * 50);
}

static void filtered_paths_are_faster(void **state) {
  (void)state;
  clt_space *space = bench_space(false);
  assert_true(mean_log_time(space, "0.5") < mean_log_time(space, "0") - 0.2);
  clt_space_free(space);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(trails_move_on_the_way_and_not_where_there_is_no_choice),
      cmocka_unit_test(orders_follow_edges),
      cmocka_unit_test(paths_follow_trails_and_desirability),
      cmocka_unit_test(values_are_as_desirable_as_the_configurations_that_have_them),
      cmocka_unit_test(without_desirability_all_values_are_alike),
      cmocka_unit_test(the_first_ants_go_where_it_is_desirable),
      cmocka_unit_test(filtered_paths_are_faster),
  };
  return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
