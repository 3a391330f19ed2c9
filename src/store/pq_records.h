/* store/pq_records.h - collects records for a shared store and sends many in one repeatable statement. */
#pragma once

#include <clatune/sys/store.h>

#include "store/pq.h"

#define CLT_PQ_MOST_RECORDS 500
#define CLT_PQ_MOST_BYTES (8 << 20) /* of the records in one statement */

typedef struct clt_pq_records {
  json_t *list;   /* one object per record, with its key */
  size_t n_bytes; /* approximate size of their texts and runs */
} clt_pq_records; /* zeroed: none */

bool clt_pq_records_full(const clt_pq_records *records); /* must be sent before more are added */
size_t clt_pq_record_bytes(const clt_store_record *record);

/* Adds a copy of a record with its identity. */
int clt_pq_records_take(clt_pq_records *records, const clt_store_key *key, const clt_store_record *record,
                        clt_error *error);

/* Sends the records, all or none; the store skips those that it has. *n_added (nullable): how many were new; after a
 * lost connection it may be too small. On failure the records are kept for another attempt, otherwise removed. */
int clt_pq_records_send(clt_pq_records *records, clt_pq *pq, uint64_t *n_added, clt_error *error);
void clt_pq_records_forget(clt_pq_records *records);

/* Where a walk over a key's records by number stands: behind this row. */
typedef struct clt_pq_place {
  int64_t txid, id;
} clt_pq_place;
#define CLT_PQ_BEGIN ((clt_pq_place){INT64_MIN, INT64_MIN})

/* Lets the walks by number over a store of clt_store_over begin at a place, and move it. NULL: no longer. */
void clt_store_keep_place(clt_store *store, clt_pq_place *place);

/* The store behind an existing connection; pq is borrowed. plan: 0, or the id of a plan: then only records are visible
 * that were visible when it was submitted. */
int clt_store_over(clt_store **out, clt_pq *pq, int64_t plan, clt_error *error);
