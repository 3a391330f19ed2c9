/* The models of sequential search: small networks, the committee made of them, and Gaussian processes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <math.h>

#include "model/model.h"
#include "model/network.h"
#include "space/space.h"

#define INPUTS 3
#define HIDDEN 10
#define ROWS 61 /* no multiple of anything */

static const clt_shape shape = {INPUTS, 2, {HIDDEN, 1}, .symmetric = true};
#define N_WEIGHTS (HIDDEN * (INPUTS + 1) + HIDDEN + 1)
#define DECAY 1e-4

struct data {
  float x[ROWS * INPUTS], y[ROWS], weights[N_WEIGHTS];
  size_t rows[ROWS];
};

static void make_data(struct data *d) {
  clt_rng rng;
  clt_rng_init(&rng, 5);
  for (size_t i = 0; i < ROWS; i++) {
    float *x = d->x + i * INPUTS;
    for (size_t j = 0; j < INPUTS; j++) x[j] = (float)(2 * clt_rng_unit(&rng) - 1);
    d->y[i] = (float)(sin(2 * x[0]) + x[1] * x[2] - 0.5 * x[2]);
    d->rows[i] = i;
  }
  for (size_t i = 0; i < N_WEIGHTS; i++) d->weights[i] = (float)(clt_rng_unit(&rng) - 0.5);
}

static double output(const float *w, const float *x) {
  const float *last = w + HIDDEN * (INPUTS + 1);
  double sum = last[HIDDEN];
  for (size_t u = 0; u < HIDDEN; u++, w += INPUTS + 1) {
    double z = w[INPUTS];
    for (size_t i = 0; i < INPUTS; i++) z += w[i] * x[i];
    sum += last[u] * tanh(z);
  }
  return sum;
}

static double squared_error(const struct data *d, size_t first, size_t end) {
  double sum = 0;
  for (size_t i = first; i < end; i++) sum += pow(output(d->weights, d->x + i * INPUTS) - d->y[i], 2);
  return sum / (double)(end - first);
}

static double loss(const struct data *d) {
  double squares = 0;
  for (size_t u = 0, k = 0; u <= HIDDEN; u++, k++)
    for (size_t i = 0; i < (u < HIDDEN ? INPUTS : HIDDEN); i++, k++) squares += pow(d->weights[k], 2);
  return 0.5 * squared_error(d, 0, ROWS) + 0.5 * DECAY * squares;
}

static void train(struct data *d, size_t n_rows, long iterations) {
  const clt_training training = {&shape, d->x, d->y, d->rows, n_rows, .iterations = iterations, .decay = DECAY};
  make_data(d);
  assert_int_equal(clt_train(&training, d->weights, NULL, NULL), 0);
}

static void a_step_never_goes_up(void **state) {
  (void)state;
  double before = INFINITY;
  for (long iterations = 0; iterations <= 30; iterations += 3) {
    struct data d;
    train(&d, ROWS, iterations);
    double now = loss(&d);
    assert_true(now <= before + 1e-6);
    before = now;
  }
  assert_true(before < 0.02);
}

static void a_network_learns_its_own_rows(void **state) {
  (void)state;
  struct data all, half;
  train(&all, ROWS, 200);
  train(&half, ROWS / 2, 200);
  assert_true(squared_error(&all, 0, ROWS) < 0.002);
  assert_true(squared_error(&half, 0, ROWS / 2) < 0.002);
  assert_true(squared_error(&half, ROWS / 2, ROWS) > 2 * squared_error(&all, ROWS / 2, ROWS));
}

/* --- the committee --- */

static clt_space *make_space(void) {
  clt_space_builder *builder;
  clt_space *space;
  assert_int_equal(clt_space_builder_new(&builder, NULL), 0);
  assert_int_equal(clt_space_builder_parameter_text(builder, "a", "int", "list(range(1, 21))", NULL), 0);
  assert_int_equal(clt_space_builder_parameter_text(builder, "b", "int", "[1, 2, 4, 8, 16, 32]", NULL), 0);
  assert_int_equal(clt_space_builder_parameter_text(builder, "c", "int", "[0, 1]", NULL), 0);
  assert_int_equal(clt_space_new(&space, builder, NULL), 0);
  clt_space_builder_free(builder);
  return space;
}

static float height(const clt_space *space, clt_config config) {
  double a = clt_value_number(clt_space_value(space, config, 0)),
         b = clt_value_number(clt_space_value(space, config, 1));
  return (float)(100 + pow(a / 10 - 1, 2) + 0.1 * log2(b) * a / 10);
}

struct chamber {
  clt_space *space;
  clt_encoding *encoding;
  clt_committee *committee;
  clt_config configs[240];
  float mean[240], spread[240];
};

