/* worker/pool.h - several workers on one device: configurations are prepared in parallel and timed one at a time.
 *
 * Files: pool.c (making, submitting, waiting), pool_loop.c (requests and their ends), pool_start.c (bringing workers
 * up), pool_schedule.c (who does what next), pool_result.c (what becomes of a configuration), kept.c (finalists). */
#ifndef CLT_WORKER_POOL_H
#define CLT_WORKER_POOL_H

#include <clatune/log.h>

#include "base/file.h"
#include "worker/link.h"
#include "worker/lock.h"

#define CLT_POOL_MAX_WORKERS 64
#define CLT_POOL_MAX_SLOTS 8 /* prepared configurations that one worker keeps while it searches */

typedef struct clt_pool_setup {
  size_t n_workers;
  size_t n_slots;       /* per worker */
  const json_t *open;   /* the "open" request, borrowed for the pool's life; NULL: workers need no opening (tests) */
  const char *lock_key; /* NULL: no lock */
  bool quiet_builds;    /* the device is the CPU: nothing compiles while something is timed */
  double compile_timeout_s, run_timeout_s, host_timeout_s;
  double run_timeout_factor, run_timeout_floor_s; /* factor 0: only run_timeout_s */
  int64_t memory_limit_bytes;
  clt_worker_timing timing;
  double *quality; /* nullable: where the figure of quality goes once a worker has told it */
  /* As in clt_evaluator_setup. */
  int (*lost)(void *user, clt_config config, clt_error *error);
  unsigned (*attempts)(void *user, clt_config config);
  void *attempts_user;
  const volatile int *stop;
  clt_log_fn log;
  void *log_user;
} clt_pool_setup;

typedef struct clt_pool clt_pool;

/* Starts the workers in the background. */
int clt_pool_new(clt_pool **out, const clt_pool_setup *setup, clt_error *error);
void clt_pool_free(clt_pool *pool);
size_t clt_pool_capacity(const clt_pool *pool);
size_t clt_pool_workers(const clt_pool *pool);
int clt_pool_submit(clt_pool *pool, clt_config config, double best_s, clt_error *error);
int clt_pool_wait(clt_pool *pool, clt_measurement *out, double timeout_s, clt_error *error);

/* As clt_evaluator_type's; kept ones are also verified on the data of seed 2. */
int clt_pool_keep(clt_pool *pool, const clt_config *configs, size_t n, clt_measurement *out, clt_error *error);
int clt_pool_time_again(clt_pool *pool, const size_t *indices, size_t n, size_t n_runs, clt_measurement *out,
                        clt_error *error);

/* --- inside --- */

typedef struct clt_job {
  clt_config config;
  double best_s;
  unsigned attempts;           /* times that it was lost with a worker that it may have ended */
  unsigned retries;            /* times that it was tried again for another reason */
  double ready_s;              /* since when it is prepared */
  clt_measurement measurement; /* of the preparation, once ready */
} clt_job;

typedef enum clt_slot_state { CLT_SLOT_EMPTY, CLT_SLOT_BUSY, CLT_SLOT_READY } clt_slot_state;

typedef struct clt_slot {
  clt_slot_state state;
  clt_job job;
} clt_slot;

typedef enum clt_stage {
  CLT_STAGE_DOWN,
  CLT_STAGE_GREETING,
  CLT_STAGE_OPENING,
  CLT_STAGE_AWAITING_DATA, /* another worker makes them */
  CLT_STAGE_LOADING,
  CLT_STAGE_UP
} clt_stage;

/* What a request's load means to others. */
typedef enum clt_load { CLT_LOAD_NONE, CLT_LOAD_NOISE, CLT_LOAD_TIMING } clt_load;

typedef struct clt_pool_worker clt_pool_worker;

/* How a request ended: with a reply, or without (NULL), then reason and text say why. All borrowed. A worker that ended
 * before it reported anything of a request may have ended of something else. */
typedef struct clt_outcome {
  const json_t *reply;
  bool unheard;
  clt_reason reason;
  const char *text;
} clt_outcome;
typedef int (*clt_outcome_fn)(clt_pool *pool, clt_pool_worker *worker, const clt_outcome *outcome, clt_error *error);

