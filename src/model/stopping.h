/* model/stopping.h - early stopping on the rows that a member leaves out, without flattering itself.
 *
 * The left-out rows are dealt into two halves. Three sets of weights are kept along the way: the best on both halves,
 * which become the member, and the best on either half, which predict the *other* half. So every left-out row gets a
 * prediction by weights that it had no part in, neither by fitting nor by stopping, and no row is lost to either. */
#ifndef CLT_MODEL_STOPPING_H
#define CLT_MODEL_STOPPING_H

#include <stdbool.h>

#include "model/matrix.h"

enum { CLT_HALF_A, CLT_HALF_B, CLT_BOTH_HALVES, CLT_N_STOPS };

typedef struct clt_stopping {
  const clt_kernels *kernels;
  const clt_shape *shape;
  clt_matrix rows; /* those left out; row i belongs to half i % 2 */
  long patience;   /* steps without improvement after which a stop is final */
  float *outputs;
  void *scratch;
  size_t n_weights;
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

#endif
