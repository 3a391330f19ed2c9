/* worker/pool.h - several workers on one device: configurations are prepared in parallel and timed one at a time. A
 * tuning over several equal devices has a pool on each.
 *
 * Files: pools.c (a pool on each device), pool.c (starting workers, requests and how they end), schedule.c (who does
 * what next, and what becomes of a configuration), kept.c (finalists), reserve.c (workers between two tunings).
 *
 * Blame: what fails in a process that has run other configurations may be their doing, so it is prepared once more by a
 * process of its own, and only what fails there is believed. */
#ifndef CLT_WORKER_POOL_H
#define CLT_WORKER_POOL_H

#include <clatune/sys/evaluator.h>

#include "base/file.h"
#include "worker/lock.h"
#include "worker/process.h"

#define CLT_POOL_MAX_WORKERS 64
#define CLT_POOL_BUILDS 128  /* that are remembered */
#define CLT_POOL_MAX_SLOTS 8 /* prepared configurations that one worker keeps while it searches */

typedef struct clt_pool clt_pool;

typedef struct clt_pool_setup {
  clt_evaluator_setup evaluator; /* who is told what; instance and space are not looked at */
  char place[32];                /* "0:1", before what it says; "": nothing */
  size_t n_workers;
  size_t n_slots;           /* per worker */
  json_t *open;             /* the "open" request; NULL: workers need no opening (tests) */
  const clt_pool *data_of;  /* nullable: another pool, whose data of the search it takes */
  char lock_key[256];       /* "": no lock */
  bool quiet_builds;        /* the device is the CPU: nothing compiles while something is timed */
  double compile_timeout_s; /* 0: by what builds take here */
  double run_timeout_s, host_timeout_s;
  double run_timeout_factor, run_timeout_floor_s; /* factor 0: only run_timeout_s */
  int64_t memory_limit_bytes;
  bool no_heap_checks; /* of the finalists' processes: kernels are interpreted, and cannot damage the heap */
  clt_timing_policy timing;
} clt_pool_setup;

/* Makes a pool of what is zeroed, and starts its workers in the background. */
int clt_pool_open(clt_pool *pool, const clt_pool_setup *setup, clt_error *error);

/* As clt_evaluator_type's; at most n_workers * n_slots may be submitted, and at most CLT_POOL_MAX_WORKERS kept: each in
 * a process of its own under glibc's checks of the heap, and also verified on the data of seed 2. */
int clt_pool_submit(clt_pool *pool, clt_config config, double best_s, clt_error *error);
int clt_pool_keep(clt_pool *pool, const clt_config *configs, size_t n, clt_measurement *out, clt_error *error);
int clt_pool_time_again(clt_pool *pool, const size_t *indices, size_t n, size_t n_runs, clt_measurement *out,
                        clt_error *error);
void clt_pool_close(clt_pool *pool); /* again does nothing */

/* In the place of `wait`: takes a result if there is one (else CLT_E_AGAIN) and decides who does what next; never
 * blocks. */
int clt_pool_take(clt_pool *pool, clt_measurement *out, clt_error *error);
/* Then the pool waits: what poll has to watch, CLT_POOL_WATCHED at most (returns how many), and for how long (lowers
 * *wait_s); and what has happened since, when at most waited_s were asked for. */
#define CLT_POOL_WATCHED (CLT_PROCESS_WATCHED * CLT_POOL_MAX_WORKERS)
size_t clt_pool_watch(const clt_pool *pool, struct pollfd *out, double *wait_s);
int clt_pool_handle(clt_pool *pool, double waited_s, clt_error *error);
/* These two for one pool alone, waiting at most timeout_s. */
int clt_pool_pump(clt_pool *pool, double timeout_s, clt_error *error);

/* --- inside --- */

typedef struct clt_pool_worker clt_pool_worker;

/* In what company a configuration is prepared and timed. */
typedef enum clt_company {
  CLT_AMONG_OTHERS,
  CLT_ALONE,      /* in a process that has run no other one, and runs none until it is measured */
  CLT_UNDISTURBED /* and nothing else runs meanwhile: somebody killed its process */
} clt_company;

