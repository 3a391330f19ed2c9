/* Fitting and predicting; over every entry of the table of models where it holds for all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <clatune/sys/model.h>
#include <cmocka.h>

#include "base/file.h"
#include "base/text.h"
#include "fann_run.h"
#include "fitting.h"
#include "landscape.h"
#include "model/model.h"

/* Mean relative error on configurations that do not fail. */
static double error_on_unseen(const struct setting *s, const clt_model *model) {
  enum { UNSEEN = 2000 };
  row *rows = landscape_rows(s->space, UNSEEN, 0, 99);
  double sum = 0;
  size_t n = 0;
  for (size_t i = 0; i < UNSEEN; i++) {
    clt_prediction p;
    assert_int_equal(clt_model_predict(&p, model, &rows[i].config, 1, NULL), 0);
    if (rows[i].failed) continue;
    sum += fabs(exp(p.log_cost) - rows[i].time_s) / rows[i].time_s;
    n++;
  }
  free(rows);
  return sum / (double)n;
}

static void a_residual_stands_for_every_correct_row(const struct setting *s, const clt_model *model) {
  size_t n, n_correct = 0;
  clt_model_accuracy a;
  clt_model_residuals(model, &n);
  clt_model_accuracy_get(&a, model);
  for (size_t k = 0; k < N; k++) n_correct += !s->rows[k].failed;
  assert_int_equal(n, n_correct);
  assert_int_equal(a.n_failed, N - n_correct);
}

static void every_model_learns_the_landscape(void **state) {
  for (size_t i = 0; i < clt_n_plugins(&clt_models); i++) {
    clt_model *model = fit_named(*state, clt_plugin_name(&clt_models, i), N, 1, 0, NULL, NULL);
    clt_model_accuracy a;
    clt_model_accuracy_get(&a, model);
    bool steps = strcmp(clt_plugin_name(&clt_models, i), "trees") == 0; /* shallow ones round a smooth landscape off */
    double error = error_on_unseen(*state, model), sd = 1.5 * a.mean_relative_error + 0.1;
    if (error > (steps ? 0.3 : 0.15)) fail_msg("%s: %g", clt_plugin_name(&clt_models, i), error);
    assert_true(a.mean_relative_error > 0.01 && a.mean_relative_error < (steps ? 0.4 : 0.2));
    assert_true(a.log_error_sd > 0.01 && a.log_error_sd < sd);
    assert_int_equal(a.n_rows, N);
    a_residual_stands_for_every_correct_row(*state, model);
    clt_model_free(model);
  }
}

static void both_trainers_and_two_layers_learn_it(void **state) {
  const char *const options[][2] = {{"trainer", "rprop"}, {"hidden2", "0"}};
  for (size_t i = 0; i < 2; i++) {
    clt_model *model =
        fit_with(*state, "ensemble", N, 1, 0, (clt_setting[]){{"members", "5"}, {options[i][0], options[i][1]}}, 2);
    assert_true(error_on_unseen(*state, model) < 0.15);
    clt_model_free(model);
  }
}

static void the_same_seed_gives_the_same_model_on_any_number_of_threads(void **state) {
  clt_prediction a[100], b[100];
  for (size_t i = 0; i < clt_n_plugins(&clt_models); i++) {
    const char *name = clt_plugin_name(&clt_models, i);
    clt_model *one = fit_named(*state, name, 100, 5, 1, NULL, NULL),
              *four = fit_named(*state, name, 100, 5, 4, NULL, NULL);
    clt_model *other = fit_named(*state, name, 100, 6, 1, NULL, NULL);
    size_t n, m;
    predictions_of(one, *state, a, 100);
    predictions_of(four, *state, b, 100);
    assert_memory_equal(a, b, sizeof a);
    const float *r = clt_model_residuals(one, &n), *q = clt_model_residuals(four, &m);
    assert_int_equal(n, m);
    assert_memory_equal(r, q, n * sizeof *r);
    predictions_of(other, *state, b, 100);
    assert_memory_not_equal(a, b, sizeof a);
    clt_model_free(one);
    clt_model_free(four);
    clt_model_free(other);
  }
}

/* Times without any pattern: a model that predicts them with less than their own spread has seen them. */
static void residuals_on_noise_are_not_flattered(void **state) {
  struct setting *s = *state;
  struct setting noise = {s->space, calloc(N, sizeof *noise.rows)};
  clt_rng rng;
  clt_rng_init(&rng, 8);
  for (size_t i = 0; i < N; i++) noise.rows[i] = (row){s->rows[i].config, exp(clt_rng_normal(&rng)), false};
  for (size_t i = 0; i < clt_n_plugins(&clt_models); i++) {
    clt_model *model = fit_named(&noise, clt_plugin_name(&clt_models, i), N / 2, 1, 0, NULL, NULL);
    clt_model_accuracy a;
    clt_model_accuracy_get(&a, model);
    assert_true(a.log_error_sd > 0.97 && a.log_error_sd < 1.4);
    clt_model_free(model);
  }
  free(noise.rows);
}

