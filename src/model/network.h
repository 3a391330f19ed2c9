/* model/network.h - networks: FANN's own (network.c, the only file that knows FANN), how they are trained (trainer.c),
 * and the ensemble of them (ensemble.c). */
#ifndef CLT_MODEL_NETWORK_H
#define CLT_MODEL_NETWORK_H

#include <clatune/error.h>

#include "model/kernels.h"
#include "model/sweep.h"

/* --- training --- */

/* Rows chosen[0..n_chosen) of x[][n_inputs] and y, in the kernels' order. Release also after a failure. */
int clt_matrix_init(clt_matrix *out, const float *x, size_t n_inputs, const float *y, const size_t *chosen,
                    size_t n_chosen, clt_error *error);
void clt_matrix_release(clt_matrix *matrix);

/* Early stopping on the rows that a member leaves out, without flattering itself: they are dealt into two halves. Three
 * sets of weights are kept along the way: the best on both halves, which become the member, and the best on either
 * half, which predict the *other* half. So every left-out row gets a prediction by weights that it had no part in,
 * neither by fitting nor by stopping, and no row is lost to either. */
enum { CLT_HALF_A, CLT_HALF_B, CLT_BOTH_HALVES, CLT_N_STOPS };

typedef struct clt_stopping {
  const clt_shape *shape;
  clt_matrix rows; /* those left out; row i belongs to half i % 2 */
  long patience;   /* steps without improvement after which a stop is final */
  float *outputs;
  void *scratch;
  float *weights[CLT_N_STOPS];
  double loss[CLT_N_STOPS];
  long best_step[CLT_N_STOPS];
} clt_stopping;

/* Release also after a failure. */
int clt_stopping_init(clt_stopping *out, const clt_shape *shape, const float *x, const float *y, const size_t *left_out,
                      size_t n_left_out, long patience, clt_error *error);
void clt_stopping_release(clt_stopping *stopping);

/* Looks at the weights after a step. False: no stop has improved for `patience` steps. Steps must ascend. */
bool clt_stopping_look(clt_stopping *stopping, const float *weights, long step);

/* Outputs for the left-out rows, each by the weights that were best on the other half. */
void clt_stopping_predict(clt_stopping *stopping, float *out);

/* One network's task. */
typedef struct clt_training {
  const clt_shape *shape;
  const float *x, *y; /* all rows */
  const size_t *rows; /* those to train on */
  size_t n_rows;
  long iterations;        /* at most */
  double decay;           /* mean squared error / 2 + decay / 2 * sum of squared weights, biases left out */
  clt_stopping *stopping; /* shown the weights every few steps, it says when to end; NULL: nothing ends early */
} clt_training;

/* From the start in weights on, which end as the last ones. By L-BFGS, or by FANN's RPROP (shape not symmetric). */
int clt_train_lbfgs(const clt_training *training, float *weights, clt_error *error);
int clt_train_rprop(const clt_training *training, float *weights, clt_error *error);

/* --- FANN --- */

typedef struct clt_network clt_network;

/* A network of this shape: sigmoid units, linear output, all weights 0. */
int clt_network_new(clt_network **out, const clt_shape *shape, clt_error *error);
void clt_network_free(clt_network *network);

/* All weights, clt_shape_n_weights of them, in the order described at clt_shape. */
void clt_network_set_weights(clt_network *network, const float *weights);
void clt_network_get_weights(const clt_network *network, float *weights);

/* fann_run. inputs has the shape's n_inputs. */
float clt_network_run(clt_network *network, const float *inputs);

/* --- the state of the model `ensemble` --- */

typedef struct clt_ensemble {
  clt_encoding *encoding;
  clt_shape shape;
  size_t n_members;
  clt_network **members; /* FANN's networks are where the weights live */
  double centre, scale;  /* log cost = centre + scale * output */
  clt_split split;       /* how predictions are split, and the weights packed for that */
  clt_pack pack;
} clt_ensemble;

/* Packs the members' weights for predicting, anew where they were packed before. */
int clt_ensemble_pack(clt_ensemble *ensemble, clt_error *error);

#endif
