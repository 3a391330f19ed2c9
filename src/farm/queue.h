/* farm/queue.h - the tunings of plans as rows of a database that machines share (docs/reference/plan-file.md).
 *
 * A plan (clt_sweep_share) has a *target* for each kind of device (key and driver) that an agent has, and a row for
 * each of its cells on each target. An agent with such a device claims a row with a lease, timed by the server's clock,
 * and renews the lease while its tuning makes progress. A claim has a random id, which is needed to finish the row: if
 * the lease expired and another agent has claimed the row, the old id no longer matches. The rules are in the functions
 * of store/schema.sql.
 *
 * Each function is one statement that can be repeated if it is not known whether it was carried out. Functions return
 * the error codes of clt_pq_run. Texts in rows are not trusted. */
#pragma once

#include "base/hash.h"
#include "farm/plan.h"
#include "store/pq.h"
#include "store/pq_records.h"
#include "store/store.h"

#define CLT_QUEUE_ATTEMPTS 3     /* as in schema.sql */
#define CLT_QUEUE_SILENT_S 45    /* an agent that was not seen for longer is shown as silent */
#define CLT_MAX_LINE_BYTES 65536 /* of a row's result */

/* Adds a plan (text: of clt_sweep_share) unless there is one with the same text. again not NULL: reopens its failed
 * rows and those that are done and listed, an array of objects with target and n, and sets the lease of later claims.
 * Sets *id and *submitted_s (Unix time) of the new or existing plan. */
int clt_queue_submit(clt_pq *pq, int64_t *id, int64_t *submitted_s, const char *name, const char *text, double lease_s,
                     const json_t *again, clt_error *error);

/* Withdraws a plan: its *n unfinished rows fail, and running claims on them are lost. Finished rows are kept;
 * submitting the plan again reopens the others. A plan without rows is deleted (*n is -1). CLT_E_NOT_FOUND: no such
 * plan; CLT_E_STORE: the user lacks the owner's role. */
int clt_queue_withdraw(clt_pq *pq, int64_t *n, int64_t plan, clt_error *error);

/* Finds the plan with this text. CLT_E_NOT_FOUND: there is none. */
int clt_queue_find(clt_pq *pq, int64_t *id, int64_t *submitted_s, const char *text, clt_error *error);

/* Lists at most 50 plans with larger ids than `after` that are unfinished, have no rows yet, or lack rows for one of
 * these devices (the keys' as a JSON array): id, submitted, name, hash of the text. clt_queue_goes_on: whether a plan
 * is there and unfinished on devices that somebody has, or on all if nobody has one of them. clt_queue_text: a plan's
 * text, malloc'ed. */
int clt_queue_plans(clt_pq *pq, clt_pq_rows **rows, int64_t after, const char *devices, clt_error *error);
int clt_queue_goes_on(clt_pq *pq, bool *out, int64_t plan, clt_error *error);
int clt_queue_text(clt_pq *pq, char **out, int64_t plan, clt_error *error);

/* Creates the plan's target for a device, and some of its rows, beginning with row *n (0 at first); sets *n to the row
 * to go on with, n_cells once all exist. CLT_E_NOT_FOUND: the plan was deleted. */
int clt_queue_join(clt_pq *pq, int64_t *target, size_t *n, int64_t plan, const clt_sweep *sweep,
                   const clt_device_info *device, clt_error *error);

typedef struct clt_claim {
  char id[33]; /* "": none */
  int64_t target, n;
  char origin[17]; /* of its measurements */
  double lease_s;
  double ahead_s;   /* the server's clock minus clt_now_s */
  int64_t progress; /* of the tuning: grows with its evaluations */
  char output[512]; /* its last warning */
  bool lost;        /* the claim does not own the row any more */
} clt_claim;

/* Claims a row of one of the n targets. Draws claim->id if it is "". On an error the id is kept, so that the next call
 * gets the row that this one may have claimed. *found: whether there was a row; if not, the id is "" again. Rows that
 * failed on this agent are left to others for some seconds. */
