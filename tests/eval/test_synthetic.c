/* The table of evaluators, and the synthetic landscape. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "clatune/sys/evaluator.h"
#include "eval/evaluators.h"
#include "base/plugin.h"

typedef struct bench {
  clt_space *space;
  const clt_evaluator_type *type;
  clt_evaluator_limits limits;
  void *state, *options;
} bench;

static clt_space *new_space(void) {
  clt_space_builder *builder = NULL;
  clt_space *space = NULL;
  assert_int_equal(clt_space_builder_new(&builder, NULL), 0);
  for (int p = 0; p < 5; p++) {
    char name[2] = {(char)('a' + p), 0};
    assert_int_equal(clt_space_builder_parameter_text(builder, name, "int", "[1, 2, 4, 8, 16, 32]", NULL), 0);
  }
  assert_int_equal(clt_space_builder_constraint(builder, "a * b >= 4", CLT_CONDITION, NULL, NULL), 0);
  assert_int_equal(clt_space_new(&space, builder, NULL), 0);
  clt_space_builder_free(builder);
  return space;
}

static void open_bench(bench *b, const clt_setting *settings, size_t n, uint64_t seed) {
  clt_error error = {0};
  b->type = clt_evaluator_find("synthetic");
  assert_non_null(b->type);
  b->state = calloc(1, b->type->state_size);
  b->options = calloc(1, b->type->options_size);
  assert_int_equal(
      clt_options_parse(b->options, b->type->options_size, b->type->options, b->type->n_options, settings, n, &error),
      0);
  clt_evaluator_setup setup = {.space = b->space, .seed = seed};
  if (b->type->open(b->state, &setup, b->options, &b->limits, &error)) fail_msg("%s", error.message);
}

static void close_bench(bench *b) {
  b->type->close(b->state);
  free(b->state);
  free(b->options);
}

static clt_measurement measure(bench *b, clt_config config) {
  clt_measurement m;
  assert_int_equal(b->type->submit(b->state, config, 0, NULL), 0);
  assert_int_equal(b->type->wait(b->state, &m, 1, NULL), 0);
  assert_true(m.config == config);
  return m;
}

static void the_optimum_is_known_and_the_only_one(void **state) {
  bench b = {.space = *state};
  const clt_setting settings[] = {{"noise", "0"}, {"optimum", "0.5"}, {"invalid", "0.3"}, {"spread", "40"}};
  open_bench(&b, settings, 4, 7);
  uint64_t valid = clt_space_valid(b.space), n_best = 0, n_failed = 0;
  double slowest_s = 0;
  for (uint64_t i = 0; i < valid; i++) {
    clt_measurement m = measure(&b, clt_space_at(b.space, i));
    n_failed += m.reason != CLT_REASON_NONE;
    if (m.reason == CLT_REASON_NONE) {
      assert_true(m.time_s >= 0.5);
      n_best += m.time_s == 0.5;
      slowest_s = fmax(slowest_s, m.time_s);
    }
    clt_measurement_release(&m);
  }
  assert_int_equal(n_best, 1);
  assert_true(fabs((double)n_failed / (double)valid - 0.3) < 0.03);
  assert_true(slowest_s > 5 && slowest_s < 40);
  close_bench(&b);
}

static void an_edge_has_the_optimum_on_it(void **state) {
  for (int edge = 1; edge <= 3; edge++) {
    bench b = {.space = *state};
    char text[2] = {(char)('0' + edge), 0};
    const clt_setting settings[] = {{"noise", "0"}, {"optimum", "0.5"}, {"invalid", "0.5"}, {"edge", text}};
    open_bench(&b, settings, 4, 7);
    uint64_t valid = clt_space_valid(b.space), n_failed = 0, n_beside = 0;
    clt_config best = CLT_CONFIG_NONE, near[64];
    for (uint64_t i = 0; i < valid; i++) {
      clt_config config = clt_space_at(b.space, i);
      clt_measurement m = measure(&b, config);
      n_failed += m.reason != CLT_REASON_NONE;
      assert_true(m.reason != CLT_REASON_NONE || m.time_s >= 0.5);
      if (m.reason == CLT_REASON_NONE && !(m.time_s > 0.5)) {
        assert_true(best == CLT_CONFIG_NONE);
        best = config;
      }
      clt_measurement_release(&m);
    }
    assert_true(best != CLT_CONFIG_NONE);
    assert_true(10 * n_failed > 2 * valid && 10 * n_failed <= 5 * valid + 1);
    size_t n = clt_space_neighbours(near, 64, b.space, best);
    for (size_t k = 0; k < n; k++) {
      clt_measurement m = measure(&b, near[k]);
      n_beside += m.reason != CLT_REASON_NONE;
      clt_measurement_release(&m);
    }
    assert_true(n_beside > 0);
    close_bench(&b);
  }
}

static void failures_lie_together(void **state) {
  bench b = {.space = *state};
  open_bench(&b, (clt_setting[]){{"invalid", "0.3"}}, 1, 7);
  clt_config near[64];
  size_t same = 0, all = 0;
  for (uint64_t i = 0; i < clt_space_valid(b.space); i += 13) {
    clt_config config = clt_space_at(b.space, i);
    clt_measurement m = measure(&b, config);
    size_t n = clt_space_neighbours(near, 64, b.space, config);
    for (size_t k = 0; k < n; k++) {
      clt_measurement other = measure(&b, near[k]);
      same += (m.reason != 0) == (other.reason != 0);
      all++;
      clt_measurement_release(&other);
    }
    clt_measurement_release(&m);
  }
  assert_true((double)same > 0.75 * (double)all); /* 0.58 if they lay at random */
  close_bench(&b);
}

