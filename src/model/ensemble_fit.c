#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "model/ensemble.h"
#include "model/rows.h"
#include "model/trainer.h"

#define BOOSTING_RATE 0.1

static const clt_trainer *const trainers[] = {&clt_trainer_lbfgs, &clt_trainer_rprop};

/* What the members' tasks share. */
struct fit {
  clt_ensemble *ensemble;
  const clt_model_setup *setup;
  const clt_ensemble_options *options;
  const clt_trainer *trainer;
  float *x, *y; /* encoded rows, standardised log times */
  uint32_t *fold;
  clt_rng *rng; /* one for each member */
};

static const clt_trainer *find_trainer(const char *name) {
  for (size_t i = 0; i < sizeof trainers / sizeof *trainers; i++)
    if (strcmp(trainers[i]->name, name) == 0) return trainers[i];
  return NULL;
}

/* Standardises the log times; a constant time keeps scale 1. */
static void standardise(struct fit *fit) {
  const clt_model_setup *setup = fit->setup;
  double n = (double)setup->n_rows, sum = 0, squares = 0;
  for (size_t i = 0; i < setup->n_rows; i++) sum += setup->log_time[i];
  double centre = sum / n;
  for (size_t i = 0; i < setup->n_rows; i++) squares += (setup->log_time[i] - centre) * (setup->log_time[i] - centre);
  double scale = sqrt(squares / n);
  if (!(scale > 1e-12)) scale = 1;
  for (size_t i = 0; i < setup->n_rows; i++) fit->y[i] = (float)((setup->log_time[i] - centre) / scale);
  fit->ensemble->centre = centre;
  fit->ensemble->scale = scale;
}

/* Normal weights, so that every unit's sum has a standard deviation near 1 for inputs in [-1, 1]; biases 0. */
static void draw_weights(const clt_shape *shape, clt_rng *rng, float *weights) {
  size_t n_in = shape->n_inputs;
  for (size_t layer = 0; layer < shape->n_layers; layer++) {
    double size = (layer ? 1 : 2) / sqrt((double)n_in);
    for (size_t o = 0; o < shape->width[layer]; o++) {
      for (size_t i = 0; i < n_in; i++) *weights++ = (float)(size * clt_rng_normal(rng));
      *weights++ = 0;
    }
    n_in = shape->width[layer];
  }
}

static int keep_residuals(struct fit *fit, clt_stopping *stopping, const size_t *left_out, clt_error *error) {
  size_t n = stopping->rows.n_rows;
  float *outputs = clt_new_array(n, sizeof *outputs);
  if (outputs == NULL) return clt_fail_memory(error);
  clt_stopping_predict(stopping, outputs);
  for (size_t i = 0; i < n; i++)
    fit->ensemble->residuals[left_out[i]] = (float)(fit->ensemble->scale * (outputs[i] - fit->y[left_out[i]]));
  free(outputs);
  return CLT_OK;
}

/* The left-out rows get the mixture's residual: these trees have not seen them either. */
static int fit_trees(struct fit *fit, size_t member, const size_t *rows, size_t n_train, clt_error *error) {
  clt_ensemble *e = fit->ensemble;
  size_t n_left_out = fit->setup->n_rows - n_train;
  const size_t *left_out = rows + n_train;
  float *sums = clt_new_array(n_left_out, sizeof *sums);
  int rc = sums ? CLT_OK : clt_fail_memory(error);
  if (!rc)
    rc = clt_forest_boost(&e->boosted[member], e->encoding, fit->x, fit->y, rows, n_train, BOOSTING_RATE,
                          &fit->rng[member], error);
  if (!rc) clt_forest_row_sums(e->boosted[member], fit->x, e->shape.n_inputs, left_out, n_left_out, sums);
  for (size_t i = 0; !rc && i < n_left_out; i++) {
    double trees = e->scale * (double)(sums[i] - fit->y[left_out[i]]);
    float *residual = &e->residuals[left_out[i]];
    *residual = (float)((1 - e->share) * (double)*residual + e->share * trees);
  }
  free(sums);
  return rc;
}

