/* model/matrix.h - training rows in the order that the kernels want. */
#ifndef CLT_MODEL_MATRIX_H
#define CLT_MODEL_MATRIX_H

#include <clatune/error.h>

#include "model/kernels.h"

/* Rows chosen[0..n_chosen) of x[][n_inputs] and y. Release with clt_matrix_release, also after a failure. */
int clt_matrix_init(clt_matrix *out, const float *x, size_t n_inputs, const float *y, const size_t *chosen,
                    size_t n_chosen, clt_error *error);
void clt_matrix_release(clt_matrix *matrix);

/* Zeroed memory aligned to a vector, released with free; NULL when out of memory. */
void *clt_vector_memory(size_t n, size_t element_bytes);

#endif
