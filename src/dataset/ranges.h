/* dataset/ranges.h - what encodings have beside the parameters: resources and sizes, and the ranges they are scaled by.
 */
#ifndef CLT_DATASET_RANGES_H
#define CLT_DATASET_RANGES_H

#include "dataset/encoding.h"

#define CLT_LOG_FACTOR 4.0 /* a range from which on ratios matter more than differences */

/* Adds the resources (where asked for) and the sizes of the instances that vary over configurations spread evenly over
 * their ranks. */
int clt_encode_ranges(clt_encoding *encoding, const clt_instance *const *instances, size_t n, bool resources,
                      clt_error *error);

#endif
