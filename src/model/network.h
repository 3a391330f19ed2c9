/* model/network.h - training of neural networks, and two ensembles of them: the model `ensemble`, and committees for
 * sequential search; predicting many configurations. */
#pragma once

#include <clatune/rng.h>

#include "base/base.h"
#include "model/kernels.h"
#include "model/rows.h"

/* --- predicting many configurations ---
 * The computation of a model can often be split into a part for a few parameters, whose combinations fit into a
 * *table*, and a part for the *rest*, which many configurations share. The table takes the parameters that change
 * fastest from rank to rank and that no resource depends on. Forests are split like this (forest.c), and networks as
 * follows.
 *
 * sigmoid(z) = 1 / (1 + exp(-z)), and the first layer's z is a sum over inputs. So exp(-z) is a product of two
 * factors, one for the row of the table and one for the rest. Each configuration then needs one multiplication,
 * addition and division per unit. With an empty table it is a plain batched product with one exponential per unit. */

/* --- the content of the table --- */

/* Neighbouring parameters of the table: config / stride % size is their joint position. */
typedef struct clt_split_run {
  uint64_t stride, size;
  size_t weight; /* of the position in the row number */
} clt_split_run;

typedef struct clt_split {
  const clt_encoding *encoding;
  bool in_table[CLT_MAX_PARAMETERS];
  size_t n_rows; /* of the table; 1: the table is empty */
  size_t n_runs;
  clt_split_run runs[CLT_MAX_PARAMETERS];
} clt_split;

/* Chooses the table, of at most max_rows rows. With the weights of n_members (0: any weights) each unit's z must stay
 * in the range of single-precision exponentials. */
int clt_split_init(clt_split *split, const clt_encoding *encoding, size_t max_rows, const clt_shape *shape,
                   const float *weights, size_t n_members, clt_error *error);

/* Chooses the table for configurations like these, so that few factors must be computed. With extra inputs the table is
 * empty, since these differ for each configuration. */
int clt_split_choose(clt_split *out, const clt_encoding *encoding, bool has_extra, const clt_config *configs, size_t n,
                     clt_error *error);

/* The value position that a row of the table has for a parameter in the table. */
size_t clt_split_position(const clt_split *split, size_t row, size_t parameter);

/* --- configurations, grouped by rest --- */

#define CLT_LAYOUT_MOST 32768 /* configurations laid out at once */

/* Inputs of a model in addition to those of the encoding: fill sets out[n] for a configuration. Thread-safe. */
typedef struct clt_extra_inputs {
  size_t n;
  void (*fill)(const void *user, clt_config config, float *out);
  const void *user;
} clt_extra_inputs;

/* Configurations grouped by rest. The grouping depends only on the configurations, so that it can be kept while
 * networks change. Configurations order[start[r]] .. order[start[r + 1] - 1] share rest r. */
typedef struct clt_layout {
  clt_arena memory;
  const clt_split *split;
  size_t n, n_rests, n_rest_inputs;
  uint32_t *order, *start;
  uint32_t *row;     /* of the table, in this order */
  clt_config *first; /* by rest: one of its configurations */
  float *rest_x; /* [rest][n_rest_inputs], those of the parameters not in the table, resources, extra ones; or NULL */
} clt_layout;

/* n at most CLT_LAYOUT_MOST; borrows the split. extra NULL: no further inputs. clt_layout_group leaves rest_x NULL.
 * Release layout->memory, also after a failure. */
int clt_layout_init(clt_layout *layout, const clt_split *split, const clt_extra_inputs *extra,
                    const clt_config *configs, size_t n, clt_error *error);
int clt_layout_group(clt_layout *layout, const clt_split *split, const clt_config *configs, size_t n, clt_error *error);

/* --- networks, packed for predicting --- */

/* Up to CLT_LANES members side by side. */
typedef struct clt_pack_group {
  size_t n_members;
  float *rest;  /* weights, [unit][rest input, bias][lane] */
  float *table; /* factors, [table row][unit][lane] */
  float *second, *output;
  clt_further_layers further;
} clt_pack_group;

typedef struct clt_pack {
  clt_arena memory;
  const clt_kernels *kernels;
  size_t n_units, n_rest_inputs, n_groups;
  clt_pack_group *groups;
} clt_pack;

/* weights[member][weight] of the shape, whose inputs are the encoding's and n_extra more; hidden units are sigmoid.
 * Release pack->memory, also after a failure. */
int clt_pack_init(clt_pack *pack, const clt_split *split, size_t n_extra, const clt_shape *shape, const float *weights,
                  size_t n_members, clt_error *error);

/* Mean and standard deviation of the members' outputs for the layout's configurations (of the same split, with rest_x).
 * A configuration's result does not depend on the others. Thread-safe. */
int clt_pack_predict(const clt_pack *pack, const clt_layout *layout, float *mean, float *spread, clt_error *error);

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
  clt_split split;      /* of the inputs, and pack: the weights packed for it (sweep.c) */
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
