/* Spaces whose optimum lies on the edge of what fails (the evaluator "synthetic" with the option edge): after 200
 * evaluations no searcher is worse than random. */
#include "base/plugin.h"
#include "bench.h"
#include "clatune/tune.h"
#include "search/search.h"

#define SEEDS 8
#define OPTIMUM_S 1e-3

/* 864 configurations. */
static const char *const values[] = {"[8, 16, 32, 64]", "[1, 2, 4, 8]", "[1, 2, 4]", "[1, 2, 4]", "[0, 1]", "[1, 2, 4]"};

static clt_space *new_space(void) {
  clt_space_builder *builder;
  clt_space *space;
  assert_int_equal(clt_space_builder_new(&builder, NULL), 0);
  char name[] = "a";
  for (size_t p = 0; p < sizeof values / sizeof *values; p++, name[0]++)
    assert_int_equal(clt_space_builder_parameter_text(builder, name, "int", values[p], NULL), 0);
  assert_int_equal(clt_space_new(&space, builder, NULL), 0);
  clt_space_builder_free(builder);
  return space;
}

/* Mean of optimum / best found. */
static double mean_fraction(const clt_space *space, const char *searcher, const char *edge, const char *landscape) {
  const clt_setting synthetic[] = {{"edge", edge},   {"landscape", landscape}, {"invalid", "0.5"}, {"noise", "0"},
                                   {"runs", "1"},    {"optimum", "0.001"}};
  double sum = 0;
  clt_tune_settings settings;
  clt_tune_settings_init(&settings);
  settings.evaluator = "synthetic";
  settings.evaluator_settings = synthetic;
  settings.n_evaluator_settings = sizeof synthetic / sizeof *synthetic;
  settings.space = space;
  settings.searcher = searcher;
  settings.budget = 200;
  settings.batch = 1;
  settings.threads = 1;
  settings.finalists = 0;
  for (settings.seed = 1; settings.seed <= SEEDS; settings.seed++) {
    clt_tune_result *result;
    assert_int_equal(clt_tune_run(&result, &settings, NULL), 0);
    sum += OPTIMUM_S / result->best.time_s;
    clt_tune_result_free(result);
  }
  return sum / SEEDS;
}

/* On its way there a model of what fails is made from few rows, half of which failed; if it keeps the search away from
 * the edge, nothing more is learnt of it. Landscapes where that happened, and some that always were easy. */
static void no_searcher_is_worse_than_random(void **state) {
  (void)state;
  static const char *const variants[][2] = {{"1", "1"}, {"2", "6"}, {"2", "9"}, {"3", "1"}, {"4", "5"}};
  clt_space *space = new_space();
  for (size_t v = 0; v < sizeof variants / sizeof *variants; v++) {
    double random = mean_fraction(space, "random", variants[v][0], variants[v][1]);
    for (size_t i = 0; i < clt_n_plugins(&clt_searchers); i++) {
      const char *name = ((const clt_searcher_type *)clt_searchers.types[i])->name;
      /* In order: they need not find anything with 200 evaluations. */
      if (strcmp(name, "exhaustive") == 0 || strcmp(name, "groups") == 0 || strcmp(name, "random") == 0) continue;
      double fraction = mean_fraction(space, name, variants[v][0], variants[v][1]);
      print_message("edge of %s, landscape %s: %s %.3f, random %.3f\n", variants[v][0], variants[v][1], name, fraction,
                    random);
      assert_true(fraction >= random);
    }
  }
  clt_space_free(space);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(no_searcher_is_worse_than_random)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
