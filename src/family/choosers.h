/* family/choosers.h - shared declarations of the choosers. */
#ifndef CLT_FAMILY_CHOOSERS_H
#define CLT_FAMILY_CHOOSERS_H

#include "family/family.h"

extern const clt_family_chooser clt_family_svm; /* without libsvm, fit is NULL */

/* Whether a number from a file is a whole number in least .. end - 1. */
bool clt_family_is_index(float number, size_t least, size_t end);
void clt_family_score_svm(double *scores, const float *x, const float *values, int n_inputs, int n_arms, int dim);

#endif
