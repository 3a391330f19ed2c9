/* family/train.h - choosers, the models that they fit to a table, and how good these are. */
#pragma once

#include "cli/cli.h"
#include "family/family.h"
#include "session/probe.h"

/* --- choosers (choosers.c): they fit models, which score the arms; the arm with the lowest score is chosen --- */

/* Training rows: scaled features x[n][n_inputs], and log_cost[n][n_arms], NaN if not known. */
typedef struct clt_family_rows {
  size_t n, n_inputs, n_arms;
  const float *x;
  const double *log_cost;
  const size_t *rank; /* of each arm by its mean cost; breaks ties */
} clt_family_rows;

typedef struct clt_family_chooser {
  const clt_family_scorer *scorer; /* with its name */
  const char *summary;
  unsigned n_settings; /* cross-validation chooses one of them; 0: this build cannot fit the chooser */
  int (*fit)(clt_family_numbers *out, const clt_family_rows *rows, unsigned setting, uint64_t seed, clt_error *error);
} clt_family_chooser;
extern const clt_family_chooser clt_family_chooser_svm;       /* svm.c */
extern const clt_family_chooser *const clt_family_choosers[]; /* NULL-terminated; the first is the default */
const clt_family_chooser *clt_family_chooser_find(const char *name);

int clt_family_model_save(const clt_family_model *model, const char *path, clt_error *error);

/* --- training and evaluation (train.c) --- */

typedef struct clt_family_training {
  const clt_family_chooser *chooser; /* NULL: cross-validation chooses the best */
  size_t features[CLT_MAX_FEATURES]; /* n_features indices into the family's features; n_features 0: all */
  size_t n_features;
  uint64_t seed;
  unsigned threads;
} clt_family_training;

/* Fits a model to the training inputs, with the setting that has the lowest regret in cross-validation; times within 2
 * % count as equal. CLT_E_NO_VALID: no variant without a condition has correct results. */
int clt_family_train(clt_family_model **out, const clt_family_table *table, const clt_family_training *how,
                     clt_error *error);

/* The quality of choices over inputs. */
typedef struct clt_family_figures {
  double mean;       /* mean of best time / time of the chosen arm */
  double slow;       /* fraction of inputs more than 5 % slower than the best arm */
  double worse;      /* fraction of inputs more than 5 % slower than the single best arm */
  double gap_closed; /* fraction of the gap in `mean` between the single best arm and the ideal choice; NaN: no gap */
} clt_family_figures;

/* CLT_JUDGE_TOP_TWO: the better of the two arms with the lowest scores. CLT_JUDGE_SINGLE: the single best arm. */
typedef enum clt_family_judged {
  CLT_JUDGE_CHOICE,
  CLT_JUDGE_TOP_TWO,
  CLT_JUDGE_SINGLE,
  CLT_N_JUDGED
} clt_family_judged;

/* Evaluates a chooser on the test inputs after training on the others; without measured test inputs by nested
 * cross-validation. *n: the number of inputs. */
int clt_family_judge(clt_family_figures out[CLT_N_JUDGED], size_t *n, const clt_family_table *table,
                     const clt_family_training *how, clt_error *error);

/* --- as C (export.c) --- */

/* Writes a model as C99 and C++: NAME_select(const double features[], NAME_config *out). */
int clt_family_write_c(clt_text *out, const clt_family_model *model, clt_error *error);

/* --- models for a device from measurements of other devices (docs/reference/family-file.md): the device's table is
 * predicted from the other devices' tables, weighted by similarity of their characteristics, here called figures
 * (session/probe.h) --- */

#define CLT_MOST_CHOSEN 3 /* maximum number of figures in the distance between devices */

/* Devices with measured inputs of a family, and the figures that are known for all of them. */
typedef struct clt_family_devices {
  clt_device_info *all; /* [n]; owned, like all below */
  clt_family_place *places;
  size_t n, n_figures;
  char (*names)[32];
  double *figures;                        /* [device][figure]: logarithms */
  size_t given[CLT_MOST_CHOSEN], n_given; /* figures that the caller chose; 0: cross-validation chooses */
} clt_family_devices;

/* Finds the devices that the stores describe, each once, followed by `target` (nullable) with its own store. Release
 * also after a failure. */
int clt_family_devices_find(clt_family_devices *out, const clt_family *family, clt_store *const *stores,
                            size_t n_stores, const clt_family_place *target, clt_error *error);