/* --- agreement with FANN --- */

static void agree_with_fann(const struct setting *s, const clt_model *model, double tolerance) {
  for (size_t i = 0; i < N; i++) {
    clt_prediction p;
    double spread, log_cost = fann_log_cost(model->state, s->rows[i].config, &spread);
    assert_int_equal(model->type->predict(model->state, &s->rows[i].config, 1, false, &p, NULL), 0);
    assert_true(fabs(p.log_cost - log_cost) < tolerance);
    assert_true(fabs(p.spread - spread) < tolerance);
  }
}

static void the_factorised_sweep_agrees_with_fann_run(void **state) {
  const char *const options[][2] = {{"members", "11"}, {"members", "19"}, {"hidden2", "8"}, {"hidden", "7"}};
  for (size_t i = 0; i < 4; i++) {
    clt_model *model = fit_briefly(*state, 200, options[i][0], options[i][1]);
    const clt_ensemble *e = model->state;
    assert_true(e->split.n_rows >= 96);
    agree_with_fann(*state, model, 1e-4);
    clt_model_free(model);
  }
}

/* Parameters with more values than fit into the table: nothing is factorised. */
/* Other tools get the same networks. */
static void networks_are_saved_by_fann(void **state) {
  const struct setting *s = *state;
  clt_model *model = fit_named(s, "ensemble", 100, 1, 0, NULL, NULL),
            *trees = fit_named(s, "trees", 100, 1, 0, NULL, NULL);
  const clt_ensemble *e = model->state;
  char folder[] = "/tmp/clatune-test-XXXXXX", path[64];
  float x[64];
  assert_non_null(mkdtemp(folder));
  assert_int_equal(clt_model_save_networks(trees, folder, NULL), CLT_E_ARGUMENT);
  assert_int_equal(clt_model_save_networks(model, folder, NULL), 0);
  for (size_t i = 0; i < e->n_members; i++) {
    snprintf(path, sizeof path, "%s/network-%02zu.net", folder, i);
    locale_t before = clt_c_locale_enter();
    struct fann *ours = fann_member(e, i), *saved = fann_create_from_file(path);
    clt_c_locale_leave(before);
    assert_non_null(saved);
    for (size_t k = 0; k < 20; k++) {
      clt_encode(e->encoding, s->rows[k].config, x);
      assert_true(fabsf(*fann_run(ours, x) - *fann_run(saved, x)) < 1e-5f);
    }
    fann_destroy(ours);
    fann_destroy(saved);
  }
  clt_remove_tree(folder, false);
  clt_model_free(model);
  clt_model_free(trees);
}

static void the_plain_sweep_agrees_with_fann_run(void **state) {
  (void)state;
  clt_space_builder *b = NULL;
  struct setting s = {0};
  assert_int_equal(clt_space_builder_new(&b, NULL), 0);
  assert_int_equal(clt_space_builder_parameter_text(b, "p", "int", "list(range(1, 1001))", NULL), 0);
  assert_int_equal(clt_space_builder_parameter_text(b, "q", "int", "list(range(1, 801))", NULL), 0);
  assert_int_equal(clt_space_new(&s.space, b, NULL), 0);
  s.rows = calloc(N, sizeof *s.rows);
  for (size_t i = 0; i < N; i++) {
    clt_config config = (i * 7919 + 13) * 991 % clt_space_cartesian(s.space);
    s.rows[i] = (row){config, 1 + 0.01 * (double)(config / 800) + 0.5 * (double)(config % 7), false};
  }
  clt_model *model = fit(&s, 200);
  assert_int_equal(((clt_ensemble *)model->state)->split.n_rows, 1);
  agree_with_fann(&s, model, 1e-4);
  clt_model_free(model);
  free(s.rows);
  clt_space_free(s.space);
  clt_space_builder_free(b);
}

/* Saturated units: exponentials would overflow if the table took every input. */
static void large_weights_do_no_harm(void **state) {
  struct setting *s = *state;
  clt_model *model = fit(s, 200);
  clt_ensemble *e = model->state;
  const float factors[] = {10, 1000};
  for (size_t f = 0; f < 2; f++) {
    for (size_t m = 0; m < e->n_members; m++) {
      float *weights = e->weights + m * clt_shape_n_weights(&e->shape);
      for (size_t i = 0; i < (e->shape.n_inputs + 1) * e->shape.width[0]; i++) weights[i] *= factors[f];
    }
    assert_int_equal(clt_ensemble_pack(e, NULL), 0);
    agree_with_fann(s, model, 1e-3); /* a unit on its steep flank amplifies the rounding of its sum as well */
  }
  clt_model_free(model);
}

/* --- validity --- */

