/* clatune/model.h - models of cost and validity, fitted to measurements (docs/explanation/models.md).
 *
 * A model learns the logarithm of the cost from correct measurements. There are networks (`ensemble`, after Falch and
 * Elster, "Machine learning based auto-tuning for enhanced OpenCL performance portability", 2015, section 4), boosted
 * trees (`trees`), and combinations (`average`, `auto`). The prediction is the mean of the members of an ensemble.
 * Their spread, and the errors on rows left out of the training, are its uncertainty. A second model predicts which
 * configurations fail. */
#ifndef CLATUNE_MODEL_H
#define CLATUNE_MODEL_H

#include <clatune/measurement.h>
#include <clatune/problem.h>
#include <clatune/sys/option.h>

CLT_BEGIN_C

/* Training data. Row i is configs[i]; log_cost[i] is the natural logarithm of its cost (seconds, if the objective is
 * run time), NaN if it failed. The caller owns the arrays. */
typedef struct clt_rows {
  const clt_space *space;         /* of all rows; of several instances, the space of one of them */
  const clt_instance **instances; /* with the same parameters and values; two or more: rows of several sizes */
  size_t n_instances;             /* 0: unknown */
  size_t n, capacity;             /* rows, and rows that the arrays have room for */
  clt_config *configs;
  double *log_cost;
  uint32_t *instance_of; /* index of each row's instance; NULL: all are of the first */
} clt_rows;

/* The prediction for one configuration. */
typedef struct clt_prediction {
  float log_cost; /* natural logarithm, mean of the members */
  float spread;   /* standard deviation of the members' log costs */
  float p_valid;  /* estimated probability that it does not fail; 1 without a validity model */
} clt_prediction;

typedef struct clt_model clt_model;

/* Accuracy on rows that were left out of the training (cross-validation). */
typedef struct clt_model_accuracy {
  size_t n_rows, n_failed;    /* training rows, and how many of them failed */
  double mean_relative_error; /* mean of |predicted - measured| / measured; NaN: too few rows */
  double log_error_sd;        /* standard deviation of predicted - measured in log cost */
  double calibrated_error;    /* mean_relative_error after removing each size's common factor: the error that matters
                                 when configurations of one size are compared */
  double fit_s;               /* wall seconds of the fit */
  double log_cost_sd;         /* standard deviation of the rows' log costs, what a model that always says their mean is
                                 off by; 0: read from a file, which lacks it */
} clt_model_accuracy;

/* Whether a model predicts the rows that it was not trained on no better than their mean does. */
bool clt_model_useless(const clt_model_accuracy *accuracy);

/* Fits a model of the named type, with settings as in `clatune help NAME`. The same rows and seed give the same model,
 * whatever the number of threads (0: one per processor). space and instances must outlive the model.
 *
 * Rows of several sizes give a model that predicts sizes never measured: the sizes are inputs besides the configuration
 * (after Bergstra, Pinto and Cox, "Machine learning for predictive auto-tuning with boosted regression trees", 2012).
 * From five sizes on, the accuracy is that on sizes left out of the training. The model predicts for instances[0] until
 * clt_model_bind.
 *
 * CLT_E_MODEL: fewer than 5 correct rows. CLT_E_NOT_FOUND: no such type. CLT_E_ARGUMENT: the rows are invalid. Free
 * *out with clt_model_free (NULL is allowed). */
int clt_model_new(clt_model **out, const char *type, const clt_setting *settings, size_t n_settings,
                  const clt_rows *rows, uint64_t seed, unsigned threads, clt_error *error);

/* Makes the model predict for another instance, which must outlive it. No other thread may use the model meanwhile.
 * CLT_E_ARGUMENT: the instance has other tuning parameters or values. CLT_E_FORMAT: the model was fitted at one size,
 * and this is another. */
int clt_model_bind(clt_model *model, const clt_instance *instance, clt_error *error);
void clt_model_free(clt_model *model);

void clt_model_accuracy_get(clt_model_accuracy *out, const clt_model *model); /* the accuracy after the fit */

/* Predicts n configurations of the model's space. CLT_E_ARGUMENT: one is not in it. */
int clt_model_predict(clt_prediction *out, const clt_model *model, const clt_config *configs, size_t n,
                      clt_error *error);

/* The m valid configurations with the lowest predicted costs, ascending; those with p_valid below min_p_valid come
 * last. The n_skip configurations in skip, sorted ascending, are left out. Predicts the whole space, in parallel; of
 * more than a hundred million configurations only some, by climbing. out and predictions (nullable) have room for m
 * entries; *n_out is their number. */
int clt_model_best(clt_config *out, clt_prediction *predictions, size_t *n_out, const clt_model *model, size_t m,
                   double min_p_valid, const clt_config *skip, size_t n_skip, clt_error *error);

/* Predicts the whole space and calls visit for batches of predictions in ascending order of rank, one call at a time.
 * visit returns 0 to continue. */
typedef int (*clt_model_visit)(void *user, uint64_t first_rank, size_t n, const clt_prediction *predictions);
int clt_model_sweep(const clt_model *model, clt_model_visit visit, void *user, clt_error *error);

/* Writes and reads a model file (src/model/FORMAT.md). Files need not be trusted. CLT_E_FORMAT: the file is
 * damaged, or was fitted on other parameters or values than those of space. instance may be NULL, unless
 * the model was fitted at several sizes. */
int clt_model_save(const clt_model *model, const char *path, clt_error *error);
int clt_model_new_saved(clt_model **out, const clt_space *space, const clt_instance *instance, const char *path,
                        clt_error *error);

CLT_END_C
#endif
