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
#ifndef CLT_FARM_QUEUE_H
#define CLT_FARM_QUEUE_H

#include "farm/plan.h"
#include "store/pq.h"

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

#endif
