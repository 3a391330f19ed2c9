/* sweep/ship.h - records between an agent's own store, a file, and the database that machines share. Both ways can be
 * made again at any time: a record is the same wherever it is. */
#ifndef CLT_SWEEP_SHIP_H
#define CLT_SWEEP_SHIP_H

#include "base/map.h"
#include "store/pq_records.h"
#include "store/store.h"

/* How far each file has been brought to the database; what was read from that is known as long as the connection is the
 * same. */
typedef struct clt_shipper {
  clt_pq *pq; /* borrowed */
  clt_store *shared;
  clt_pq_records records;
  uint64_t connection;
  char file[CLT_ORIGIN_BYTES]; /* of the file whose state is known; "": none */
  int64_t upto;                /* its last record that the database has */
  bool whole;                  /* the database does not know the file: also what others' stores brought into it goes */
  clt_map described, seen; /* by hashes of keys: described in the database; the last record that was taken from it */
} clt_shipper;

/* plan: as in clt_store_over. */
int clt_shipper_init(clt_shipper *out, clt_pq *pq, int64_t plan, clt_error *error);
void clt_shipper_release(clt_shipper *shipper);

/* Brings what a file holds, and the database lacks, into the database, in pieces. *n_left (nullable): 0, or, where one
 * piece alone was asked for, whether there may be more. */
int clt_ship(clt_shipper *shipper, clt_store *file, bool one_piece, bool *more, clt_error *error);

/* What others know of a problem, on its way into a file: piece by piece, so that whoever shares the connection gets on
 * between two. Zeroed at the begin. */
typedef struct clt_pull {
  clt_store_description *keys;
  int64_t *newest;      /* of each: the last record that was brought */
  size_t n, kept, next; /* kept: the file has what was brought of those before it */
  uint64_t connection;
} clt_pull;

/* A piece of about 1,000 records, in memory: clt_store_merge it, which needs no connection, and free it; the next call
 * takes it for kept. Of this key, or, where a name is given, of all keys of problems of the name. *piece NULL: there is
 * no more. */
int clt_pull_next(clt_store **piece, clt_pull *pull, clt_shipper *shipper, const clt_store_key *key,
                  const char *problem_name, clt_error *error);
void clt_pull_release(clt_pull *pull);

/* --- the files --- */

#define CLT_MOST_OUTBOXES 10000

/* The store HOST-N.sqlite in a folder, which is made (NULL: $XDG_DATA_HOME/clatune/outbox), with a lock beside it that
 * lasts until lock_fd is closed. n 0: the first one that nobody has locked, made where there is none: so an agent sends
 * what one that was killed has left. Else that one: store NULL where it is locked or does not exist. */
typedef struct clt_outbox {
  char *path; /* owned */
  clt_store *store;
  int lock_fd;
  bool exists;
} clt_outbox;
int clt_outbox_open(clt_outbox *out, const char *folder, int n, clt_error *error);
void clt_outbox_close(clt_outbox *outbox); /* again does nothing */

#endif