int clt_queue_claim(clt_pq *pq, clt_claim *claim, bool *found, const char *agent, const int64_t *targets, size_t n,
                    clt_error *error);

/* Renews the leases of claims, stores their progress and output, and sets `lost` of those that were lost. */
int clt_queue_renew(clt_pq *pq, clt_claim *const *claims, size_t n, clt_error *error);

/* Releases rows at once; this does not count as an attempt. */
int clt_queue_release(clt_pq *pq, clt_claim *const *claims, size_t n, clt_error *error);

/* What the database says to a result. */
typedef enum clt_queue_ending {
  CLT_QUEUE_DONE,
  CLT_QUEUE_LOST,       /* the claim does not own the row any more; claim->lost is set, too */
  CLT_QUEUE_INCOMPLETE, /* fewer than n_made measurements of the claim were received: send them again */
  CLT_QUEUE_UNFOUNDED   /* there is no such measurement on the device */
} clt_queue_ending;

/* Finishes a row with its result; changes nothing unless *ending is CLT_QUEUE_DONE. n_made: the measurements of its
 * origin (claim->origin) that were made. best: the one that the result rests on, an object with problem (of its key),
 * configuration (as stored), time_s, energy_j and figure; empty: no configuration was correct. */
int clt_queue_finish(clt_pq *pq, clt_claim *claim, const char *line, int64_t n_made, const json_t *best,
                     clt_queue_ending *ending, clt_error *error);

/* Reports that the tuning ended with an error. Other agents, and later this one, try again; after the last attempt, or
 * if for_good, the row fails with this output and exit code. */
int clt_queue_fail(clt_pq *pq, clt_claim *claim, const char *output, int code, bool for_good, clt_error *error);

/* Fails rows that are none of the plan's cells. */
int clt_queue_reject(clt_pq *pq, int64_t plan, clt_error *error);

/* Fails rows whose last attempt's lease expired. */
int clt_queue_expire(clt_pq *pq, clt_error *error);

/* Records that an agent is alive, its devices (as a text, and described: a list of clt_device_json), and the lost ones
 * among them ("": none); or that it leaves. */
int clt_queue_greet(clt_pq *pq, const char *agent, const char *devices, const char *lost, const json_t *described,
                    clt_error *error);
int clt_queue_leave(clt_pq *pq, const char *agent, clt_error *error);

/* Lists the targets of a plan, sorted by device and driver: id, device, driver, name; or at most 200 rows of a target
 * with larger numbers than `after` (-1: from the first), once for each of their results, the first before others:
 * n, state, line, output, code, the agent's id, and what the result rests on (NULL if it was removed):
 * problem, configuration, time_s, energy_j, figure. */
int clt_queue_targets(clt_pq *pq, clt_pq_rows **rows, int64_t plan, clt_error *error);
int clt_queue_rows(clt_pq *pq, clt_pq_rows **rows, int64_t target, int64_t after, clt_error *error);

/* Lists what may describe an agent's device of a target, each as JSON. */
int clt_queue_devices(clt_pq *pq, clt_pq_rows **rows, int64_t target, int64_t agent, clt_error *error);

/* The status of a plan (0: of all) as a new JSON object, owned by the caller:
 *   plans: id, name, age_s, tunings, open (including expired leases), running, done, failed, withdrawn (part of
 *     failed), done_in_the_last_hour,
 *     tuning_s (mean time of a tuning; or null), left_s (or null), needs (devices and problems, if it has no rows yet)
 *   running: plan, device, tuning, agent, since_s, lease_s (until it expires), progress, attempts, seen_s (since the
 *     agent was seen; or null)
 *   agents, of the last minute or with a running tuning: name, devices, quarantined, seen_s
 *   left_out: how many more plans, running tunings and agents there are */
int clt_queue_status(clt_pq *pq, json_t **out, int64_t plan, clt_error *error);

/* --- copies records between an agent's own store (a file) and the shared database ---
 * Both directions can be repeated at any time, because records have the same identity everywhere. */

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
