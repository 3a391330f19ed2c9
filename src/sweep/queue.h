/* sweep/queue.h - the tunings of plans as rows of a database that machines share (docs/plans.md).
 *
 * A plan (clt_sweep_share) has a *target* for each kind of device that an agent has brought, told apart by the device's
 * key and driver, and a row for each of its cells on each target. Whoever has such a device claims a row for as long as
 * a lease lasts, by the server's clock, and renews that while its tuning gets on. The claim's id, drawn at random by
 * who claims, is what a row is finished by: whose lease ended and whose row another one took has the wrong one.
 *
 * A function is one statement; each may be repeated when nobody knows whether it was carried out. Codes of failures are
 * those of clt_pq_run. Texts that rows hold may come from anybody. */
#ifndef CLT_SWEEP_QUEUE_H
#define CLT_SWEEP_QUEUE_H

#include "store/pq.h"
#include "sweep/sweep.h"

#define CLT_QUEUE_ATTEMPTS 3
#define CLT_QUEUE_SILENT_S 45    /* an agent that has not been seen for so long may be no more */
#define CLT_MAX_LINE_BYTES 65536 /* of a row's line */

/* Adds a plan (its text from clt_sweep_share) unless there is one with the same text. again: what had failed is open
 * again. *id and *submitted_s (Unix time) are those of the one that is there now. */
int clt_queue_submit(clt_pq *pq, int64_t *id, int64_t *submitted_s, const char *name, const char *text, double lease_s,
                     bool again, clt_error *error);

/* What is not finished of a plan, *n rows, has failed as withdrawn: who works on it has lost it. What is finished
 * stays, and submitting the plan again opens the rest. A plan that has no row yet is removed (*n is -1).
 * CLT_E_NOT_FOUND: there is none; CLT_E_STORE: who is no owner may not. */
int clt_queue_withdraw(clt_pq *pq, int64_t *n, int64_t plan, clt_error *error);

/* The plan of a text; CLT_E_NOT_FOUND. */
int clt_queue_find(clt_pq *pq, int64_t *id, const char *text, clt_error *error);

/* The plans behind the one of this id (0: from the first) that are not finished, or have no row yet, at most 50: id,
 * submitted, name, hash of the text. And a plan's text. */
int clt_queue_plans(clt_pq *pq, clt_pq_rows **rows, int64_t after, clt_error *error);
int clt_queue_text(clt_pq *pq, char **out, int64_t plan, clt_error *error);

/* Makes the plan's target of a device, and its rows, unless they are there. CLT_E_NOT_FOUND: the plan is gone. */
int clt_queue_join(clt_pq *pq, int64_t *target, int64_t plan, const clt_sweep *sweep, const clt_device_info *device,
                   clt_error *error);

typedef struct clt_claim {
  char id[33]; /* "": none */
  int64_t target, n;
  double lease_s;
  double ahead_s;   /* the server's clock is of clt_now_s's */
  int64_t progress; /* of the tuning: a number that grows as it gets on */
  char output[512]; /* what it said last */
  bool lost;        /* another one may have the row */
} clt_claim;

/* Takes a row of one of the targets. claim->id is drawn where it is "", and stays on a failure: the next call then gets
 * the row that this one may have got. *found: whether there was a row; the id is "" again where there was none. What
 * failed on this agent is left to others for some seconds. */
int clt_queue_claim(clt_pq *pq, clt_claim *claim, bool *found, const char *agent, const int64_t *targets, size_t n,
                    clt_error *error);

/* Renews the leases of claims, with their progress and outputs, and says which of them are lost. */
int clt_queue_renew(clt_pq *pq, clt_claim *const *claims, size_t n, clt_error *error);

/* Gives rows back at once; that was no attempt. */
int clt_queue_release(clt_pq *pq, clt_claim *const *claims, size_t n, clt_error *error);

/* Finishes a row by the line of its result. claim->lost: it is not this claim's any more, and stays as it is. */
int clt_queue_finish(clt_pq *pq, clt_claim *claim, const char *line, clt_error *error);

/* The tuning could not do its work: others, and later this agent, try again; after the last attempt, or where
 * for_good, the row has failed with this output and exit code. */
int clt_queue_fail(clt_pq *pq, clt_claim *claim, const char *output, int code, bool for_good, clt_error *error);

/* Rows that somebody has added to those of a plan's cells have failed. */
int clt_queue_reject(clt_pq *pq, int64_t plan, size_t n_cells, clt_error *error);

/* Rows whose last attempt has ended without a word have failed. */
int clt_queue_expire(clt_pq *pq, clt_error *error);

/* Says that an agent is there, with which devices, and which of them it has lost ("": none); and that it goes. */
int clt_queue_greet(clt_pq *pq, const char *agent, const char *devices, const char *lost, clt_error *error);
int clt_queue_leave(clt_pq *pq, const char *agent, clt_error *error);

/* The targets of a plan, by device and driver: id, device, driver, name. The rows of a target behind the n-th one (-1:
 * from the first), at most 1,000: n, state, line, output, code. */
int clt_queue_targets(clt_pq *pq, clt_pq_rows **rows, int64_t plan, clt_error *error);
int clt_queue_rows(clt_pq *pq, clt_pq_rows **rows, int64_t target, int64_t after, clt_error *error);

/* What is there and who does what, of a plan (0: of all), for people: an object that the caller owns.
 *   plans: id, name, age_s, tunings, open (also those whose lease has ended), running, done, failed, withdrawn (of
 *     those), done_in_the_last_hour,
 *     tuning_s (what one takes; null), left_s (null), needs (devices and problems, where it has no tunings yet)
 *   running: plan, device, tuning, agent, since_s, lease_s (until others may take it), progress, attempts, seen_s
 *     (since its agent was; null)
 *   agents, of the last minute and of what runs: name, devices, quarantined, seen_s */
int clt_queue_status(clt_pq *pq, json_t **out, int64_t plan, clt_error *error);

#endif
