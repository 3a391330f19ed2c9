/* model/network.h - training of neural networks, and two ensembles of them: the model `ensemble`, and committees for
 * sequential search. */
#ifndef CLT_MODEL_NETWORK_H
#define CLT_MODEL_NETWORK_H

#include <clatune/error.h>
#include <clatune/rng.h>

#include "model/kernels.h"
#include "model/sweep.h"

/* --- training (network.c) --- */

/* The rows chosen[0..n_chosen) of x[][n_inputs] and y in the layout of the kernels. */
int clt_matrix_init(clt_matrix *out, clt_arena *memory, const float *x, size_t n_inputs, const float *y,
                    const size_t *chosen, size_t n_chosen, clt_error *error);

/* The training of one network. */
typedef struct clt_training {
  const clt_shape *shape;
  const float *x, *y; /* all rows */
  const size_t *rows; /* n_rows for training, then n_left_out for early stopping */
  size_t n_rows, n_left_out;
  long iterations; /* at most */
  long patience;   /* stops after this many iterations without a smaller error on the rows left out */
  double decay;    /* of L-BFGS: mean squared error / 2 + decay / 2 * sum of squared weights, biases left out */
  bool rprop;      /* FANN's RPROP instead of L-BFGS; not for symmetric shapes */
} clt_training;

/* Trains from the initial weights. outputs NULL: no early stopping; weights are the last ones. Otherwise weights are
 * those with the smallest error on the rows left out, and outputs[n_left_out] gets unbiased predictions of these rows:
 * they are split into two halves, and each half is predicted with the weights that were best on the *other* half. So a
 * left-out row influences its own prediction neither by fitting nor by stopping. */
int clt_train(const clt_training *training, float *weights, float *outputs, clt_error *error);

/* A network of FANN with these weights: sigmoid units, linear output. */
struct fann;
int clt_fann_new(struct fann **out, const clt_shape *shape, const float *weights, clt_error *error);

/* --- the state of the model `ensemble` --- */

typedef struct clt_ensemble {
  clt_encoding *encoding;
  clt_shape shape;
  size_t n_members;
  float *weights;       /* [member][weight] */
  double centre, scale; /* log cost = centre + scale * output */
  clt_split split;      /* of the inputs, and pack: the weights packed for it (sweep.h) */
  clt_pack pack;
} clt_ensemble;

/* Packs the members' weights for predicting, again if they were packed before. */
int clt_ensemble_pack(clt_ensemble *ensemble, clt_error *error);

/* --- committees: ensembles that are refitted after every few measurements, for sequential search ---
 *
 * Bagged networks with one hidden layer of tanh units, for any target, each trained without one part of the rows. They
 * predict mean and standard deviation of the members. There is no early stopping, and committees are not saved. */

typedef struct clt_committee_options {
  size_t members; /* 2 .. CLT_LANES */
  size_t hidden;  /* 1 .. CLT_MAX_HIDDEN */
  unsigned iterations;
  double decay;
} clt_committee_options;

typedef struct clt_committee clt_committee;

/* Borrows the encoding; n_extra inputs follow its own. Fit before predicting. */
int clt_committee_new(clt_committee **out, const clt_encoding *encoding, size_t n_extra,
                      const clt_committee_options *options, clt_error *error);
void clt_committee_free(clt_committee *committee);

/* Fits to x[n][n_inputs + n_extra] and y[n], n >= 1, with new weights and folds from rng. */
int clt_committee_fit(clt_committee *committee, const float *x, const float *y, size_t n, clt_rng *rng,
                      clt_error *error);

/* Mean and standard deviation of the members for the layout's configurations (of the same encoding), in the units of y.
 * Thread-safe. */
int clt_committee_predict(const clt_committee *committee, const clt_layout *layout, float *mean, float *spread,
                          clt_error *error);

#endif
