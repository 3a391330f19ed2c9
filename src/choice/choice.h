/* choice/choice.h - the models of clatune/family.h, which choose a kernel for an input. 'clatune family train' makes
 * them; an application needs only this. */
#pragma once

#include <clatune/family.h>

#include "base/text.h"
#include "space/expr.h"

#define CLT_MAX_FEATURES 32
#define CLT_MAX_ARMS 64
#define CLT_FAMILY_MODEL_VERSION 1 /* of the file */
#define CLT_FAMILY_TIE 0.02        /* relative difference of times up to which arms count as equally good */
#define CLT_FAMILY_MOST_NODES ((size_t)1 << 24) /* of trees: a float counts them */

bool clt_family_is_name(const char *text);

/* Whether a variant may run on an input (where NULL: yes). A condition that cannot be evaluated is false. */
bool clt_family_holds(const clt_expr *where, const double *features, size_t n_features);

/* The parameters of a fitted model, for the functions of evaluate.h. */
typedef struct clt_family_numbers {
  float *values; /* owned */
  size_t n;
  int dim; /* a dimension whose meaning depends on the scorer */
} clt_family_numbers;

/* How a model computes the scores of its arms; the arm with the lowest score is chosen. */
typedef struct clt_family_scorer {
  const char *name;
  bool predicts_time; /* scores are logarithms of seconds */
  void (*score)(double *scores, const float *x, const float *values, int n_inputs, int n_arms, int dim);
  /* Whether score reads only within these numbers, which may come from an untrusted file. */
  bool (*fits)(const clt_family_numbers *numbers, size_t n_inputs, size_t n_arms);
} clt_family_scorer;
extern const clt_family_scorer clt_family_time, clt_family_pairwise, clt_family_svm;
const clt_family_scorer *clt_family_scorer_find(const char *name); /* NULL: not found */

typedef struct clt_family_model_arm {
  char *variant, *configuration, *condition; /* owned; condition NULL: it may always run */
  clt_expr *where;                           /* the condition over the model's features */
} clt_family_model_arm;

struct clt_family_model {
  char *family, *path; /* owned: the family's name, and its file */
  const clt_family_scorer *scorer;
  size_t n_features, n_arms, standard; /* standard: the arm that others must beat, and for
                                          inputs outside of the training */
  clt_words names;                     /* of the features */
  double (*scales)[5];                 /* as evaluate.h has them */
  clt_family_model_arm *arms;
  clt_family_numbers numbers;
};

/* Computes the scores of the arms. Returns -1, or the index of the first feature outside of the range of the training:
 * there are no scores then. */
int clt_family_score(double scores[CLT_MAX_ARMS], const clt_family_model *model, const double *features);
/* By how much the score of an arm must be below that of the standard arm. A predicted time counts as shorter from 2 %
 * on. */
double clt_family_margin(const clt_family_model *model);
