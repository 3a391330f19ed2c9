/* model/rows.h - the rows of a setup as inputs of a model, whether they are of one instance or of several sizes. */
#ifndef CLT_MODEL_ROWS_H
#define CLT_MODEL_ROWS_H

#include <clatune/rng.h>
#include <clatune/sys/model.h>

#include "dataset/encoding.h"

/* The encoding of the setup's rows; resources: whether these are inputs. CLT_E_MODEL where there would be no input. */
int clt_rows_encoding(clt_encoding **out, const clt_model_setup *setup, bool resources, clt_error *error);

/* All rows, x[n_rows][n_inputs], malloc'ed; NULL when out of memory. */
float *clt_rows_encode(const clt_encoding *encoding, const clt_model_setup *setup);

/* Deals the rows into k folds. Where there are sizes enough, those of a size go together: what a model says of rows
 * whose size it has not seen is what it is asked for. */
int clt_rows_folds(uint32_t *fold, const clt_model_setup *setup, size_t k, clt_rng *rng, clt_error *error);

/* A member's rows[n]: first those to train on, whose number is returned, then those of its fold, which it does not see. */
size_t clt_rows_split(size_t *rows, const uint32_t *fold, size_t n, size_t member);

#endif
