/* model/model.h - fitted models and model files, for the files of this component. */
#pragma once

#include <clatune/model.h>
#include <clatune/sys/model.h>

#include "base/json.h"
#include "base/plugin.h"
#include "model/rows.h"
#include "model/trees.h"

struct clt_model {
  const clt_model_type *type;
  void *state;
  const clt_space *space;
  clt_encoding *encoding; /* of the validity model; NULL without one */
  clt_forest *forest;     /* NULL: no failure was seen */
  float *residuals;       /* of the correct rows */
  size_t n_residuals;
  clt_model_accuracy accuracy;
  json_t *sizes; /* the problem sizes of the rows, an array if there were several; null: not known */
  clt_baseline baseline;
  double level; /* the baseline for the bound instance; predictions of the type are relative to it */
  unsigned threads;
};

extern const clt_model_type clt_model_ensemble, clt_model_trees, clt_model_average, clt_model_auto;
extern clt_plugins clt_models; /* of clt_model_type */

/* A model without a state, for fitting or loading. */
int clt_model_allocate(clt_model **out, const clt_model_type *type, const clt_space *space, clt_error *error);

/* Writes the networks of an ensemble as FANN files for other tools, <folder>/network-00.net and so on;
 * docs/explanation/models.md describes inputs and output. CLT_E_ARGUMENT: the model is of another type. */
int clt_model_save_networks(const clt_model *model, const char *folder, clt_error *error);

/* Sets the figures of accuracy that follow from the residuals alone. */
void clt_model_measure_accuracy(clt_model *model);

/* Fills log_cost and spread of n predictions. */
int clt_model_predict_costs(const clt_model *model, const clt_config *configs, size_t n, bool fast, clt_prediction *out,
                            clt_error *error);

/* Fills p_valid of n predictions. */
int clt_model_predict_validity(const clt_model *model, const clt_config *configs, size_t n, clt_prediction *out,
                               clt_error *error);

/* Out-of-fold residuals: predicted - measured log cost of every correct training row, in the order of the rows,
 * predicted by members that were trained without the row. Borrowed; *n is their number. */
const float *clt_model_residuals(const clt_model *model, size_t *n);

#define CLT_MOST_SWEPT 100000000 /* configurations of a space that clt_model_best predicts: more take minutes */

/* The m best configurations with few predictions. If the space has many more than n_predictions configurations, it
 * predicts only n_predictions, by hill climbing (as Bergstra, Pinto and Cox 2012): from random configurations to the
 * best neighbour until none is better, then the neighbours of the best. Deterministic. out[m], predictions[m] or NULL;
 * *n_out is the number found. */
int clt_model_climb(const clt_model *model, size_t m, double min_p_valid, size_t n_predictions, clt_config *out,
                    clt_prediction *predictions, size_t *n_out, clt_error *error);

/* The importance of each parameter according to the model: the total effect (Jansen, "Analysis of variance designs for
 * model output", 1999), which is the fraction of the variance of log cost over the valid configurations that remains
 * when all other parameters are known. From 0 to 1; it includes interactions, so that the sum can exceed 1.
 * out[n_parameters]. Deterministic. */
int clt_model_importance(const clt_model *model, double *out, clt_error *error);

/* --- the best few of many candidates (best.c) --- */

typedef struct clt_candidate {
  clt_config config;
  clt_prediction prediction;
  bool likely; /* probably valid; comes before all unlikely ones */
} clt_candidate;

/* A heap that keeps the best `capacity` candidates, the worst on top. Order: likely ones first, then by cost, then by
 * configuration. The result does not depend on the order of adding. */
typedef struct clt_heap {
  clt_candidate *items;
  size_t n, capacity;
} clt_heap;

int clt_heap_init(clt_heap *heap, size_t capacity, clt_error *error);
void clt_heap_release(clt_heap *heap);
void clt_heap_add(clt_heap *heap, const clt_candidate *candidate);

/* Candidates with a log cost above this cannot enter; infinite while any may. */
float clt_heap_worst(const clt_heap *heap);

/* Sorts the items in ascending order. Nothing may be added afterwards. */
void clt_heap_sort(clt_heap *heap);

/* --- parts of model files (file.c) --- */

/* Fails with CLT_E_FORMAT; `what` names the damaged part of the model file. */
int clt_model_damaged(clt_error *error, const char *what);

/* The record of a built-in type is a JSON object. */
static inline json_t *clt_record_json(const clt_model_record *record) { return (json_t *)(uintptr_t)record; }

/* An array of numbers as a new reference, NULL when out of memory. Reading: true if there are exactly n, all finite. */
json_t *clt_json_floats(const float *values, size_t n);
bool clt_json_read_floats(float *out, size_t n, const json_t *array);
bool clt_json_read_doubles(double *out, size_t n, const json_t *array);

/* --- a Gaussian process: it predicts the costs of configurations, and how far each prediction may be off, from few
 * measurements (Rasmussen and Williams, "Gaussian Processes for Machine Learning", 2006, sections 2.2 and 5.4) --- The
 * covariance of two configurations is a Matern function (order 5/2) of their distance. To it, each parameter adds the
 * distance of its encoded values, and a constant if the values differ, each over a length of its own; text and
 * parameters of two values add the constant only. Lengths, variance and noise are those of the largest posterior
 * density. */

/* Fits to y of n configurations, n >= 1, and predicts mean and standard deviation of y for n_candidates others. Takes
 * time by the cube of n. The encoding's resources are not used. */
int clt_gaussian_predict(const clt_encoding *encoding, const clt_config *configs, const double *y, size_t n,
                         const clt_config *candidates, size_t n_candidates, float *mean, float *deviation,
                         clt_error *error);
