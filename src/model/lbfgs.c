/* Full-batch L-BFGS (Liu and Nocedal, "On the limited memory BFGS method for large scale optimization", 1989), by
 * liblbfgs, on FANN's order of weights. */
#include <lbfgs.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/memory.h"
#include "model/trainer.h"

#define LOOK_EVERY 5

struct run {
  const clt_training *training;
  const clt_kernels *kernels;
  clt_matrix rows;
  size_t n_weights;
  float *weights; /* where the gradient is taken, in single precision */
  void *scratch;
};

static void to_single(struct run *run, const lbfgsfloatval_t *x) {
  for (size_t i = 0; i < run->n_weights; i++) run->weights[i] = (float)x[i];
}

/* Adds the decay of all weights but the biases; returns its part of the loss. */
static double add_decay(const clt_shape *shape, double decay, const lbfgsfloatval_t *x, lbfgsfloatval_t *gradient) {
  double loss = 0;
  size_t n_in = shape->n_inputs;
  for (size_t layer = 0; layer < shape->n_layers; layer++) {
    for (size_t o = 0; o < shape->width[layer]; o++, x += n_in + 1, gradient += n_in + 1) {
      for (size_t i = 0; i < n_in; i++) {
        gradient[i] += decay * x[i];
        loss += decay * x[i] * x[i] / 2;
      }
    }
    n_in = shape->width[layer];
  }
  return loss;
}

static lbfgsfloatval_t evaluate(void *user, const lbfgsfloatval_t *x, lbfgsfloatval_t *gradient, const int n,
                                const lbfgsfloatval_t step) {
  (void)step;
  struct run *run = user;
  const clt_training *t = run->training;
  to_single(run, x);
  double loss = run->kernels->gradient(t->shape, run->weights, &run->rows, run->scratch, gradient);
  double share = 1.0 / (double)t->n_rows;
  for (int i = 0; i < n; i++) gradient[i] *= share;
  return loss * share + add_decay(t->shape, t->decay, x, gradient);
}

static int progress(void *user, const lbfgsfloatval_t *x, const lbfgsfloatval_t *g, const lbfgsfloatval_t loss,
                    const lbfgsfloatval_t x_norm, const lbfgsfloatval_t g_norm, const lbfgsfloatval_t step, int n,
                    int iteration, int evaluations) {
  (void)g, (void)loss, (void)x_norm, (void)g_norm, (void)step, (void)n, (void)evaluations;
  struct run *run = user;
  if (iteration % LOOK_EVERY) return 0;
  to_single(run, x);
  return !clt_stopping_look(run->training->stopping, run->weights, iteration);
}

static int minimise(struct run *run, lbfgsfloatval_t *x, clt_error *error) {
  lbfgs_parameter_t parameters;
  lbfgs_parameter_init(&parameters);
  parameters.m = 10;
  parameters.epsilon = 1e-7;
  parameters.max_iterations = (int)run->training->iterations;
  int rc = lbfgs((int)run->n_weights, x, NULL, evaluate, progress, run, &parameters);
  if (rc == LBFGSERR_OUTOFMEMORY) return clt_fail_memory(error);
  /* All other ends are good ones: it stopped, converged, or single precision allows no further step. */
  to_single(run, x);
  clt_stopping_look(run->training->stopping, run->weights, run->training->iterations + 1);
  return CLT_OK;
}

static int train(const clt_training *training, float *weights, clt_error *error) {
  struct run run = {training, clt_kernels_best(), .n_weights = clt_shape_n_weights(training->shape),
                    .weights = weights};
  lbfgsfloatval_t *x = lbfgs_malloc((int)run.n_weights);
  run.scratch = clt_vector_memory(1, clt_gradient_scratch(training->shape));
  int rc = clt_matrix_init(&run.rows, training->x, training->shape->n_inputs, training->y, training->rows,
                           training->n_rows, error);
  if (rc) goto done;
  if (x == NULL || run.scratch == NULL) {
    rc = clt_fail_memory(error);
    goto done;
  }
  for (size_t i = 0; i < run.n_weights; i++) x[i] = weights[i];
  rc = minimise(&run, x, error);
done:
  clt_matrix_release(&run.rows);
  free(run.scratch);
  if (x) lbfgs_free(x);
  return rc;
}

const clt_trainer clt_trainer_lbfgs = {"lbfgs", train};