static void failures_are_learnt(void **state) {
  struct setting *s = *state;
  clt_model *model = fit(s, N);
  row *rows = landscape_rows(s->space, 1000, 0, 77);
  size_t right = 0, failed = 0;
  for (size_t i = 0; i < 1000; i++) {
    clt_prediction p;
    assert_int_equal(clt_model_predict(&p, model, &rows[i].config, 1, NULL), 0);
    assert_true(p.p_valid >= 0 && p.p_valid <= 1);
    right += (p.p_valid < 0.5) == rows[i].failed;
    failed += rows[i].failed;
  }
  assert_true(failed > 100 && right > 950);
  free(rows);
  clt_model_free(model);
}

static void without_failures_everything_is_valid(void **state) {
  struct setting *s = *state, correct = {s->space, calloc(N, sizeof *correct.rows)};
  size_t n = 0;
  for (size_t i = 0; i < N; i++)
    if (!s->rows[i].failed) correct.rows[n++] = s->rows[i];
  clt_model *model = fit(&correct, n < 100 ? n : 100);
  clt_prediction p[N];
  predictions_of(model, s, p, N);
  for (size_t i = 0; i < N; i++) assert_true(p[i].p_valid == 1);
  clt_model_free(model);
  free(correct.rows);
}

/* --- refusals --- */

static int try_fit(const struct setting *s, const char *type, const char *option, const char *value, const row *rows,
                   size_t n) {
  clt_model *model = NULL;
  clt_setting setting = {option, value};
  int rc = fit_rows(&model, type, &setting, option ? 1 : 0, s->space, NULL, rows, n, 1, 1, NULL);
  assert_null(model);
  return rc;
}

static void what_cannot_be_fitted_is_refused(void **state) {
  struct setting *s = *state;
  row four[8] = {{0}}, bad[10];
  for (size_t i = 0; i < 8; i++) four[i] = (row){i, 1, i >= 4};
  assert_int_equal(try_fit(s, "ensemble", NULL, NULL, four, 8), CLT_E_MODEL);
  for (size_t i = 0; i < 10; i++) bad[i] = (row){i, i == 7 ? 0 : 1, false};
  assert_int_equal(try_fit(s, "ensemble", NULL, NULL, bad, 10), CLT_E_ARGUMENT);
  bad[7] = (row){clt_space_cartesian(s->space), 1, false};
  assert_int_equal(try_fit(s, "ensemble", NULL, NULL, bad, 10), CLT_E_ARGUMENT);
  assert_int_equal(try_fit(s, "ensembel", NULL, NULL, s->rows, N), CLT_E_NOT_FOUND);
  assert_int_equal(try_fit(s, "ensemble", "hiden", "3", s->rows, N), CLT_E_ARGUMENT);
  assert_int_equal(try_fit(s, "ensemble", "hidden", "0", s->rows, N), CLT_E_ARGUMENT);
  assert_int_equal(try_fit(s, "ensemble", "trainer", "bfgs", s->rows, N), CLT_E_ARGUMENT);
}

static void five_rows_are_enough(void **state) {
  struct setting *s = *state;
  row five[5];
  size_t n = 0;
  for (size_t i = 0; n < 5; i++)
    if (!s->rows[i].failed) five[n++] = s->rows[i];
  for (size_t i = 0; i < clt_n_plugins(&clt_models); i++) {
    struct setting few = {s->space, five};
    clt_model *model = fit_named(&few, clt_plugin_name(&clt_models, i), 5, 1, 0, NULL, NULL);
    clt_prediction p[5];
    predictions_of(model, &few, p, 5);
    for (size_t k = 0; k < 5; k++) assert_true(isfinite(p[k].log_cost) && isfinite(p[k].spread));
    clt_model_free(model);
  }
}

/* FANN seeds and draws from rand(); the application's numbers must stay as they would have been. */
static void the_applications_random_numbers_are_left_alone(void **state) {
  srand(42);
  int first = rand();
  srand(42);
  clt_model_free(fit(*state, 50));
  assert_int_equal(rand(), first);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_model_learns_the_landscape),
      cmocka_unit_test(both_trainers_and_two_layers_learn_it),
      cmocka_unit_test(the_same_seed_gives_the_same_model_on_any_number_of_threads),
      cmocka_unit_test(residuals_on_noise_are_not_flattered),
      cmocka_unit_test(the_factorised_sweep_agrees_with_fann_run),
      cmocka_unit_test(networks_are_saved_by_fann),
      cmocka_unit_test(the_plain_sweep_agrees_with_fann_run),
      cmocka_unit_test(large_weights_do_no_harm),
      cmocka_unit_test(failures_are_learnt),
      cmocka_unit_test(without_failures_everything_is_valid),
      cmocka_unit_test(what_cannot_be_fitted_is_refused),
      cmocka_unit_test(five_rows_are_enough),
      cmocka_unit_test(the_applications_random_numbers_are_left_alone),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