struct clt_pool_worker {
  clt_link link;
  char *folder;
  clt_stage stage;
  bool makes_data;
  uint64_t generation;         /* counts its processes */
  uint64_t further_generation; /* of the process that has loaded the finalists' data; 0: none */
  clt_outcome_fn done;         /* of the request in flight */
  void *done_data;
  clt_load load;
  bool at_gate; /* waits for leave to launch */
  size_t slot;  /* of the request in flight */
  clt_slot slots[CLT_POOL_MAX_SLOTS];
};

typedef struct clt_kept clt_kept;

struct clt_pool {
  clt_pool_setup setup;
  char *worker_path;
  clt_run_folder folder;
  clt_lock lock;
  double lock_wait_s; /* since when it waits for the lock; 0: it does not */
  bool lock_said;
  bool data_made;
  int setbacks; /* workers that ended through no configuration's fault, in a row */
  bool timing;  /* the phase of timing: everything that is ready is timed before more is prepared */
  size_t n_slots;
  clt_pool_worker *workers;
  clt_job *queue; /* to be prepared, the oldest first */
  size_t n_queue;
  clt_measurement *results;
  size_t n_results;
  size_t n_submitted, capacity;
  clt_kept *kept;
  size_t n_kept;
  bool further_made; /* the finalists' data */
  int broken;        /* a result code: the pool cannot go on */
  clt_error broken_error;
};

/* pool_loop.c */
void clt_pool_log(const clt_pool *pool, clt_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Handles what has happened, waiting at most timeout_s for something to happen. */
int clt_pool_pump(clt_pool *pool, double timeout_s, clt_error *error);
/* Sends a request; done is called when it has ended, however it ended. The request is taken over. */
int clt_pool_request(clt_pool *pool, clt_pool_worker *worker, json_t *request, clt_worker_phase phase,
                     const clt_deadlines *limits, clt_load load, clt_outcome_fn done, clt_error *error);
/* Ends a worker's process; what it had prepared is queued again. */
void clt_pool_replace(clt_pool *pool, clt_pool_worker *worker);
clt_deadlines clt_pool_deadlines(const clt_pool *pool, double best_s);
bool clt_pool_lock(clt_pool *pool, clt_lock_state wanted);

/* pool_start.c */
int clt_pool_start_workers(clt_pool *pool, clt_error *error); /* all that are down; does not wait for them */
/* One more worker failed by itself: CLT_E_WORKER when that happens too often. */
int clt_pool_setback(clt_pool *pool, const char *what, const char *why, clt_error *error);
json_t *clt_pool_data_request(const clt_pool *pool, uint64_t seed, bool make);

/* pool_schedule.c */
int clt_pool_schedule(clt_pool *pool, bool may_time, clt_error *error);
void clt_pool_note_phase(clt_pool_worker *worker); /* it has told a new phase */
bool clt_pool_idle(const clt_pool_worker *worker); /* up, and no request in flight */
bool clt_pool_noisy(const clt_pool *pool);         /* something would disturb a timing */
bool clt_pool_times(const clt_pool *pool);         /* something is being timed */

/* kept.c */
void clt_pool_give_up_kept(clt_pool *pool); /* ends the processes that hold them */

/* pool_result.c */
int clt_pool_prepared(clt_pool *pool, clt_pool_worker *worker, const clt_outcome *outcome, clt_error *error);
int clt_pool_timed(clt_pool *pool, clt_pool_worker *worker, const clt_outcome *outcome, clt_error *error);
/* Behind all others; at once a failure where it ended workers in earlier sessions. */
void clt_pool_enqueue(clt_pool *pool, clt_config config, double best_s);
/* suspect: it may be the reason why its worker is gone. */
void clt_pool_requeue(clt_pool *pool, clt_slot *slot, bool suspect);
/* Turns an outcome into a measurement of config. A worker's own error is returned as such. */
int clt_pool_measurement(clt_measurement *out, clt_config config, const clt_outcome *outcome, clt_error *error);
/* Whether a process that did this is not to be trusted with more. */
bool clt_pool_taints(clt_reason reason);
void clt_pool_attach_output(const clt_pool_worker *worker, clt_measurement *m);

#endif
