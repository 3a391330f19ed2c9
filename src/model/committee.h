/* model/committee.h - an ensemble that is fitted again after every few measurements, for sequential search.
 *
 * Bagged networks of one hidden layer of tanh units on any target, each without one part of the rows; mean and spread
 * of the members for as many configurations as there are. Nothing of it is kept or stopped early: the ensemble of
 * clt_model_fit is the one for predicting costs. */
#ifndef CLT_MODEL_COMMITTEE_H
#define CLT_MODEL_COMMITTEE_H

#include <clatune/rng.h>

#include "model/sweep.h"

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