static void results_do_not_depend_on_the_order_but_on_the_seed(void **state) {
  bench a = {.space = *state}, b = a, c = a;
  const clt_setting eight[] = {{"capacity", "8"}, {"invalid", "0"}};
  open_bench(&a, eight, 2, 1);
  open_bench(&b, eight, 2, 1);
  open_bench(&c, eight, 2, 2);
  clt_config configs[8];
  clt_measurement m;
  bool shuffled = false;
  for (uint64_t i = 0; i < 8; i++) {
    configs[i] = clt_space_at(a.space, 50 * i);
    assert_int_equal(a.type->submit(a.state, configs[i], 0, NULL), 0);
  }
  assert_int_equal(a.type->submit(a.state, configs[0], 0, NULL), CLT_E_ARGUMENT);
  for (size_t i = 0; i < 8; i++) {
    assert_int_equal(a.type->wait(a.state, &m, 1, NULL), 0);
    clt_measurement again = measure(&b, m.config), other = measure(&c, m.config);
    assert_true(m.time_s == again.time_s && m.time_s != other.time_s);
    assert_true(fabs(log(m.time_s / other.time_s)) < 0.2); /* the same landscape, other noise */
    shuffled = shuffled || m.config != configs[i];
  }
  assert_true(shuffled);
  assert_int_equal(a.type->wait(a.state, &m, 1, NULL), CLT_E_AGAIN);
  close_bench(&a);
  close_bench(&b);
  close_bench(&c);
}

