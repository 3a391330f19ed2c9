/* clatune/family.h - chooses the kernel to run on an input, with a model that `clatune family train` wrote
 * (docs/reference/family-file.md). A choice takes about a microsecond; it measures nothing and allocates no memory. */
#ifndef CLATUNE_FAMILY_H
#define CLATUNE_FAMILY_H

#include <clatune/error.h>
#include <stdbool.h>

CLT_BEGIN_C

typedef struct clt_family_model clt_family_model;

/* Reads a model file, which need not be trusted: CLT_E_FORMAT or CLT_E_RANGE if it is invalid. *features (features may
 * be NULL) is the list of the feature names in the order that clt_family_select expects, with NULL at its end, borrowed
 * from the model. Several threads may use a model. Free it with clt_family_model_free (NULL is allowed). */
int clt_family_model_new(clt_family_model **out, const char *const **features, const char *path, clt_error *error);
void clt_family_model_free(clt_family_model *model);

/* A choice. Its texts are borrowed from the model. */
typedef struct clt_family_choice {
  const char *variant;       /* the name of the kernel in the family */
  const char *configuration; /* "wg=64 rows=4": its tuning parameters */
  size_t arm;                /* the number of this pair of variant and configuration */
  double predicted_s;        /* predicted run time in seconds; NaN if the model predicts none */
  const char *outside;       /* the first feature that is outside of the training data; then the choice is the standard
                                variant, the best on average. NULL: none */
} clt_family_choice;

/* Chooses a variant for an input; features holds one number per feature. A variant whose "Where" in the family file
 * does not hold is never chosen. */
void clt_family_select(clt_family_choice *out, const clt_family_model *model, const double *features);

CLT_END_C
#endif
