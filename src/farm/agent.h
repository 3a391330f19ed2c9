/* farm/agent.h - `clatune sweep` with a database that machines share. */
#pragma once

#include "farm/queue.h"
#include "farm/sweep.h"

/* The command's options. */
typedef struct farm_agent_options {
  const char *url, *outbox; /* outbox NULL: the standard place */
  double lease_s;
  int64_t jobs; /* 0: all devices */
  bool quiet, submits_only;
  clt_sweep_trust trust; /* for plans submitted by others */
} farm_agent_options;

/* --- agent.c --- */

/* Submits the sweep's plan and works on its tunings until all are finished, here or on other machines; then replaces
 * the sweep's devices and rows with those of all machines, and adds the results to its file. Without a plan (--serve):
 * works on all submitted plans until interrupted. Returns 0 or an exit code. */
int farm_run(farm_sweep *sweep, const farm_agent_options *options);

/* --- status.c --- */

/* Replaces the sweep's devices and rows with those of the plan in the database. text: the plan's (NULL: written from
 * its files); again (nullable): gets the rows that ended without a result, for clt_queue_submit; keeps: adds missing
 * results to the file of results. Exits on an error. */
void farm_collect(farm_sweep *sweep, const char *url, const char *text, json_t *again, bool keeps);

/* farm_show prints the status of a plan (0: of all). farm_status does the same for a URL, or withdraws the plan
 * `withdrawn` if that is not 0. Both return an exit code. */
int farm_show(clt_pq *pq, int64_t plan, bool as_json);
int farm_status(const char *url, int64_t withdrawn, bool as_json);

/* A running tuning of clt_queue_status, with the login of its agent if it is not `own`, as text: "vm:1034:3f2a1c: pocl:
 * matmul n=32 ... for 8s, lease expires in 22s". malloc'ed, NULL: out of memory. */
char *farm_row_text(const json_t *row, const char *own);

/* --- lanes.c: an agent's state --- */

#define FARM_TICK_MS 50 /* the longest delay before a signal is noticed */

/* A plan in the database. */
typedef struct farm_agent_plan {
  int64_t id;       /* 0: not in the database, or finished */
  bool listed;      /* among the unfinished plans of the database, when all were read last */
  char *hash;       /* of its text */
  farm_sweep sweep; /* its cells, on the agent's devices; plan NULL: the agent cannot run it, or has no such device */
  int64_t *targets; /* per device; 0: the plan does not use it */
  size_t *n_joined; /* per device: the rows that are there; the cells of the plan if it has no target */
} farm_agent_plan;

typedef struct farm_agent_lane {
  farm_lane *lane;
  volatile int stop; /* stops its tuning */
  clt_claim claim;
  const farm_agent_plan *plan; /* of its last tuning, whose instance it keeps; NULL: none */
  farm_row row;
  int64_t begun, renewed; /* progress at the claim's beginning and at the last renewal */
  double renewed_s;
  size_t lost;            /* the device that was lost; SIZE_MAX: none */
  const clt_store *store; /* borrowed: receives the claim's measurements */
  bool works, idle;
  clt_store *past; /* sources of a plan with a fixed time of "Transfer"; NULL: none */
  clt_shipper past_shipper;
  int64_t past_of;
} farm_agent_lane;

typedef struct farm_agent {
  farm_sweep *sweep;
  const farm_agent_options *options;
  char *text;           /* of the plan; NULL: --serve */
  char *keys;           /* of the devices, for clt_queue_plans; NULL: not known yet */
  pthread_mutex_t lock; /* protects the members below */
  clt_pq *pq;
  clt_shipper shipper;
  clt_outbox outbox, leftover; /* leftover: of a killed agent */
  int next_leftover;           /* number of the next outbox to check; 0: none */
  farm_agent_plan **plans;
  size_t n_plans, plans_capacity;
  uint64_t connection; /* the connection over which `plans` were read */
  int64_t seen;        /* id of the last plan read */
  unsigned n_looks;
  farm_agent_lane *lanes; /* by their indices */
  size_t n_lanes;
  bool away, said_away, released, done, ends;
  bool reads; /* a thread reads a plan, without the lock */
  double retry_s, plans_s, ship_s, greet_s, waits_s;
  char waits_for[512]; /* the last message about waiting */
  int64_t shipped;     /* sum of all lanes' progress when records were last sent */
} farm_agent;

/* To be called under the lock. farm_is_away: whether to wait before the next attempt to reach the server.
 * farm_note handles a call's result: an unreachable server, or a refusal, is a warning, printed once. */
bool farm_is_away(farm_agent *f);
int farm_note(farm_agent *f, int rc, clt_error *error);

/* Fails rows without attempts left; sets f->done if the plan is finished, otherwise prints the reason for waiting. */
int farm_look_for_end(farm_agent *f, clt_error *error);

void farm_clear_row(farm_row *row);
void farm_forget_past(farm_agent_lane *lane);
farm_work farm_agent_work(farm_agent *f);

/* --- plans.c: under the lock --- */

farm_agent_plan *farm_add_plan(farm_agent *f, clt_sweep *plan, const char *hash); /* NULL: out of memory */
void farm_drop_plan(farm_agent *f, size_t index);

/* Whether all rows of a plan are in the database. */
bool farm_is_joined(const farm_agent *f, const farm_agent_plan *p);

/* Updates the plans and their targets if they may have changed: a part at a time, between two claims. */
int farm_know_plans(farm_agent *f, clt_error *error);
