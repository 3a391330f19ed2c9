/* model/ensemble.h - what the files of the ensemble share. */
#ifndef CLT_MODEL_ENSEMBLE_H
#define CLT_MODEL_ENSEMBLE_H

#include <clatune/sys/model.h>

#include "dataset/encoding.h"
#include "model/forest.h"
#include "model/network.h"
#include "model/tables.h"

#define CLT_MAX_MEMBERS 64

typedef struct clt_ensemble_options {
  int64_t members, hidden, hidden2, iterations, patience;
  double decay, trees;
  const char *trainer;
  bool resources;
} clt_ensemble_options;

typedef struct clt_ensemble {
  clt_encoding *encoding;
  clt_shape shape;
  size_t n_members;
  clt_network **members; /* FANN's networks are where the weights live */
  double centre, scale;  /* log time = centre + scale * output */
  clt_forest **boosted;  /* one beside each network; NULL: none */
  double share;          /* of theirs in the prediction */
  float *residuals;
  size_t n_residuals;
  clt_tables *tables; /* made of the members by clt_ensemble_ready */
} clt_ensemble;

int clt_ensemble_fit(void *state, const clt_model_setup *setup, const void *options, clt_error *error);
int clt_ensemble_save(const void *state, struct json_t **out, clt_error *error);
int clt_ensemble_load(void *state, const clt_space *space, const clt_instance *instance, const struct json_t *json,
                      clt_error *error);

/* n_members networks of the ensemble's shape. */
int clt_ensemble_allocate(clt_ensemble *e, size_t n_members, clt_error *error);

/* log time = centre + scale * ((1 - share) * networks + share * boosted trees): adds the trees to n outputs. */
int clt_ensemble_add_trees(const clt_ensemble *e, const clt_config *configs, size_t n, float *outputs,
                           clt_error *error);

/* Packs the weights for predicting. */
int clt_ensemble_ready(clt_ensemble *e, clt_error *error);

/* Inputs as the encoding has them, then one or two hidden layers (hidden2 0: one) and the output. */
clt_shape clt_ensemble_shape(const clt_encoding *encoding, size_t hidden, size_t hidden2);

#endif
