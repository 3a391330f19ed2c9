/* Spaces whose optimum is next to failing configurations (the evaluator "synthetic" with the option edge): after 200
 * evaluations no searcher is worse than random. */
#include "base/plugin.h"
#include "bench.h"
#include "clatune/tune.h"
#include "search/search.h"

#define OPTIMUM_S 1e-3

typedef struct landscape {
  int n_values[8]; /* of each parameter; 0: no more */
  const char *edge, *seed, *invalid;
  uint64_t n_searches;
  bool models; /* searchers that fit models have a place here, too */
} landscape;

static clt_space *new_space(const int *n_values) {
  clt_space_builder *builder;
  clt_space *space;
  clt_value values[16];
  assert_int_equal(clt_space_builder_new(&builder, NULL), 0);
  for (int i = 0; i < 16; i++) values[i] = (clt_value){CLT_INT, .integer = 1 << i};
  char name[] = "a";
  for (; *n_values; n_values++, name[0]++)
    assert_int_equal(clt_space_builder_parameter(builder, name, values, (size_t)*n_values, NULL), 0);
  assert_int_equal(clt_space_new(&space, builder, NULL), 0);
  clt_space_builder_free(builder);
  return space;
}

/* Mean of optimum / best found. */
static double mean_fraction(const clt_space *space, const char *searcher, const landscape *l) {
  const clt_setting synthetic[] = {{"edge", l->edge}, {"landscape", l->seed}, {"invalid", l->invalid},
                                   {"noise", "0"},    {"runs", "1"},          {"optimum", "0.001"}};
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
  for (settings.seed = 1; settings.seed <= l->n_searches; settings.seed++) {
    clt_tune_result *result;
    assert_int_equal(clt_tune_run(&result, &settings, NULL), 0);
    sum += OPTIMUM_S / result->best.time_s;
    clt_tune_result_free(result);
  }
  return sum / (double)l->n_searches;
}

/* On the first one (864 configurations) a model of failures is made from few rows, half of which failed; if it keeps
 * the search away from the edge, nothing more is learnt of it. On the second (15,360) no step that changes one parameter
 * leads along the edge. */
static void no_searcher_is_worse_than_random(void **state) {
  (void)state;
  static const landscape landscapes[] = {{{4, 4, 3, 3, 2, 3}, "2", "6", "0.5", 4, true},
                                         {{12, 10, 4, 4, 2, 2, 2}, "2", "2", "0.8", 20, false}};
  for (size_t k = 0; k < sizeof landscapes / sizeof *landscapes; k++) {
    const landscape *l = &landscapes[k];
    clt_space *space = new_space(l->n_values);
    double random = mean_fraction(space, "random", l);
    for (size_t i = 0; i < clt_n_plugins(&clt_searchers); i++) {
      const char *name = ((const clt_searcher_type *)clt_searchers.types[i])->name;
      /* In order: they need not find anything with 200 evaluations. */
      if (strcmp(name, "exhaustive") == 0 || strcmp(name, "groups") == 0 || strcmp(name, "random") == 0) continue;
      if (!l->models && (strcmp(name, "surrogate") == 0 || strcmp(name, "two-stage") == 0)) continue;
      double fraction = mean_fraction(space, name, l);
      print_message("edge of %s, landscape %s: %s %.3f, random %.3f\n", l->edge, l->seed, name, fraction, random);
      assert_true(fraction >= random);
    }
    clt_space_free(space);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(no_searcher_is_worse_than_random)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
