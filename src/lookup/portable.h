/* lookup/portable.h - configurations by places, shared by portable.c and portable_table.c. */
#ifndef CLT_LOOKUP_PORTABLE_H
#define CLT_LOOKUP_PORTABLE_H

#include <clatune/portable.h>

#include "lookup/lookup.h"

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

typedef struct clt_place {
  clt_store_key key;
  char *sizes;
  clt_store *store; /* the one that it was found in first */
  clt_instance *instance;
  clt_objective *objective;
  double best; /* the least cost; NaN: nothing succeeded */
} clt_place;

/* Costs by place: NaN where it was not measured, INFINITY where it fails or is not valid. */
typedef struct clt_portable_row {
  char *text;
  double *costs;
  size_t capacity;
  UT_hash_handle hh;
} clt_portable_row;

typedef struct clt_portable_table {
  clt_place *places;
  size_t n_places, capacity;
  clt_portable_row *rows;
} clt_portable_table; /* zeroed: empty */

void clt_portable_table_release(clt_portable_table *table);

/* Takes the instance over, also on failure: its key's records become a place, or part of one that is there. */
int clt_portable_table_add(clt_portable_table *table, clt_store *store, const clt_store_key *key,
                           clt_instance *instance, const char *sizes, const char *objective, clt_error *error);

/* After the last place: what was not measured at a place because it stands for something else there, or is not valid
 * there, is known now; and each place's best is found. */
int clt_portable_table_complete(clt_portable_table *table, clt_error *error);

#endif
