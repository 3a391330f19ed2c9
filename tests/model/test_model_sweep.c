/* Sweeping through whole spaces, and the best of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <clatune/sys/model.h>
#include <cmocka.h>

#include "fitting.h"
#include "landscape.h"
#include "space/space.h"
#include "model/model.h"

struct all {
  clt_prediction *predictions;
  uint64_t n;
};

static int collect(void *user, uint64_t first, size_t n, const clt_prediction *p) {
  struct all *all = user;
  assert_true(first == all->n);
  memcpy(all->predictions + first, p, n * sizeof *p);
  all->n += n;
  return 0;
}

static struct all sweep_all(const clt_model *model, const clt_space *space) {
  struct all all = {calloc(clt_space_valid(space), sizeof *all.predictions), 0};
  assert_int_equal(clt_model_sweep(model, collect, &all, NULL), 0);
  assert_true(all.n == clt_space_valid(space));
  return all;
}

static void the_sweep_goes_through_all_ranks_in_order(void **state) {
  (void)state;
  for (size_t i = 0; i < clt_n_plugins(&clt_models); i++) {
    struct setting s = {landscape_space(true)};
    s.rows = landscape_rows(s.space, 100, 0.02, 3);
    clt_model *model = fit_named(&s, clt_plugin_name(&clt_models, i), 100, 1, 3, NULL, NULL);
    struct all all = sweep_all(model, s.space);
    for (uint64_t rank = 0; rank < all.n; rank += 97) {
      clt_config config = clt_space_at(s.space, rank);
      clt_prediction p;
      assert_int_equal(clt_model_predict(&p, model, &config, 1, NULL), 0);
      assert_memory_equal(&p, &all.predictions[rank], sizeof p);
    }
    free(all.predictions);
    clt_model_free(model);
    clt_space_free(s.space);
    free(s.rows);
  }
}

static int stop_at_second(void *user, uint64_t first, size_t n, const clt_prediction *p) {
  (void)p, (void)first, (void)n;
  return ++*(int *)user == 2 ? CLT_E_STOPPED : 0;
}

static void a_visitor_can_stop_the_sweep(void **state) {
  clt_model *model = fit(*state, 100);
  int visits = 0;
  assert_int_equal(clt_model_sweep(model, stop_at_second, &visits, NULL), CLT_E_STOPPED);
  assert_int_equal(visits, 2);
  clt_model_free(model);
}

struct ranked {
  clt_config config;
  clt_prediction p;
  bool likely;
};

static int by_rank(const void *a, const void *b) {
  const struct ranked *p = a, *q = b;
  if (p->likely != q->likely) return p->likely ? -1 : 1;
  if (p->p.log_cost != q->p.log_cost) return p->p.log_cost < q->p.log_cost ? -1 : 1;
  return (p->config > q->config) - (p->config < q->config);
}

/* The whole space, sorted the plain way. */
static struct ranked *rank_all(const clt_model *model, const clt_space *space, double min_p_valid) {
  struct all all = sweep_all(model, space);
  struct ranked *ranked = calloc(all.n, sizeof *ranked);
  for (uint64_t i = 0; i < all.n; i++)
    ranked[i] =
        (struct ranked){clt_space_at(space, i), all.predictions[i], !(all.predictions[i].p_valid < min_p_valid)};
  qsort(ranked, all.n, sizeof *ranked, by_rank);
  free(all.predictions);
  return ranked;
}

static int by_config(const void *a, const void *b) {
  clt_config p = *(const clt_config *)a, q = *(const clt_config *)b;
  return (p > q) - (p < q);
}

static void the_best_are_those_of_a_full_sort(void **state) {
  struct setting *s = *state;
  clt_model *model = fit(s, 300);
  struct ranked *ranked = rank_all(model, s->space, 0.5);
  clt_config skip[50], out[150];
  clt_prediction p[150];
  size_t n;
  assert_int_equal(clt_model_best(out, p, &n, model, 100, 0.5, NULL, 0, NULL), 0);
  assert_int_equal(n, 100);
  for (size_t i = 0; i < n; i++) {
    assert_true(out[i] == ranked[i].config);
    assert_memory_equal(&p[i], &ranked[i].p, sizeof p[i]);
  }
  for (size_t i = 0; i < 50; i++) skip[i] = ranked[2 * i].config;
  qsort(skip, 50, sizeof *skip, by_config);
  assert_int_equal(clt_model_best(out, NULL, &n, model, 100, 0.5, skip, 50, NULL), 0);
  for (size_t i = 0; i < 50; i++) assert_true(out[i] == ranked[2 * i + 1].config);
  for (size_t i = 50; i < n; i++) assert_true(out[i] == ranked[50 + i].config);
  free(ranked);
  clt_model_free(model);
}

static void unlikely_ones_come_last_and_small_spaces_end(void **state) {
  struct setting *s = *state;
  clt_space_builder *b = NULL;
  struct setting tiny = {0};
  assert_int_equal(clt_space_builder_new(&b, NULL), 0);
  for (size_t i = 0; i < clt_space_n_parameters(s->space); i++) {
    const clt_parameter *p = clt_space_parameter(s->space, i);
    assert_int_equal(clt_space_builder_parameter(b, p->name, p->values, p->n_values, NULL), 0);
  }
  clt_config configs[200], out[200];
  clt_prediction p[200];
  uint32_t *rows = calloc(200, CLT_MAX_PARAMETERS * sizeof *rows);
  for (size_t i = 0; i < 200; i++) {
    configs[i] = s->rows[i].config;
    clt_space_positions(rows + i * clt_space_n_parameters(s->space), s->space, configs[i]);
  }
  assert_int_equal(clt_space_new_explicit(&tiny.space, b, rows, 200, NULL), 0);
  free(rows);
  tiny.rows = s->rows;
  clt_model *model = fit(&tiny, 200);
  size_t n, likely = 0;
  assert_int_equal(clt_model_best(out, p, &n, model, 200, 0.5, configs, 1, NULL), 0);
  assert_int_equal(n, 199);
  while (likely < n && p[likely].p_valid >= 0.5) likely++;
  assert_true(likely > 50 && likely < n);
  for (size_t i = likely; i < n; i++) assert_true(p[i].p_valid < 0.5);
  for (size_t i = 1; i < n; i++) assert_true(i == likely || p[i].log_cost >= p[i - 1].log_cost);
  clt_model_free(model);
  clt_space_free(tiny.space);
  clt_space_builder_free(b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_sweep_goes_through_all_ranks_in_order),
      cmocka_unit_test(a_visitor_can_stop_the_sweep),
      cmocka_unit_test(the_best_are_those_of_a_full_sort),
      cmocka_unit_test(unlikely_ones_come_last_and_small_spaces_end),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