static int fit_member(void *user, size_t member, clt_error *error) {
  struct fit *fit = user;
  clt_ensemble *e = fit->ensemble;
  size_t n_rows = fit->setup->n_rows;
  clt_stopping stopping = {0};
  float *weights = clt_new_array(clt_shape_n_weights(&e->shape), sizeof *weights);
  size_t *rows = clt_new_array(n_rows, sizeof *rows);
  int rc = weights && rows ? CLT_OK : clt_fail_memory(error);
  if (rc) goto done;
  size_t n_train = clt_rows_split(rows, fit->fold, n_rows, member);
  rc = clt_stopping_init(&stopping, &e->shape, fit->x, fit->y, rows + n_train, n_rows - n_train,
                         (long)fit->options->patience, error);
  if (rc) goto done;
  draw_weights(&e->shape, &fit->rng[member], weights);
  clt_training training = {
      &e->shape, fit->x, fit->y, rows, n_train, (long)fit->options->iterations, fit->options->decay / (double)n_train,
      &stopping};
  rc = fit->trainer->train(&training, weights, error);
  if (!rc) rc = keep_residuals(fit, &stopping, rows + n_train, error);
  if (!rc && e->boosted) rc = fit_trees(fit, member, rows, n_train, error);
  if (!rc) clt_network_set_weights(e->members[member], stopping.weights[CLT_BOTH_HALVES]);
done:
  clt_stopping_release(&stopping);
  free(weights);
  free(rows);
  return rc;
}

static int deal(struct fit *fit, clt_error *error) {
  clt_rng rng;
  clt_rng_init(&rng, fit->setup->seed);
  int rc = clt_rows_folds(fit->fold, fit->setup, fit->ensemble->n_members, &rng, error);
  for (size_t i = 0; i < fit->ensemble->n_members; i++) fit->rng[i] = clt_rng_split(&rng);
  return rc;
}

static int allocate(struct fit *fit, clt_error *error) {
  size_t n_rows = fit->setup->n_rows, n_members = (size_t)fit->options->members;
  clt_ensemble *e = fit->ensemble;
  fit->x = clt_rows_encode(e->encoding, fit->setup);
  fit->y = clt_new_array(n_rows, sizeof *fit->y);
  fit->fold = clt_new_array(n_rows, sizeof *fit->fold);
  fit->rng = clt_new_array(n_members, sizeof *fit->rng);
  e->residuals = clt_new_array(n_rows, sizeof *e->residuals);
  e->n_residuals = n_rows;
  e->share = fit->options->trees;
  if (e->share > 0) e->boosted = clt_new_array(n_members, sizeof(clt_forest *));
  if (e->share > 0 && e->boosted == NULL) return clt_fail_memory(error);
  if (!fit->x || !fit->y || !fit->fold || !fit->rng || !e->residuals) return clt_fail_memory(error);
  return clt_ensemble_allocate(e, n_members, error);
}

static int prepare(struct fit *fit, clt_error *error) {
  const clt_model_setup *setup = fit->setup;
  clt_ensemble *e = fit->ensemble;
  fit->trainer = find_trainer(fit->options->trainer);
  if (fit->trainer == NULL)
    return clt_fail(error, CLT_E_ARGUMENT, "option 'trainer' needs lbfgs or rprop, not '%s'", fit->options->trainer);
  int rc = clt_rows_encoding(&e->encoding, setup, fit->options->resources, error);
  if (rc) return rc;
  e->shape = clt_ensemble_shape(e->encoding, (size_t)fit->options->hidden, (size_t)fit->options->hidden2);
  return allocate(fit, error);
}

int clt_ensemble_fit(void *state, const clt_model_setup *setup, const void *options, clt_error *error) {
  struct fit fit = {state, setup, options};
  int rc = prepare(&fit, error);
  if (rc) goto done;
  standardise(&fit);
  rc = deal(&fit, error);
  if (!rc) rc = clt_parallel(setup->threads, fit.ensemble->n_members, fit_member, &fit, error);
  if (!rc) rc = clt_ensemble_ready(fit.ensemble, error);
done:
  free(fit.x);
  free(fit.y);
  free(fit.fold);
  free(fit.rng);
  return rc;
}
