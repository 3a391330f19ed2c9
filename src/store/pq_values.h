/* store/pq_values.h - a statement's parameters and results in PostgreSQL's text form. */
#pragma once

#include "base/text.h"
#include "store/libpq.h"

#define CLT_PQ_MOST_PLACES 32

typedef struct clt_pq_values {
  clt_text bytes; /* all values, one after the other */
  size_t n;
  Oid types[CLT_PQ_MOST_PLACES];
  const char *values[CLT_PQ_MOST_PLACES];
} clt_pq_values;

/* Reads the values that follow `places` in a call of clt_pq_run. Release also on failure. */
int clt_pq_values_make(clt_pq_values *out, const char *places, va_list arguments, clt_error *error);
void clt_pq_values_release(clt_pq_values *values);

/* Restores the texts that were escaped because PostgreSQL only stores UTF-8. */
void clt_pq_restore_texts(PGresult *rows);
