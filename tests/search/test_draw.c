/* Random draws. */
#include "bench.h"
#include "search/search.h"

static void draws_are_a_permutation_without_aliases(void **state) {
  (void)state;
  clt_space *space = bench_space(true);
  clt_draw draw;
  clt_draw_init(&draw, space, 3);
  unsigned char *seen = calloc(clt_space_cartesian(space), 1);
  size_t n = 0, n_standing_for_itself = 0;
  clt_config config;
  for (uint64_t rank = 0; rank < clt_space_valid(space); rank++)
    n_standing_for_itself += clt_space_canonical(space, clt_space_at(space, rank)) == clt_space_at(space, rank);
  for (;; n++) {
    assert_int_equal(clt_draw_next(&draw, NULL, &config, NULL), 0);
    if (config == CLT_CONFIG_NONE) break;
    assert_true(clt_space_contains(space, config) && clt_space_canonical(space, config) == config);
    assert_false(seen[config]);
    seen[config] = 1;
  }
  assert_int_equal(n, n_standing_for_itself);
  free(seen);
  clt_draw_release(&draw);
  clt_space_free(space);
}

/* The first three draws of many seeds, by place in the space: chi-square over 16 cells, 15 degrees of freedom; 37.7 is
 * exceeded by one seed set in a thousand. */
static void draws_are_uniform(void **state) {
  (void)state;
  clt_space *space = bench_space(false);
  uint64_t valid = clt_space_valid(space);
  double cells[3][16] = {{0}};
  const int n = 4000;
  for (int seed = 0; seed < n; seed++) {
    clt_draw draw;
    clt_draw_init(&draw, space, (uint64_t)seed);
    for (int k = 0; k < 3; k++) {
      clt_config config;
      uint64_t rank;
      assert_int_equal(clt_draw_next(&draw, NULL, &config, NULL), 0);
      assert_true(clt_space_rank(&rank, space, config));
      cells[k][rank * 16 / valid]++;
    }
    clt_draw_release(&draw);
  }
  for (int k = 0; k < 3; k++) {
    double chi2 = 0;
    for (int i = 0; i < 16; i++) chi2 += (cells[k][i] - n / 16.0) * (cells[k][i] - n / 16.0) / (n / 16.0);
    assert_true(chi2 < 37.7);
  }
  clt_space_free(space);
}

static void what_is_skipped_is_not_drawn(void **state) {
  (void)state;
  clt_space *space = bench_space(false);
  clt_map skip = {0};
  clt_draw draw;
  clt_config config;
  size_t n = 0;
  for (uint64_t rank = 0; rank < clt_space_valid(space); rank += 2)
    assert_non_null(clt_map_add(&skip, clt_space_at(space, rank), NULL));
  clt_draw_init(&draw, space, 3);
  for (; clt_draw_next(&draw, &skip, &config, NULL) == 0 && config != CLT_CONFIG_NONE; n++)
    assert_null(clt_map_find(&skip, config));
  assert_int_equal(n, clt_space_valid(space) - skip.n);
  clt_draw_release(&draw);
  clt_map_release(&skip);
  clt_space_free(space);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(draws_are_a_permutation_without_aliases),
      cmocka_unit_test(draws_are_uniform),
      cmocka_unit_test(what_is_skipped_is_not_drawn),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
