/* model/network.h - networks: how they are trained, and two ensembles of them: of the model `ensemble`, and a committee
 * for sequential search. */
#ifndef CLT_MODEL_NETWORK_H
#define CLT_MODEL_NETWORK_H

#include <clatune/error.h>
#include <clatune/rng.h>

#include "model/kernels.h"
#include "model/sweep.h"

/* --- training (network.c) --- */

/* Rows chosen[0..n_chosen) of x[][n_inputs] and y, in the kernels' order. Release also after a failure. */
int clt_matrix_init(clt_matrix *out, const float *x, size_t n_inputs, const float *y, const size_t *chosen,
                    size_t n_chosen, clt_error *error);
void clt_matrix_release(clt_matrix *matrix);

/* One network's task. */
typedef struct clt_training {
  const clt_shape *shape;
  const float *x, *y; /* all rows */
  const size_t *rows; /* n_rows to train on, then n_left_out that say when to end */
  size_t n_rows, n_left_out;
  long iterations; /* at most */
  long patience;   /* iterations without a smaller error on the rows left out after which to end */
  double decay;    /* of L-BFGS: mean squared error / 2 + decay / 2 * sum of squared weights, biases left out */
  bool rprop;      /* FANN's RPROP in place of L-BFGS; not of symmetric shapes */
} clt_training;

/* From the start in weights on. outputs NULL: nothing ends early, and the weights end as the last ones. Otherwise they
 * end as those that were best on the rows left out, for which outputs[n_left_out] gets honest predictions: the rows are
 * dealt into two halves, and each half is predicted by the weights that were best on the *other* one. So every
 * left-out row gets a prediction by weights that it had no part in, neither by fitting nor by stopping, and no row is
 * lost to either. */
int clt_train(const clt_training *training, float *weights, float *outputs, clt_error *error);

/* FANN's own network with these weights: sigmoid units, linear output. */
struct fann;
int clt_fann_new(struct fann **out, const clt_shape *shape, const float *weights, clt_error *error);

/* --- the state of the model `ensemble` --- */

typedef struct clt_ensemble {
  clt_encoding *encoding;
  clt_shape shape;
  size_t n_members;
  float *weights;       /* [member][weight] */
  double centre, scale; /* log cost = centre + scale * output */
  clt_split split;      /* how predictions are split, and the weights packed for that */
  clt_pack pack;
} clt_ensemble;

/* Packs the members' weights for predicting, anew where they were packed before. */
int clt_ensemble_pack(clt_ensemble *ensemble, clt_error *error);

/* --- committees: an ensemble that is fitted again after every few measurements, for sequential search ---
 *
 * Bagged networks of one hidden layer of tanh units on any target, each without one part of the rows; mean and spread
 * of the members for as many configurations as there are. Nothing of it is kept or stopped early: the ensemble of
 * clt_model_new is the one for predicting costs. */

typedef struct clt_committee_options {
  size_t members; /* 2 .. CLT_LANES */
  size_t hidden;  /* 1 .. CLT_MAX_HIDDEN */
  unsigned iterations;
  double decay;
} clt_committee_options;

typedef struct clt_committee clt_committee;

/* Borrows the encoding; n_extra inputs follow its own. Predicting before the first fit is a mistake of the caller. */
int clt_committee_new(clt_committee **out, const clt_encoding *encoding, size_t n_extra,
                      const clt_committee_options *options, clt_error *error);
void clt_committee_free(clt_committee *committee);

/* x[n][n_inputs + n_extra], y[n], n >= 1; fresh weights and folds from rng. On failure nothing is fitted. */
int clt_committee_fit(clt_committee *committee, const float *x, const float *y, size_t n, clt_rng *rng,
                      clt_error *error);

/* Mean and standard deviation of the members for the layout's configurations (of the same encoding), in the units of y.
 * Any number of threads at once. */
int clt_committee_predict(const clt_committee *committee, const clt_layout *layout, float *mean, float *spread,
                          clt_error *error);

#endif
