/* family/train.h - choosers, the models that they fit to a table, and how good these are. */
#ifndef CLT_FAMILY_TRAIN_H
#define CLT_FAMILY_TRAIN_H

#include "family/table.h"

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

#endif
