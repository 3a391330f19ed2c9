/* FANN's own predictions for an ensemble's networks. */
#ifndef TESTS_MODEL_FANN_RUN_H
#define TESTS_MODEL_FANN_RUN_H

#include <fann.h>
#include <math.h>
#include <stdlib.h>

#include "model/network.h"

static inline struct fann *fann_member(const clt_ensemble *e, size_t member) {
  struct fann *fann = NULL;
  if (clt_fann_new(&fann, &e->shape, e->weights + member * clt_shape_n_weights(&e->shape), NULL)) abort();
  return fann;
}

/* The mean of the members' log costs, and their standard deviation (spread may be NULL). */
static inline double fann_log_cost(const clt_ensemble *e, clt_config config, double *spread) {
  float x[64];
  double sum = 0, squares = 0, n = (double)e->n_members;
  clt_encode(e->encoding, config, x);
  for (size_t i = 0; i < e->n_members; i++) {
    struct fann *fann = fann_member(e, i);
    double output = *fann_run(fann, x);
    fann_destroy(fann);
    sum += output;
    squares += output * output;
  }
  if (spread) *spread = e->scale * sqrt(fmax(0, squares - sum * sum / n) / (n - 1));
  return e->centre + e->scale * sum / n;
}

#endif
