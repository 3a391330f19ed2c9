/* cli/sweep_farm.h - `clatune sweep` among machines that share a database. */
#ifndef CLT_CLI_SWEEP_FARM_H
#define CLT_CLI_SWEEP_FARM_H

#include "cli/sweep.h"
#include "sweep/queue.h"
#include "sweep/ship.h"

/* What was typed. */
typedef struct cli_farm_options {
  const char *url, *outbox; /* outbox NULL: the standard place */
  double lease_s;
  int64_t jobs; /* 0: all devices */
  bool quiet, submits_only;
  clt_sweep_trust trust; /* of plans that others wrote */
} cli_farm_options;

/* --- sweep_agent.c --- */

/* Submits sweep's plan, works on its tunings with the devices of the sweep, until all of them are finished, by
 * whomever; then makes of sweep the whole plan on all devices that took part, with the results in its file. A sweep
 * without a plan: works on whatever is submitted, until it is interrupted. Returns 0 or an exit code. */
int cli_farm_run(cli_sweep *sweep, const cli_farm_options *options);

/* --- sweep_status.c --- */

/* Makes of sweep its plan, of this text (NULL: as its files say now), on all devices that took part, with what has
 * become of it; keeps: adds to the file of results what it lacks. */
void cli_farm_collect(cli_sweep *sweep, const char *url, const char *text, bool keeps);

/* Prints who does what, of a plan (0: of all). The same by URL, or, with a number, withdraws that plan. */
int cli_farm_show(clt_pq *pq, int64_t plan, bool as_json);
int cli_farm_status(const char *url, int64_t withdrawn, bool as_json);

/* What runs, of clt_queue_status: "vm:1034:3f2a1c: pocl: matmul n=32 ... since 8s, lease ends in 22s". malloc'ed, NULL:
 * out of memory. */
char *cli_farm_row_text(const json_t *row);

/* --- sweep_farm.c: an agent as its parts see it --- */

#define CLI_FARM_TICK_MS 50 /* how long a signal may go unseen */

/* A plan of which tunings may be taken. */
typedef struct cli_farm_plan {
  int64_t id;       /* 0: the database does not have it, or it is finished */
  char *hash;       /* of its text */
  cli_sweep sweep;  /* its cells, on the agent's devices; plan NULL: it is left alone */
  int64_t *targets; /* of each device; 0: not for it */
} cli_farm_plan;

typedef struct cli_farm_lane {
  cli_lane *lane;
  volatile int stop; /* its tuning's */
  clt_claim claim;
  cli_row row;
  int64_t begun, renewed; /* the lane's progress when it began; how far it had got on when it was renewed */
  double renewed_s;
  size_t lost; /* the device that was lost; SIZE_MAX: none */
  bool works, idle;
  clt_store *past; /* what tunings of this plan learn from that says until when; NULL: none yet */
  clt_shipper past_shipper;
  int64_t past_of;
} cli_farm_lane;

typedef struct cli_farm {
  cli_sweep *sweep;
  const cli_farm_options *options;
  char agent[160], *text; /* text: of the plan; NULL: it serves */
  pthread_mutex_t lock;   /* of all that follows */
  clt_pq *pq;
  clt_shipper shipper;
  clt_outbox outbox, leftover; /* leftover: of an agent that is no more */
  int next_leftover;           /* the number of the file that is looked at next */
  cli_farm_plan **plans;
  size_t n_plans, plans_capacity;
  uint64_t connection; /* that the plans are known of */
  int64_t seen;        /* the last plan that was looked at */
  unsigned n_looks;
  cli_farm_lane *lanes; /* by their indices */
  size_t n_lanes;
  bool away, said_away, released, done, ends;
  double retry_s, plans_s, ship_s, greet_s, waits_s;
  char waits_for[512]; /* what was said of last */
  int64_t shipped;     /* the sum of all progress when records were sent */
} cli_farm;

/* All under the lock. What a call gave: that the server is away, or refuses what it may allow later, is said once. */
bool cli_farm_is_away(cli_farm *f);
int cli_farm_note(cli_farm *f, int rc, clt_error *error);

cli_farm_plan *cli_farm_add_plan(cli_farm *f, clt_sweep *plan, const char *hash); /* NULL: out of memory */

/* Brings the plans and their targets up to date, where that may have changed. */
int cli_farm_know_plans(cli_farm *f, clt_error *error);

/* Fails what has used up its attempts; notes whether the plan is finished, or says what is waited for. */
int cli_farm_look_for_end(cli_farm *f, clt_error *error);

void cli_farm_clear_row(cli_row *row);
void cli_farm_forget_past(cli_farm_lane *lane);
cli_work cli_farm_work(cli_farm *f);

#endif