/* Reads the figures. CLT_E_NOT_FOUND: a device was not probed, or there are fewer than two devices. */
int clt_family_devices_read(clt_family_devices *devices, clt_error *error);
void clt_family_devices_release(clt_family_devices *devices);

/* The data for the model of a device. */
typedef struct clt_family_across {
  const clt_family_devices *devices; /* borrowed */
  size_t target;                     /* the index of the device */
  clt_family_table table;            /* training: all other devices; test: the device's own inputs, if any */
  double *cost;  /* [device][input][arm]: log (time / least time of the input), at most CLT_FAMILY_BEHIND; NaN: may not
                    run, or not known */
  double *least; /* [device][input]: log of the shortest time */
  bool fails[CLT_MAX_ARMS];         /* the arm failed on the device's own first training input */
  double spread[CLT_MOST_FEATURES]; /* standard deviation of each figure over the other devices */
  size_t chosen[CLT_MOST_CHOSEN], n_chosen;
  size_t nearest;     /* the nearest other device, in the chosen figures (in all, if none was chosen) */
  double selection_s; /* time of the selection in seconds */
} clt_family_across;

/* The weights of the other devices: by distance, the nearest device alone, or all equal. */
typedef enum clt_family_weighting { CLT_BY_DISTANCE, CLT_NEAREST_ALONE, CLT_ALIKE } clt_family_weighting;

/* Reads the table and selects figures by cross-validation over the other devices: for each device that is left out, the
 * subset of at most three figures with which the rest predicts it best; then the most frequent figures of these
 * subsets. Figures that are given are taken instead. If the device has measured the first training input, what failed
 * there counts as a failure everywhere: a driver may refuse arms for reasons that no figure tells. most and uses: as
 * for clt_family_table_load. Release also after a failure. */
int clt_family_across_load(clt_family_across *out, const clt_family *family, const clt_family_devices *devices,
                           size_t target, size_t most, double uses, clt_error *error);
void clt_family_across_release(clt_family_across *across);

/* Like clt_family_train, with the predicted table. */
int clt_family_across_train(clt_family_model **out, const clt_family_across *across, const clt_family_training *how,
                            clt_error *error);

/* Like clt_family_judge, on the device's own measurements. */
int clt_family_across_judge(clt_family_figures out[CLT_N_JUDGED], size_t *n, const clt_family_across *across,
                            clt_family_weighting weighting, const clt_family_training *how, clt_error *error);

/* --- 'clatune family measure': measures a family's variants on its inputs --- */

typedef struct clt_family_measuring {
  clt_store *store;
  const clt_device_info *device;
  size_t portfolio, tune_on;       /* configurations per variant; inputs that each variant is tuned on */
  const clt_family_place *sources; /* with sources nothing is tuned, and the sources' portfolios are measured */
  size_t n_sources;
  int64_t budget;              /* evaluations per tuning */
  size_t n_inputs;             /* maximum of training inputs and of test inputs; 0: all */
  bool train_only;             /* leaves test inputs out */
  const clt_setting *settings; /* of the evaluator */
  size_t n_settings;
  uint64_t seed;
  /* Reports progress; text describes the finished step. Nullable. */
  void (*tell)(void *user, size_t done, size_t total, const char *text);
  clt_log_fn log;
  void *user;
  const volatile int *stop;
} clt_family_measuring;

/* What is in the store after measuring: inputs, variants with at least one configuration to measure, and these
 * configurations. */
typedef struct clt_family_measured {
  size_t n_inputs, n_variants, n_arms;
} clt_family_measured;

/* Tunes each variant, unless the store has enough measurements, then measures every input. A second call continues
 * after an interruption. */
int clt_family_measure(clt_family_measured *out, const clt_family *family, const clt_family_measuring *how,
                       clt_error *error);

/* --- reports (report.c) --- */

/* A family, a device and the store. */
typedef struct family_subject {
  clt_family *family;
  cli_subject subject; /* of the first variant's problem: for the device */
  clt_store *store;
  clt_family_table table;
  clt_family_training training;
  size_t portfolio;
  double uses;
  clt_family_devices devices; /* of --sources */
  clt_family_across across;   /* train --sources */
} family_subject;

/* report: compares the choosers on the device's own measurements, and prints a table. With --sources: judges, for each
 * device, a model trained on the others. Return an exit code. */
int family_report(const family_subject *subject, const cli_arguments *arguments);
int family_report_across(const family_subject *subject, const cli_arguments *arguments);

/* Prints the device features that the model uses, and the nearest other device. */
void family_print_across(const family_subject *subject, size_t device);
