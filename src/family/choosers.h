/* family/choosers.h - what the files of the choosers share. */
#ifndef CLT_FAMILY_CHOOSERS_H
#define CLT_FAMILY_CHOOSERS_H

#include "family/family.h"

extern const clt_family_chooser clt_family_svm; /* without libsvm it has no fit */

/* Whether a number of a file is a whole one from least to below end. */
bool clt_family_is_index(float number, size_t least, size_t end);
void clt_family_score_svm(double *scores, const float *x, const float *values, int n_inputs, int n_arms, int dim);

#endif
