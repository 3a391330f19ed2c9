/* clatune/family.h - which of several kernels to run on an input: a model made by `clatune family train`
 * (docs/families.md). Choosing takes about a microsecond, measures nothing and allocates nothing. */
#ifndef CLATUNE_FAMILY_H
#define CLATUNE_FAMILY_H

#include <clatune/error.h>
#include <stdbool.h>

CLT_BEGIN_C

typedef struct clt_family_model clt_family_model;

/* Reads a model's file, which may come from anybody: CLT_E_FORMAT, CLT_E_RANGE where it cannot be right. *features
 * (nullable): their names, in the order in which clt_family_select takes them, NULL behind the last one; borrowed from
 * the model. It is immutable, and may be used by several threads. Free it with clt_family_model_free (NULL does
 * nothing). */
int clt_family_model_new(clt_family_model **out, const char *const **features, const char *path, clt_error *error);
void clt_family_model_free(clt_family_model *model);

/* Texts are borrowed from the model. */
typedef struct clt_family_choice {
  const char *variant;       /* its name in the family */
  const char *configuration; /* "wg=64 rows=4": its tuning parameters */
  size_t arm;                /* the number of the pair of both */
  double predicted_s;        /* seconds; NaN where the model predicts none */
  const char *outside;       /* the first feature that lies outside of what the model has learnt from: then the answer
                                is the variant that always works. NULL: none does */
} clt_family_choice;

/* Chooses for the features of an input. What the choice's "Where" forbids is never chosen. */
void clt_family_select(clt_family_choice *out, const clt_family_model *model, const double *features);

CLT_END_C
#endif
