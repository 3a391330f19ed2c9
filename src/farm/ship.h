/* farm/ship.h - copies records between an agent's own store (a file) and the shared database. Both directions can be
 * repeated at any time, because records have the same identity everywhere. */
#ifndef CLT_FARM_SHIP_H
#define CLT_FARM_SHIP_H

#include "base/hash.h"
#include "store/pq_records.h"
#include "store/store.h"

/* How far files were sent to the database. The state read from the database is valid for one connection. */
typedef struct clt_shipper {
  clt_pq *pq; /* borrowed */
  clt_store *shared;
  clt_pq_records records;
  uint64_t connection;
  char file[CLT_ORIGIN_BYTES]; /* origin of the file whose state is known; "": none */
  int64_t upto;                /* its last record that the database has */
  bool whole;                  /* the database does not know the file: send imported records, too */
  clt_map described, seen;     /* by hashes of keys: described in the database; last record fetched */
  int64_t revoked;             /* the oldest running transaction when revoked records were read last */
} clt_shipper;

/* plan: as in clt_store_over. */
int clt_shipper_init(clt_shipper *out, clt_pq *pq, int64_t plan, clt_error *error);
void clt_shipper_release(clt_shipper *shipper);

/* Sends the records of a file that the database lacks, in pieces. one_piece: only the next piece; *more (nullable):
 * whether there may be more. */
int clt_ship(clt_shipper *shipper, clt_store *file, bool one_piece, bool *more, clt_error *error);

/* Sends all records of a file, whatever the database says that it has received. */
int clt_ship_again(clt_shipper *shipper, clt_store *file, clt_error *error);

/* Fetches other agents' records of a problem piece by piece, so that threads which share the connection can use it
 * between two pieces. To be zeroed before the first call. */
typedef struct clt_pull {
  clt_store_description *keys;
  int64_t *newest;      /* per key: the last record fetched */
  int64_t reached;      /* of the next key: the last record fetched so far, */
  clt_pq_place place;   /* and its place */
  size_t n, kept, next; /* kept: number of keys whose records are in the file */
  uint64_t connection;
} clt_pull;

/* Fetches at most 1,000 records, of about 8 MiB, into a store in memory. The caller merges it with clt_store_merge,
 * which needs no connection, and frees it; the next call assumes that this was done. problem_name NULL: records of this
 * key; otherwise of all keys of problems with this name. *piece NULL: no more. */
int clt_pull_next(clt_store **piece, clt_pull *pull, clt_shipper *shipper, const clt_store_key *key,
                  const char *problem_name, clt_error *error);
void clt_pull_release(clt_pull *pull);

/* How far revoked records were read; first zeros. */
typedef struct clt_revoked_place {
  uint64_t connection;
  int64_t gone, number, oldest; /* oldest: the oldest running transaction when it began */
  char origin[65];
  bool ended;
} clt_revoked_place;

/* Deletes some of the records from a store that were revoked since the shipper has read them last, until `ended`. */
int clt_pull_revoked(clt_revoked_place *place, clt_shipper *shipper, clt_store *store, clt_error *error);

/* --- the files --- */

#define CLT_MOST_OUTBOXES 10000

/* The store HOST-N.sqlite in a folder (NULL: $XDG_DATA_HOME/clatune/outbox), which is created, locked until lock_fd is
 * closed. n 0: opens the first unlocked one, or creates one; so an agent also sends the records of a killed one.
 * Otherwise number n; store is NULL if that is locked or does not exist. */
typedef struct clt_outbox {
  char *path; /* owned */
  clt_store *store;
  int lock_fd;
  bool exists;
} clt_outbox;
int clt_outbox_open(clt_outbox *out, const char *folder, int n, clt_error *error);
void clt_outbox_close(clt_outbox *outbox); /* may be called again */

#endif
