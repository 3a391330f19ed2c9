/* model/tables.h - the weights of all members, packed for predicting many configurations.
 *
 * sigmoid(z) = 1 / (1 + exp(-z)), and the first layer's z is a sum over inputs. So exp(-z) is a product of two factors:
 * one for a set of parameters whose combinations are few (the *table*, computed once) and one for all other inputs (the
 * *rest*, computed once for every combination of the others that a block of configurations contains). What remains for
 * each configuration is a multiplication, an addition and a division a unit. A parameter can be in the table only if no
 * resource depends on it. With nothing in the table it is a plain batched product with an exponential a unit. */
#ifndef CLT_MODEL_TABLES_H
#define CLT_MODEL_TABLES_H

#include "model/encoding.h"
#include "model/kernels.h"

typedef struct clt_tables clt_tables;

/* weights[member] are in FANN's order; borrowed for the call, the encoding until clt_tables_free. */
int clt_tables_new(clt_tables **out, const clt_encoding *encoding, const clt_shape *shape, const float *const *weights,
                   size_t n_members, clt_error *error);
void clt_tables_free(clt_tables *tables);

/* How many combinations of parameters are in the table (1: none). */
size_t clt_tables_size(const clt_tables *tables);

/* Mean and standard deviation of the members' outputs for n configurations, in any order; quickest for many consecutive
 * ranks at once. A configuration's result does not depend on the others. Any number of threads at once. */
int clt_tables_predict(const clt_tables *tables, const clt_config *configs, size_t n, float *mean, float *spread,
                       clt_error *error);

#endif
