/* store/pq_values.h - what stands for the places of a statement, and what it gave, in PostgreSQL's text form. */
#ifndef CLT_STORE_PQ_VALUES_H
#define CLT_STORE_PQ_VALUES_H

#include "base/text.h"
#include "store/libpq.h"

#define CLT_PQ_MOST_PLACES 32

typedef struct clt_pq_values {
  clt_text bytes; /* of all of them */
  size_t n;
  Oid types[CLT_PQ_MOST_PLACES];
  const char *values[CLT_PQ_MOST_PLACES];
} clt_pq_values;

/* Reads what follows places in a call of clt_pq_run. Release what was made also on failure. */
int clt_pq_values_make(clt_pq_values *out, const char *places, va_list arguments, clt_error *error);
void clt_pq_values_release(clt_pq_values *values);

/* Texts that hold what is no UTF-8, of which PostgreSQL has none, become what they were before they were stored. */
void clt_pq_restore_texts(PGresult *rows);

#endif