static void finalists_run_again_as_the_seed_says(void **state) {
  const clt_setting settings[] = {{"noise", "0.05"}, {"invalid", "0.3"}};
  bench a = {.space = *state}, b = a;
  clt_config configs[6];
  clt_measurement kept[6], m[2];
  double first_s[6];
  open_bench(&a, settings, 2, 3);
  open_bench(&b, settings, 2, 3);
  for (uint64_t i = 0; i < 6; i++) configs[i] = clt_space_at(a.space, 700 * i);
  assert_int_equal(a.type->keep(a.state, configs, 6, kept, NULL), 0);
  for (size_t i = 0; i < 6; i++) {
    assert_true(kept[i].config == configs[i] && kept[i].n_runs == 0);
    assert_int_equal(a.type->time_again(a.state, &i, 1, 1, m, NULL), 0);
    assert_int_equal(m[0].reason, kept[i].reason);
    assert_true(m[0].n_runs == (m[0].reason == CLT_REASON_NONE) && m[0].config == configs[i]);
    first_s[i] = m[0].reason == CLT_REASON_NONE ? m[0].runs_s[0] : 0;
    clt_measurement_release(&m[0]);
    clt_measurement_release(&kept[i]);
  }
  const size_t two[] = {4, 1}, none = 2;
  assert_int_equal(b.type->keep(b.state, configs + 1, 5, kept, NULL), 0);
  assert_int_equal(b.type->time_again(b.state, (size_t[]){3, 0}, 2, 1, m, NULL),
                   0); /* in any order, with any others */
  for (size_t k = 0; k < 2; k++) {
    assert_true(m[k].reason != CLT_REASON_NONE || m[k].runs_s[0] == first_s[two[k]]);
    clt_measurement_release(&m[k]);
  }
  for (size_t i = 0; i < 5; i++) clt_measurement_release(&kept[i]);
  assert_int_equal(b.type->keep(b.state, configs, 1, kept, NULL), 0);
  assert_int_equal(b.type->time_again(b.state, &none, 1, 1, m, NULL), CLT_E_ARGUMENT);
  clt_measurement_release(&kept[0]);
  close_bench(&a);
  close_bench(&b);
}

static void evaluators_can_be_registered(void **state) {
  (void)state;
  static clt_evaluator_type mine = {.name = "mine"};
  clt_error error = {0};
  size_t n = clt_n_plugins(&clt_evaluators);
  assert_int_equal(clt_evaluator_register(&mine, &error), CLT_E_ARGUMENT); /* of another ABI */
  mine.abi = CLT_EVALUATOR_ABI;
  assert_int_equal(clt_evaluator_register(&mine, NULL), 0);
  assert_ptr_equal(clt_evaluator_find("mine"), &mine);
  assert_ptr_equal(clt_evaluators.types[n], &mine);
  assert_int_equal(clt_n_plugins(&clt_evaluators), n + 1);
  assert_int_equal(clt_evaluator_register(&mine, NULL), CLT_E_ARGUMENT); /* there is one of that name */
}

static void every_evaluator_of_the_table_is_complete(void **state) {
  (void)state;
  assert_null(clt_evaluator_find("oracle"));
  for (size_t i = 0; i < clt_n_plugins(&clt_evaluators); i++) {
    const clt_evaluator_type *type = clt_evaluators.types[i];
    void *options = calloc(1, type->options_size + 1), *memory = calloc(1, type->state_size);
    clt_evaluator_setup setup = {.space = *state};
    assert_ptr_equal(clt_evaluator_find(type->name), type);
    assert_int_equal(type->abi, CLT_EVALUATOR_ABI);
    assert_true(type->open && type->submit && type->wait && type->close && !type->keep == !type->time_again);
    assert_true(type->summary[0] && type->state_size > 0);
    for (size_t k = 0; k < type->n_options; k++) assert_true(type->options[k].help[0]);
    assert_int_equal(clt_options_parse(options, type->options_size, type->options, type->n_options, NULL, 0, NULL), 0);
    clt_error error = {0};
    clt_evaluator_limits limits = {0, 0};
    int rc =
        type->open(memory, &setup, options, &limits, &error); /* without a problem: works, or names the missing key */
    assert_true(rc == 0 || (error.code == rc && error.message[0]));
    if (rc == 0) {
      clt_measurement m;
      assert_true(limits.workers >= 1 && limits.capacity >= limits.workers);
      assert_int_equal(type->wait(memory, &m, 0, NULL), CLT_E_AGAIN);
      type->close(memory);
    }
    free(options);
    free(memory);
  }
}

static int set_up(void **state) {
  *state = new_space();
  return 0;
}

static int tear_down(void **state) {
  clt_space_free(*state);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_optimum_is_known_and_the_only_one),
      cmocka_unit_test(an_edge_has_the_optimum_on_it),
      cmocka_unit_test(failures_lie_together),
      cmocka_unit_test(results_do_not_depend_on_the_order_but_on_the_seed),
      cmocka_unit_test(finalists_run_again_as_the_seed_says),
      cmocka_unit_test(every_evaluator_of_the_table_is_complete),
      cmocka_unit_test(evaluators_can_be_registered), /* last: the table keeps it */
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
