/* The table of the losses of recorded searches: sane rows, every length of a searcher; the nearest lower budget is
 * found.
 */

#include "bench.h"
#include "search/search.h"

static void the_rows_are_sane(void **state) {
  (void)state;
  assert_true(clt_n_certainties() > 0);
  assert_null(clt_certainty_at(clt_n_certainties()));
  for (size_t i = 0; i < clt_n_certainties(); i++) {
    const clt_certainty *c = clt_certainty_at(i);
    assert_non_null(clt_searcher_find(c->searcher));
    assert_true(c->evaluations >= 1 && c->spaces >= 1 && c->searches >= 20 * c->spaces);
    assert_true(c->missed >= 0 && c->missed <= 1 && c->mean_loss >= 0 && c->mean_loss < 1);
    assert_true(c->tolerance == 0.02);
    /* A search that missed something lost more than t / (1 + t), and none loses all. */
    assert_true(c->mean_loss >= c->missed * 0.0196 - 1e-4 && c->mean_loss <= c->missed + 0.0197);
  }
}

static void a_recorded_searcher_has_every_length(void **state) {
  (void)state;
  const int64_t budgets[] = {25, 50, 100, 200};
  for (size_t i = 0; i < clt_n_certainties(); i++)
    for (size_t k = 0; k < 4; k++) {
      const clt_certainty *c = clt_certainty_find(clt_certainty_at(i)->searcher, budgets[k]);
      assert_non_null(c);
      assert_string_equal(c->searcher, clt_certainty_at(i)->searcher);
      assert_int_equal(c->evaluations, budgets[k]);
    }
}

static void the_nearest_lower_budget_is_found(void **state) {
  (void)state;
  assert_int_equal(clt_certainty_find("random", 199)->evaluations, 100);
  assert_int_equal(clt_certainty_find("random", 49)->evaluations, 25);
  assert_int_equal(clt_certainty_find("random", INT64_MAX)->evaluations, 200);
  assert_null(clt_certainty_find("random", 24));
  assert_null(clt_certainty_find("no such searcher", 200));
}

/* Longer random searches miss no more: the draws are nested. */
static void longer_searches_miss_less(void **state) {
  (void)state;
  for (int64_t shorter = 25, longer = 50; longer <= 200; shorter = longer, longer *= 2) {
    const clt_certainty *a = clt_certainty_find("random", shorter), *b = clt_certainty_find("random", longer);
    assert_true(b->missed <= a->missed && b->mean_loss < a->mean_loss);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_rows_are_sane),
      cmocka_unit_test(a_recorded_searcher_has_every_length),
      cmocka_unit_test(the_nearest_lower_budget_is_found),
      cmocka_unit_test(longer_searches_miss_less),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
