/* The searcher groups: far fewer evaluations than the product, and the same optimum if groups are independent. */
#include "bench.h"

#include <unistd.h>

static clt_problem *problem_with(const char *groups) {
  clt_problem *problem = NULL;
  clt_error error = {0};
  char path[] = "/tmp/clatune-groups-XXXXXX";
  int fd = mkstemp(path);
  FILE *file = fdopen(fd, "w");
  fputs("{\"ConfigurationSpace\": {\"TuningParameters\": [", file);
  for (int p = 0; p < 6; p++) fprintf(file, "%s{\"Name\": \"%c\", \"Values\": [0, 1, 2, 3]}", p ? ", " : "", 'a' + p);
  fprintf(file, "], \"Groups\": %s}, \"Command\": {\"Run\": [\"x\"]}}", groups);
  fclose(file);
  if (clt_problem_new(&problem, path, &error)) fail_msg("%s", error.message);
  unlink(path);
  return problem;
}

/* The sum of a part of each group, which depends on a and b: {a, b, {c, d}, {e, f}}. */
static double independent(const clt_space *space, clt_config config) {
  uint32_t p[6];
  clt_space_positions(p, space, config);
  double outer = (p[0] * 5 + p[1] * 3) % 7, first = (p[0] + p[2] * 3 + p[3] * 2) % 5,
         second = (p[1] * 2 + p[4] * p[5] + p[5] * 3) % 6;
  return 1e-3 * (1 + outer + first + second);
}

static double fails_in_part(const clt_space *space, clt_config config) {
  uint32_t p[6];
  clt_space_positions(p, space, config);
  return p[2] == 1 || p[0] == 2 ? NAN : independent(space, config);
}

static size_t evaluate(const char *groups, bench_objective objective, size_t batch, bool shuffled, double *best_s,
                       const clt_setting *settings, size_t n_settings) {
  clt_problem *problem = problem_with(groups);
  clt_instance *instance = NULL;
  assert_int_equal(clt_instance_new(&instance, problem, NULL, 0, NULL, NULL), 0);
  bench b = {.type = clt_searcher_find("groups"),
             .setup = {.space = clt_instance_space(instance), .instance = instance, .budget = INT64_MAX, .seed = 1},
             .settings = settings,
             .n_settings = n_settings,
             .objective = objective,
             .batch = batch,
             .shuffled = shuffled};
  bench_begin_at(&b, clt_instance_default(instance));
  bench_run(&b);
  double first_s = objective(b.setup.space, b.first);
  *best_s = fmin(b.best_s, isnan(first_s) ? INFINITY : first_s);
  clt_instance_free(instance);
  clt_problem_free(problem);
  return b.n_asked + 1;
}

static double optimum_of(bench_objective objective) {
  clt_problem *problem = problem_with("[\"a\", \"b\", \"c\", \"d\", \"e\", \"f\"]");
  clt_instance *instance = NULL;
  assert_int_equal(clt_instance_new(&instance, problem, NULL, 0, NULL, NULL), 0);
  double best_s = bench_optimum_s(clt_instance_space(instance), objective);
  clt_instance_free(instance);
  clt_problem_free(problem);
  return best_s;
}

static void independent_groups_give_the_optimum(void **state) {
  (void)state;
  double best_s;
  for (int k = 0; k < 4; k++) {
    size_t n =
        evaluate("[\"a\", \"b\", [\"c\", \"d\"], [\"e\", \"f\"]]", independent, k % 2 ? 7 : 1, k > 1, &best_s, NULL, 0);
    assert_true(n <= 16 * (16 + 16)); /* of 4096 */
    assert_true(n >= 16 * (16 + 15));
    assert_true(best_s == optimum_of(independent));
  }
}

static void failures_do_not_keep_it_from_the_optimum(void **state) {
  (void)state;
  double best_s;
  evaluate("[\"a\", \"b\", [\"c\", \"d\"], [\"e\", \"f\"]]", fails_in_part, 3, true, &best_s, NULL, 0);
  assert_true(best_s == optimum_of(fails_in_part));
}

static void groups_lie_in_each_other(void **state) {
  (void)state;
  double best_s;
  /* a, then b with (c d) and (e f) below it: the same tree, one level deeper. */
  size_t n = evaluate("[\"a\", [\"b\", [\"c\", \"d\"], [\"e\", \"f\"]]]", independent, 2, false, &best_s, NULL, 0);
  assert_true(n <= 16 * 32 && best_s == optimum_of(independent));
}

static void flat_groups_are_the_whole_space(void **state) {
  (void)state;
  double best_s;
  assert_int_equal(evaluate("[\"a\", \"b\", \"c\", \"d\", \"e\", \"f\"]", independent, 50, true, &best_s, NULL, 0),
                   4096);
  assert_true(best_s == optimum_of(independent));
}

/* If everything is dependent, one parameter after the other ends somewhere; another round may go on from there,
 * and a round that changes nothing is the last. */
static void rounds_go_on_while_they_change_anything(void **state) {
  (void)state;
  static const clt_setting many[] = {{"rounds", "1000"}};
  const char *apart = "[[\"a\"], [\"b\"], [\"c\"], [\"d\"], [\"e\"], [\"f\"]]";
  double once_s, many_s;
  size_t once = evaluate(apart, independent, 1, false, &once_s, NULL, 0);
  size_t rounds = evaluate(apart, independent, 1, false, &many_s, many, 1);
  assert_true(once <= 6 * 4 && rounds >= once && rounds < 4096);
  assert_true(many_s <= once_s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(independent_groups_give_the_optimum), cmocka_unit_test(failures_do_not_keep_it_from_the_optimum),
      cmocka_unit_test(groups_lie_in_each_other), cmocka_unit_test(flat_groups_are_the_whole_space),
      cmocka_unit_test(rounds_go_on_while_they_change_anything)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
