/* clatune/model.h - models of run time and validity, fitted on measurements.
 *
 * The time model is a bagged ensemble of k = 11 FANN networks (one hidden layer of 30 sigmoid units), each trained on all
 * parts of the data but one, on log run time (Falch and Elster, "Machine learning based auto-tuning for enhanced OpenCL
 * performance portability", 2015, section 4). The mean of the members is the prediction, their spread and the errors on the
 * parts left out are its uncertainty. The validity model estimates which configurations fail. */
#ifndef CLATUNE_MODEL_H
#define CLATUNE_MODEL_H

#include <clatune/measurement.h>
#include <clatune/problem.h>
#include <clatune/sys/option.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A training row. time_s is ignored where failed. */
typedef struct clt_row {
  clt_config config;
  double time_s;
  bool failed;
} clt_row;

/* What a model says of one configuration. */
typedef struct clt_prediction {
  float log_time;  /* natural log of seconds, mean of the members */
  float spread;    /* standard deviation of the members' log times */
  float p_valid;   /* probability that it does not fail; 1 without a validity model */
} clt_prediction;

typedef struct clt_model clt_model;

/* Accuracy on rows not trained on (out of fold). */
typedef struct clt_model_accuracy {
  size_t n_rows, n_failed;      /* training rows, failed ones among them */
  double mean_relative_error;   /* mean of |predicted - measured| / measured; NaN with too few rows */
  double log_error_sd;          /* standard deviation of predicted - measured in log time */
  double calibrated_error;      /* mean_relative_error once each size's common factor is taken out of its errors: what a choice
                                   between configurations of one size rests on */
  double fit_s;                 /* wall seconds */
} clt_model_accuracy;

/* Fits the named model ("ensemble") with its settings on rows. resources of `instance` (nullable) are inputs where the
 * options ask for them. threads 0: as many as there are processors. Same seed, same rows: same model, whatever the number
 * of threads. CLT_E_MODEL with fewer than 5 correct rows. */
int clt_model_fit(clt_model **out, const char *type, const clt_setting *settings, size_t n_settings,
                  const clt_space *space, const clt_instance *instance, const clt_row *rows, size_t n_rows,
                  uint64_t seed, unsigned threads, clt_error *error);

/* Rows of one problem at one of its sizes. */
typedef struct clt_rows_at {
  const clt_instance *instance;
  const clt_row *rows;
  size_t n_rows;
} clt_rows_at;

/* The same on rows of several sizes, so that a size never measured can be predicted (after Bergstra, Pinto and Cox, "Machine
 * learning for predictive auto-tuning with boosted regression trees", 2012): what differs between the sizes are inputs beside
 * the configuration. All instances are of one problem and one device, with the same parameters and values. From five sizes on,
 * accuracy is that on sizes left out. The model speaks of groups[0].instance until it is bound to another one. */
int clt_model_fit_sizes(clt_model **out, const char *type, const clt_setting *settings, size_t n_settings,
                        const clt_rows_at *groups, size_t n_groups, uint64_t seed, unsigned threads, clt_error *error);

/* From now on the model predicts for this instance, which must have the parameters that it was fitted on, and outlive it. A
 * model of one size takes that size alone: CLT_E_FORMAT. Not while another thread uses the model. */
int clt_model_bind(clt_model *model, const clt_instance *instance, clt_error *error);

void clt_model_free(clt_model *model);
void clt_model_accuracy_get(const clt_model *model, clt_model_accuracy *out);

/* Predictions for n configurations of the space it was fitted on. */
int clt_model_predict(const clt_model *model, const clt_config *configs, size_t n, clt_prediction *out, clt_error *error);

/* Out-of-fold residuals: for every correct training row (in the order of rows) predicted - measured log time by members
 * that have not seen it. Borrowed; *n is their number. */
const float *clt_model_residuals(const clt_model *model, size_t *n);

/* The m best of all valid configurations by predicted time, those with p_valid below min_p_valid last, ascending; those in
 * skip (n_skip, sorted ascending) left out. Sweeps the whole space in batches, in parallel. out has room for m, predictions
 * (nullable) too; *n_out is how many there were. */
int clt_model_best(const clt_model *model, size_t m, double min_p_valid, const clt_config *skip, size_t n_skip,
                   clt_config *out, clt_prediction *predictions, size_t *n_out, clt_error *error);

/* The same where there is little time: where the space has many more than n_predictions configurations, it predicts only so many,
 * by hill climbing (as Bergstra, Pinto and Cox 2012): from starts (n_starts, valid ones) and random configurations to the
 * best neighbour until there is none better, then the neighbours of the best. The same every time. out has room for m. */
int clt_model_climb(const clt_model *model, size_t m, double min_p_valid, const clt_config *starts, size_t n_starts,
                    size_t n_predictions, clt_config *out, clt_prediction *predictions, size_t *n_out, clt_error *error);

/* How much each parameter matters, by the model: the total effect (Jansen, "Analysis of variance designs for model output",
 * 1999), the share of the variance of log time over the valid configurations that is left when all other parameters are known.
 * From 0 to 1, with interactions in it, so that the sum may be above 1. out has n_parameters entries. The same every time. */
int clt_model_importance(const clt_model *model, double *out, clt_error *error);

/* Sweeps the whole space and hands out every prediction in ascending order of rank, in batches, from one thread at a
 * time. visit returns 0 to go on. */
typedef int (*clt_model_visit)(void *user, uint64_t first_rank, size_t n, const clt_prediction *predictions);
int clt_model_sweep(const clt_model *model, clt_model_visit visit, void *user, clt_error *error);

/* A model file: our own checked, versioned format (docs/model-file.md). Loading checks it against the space: parameters
 * and values must be those it was fitted on. A damaged or foreign file is CLT_E_FORMAT, never a crash. */
int clt_model_save(const clt_model *model, const char *path, clt_error *error);
int clt_model_load(clt_model **out, const clt_space *space, const clt_instance *instance, const char *path,
                   clt_error *error);

#ifdef __cplusplus
}
#endif
#endif