/* A configuration on its way: one of `capacity` places. */
typedef struct clt_job {
  enum { CLT_JOB_NONE, CLT_JOB_QUEUED, CLT_JOB_BUSY, CLT_JOB_READY, CLT_JOB_DONE } state;
  int64_t turn; /* of those that are queued, or done, the least comes first */
  clt_config config;
  double best_s;
  clt_company company;
  bool was_late;               /* its time was up once while the machine was busy */
  unsigned retries;            /* times that it was tried again for another reason */
  clt_pool_worker *worker;     /* of one that is BUSY or READY */
  size_t slot;                 /* in that */
  double ready_s;              /* since when it is prepared */
  clt_measurement measurement; /* of the preparation, once ready */
} clt_job;

typedef enum clt_stage {
  CLT_STAGE_DOWN,
  CLT_STAGE_GREETING,
  CLT_STAGE_OPENING,
  CLT_STAGE_AWAITING_DATA, /* another worker makes them */
  CLT_STAGE_LOADING,
  CLT_STAGE_UP,
  CLT_STAGE_REFUSED /* the device takes no more processes: it is never started again */
} clt_stage;

/* What a request in flight means to others. Where compiling alone disturbs nobody, it waits for leave to launch. */
typedef enum clt_load {
  CLT_LOAD_NONE,
  CLT_LOAD_GATED,   /* compiles, and will wait for leave */
  CLT_LOAD_AT_GATE, /* waits for it */
  CLT_LOAD_NOISE,
  CLT_LOAD_TIMING
} clt_load;

/* How a request ended: with a reply, or without (NULL), then reason and text say why. All borrowed. A worker that ended
 * before it reported anything of a request (unheard) may have ended of something else. killed: by somebody. Of one
 * whose time was up, late says that the machine was busy, asleep that it did not compute where it should have. */
typedef struct clt_outcome {
  const json_t *reply;
  bool unheard, killed, late, asleep;
  clt_reason reason;
  const char *text;
} clt_outcome;
typedef int (*clt_outcome_fn)(clt_pool *pool, clt_pool_worker *worker, const clt_outcome *outcome, clt_error *error);

struct clt_pool_worker {
  clt_process process;
  char *folder;
  clt_stage stage;
  bool makes_data;
  bool heap_checks;            /* for its next process */
  bool doubtful;               /* something was wrong in its process */
  size_t n_problems;           /* that its process has opened */
  int probe;                   /* its opening asks whether the device lives, as the n-th in a row; 0: it does not ask */
  size_t n_prepared;           /* configurations that its process was asked to prepare */
  uint64_t generation;         /* counts its processes */
  uint64_t further_generation; /* of the process that has loaded the finalists' data; 0: none */
  clt_outcome_fn done;         /* of the request in flight */
  void *done_data;
  clt_load load;
};

typedef struct clt_kept clt_kept;

struct clt_pool {
  clt_pool_setup setup;
  char *worker_path;
  clt_run_folder folder;
  char *cache;     /* PoCL's, of all workers: a finalist's process finds there what the search has built */
  size_t n_cached; /* configurations prepared since it was emptied, which is done while nothing is prepared */
  clt_device_lock lock;
  bool data_made, further_made; /* of the search and of the finalists */
  bool further_failed;
  bool no_heap_checks;              /* the driver cannot stand them */
  int setbacks;                     /* workers that ended through no configuration's fault, in a row */
  bool in_doubt;                    /* something failed on the device, which has not answered since */
  int n_unanswered;                 /* times in a row that it did not answer then; of workers that ask together once */
  double builds_s[CLT_POOL_BUILDS]; /* what the last ones took, until a first run had ended; a ring */
  size_t n_builds;                  /* of all */
  bool timing;                      /* everything that is ready is timed before more is prepared */
  size_t n_slots;                   /* at present: fewer where memory is short */
  clt_pool_worker
      *workers; /* CLT_POOL_MAX_WORKERS; n_workers: those of the search, or more where finalists need them */
  size_t n_workers;
  clt_pool_worker *spare; /* idle processes of earlier tunings, or of this one's search; CLT_POOL_MAX_WORKERS */
  size_t n_spare;
  double opened_s;
  double waited_s;             /* for other tuners that have the device */
  double looked_s, computed_s; /* when the workers were last looked at, and our own processor time by then */
  clt_job *jobs;
  size_t n_submitted, capacity;
  int64_t first_turn, last_turn; /* that were given to jobs */
  clt_kept *kept;
  size_t n_kept;
  size_t n_killed; /* processes that somebody killed */
  int broken;      /* a result code: the pool cannot go on */
  clt_error broken_error;
  bool stuck; /* a process of it cannot be killed */
};

