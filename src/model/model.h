/* model/model.h - what the files of this room know of a fitted model and of model files. */
#ifndef CLT_MODEL_MODEL_H
#define CLT_MODEL_MODEL_H

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
  json_t *sizes; /* the problem sizes it was fitted at, an array where there were several; null: not known */
  clt_baseline baseline;
  double level; /* of the baseline for the instance that it speaks of: what the type says is added to it */
  unsigned threads;
};

extern const clt_model_type clt_model_ensemble, clt_model_trees, clt_model_average, clt_model_auto;
extern clt_plugins clt_models; /* of clt_model_type */

/* A model without a state: to be fitted or loaded. */
int clt_model_allocate(clt_model **out, const clt_model_type *type, const clt_space *space, clt_error *error);

/* Writes the networks of an ensemble as FANN's own files, <folder>/network-00.net and on, for other tools: inputs and
 * output as docs/models.md says. CLT_E_ARGUMENT for models of other types. */
int clt_model_save_networks(const clt_model *model, const char *folder, clt_error *error);

/* Fills the error figures that follow from the residuals alone. */
void clt_model_measure_accuracy(clt_model *model);

/* Fills log_cost and spread of n predictions. */
int clt_model_predict_costs(const clt_model *model, const clt_config *configs, size_t n, bool fast, clt_prediction *out,
                            clt_error *error);

/* Fills p_valid of n predictions. */
int clt_model_predict_validity(const clt_model *model, const clt_config *configs, size_t n, clt_prediction *out,
                               clt_error *error);

/* Out-of-fold residuals: for every correct training row (in the order of rows) predicted - measured log cost by members
 * that have not seen it. Borrowed; *n is their number. */
const float *clt_model_residuals(const clt_model *model, size_t *n);

/* The same where there is little time: where the space has many more than n_predictions configurations, it predicts
 * only so many, by hill climbing (as Bergstra, Pinto and Cox 2012): from random configurations to the best neighbour
 * until there is none better, then the neighbours of the best. The same every time. out has room for m. */
int clt_model_climb(const clt_model *model, size_t m, double min_p_valid, size_t n_predictions, clt_config *out,
                    clt_prediction *predictions, size_t *n_out, clt_error *error);

/* How much each parameter matters, by the model: the total effect (Jansen, "Analysis of variance designs for model
 * output", 1999), the share of the variance of log cost over the valid configurations that is left when all other
 * parameters are known. From 0 to 1, with interactions in it, so that the sum may be above 1. out has n_parameters
 * entries. The same every time. */
int clt_model_importance(const clt_model *model, double *out, clt_error *error);

/* --- the best few of many candidates (best.c) --- */

typedef struct clt_candidate {
  clt_config config;
  clt_prediction prediction;
  bool likely; /* enough probability of being valid: stands before all that are not */
} clt_candidate;

/* Up to capacity candidates, the worst on top: unlikely ones last, then by cost, then by configuration. Which ones it
 * ends with does not depend on the order they came in. */
typedef struct clt_heap {
  clt_candidate *items;
  size_t n, capacity;
} clt_heap;

int clt_heap_init(clt_heap *heap, size_t capacity, clt_error *error);
void clt_heap_release(clt_heap *heap);
void clt_heap_add(clt_heap *heap, const clt_candidate *candidate);

/* A log cost from which on no candidate can enter, likely or not; infinite while any may. */
float clt_heap_worst(const clt_heap *heap);

/* Puts the items in ascending order; the end of its use as a heap. */
void clt_heap_sort(clt_heap *heap);

/* --- model files (file.c) --- */

/* CLT_E_FORMAT, "the model file's <what> cannot be those of this space". */
int clt_model_damaged(clt_error *error, const char *what);

/* Types in this tree write their records as they like: a record is a JSON object. */
static inline json_t *clt_record_json(const clt_model_record *record) { return (json_t *)(uintptr_t)record; }

/* An array of numbers, a new reference, NULL when out of memory; and back: exactly n, finite ones (as floats). */
json_t *clt_json_floats(const float *values, size_t n);
json_t *clt_json_doubles(const double *values, size_t n);
bool clt_json_read_floats(float *out, size_t n, const json_t *array);
bool clt_json_read_doubles(double *out, size_t n, const json_t *array);

/* The sizes of the rows' instances by name, a list of those of several, null for none; a new reference, NULL when out
 * of memory. And whether a file's are those of another instance: CLT_E_FORMAT. Files without sizes, or with those of
 * several, fit any instance. */
json_t *clt_sizes_save(const clt_rows *rows);
int clt_sizes_check(const json_t *sizes, const clt_instance *instance, clt_error *error);

#endif
