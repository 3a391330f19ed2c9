/* model/network.h - one network of an ensemble, kept by FANN. network.c is the only file that knows FANN. */
#ifndef CLT_MODEL_NETWORK_H
#define CLT_MODEL_NETWORK_H

#include <clatune/error.h>
#include <stdbool.h>

#include "model/encoding.h"
#include "model/kernels.h"

typedef struct clt_network clt_network;

/* A network of this shape: sigmoid units, linear output, all weights 0. */
int clt_network_new(clt_network **out, const clt_shape *shape, clt_error *error);
void clt_network_free(clt_network *network);

/* All weights, clt_shape_n_weights of them, in the order described at clt_shape. */
void clt_network_set_weights(clt_network *network, const float *weights);
void clt_network_get_weights(const clt_network *network, float *weights);

/* fann_run. inputs has the shape's n_inputs. */
float clt_network_run(clt_network *network, const float *inputs);

/* n epochs of FANN's iRPROP- on rows x[n_rows][n_inputs], y. after_epochs (called every `every` epochs) returns false
 * to stop. */
typedef bool (*clt_network_progress)(void *user, const clt_network *network, long epoch);
int clt_network_rprop(clt_network *network, const float *x, const float *y, size_t n_rows, long epochs, long every,
                      clt_network_progress progress, void *user, clt_error *error);

/* The state of the model `ensemble`. */
typedef struct clt_ensemble {
  clt_encoding *encoding;
  clt_shape shape;
  size_t n_members;
  clt_network **members;     /* FANN's networks are where the weights live */
  double centre, scale;      /* log cost = centre + scale * output */
  struct clt_tables *tables; /* made of the members */
} clt_ensemble;

/* Packs the members' weights for predicting, anew where they were packed before. */
int clt_ensemble_pack(clt_ensemble *ensemble, clt_error *error);

#endif
