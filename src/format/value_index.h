/* format/value_index.h - from a value to its position in a list. */
#ifndef CLT_FORMAT_VALUE_INDEX_H
#define CLT_FORMAT_VALUE_INDEX_H

#include <clatune/value.h>

/* Orders numbers by size, then texts; 0 where clt_value_equal holds. For qsort. */
int clt_value_compare(const void *a, const void *b);

typedef struct clt_value_index clt_value_index;

/* Texts are borrowed. NULL when out of memory. */
clt_value_index *clt_value_index_new(const clt_value *values, size_t n);
void clt_value_index_free(clt_value_index *index);

/* Values compare as clt_value_equal says. */
bool clt_value_index_find(const clt_value_index *index, clt_value value, uint64_t *position);

#endif
