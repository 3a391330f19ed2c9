/* Regression trees: one, boosted ones, and forests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <clatune/rng.h>
#include <cmocka.h>
#include <math.h>

#include "landscape.h"
#include "model/trees.h"

#define N 600
#define INPUTS 3

/* The first input has few values, the second as many as there are rows, the third none that matters. */
struct data {
  float x[N * INPUTS], y[N];
};

static float true_value(const float *x) { return (x[0] > 0.5f ? 3.0f : -2.0f) + (x[1] > 0.3f ? 1.0f : 0.0f); }

static void make_data(struct data *d, double noise) {
  clt_rng rng;
  clt_rng_init(&rng, 5);
  for (size_t i = 0; i < N; i++) {
    float *x = d->x + i * INPUTS;
    x[0] = (float)clt_rng_below(&rng, 4) / 3;
    x[1] = (float)(2 * clt_rng_unit(&rng) - 1);
    x[2] = (float)clt_rng_below(&rng, 3);
    d->y[i] = true_value(x) + (float)(noise * clt_rng_normal(&rng));
  }
}

static void grow(clt_growth *tree, const struct data *d, size_t n, size_t leaf_rows) {
  *tree = (clt_growth){n, n, leaf_rows, .prior = NAN, .rate = 1};
  assert_int_equal(clt_growth_init(tree, d->x, INPUTS, d->y, NULL, n, NULL), 0);
  clt_growth_tree(tree);
}

static void a_tree_finds_the_steps(void **state) {
  (void)state;
  struct data d;
  clt_growth tree;
  make_data(&d, 0);
  for (size_t i = 0; i < N; i++) d.y[i] = d.x[i * INPUTS] > 0.9f ? 3 : d.x[i * INPUTS + 2] == 1 ? 1 : -2;
  grow(&tree, &d, N, 3);
  assert_int_equal((tree.n_nodes + 1) / 2, 4); /* the third input's middle value takes two cuts */
  for (size_t i = 0; i < N; i++) assert_float_equal(clt_growth_predict(&tree, d.x + i * INPUTS), d.y[i], 1e-6);
  clt_arena_release(&tree.memory);
  grow(&tree, &d, 1, 3);
  assert_int_equal((tree.n_nodes + 1) / 2, 1);
  assert_float_equal(clt_growth_predict(&tree, d.x + INPUTS), d.y[0], 1e-6);
  clt_arena_release(&tree.memory);
}

static void leaves_are_no_smaller_than_asked_for(void **state) {
  (void)state;
  struct data d;
  make_data(&d, 1);
  for (size_t leaf_rows = 1; leaf_rows <= 50; leaf_rows += 7) {
    clt_growth tree;
    grow(&tree, &d, N, leaf_rows);
    for (size_t i = 0; i < N; i++) {
      size_t n = 0;
      double sum = 0, mean = (double)clt_growth_predict(&tree, d.x + i * INPUTS);
      for (size_t k = 0; k < N; k++) {
        if ((double)clt_growth_predict(&tree, d.x + k * INPUTS) != mean) continue;
        n++;
        sum += (double)d.y[k];
      }
      assert_true(n >= leaf_rows && fabs(sum / (double)n - mean) < 1e-5);
    }
    clt_arena_release(&tree.memory);
  }
}

static void boosting_learns_what_is_left(void **state) {
  (void)state;
  clt_space *space = landscape_space(false);
  row *rows = landscape_rows(space, N, 0.02, 11);
  const char *const rounds[] = {"1", "4", "16", "64", "256"};
  double before = INFINITY;
  for (size_t i = 0; i < 5; i++) {
    clt_model *model = NULL;
    clt_model_accuracy accuracy;
    clt_setting setting = {"rounds", rounds[i]};
    assert_int_equal(fit_rows(&model, "trees", &setting, 1, space, NULL, rows, N, 1, 1, NULL), 0);
    clt_model_accuracy_get(&accuracy, model);
    assert_true(accuracy.log_error_sd < before);
    before = accuracy.log_error_sd;
    clt_model_free(model);
  }
  assert_true(before < 0.2);
  free(rows);
  clt_space_free(space);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_tree_finds_the_steps),
      cmocka_unit_test(leaves_are_no_smaller_than_asked_for),
      cmocka_unit_test(boosting_learns_what_is_left),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