/* pool.c */
void clt_pool_log(const clt_pool *pool, clt_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* CLT_OK, or why the pool cannot go on: the first of what it was broken by (rc 0: nothing). */
int clt_pool_usable(const clt_pool *pool, clt_error *error);
void clt_pool_break(clt_pool *pool, int rc, const clt_error *why);
void clt_pool_kill(clt_pool *pool); /* all its processes, without waiting for their end */
/* The next step of starting a worker, where one is due; does not wait for it. */
int clt_pool_start_worker(clt_pool *pool, clt_pool_worker *worker, clt_error *error);
json_t *clt_pool_data_request(const clt_pool *pool, uint64_t seed, bool make);
/* Sends a request; done is called when it has ended, however it ended. The request is taken over. limits NULL: those of
 * what the host does. */
int clt_pool_request(clt_pool *pool, clt_pool_worker *worker, json_t *request, clt_phase phase,
                     const clt_deadlines *limits, clt_load load, clt_outcome_fn done, clt_error *error);
clt_deadlines clt_pool_deadlines(const clt_pool *pool, double best_s);
/* One more worker failed by itself: CLT_E_WORKER when that happens too often. */
int clt_pool_setback(clt_pool *pool, const char *what, const char *why, clt_error *error);
/* Ends a worker's process; what it had prepared is queued again. */
void clt_pool_replace(clt_pool *pool, clt_pool_worker *worker);
bool clt_pool_idle(const clt_pool_worker *worker); /* up, and no request in flight */
bool clt_pool_lock(clt_pool *pool, clt_lock_state wanted);

/* schedule.c */
/* Turns an outcome into a measurement of config, with what a failing one printed; confirmed_alone where it fails and
 * its process has run no other. A worker's own error is returned. */
int clt_pool_measurement(clt_measurement *out, const clt_pool_worker *worker, clt_config config,
                         const clt_outcome *outcome, clt_error *error);
bool clt_pool_taints(clt_reason reason); /* whether a process that did this is not to be trusted with more */
/* What a worker had prepared goes back to the front of the queue; suspect: it may be why the worker is gone, unless
 * that was killed by somebody. */
void clt_pool_requeue_ready(clt_pool *pool, clt_pool_worker *worker, bool suspect);

/* reserve.c */
/* At the begin: takes the thread's reserve where it fits, with folder and cache. At the end: gives it what is left. */
void clt_pool_take_reserve(clt_pool *pool);
void clt_pool_leave_reserve(clt_pool *pool);
/* Makes a worker without a process one that was in use before; false: it needs a new one. */
bool clt_pool_use_spare(clt_pool *pool, clt_pool_worker *worker);
/* A process that is not needed any more: waits for other work where it may, else ends. */
void clt_pool_dismiss(clt_pool *pool, clt_pool_worker *worker);
/* Whether a worker may make the data: no kernel has run in its process, and no module. One that never may is replaced
 * where nobody else will. */
bool clt_pool_may_make_data(clt_pool *pool, clt_pool_worker *worker);

/* kept.c */
void clt_pool_give_up_kept(clt_pool *pool); /* ends the processes that hold them */

#endif
