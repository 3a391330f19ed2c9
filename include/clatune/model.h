/* clatune/model.h - models of cost (run time) and validity, fitted on measurements.
 *
 * A model learns the logarithm of cost from correct measurements: networks (`ensemble`, after Falch and Elster,
 * "Machine learning based auto-tuning for enhanced OpenCL performance portability", 2015, section 4), boosted trees
 * (`trees`), or both (`average`, `auto`); docs/models.md. The mean of an ensemble's members is the prediction, their
 * spread and the errors on the parts left out are its uncertainty. A validity model beside it estimates which
 * configurations fail. */
#ifndef CLATUNE_MODEL_H
#define CLATUNE_MODEL_H

#include <clatune/measurement.h>
#include <clatune/problem.h>
#include <clatune/sys/option.h>

CLT_BEGIN_C

/* Measurements to learn from: row i is configs[i]; log_cost[i] is the natural logarithm of its cost (seconds, where run
 * time is what is tuned), NaN where it failed. The arrays are the caller's. */
typedef struct clt_rows {
  const clt_space *space; /* of all rows; of several instances: the space of one of them */
  const clt_instance *
      *instances;     /* with the same tuning parameters and values; from two on, rows are of several sizes */
  size_t n_instances; /* 0: none is known */
  size_t n, capacity; /* capacity: used by those who grow the arrays */
  clt_config *configs;
  double *log_cost;
  uint32_t *instance_of; /* index among instances; NULL: all rows are of the first */
} clt_rows;

/* What a model says of one configuration. */
typedef struct clt_prediction {
  float log_cost; /* natural logarithm, mean of the members */
  float spread;   /* standard deviation of the members' log costs */
  float p_valid;  /* probability that it does not fail; 1 without a validity model */
} clt_prediction;

typedef struct clt_model clt_model;

/* Accuracy on rows not trained on (out of fold). */
typedef struct clt_model_accuracy {
  size_t n_rows, n_failed;    /* training rows, failed ones among them */
  double mean_relative_error; /* mean of |predicted - measured| / measured; NaN with too few rows */
  double log_error_sd;        /* standard deviation of predicted - measured in log cost */
  double calibrated_error;    /* mean_relative_error once each size's common factor is taken out of its errors: what a
                                 choice    between configurations of one size rests on */
  double fit_s;               /* wall seconds */
} clt_model_accuracy;

/* Fits the named model with its settings on rows. The resources of instances[0] are inputs where the options ask for
 * them. Rows of several sizes (after Bergstra, Pinto and Cox, "Machine learning for predictive auto-tuning with boosted
 * regression trees", 2012) give a model that predicts sizes never measured: what differs between the sizes are inputs
 * beside the configuration; from five sizes on, accuracy is that on sizes left out. The model speaks of instances[0]
 * until it is bound to another one. threads 0: as many as there are processors. Same seed, same rows: same model,
 * whatever the number of threads. space and instances must outlive the model. CLT_E_MODEL with fewer than 5 correct
 * rows. */
int clt_model_new(clt_model **out, const char *type, const clt_setting *settings, size_t n_settings,
                  const clt_rows *rows, uint64_t seed, unsigned threads, clt_error *error);

/* From now on the model predicts for this instance, which must have the parameters that it was fitted on, and outlive
 * it. A model of one size takes that size alone: CLT_E_FORMAT. Not while another thread uses the model. */
int clt_model_bind(clt_model *model, const clt_instance *instance, clt_error *error);

void clt_model_free(clt_model *model);
void clt_model_accuracy_get(clt_model_accuracy *out, const clt_model *model);

/* Predictions for n configurations of the space it was fitted on. */
int clt_model_predict(clt_prediction *out, const clt_model *model, const clt_config *configs, size_t n,
                      clt_error *error);

/* The m best of all valid configurations by predicted time, those with p_valid below min_p_valid last, ascending; those
 * in skip (n_skip, sorted ascending) left out. Sweeps the whole space in batches, in parallel. out has room for m,
 * predictions (nullable) too; *n_out is how many there were. */
int clt_model_best(clt_config *out, clt_prediction *predictions, size_t *n_out, const clt_model *model, size_t m,
                   double min_p_valid, const clt_config *skip, size_t n_skip, clt_error *error);

/* Sweeps the whole space and hands out every prediction in ascending order of rank, in batches, from one thread at a
 * time. visit returns 0 to go on. */
typedef int (*clt_model_visit)(void *user, uint64_t first_rank, size_t n, const clt_prediction *predictions);
int clt_model_sweep(const clt_model *model, clt_model_visit visit, void *user, clt_error *error);

/* A model file: our own checked, versioned format (docs/model-file.md). Loading checks it against the space: parameters
 * and values must be those it was fitted on. A damaged or foreign file is CLT_E_FORMAT, never a crash. */
int clt_model_save(const clt_model *model, const char *path, clt_error *error);
int clt_model_new_saved(clt_model **out, const clt_space *space, const clt_instance *instance, const char *path,
                        clt_error *error);

CLT_END_C
#endif
