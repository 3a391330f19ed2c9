/* model/trainer.h - what fits one network: a const struct in a file of its own, listed in ensemble_fit.c. */
#ifndef CLT_MODEL_TRAINER_H
#define CLT_MODEL_TRAINER_H

#include "model/network.h"
#include "model/stopping.h"

/* One member's task. weights holds the start and is changed; every few steps the trainer shows the weights to stopping
 * and ends when it says so. */
typedef struct clt_training {
  const clt_shape *shape;
  const float *x, *y; /* all rows */
  const size_t *rows; /* those to train on */
  size_t n_rows;
  long iterations;
  double decay; /* mean squared error / 2 + decay / 2 * sum of squared weights, biases left out */
  clt_stopping *stopping;
} clt_training;

typedef struct clt_trainer {
  const char *name;
  int (*train)(const clt_training *training, float *weights, clt_error *error);
} clt_trainer;

extern const clt_trainer clt_trainer_lbfgs, clt_trainer_rprop;

#endif