/* Fitted on n configurations; the first of them all have c = 0. */
static void chamber_init(struct chamber *r, size_t n) {
  const clt_committee_options options = {16, 12, 120, 1e-4};
  float *x, *y;
  clt_rng rng;
  clt_rng_init(&rng, 8);
  r->space = make_space();
  assert_int_equal(clt_encoding_new(&r->encoding, r->space, NULL, NULL), 0);
  assert_int_equal(clt_committee_new(&r->committee, r->encoding, 0, &options, NULL), 0);
  x = calloc(n, r->encoding->n_inputs * sizeof *x);
  y = calloc(n, sizeof *y);
  for (size_t i = 0; i < n; i++) {
    clt_config config = clt_space_at(r->space, clt_rng_below(&rng, 240));
    clt_encode(r->encoding, config, x + i * r->encoding->n_inputs);
    y[i] = height(r->space, config);
  }
  assert_int_equal(clt_committee_fit(r->committee, x, y, n, &rng, NULL), 0);
  assert_int_equal(clt_space_enumerate(r->space, 0, 240, r->configs), 240);
  clt_split split;
  clt_layout layout;
  assert_int_equal(clt_split_choose(&split, r->encoding, false, r->configs, 240, NULL), 0);
  assert_int_equal(clt_layout_init(&layout, &split, NULL, r->configs, 240, NULL), 0);
  assert_int_equal(clt_committee_predict(r->committee, &layout, r->mean, r->spread, NULL), 0);
  clt_arena_release(&layout.memory);
  free(x);
  free(y);
}

static void chamber_release(struct chamber *r) {
  clt_committee_free(r->committee);
  clt_encoding_free(r->encoding);
  clt_space_free(r->space);
}

static void a_committee_learns_in_the_units_of_the_target(void **state) {
  (void)state;
  struct chamber r;
  chamber_init(&r, 100);
  double sum = 0;
  for (size_t i = 0; i < 240; i++) sum += fabs(r.mean[i] - height(r.space, r.configs[i]));
  assert_true(sum / 240 < 0.03);
  chamber_release(&r);
}

static void more_rows_leave_less_spread(void **state) {
  (void)state;
  struct chamber few, many;
  chamber_init(&few, 8);
  chamber_init(&many, 150);
  double spread_few = 0, spread_many = 0;
  for (size_t i = 0; i < 240; i++) {
    spread_few += few.spread[i];
    spread_many += many.spread[i];
  }
  assert_true(spread_many < 0.5 * spread_few);
  chamber_release(&few);
  chamber_release(&many);
}

static void one_row_is_enough_to_fit(void **state) {
  (void)state;
  struct chamber r;
  chamber_init(&r, 1);
  for (size_t i = 0; i < 240; i++) assert_true(isfinite(r.mean[i]) && isfinite(r.spread[i]));
  chamber_release(&r);
}

/* --- Gaussian processes --- */

/* Fits to n of the 240 configurations, drawn at random. */
static void predict_by_process(const struct chamber *r, size_t n, float *mean, float *deviation) {
  clt_config configs[240];
  double y[240];
  clt_rng rng;
  clt_rng_init(&rng, 3);
  memcpy(configs, r->configs, sizeof configs);
  for (size_t i = 240; i-- > 1;) {
    const size_t k = (size_t)clt_rng_below(&rng, i + 1);
    const clt_config other = configs[k];
    configs[k] = configs[i];
    configs[i] = other;
  }
  for (size_t i = 0; i < 240; i++) y[i] = (double)height(r->space, configs[i]);
  assert_int_equal(clt_gaussian_predict(r->encoding, configs, y, n, r->configs, 240, mean, deviation, NULL), 0);
}

static void a_process_knows_how_far_it_may_be_off(void **state) {
  (void)state;
  struct chamber r;
  float mean[240], deviation[240];
  chamber_init(&r, 1);
  predict_by_process(&r, 60, mean, deviation);
  size_t n_near = 0;
  double sum = 0;
  for (size_t i = 0; i < 240; i++) {
    const double error = fabs((double)mean[i] - (double)height(r.space, r.configs[i]));
    sum += error;
    n_near += error < 2 * (double)deviation[i] + 0.01;
  }
  assert_true(sum / 240 < 0.02);
  assert_true(n_near > 220);
  chamber_release(&r);
}

static void a_process_needs_one_row(void **state) {
  (void)state;
  struct chamber r;
  float mean[240], deviation[240];
  chamber_init(&r, 1);
  predict_by_process(&r, 1, mean, deviation);
  for (size_t i = 0; i < 240; i++) assert_true(isfinite(mean[i]) && deviation[i] >= 0);
  chamber_release(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_step_never_goes_up),
      cmocka_unit_test(a_network_learns_its_own_rows),
      cmocka_unit_test(a_committee_learns_in_the_units_of_the_target),
      cmocka_unit_test(more_rows_leave_less_spread),
      cmocka_unit_test(one_row_is_enough_to_fit),
      cmocka_unit_test(a_process_knows_how_far_it_may_be_off),
      cmocka_unit_test(a_process_needs_one_row),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
