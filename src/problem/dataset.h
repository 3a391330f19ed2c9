/* problem/dataset.h - what generating and sharing data sets have in common. */
#ifndef CLT_PROBLEM_DATASET_H
#define CLT_PROBLEM_DATASET_H

#include "problem/parts.h"

/* The arrays of an instance without any content. */
int clt_data_new_empty(clt_data **out, const clt_instance *instance, uint64_t seed, clt_error *error);

#endif
