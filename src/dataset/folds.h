/* dataset/folds.h - which rows a member of an ensemble does not see. */
#ifndef CLT_DATASET_FOLDS_H
#define CLT_DATASET_FOLDS_H

#include <clatune/rng.h>
#include <stddef.h>
#include <stdint.h>

/* Deals n rows at random into k folds whose sizes differ by at most one: fold[i] < k. */
void clt_folds(uint32_t *fold, size_t n, size_t k, clt_rng *rng);

#endif
