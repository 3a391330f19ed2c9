/* store/pq_records.h - records on their way into a shared store: many in one statement, which may be run again. */
#ifndef CLT_STORE_PQ_RECORDS_H
#define CLT_STORE_PQ_RECORDS_H

#include <clatune/sys/store.h>

#include "store/pq.h"

#define CLT_PQ_MOST_RECORDS 500

typedef struct clt_pq_records {
  json_t *list;   /* of objects, a record each, with its key */
  size_t n_bytes; /* of their texts and runs, about */
} clt_pq_records; /* zeroed: none */

bool clt_pq_records_full(const clt_pq_records *records); /* to be sent before another one is taken */

/* Takes a copy of a record with its identity. */
int clt_pq_records_take(clt_pq_records *records, const clt_store_key *key, const clt_store_record *record,
                        clt_error *error);

/* Adds those that the store does not have: all or none. *n_added (nullable): how many; after a lost connection it may
 * be fewer than were added. On failure they are kept, to be sent again; else forgotten. */
int clt_pq_records_send(clt_pq_records *records, clt_pq *pq, uint64_t *n_added, clt_error *error);
void clt_pq_records_forget(clt_pq_records *records);

/* The store that a connection leads to, for those who do more with it; pq is borrowed. plan: 0, or of one whose keys'
 * records are those alone that could be seen when it was submitted, by whatever clock they were measured. */
int clt_store_over(clt_store **out, clt_pq *pq, int64_t plan, clt_error *error);

/* Makes the rows that a key's records and descriptions belong to. */
int clt_pq_add_key(clt_pq *pq, const clt_store_key *key, clt_error *error);

#endif
