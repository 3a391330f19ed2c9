/* worker/workers.h - the inside of a pool. Each file uses only the ones before it: workers.c, reserve.c, start.c,
 * schedule.c and kept.c, pool.c, pools.c. */
#pragma once

#include "base/hash.h"
#include "measurement/measurement.h"
#include "worker/pool.h"

#define CLT_POOL_BUILDS 128 /* number of build times that are remembered */
typedef struct clt_pool_worker clt_pool_worker;

/* The other work that may run while a configuration is prepared and timed. */
typedef enum clt_company {
  CLT_AMONG_OTHERS,
  CLT_ALONE,      /* in a process that has run no other configuration, and runs none until this one is measured */
  CLT_UNDISTURBED /* ALONE, and nothing else runs on the device: its process or the device failed before */
} clt_company;

/* A submitted configuration, in one of `capacity` entries. IN_DOUBT: it failed while others ran on the device, and one
 * of these may have made the device fail; DONE as soon as the device answers. */
typedef struct clt_job {
  enum { CLT_JOB_NONE, CLT_JOB_QUEUED, CLT_JOB_BUSY, CLT_JOB_READY, CLT_JOB_IN_DOUBT, CLT_JOB_DONE } state;
  int64_t turn; /* order of the queued jobs, and of the done ones: lowest first */
  clt_config config;
  double best_s;
  clt_company company;
  bool was_late;               /* it once exceeded its deadline while the machine was busy, or the clock jumped */
  unsigned retries;            /* how often it was tried again for other reasons */
  clt_pool_worker *worker;     /* if BUSY or READY */
  size_t slot;                 /* of that worker */
  double gate_s, ready_s;      /* how long it waited to launch; when it became ready */
  uint64_t generated;          /* clt_plan_hash of its generated source; 0: not generated */
  clt_measurement measurement; /* result of the preparation, once READY */
} clt_job;

typedef enum clt_stage {
  CLT_STAGE_DOWN,
  CLT_STAGE_GREETING,
  CLT_STAGE_OPENING,
  CLT_STAGE_AWAITING_DATA, /* another worker makes the data */
  CLT_STAGE_LOADING,
  CLT_STAGE_UP,
  CLT_STAGE_REFUSED /* the device accepts no more processes: this worker is not started again */
} clt_stage;

/* How a request in flight disturbs timing. On devices other than CPUs compiling does not: only the launch must wait. */
typedef enum clt_request_load {
  CLT_LOAD_NONE,
  CLT_LOAD_GATED,   /* compiles, and will wait at the gate before it launches */
  CLT_LOAD_AT_GATE, /* waits for permission to launch */
  CLT_LOAD_NOISE,
  CLT_LOAD_TIMING
} clt_request_load;

/* How a request ended; all pointers are borrowed. reply is NULL if the worker gave none: reason and text then say why.
 * unheard: the worker ended before it reported any phase, so something else may have ended it. killed: by a signal from
 * outside. After a missed deadline, late: the machine was busy; asleep: the worker used no processor time in a phase
 * that computes. */
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
  bool heap_checks;    /* for its next process */
  bool doubtful;       /* its process cannot be trusted any more */
  bool unused;         /* its process has only warmed up the driver */
  size_t n_problems;   /* problems that its process has opened */
  int probe;           /* opening it asks whether the device still answers, for the n-th time in a row; 0: not asked */
  size_t n_prepared;   /* configurations that its process was asked to prepare */
  uint64_t generation; /* counts its processes */
  uint64_t loaded_generation; /* the process (generation) that has loaded the data of a check; 0: none */
  size_t loaded_check;
  clt_outcome_fn done; /* called when the request in flight ends */
  void *done_data;
  clt_request_load load;
};

typedef struct clt_kept clt_kept;
struct clt_pool {
  clt_pool_setup setup;
  char *worker_path;
  clt_run_folder folder;
  char *cache; /* PoCL's compiler cache, shared by all workers: finalists' processes find the search's builds there */
  size_t n_cached; /* prepared configurations since it was emptied, which is done while none is being prepared */
  clt_device_lock lock;
  bool data_made;                                                                               /* for the search */
  bool check_made[CLT_MAX_CHECKS], check_crashed[CLT_MAX_CHECKS], check_failed[CLT_MAX_CHECKS]; /* each check's data */
  bool no_heap_checks; /* the driver crashes under them */
  int setbacks;        /* workers in a row that ended without a configuration being to blame */
  bool in_doubt;       /* something failed on the device, and it has not answered since */
  int n_unanswered;    /* how often in a row it did not answer; workers that ask at the same time count once */
  double builds_s[CLT_POOL_BUILDS]; /* ring of the latest build times, each up to the end of the first run */
  size_t n_builds;                  /* number of builds so far */
  bool timing;                      /* everything that is ready is timed before anything more is prepared */
  size_t n_slots;                   /* at present; fewer if memory is short */
  clt_pool_worker *workers;         /* CLT_POOL_MAX_WORKERS; n_workers are in use, more for finalists */
  size_t n_workers;
  clt_pool_worker *next;  /* one of them, started for the thread's next pool; NULL: none */
  clt_pool_worker *spare; /* idle processes of earlier tunings or of this search; CLT_POOL_MAX_WORKERS */
  size_t n_spare;
  double opened_s;
  double waited_s;             /* waiting for other tuners that use the device */
  double looked_s, computed_s; /* when the workers were last checked, and this process's processor time then */
  clt_job *jobs;
  clt_equals equals;
  size_t n_submitted, capacity;
  int64_t first_turn, last_turn; /* the range of `turn` of the jobs */
  clt_kept *kept;
  size_t n_kept;
  clt_map passed;  /* the configurations that passed all checks, which a new process of theirs need not make again */
  size_t n_killed; /* worker processes that a signal from outside killed */
  int broken;      /* a result code: the pool cannot go on */
  clt_error broken_error;
  bool stuck; /* one of its processes cannot be killed */
};

/* --- workers.c: requests and how they end, and the outcome of the configurations of a lost worker --- */

void clt_pool_log(const clt_pool *pool, clt_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool clt_pool_lock(clt_pool *pool, clt_lock_state wanted);
/* CLT_OK, or the error that broke the pool. clt_pool_break breaks it; the first error stays (rc 0: no error). */
int clt_pool_usable(const clt_pool *pool, clt_error *error);
void clt_pool_break(clt_pool *pool, int rc, const clt_error *why);
void clt_pool_kill(clt_pool *pool); /* kills all its processes, without waiting for their end */
clt_deadlines clt_pool_deadlines(const clt_pool *pool, double best_s);
/* Sends a request, which it takes over; done is called when it ends, in any way. limits NULL: those of work on the
 * host. */
int clt_pool_request(clt_pool *pool, clt_pool_worker *worker, json_t *request, clt_phase phase,
                     const clt_deadlines *limits, clt_request_load load, clt_outcome_fn done, clt_error *error);
bool clt_pool_idle(const clt_pool_worker *worker); /* up, and no request in flight */
/* Counts a worker that failed without a configuration being to blame; CLT_E_WORKER if there are too many in a row. */
int clt_pool_setback(clt_pool *pool, const char *what, const char *why, clt_error *error);
/* Ends a worker's process and queues its prepared configurations again. */
void clt_pool_replace(clt_pool *pool, clt_pool_worker *worker);
void clt_job_finish(clt_pool *pool, clt_job *job);
/* Makes a configuration that ended its workers a failure; it was alone in the last of them. */
void clt_job_give_up(clt_pool *pool, clt_job *job);
/* Records that it may have ended its worker or the device, at once: the count survives the end of this tuner. */
void clt_job_suspect(clt_pool *pool, const clt_job *job);
/* Puts it at the front of the queue, because it has waited longest. From now on it needs `company`, or stricter
 * isolation. lost: it may have ended its worker. */
void clt_job_requeue(clt_pool *pool, clt_job *job, clt_company company, bool lost);

/* --- reserve.c: workers between two tunings --- */

/* clt_pool_take_reserve takes the thread's reserve, which has a folder, a cache and perhaps workers, if it fits this
 * tuning; clt_pool_leave_reserve puts the remaining workers there at the end. */
void clt_pool_take_reserve(clt_pool *pool);
void clt_pool_leave_reserve(clt_pool *pool);
/* Gives a worker without a process a spare one; false: there is none, and it needs a new one. */
bool clt_pool_use_spare(clt_pool *pool, clt_pool_worker *worker);
/* On a CPU, starts a process with heap checks that becomes a spare one when the pool is closed. Meanwhile it opens the
 * device and builds an empty kernel, as a driver's first build takes longest. Without effect if there is one, or if it
 * cannot be started. Other devices may accept a single process only, and a spare one gives the device back. */
void clt_pool_prepare_next(clt_pool *pool);
/* A process that is no longer needed becomes a spare one if it may, else ends. */
void clt_pool_dismiss(clt_pool *pool, clt_pool_worker *worker);
/* Whether a worker may make the data: its process has run neither a kernel nor a module of the problem. If no worker
 * may, this one is replaced. */
bool clt_pool_may_make_data(clt_pool *pool, clt_pool_worker *worker);

/* --- start.c --- */

/* Starts a worker's process, in a folder of its own; done is called when it has sent its greeting. */
int clt_pool_start_process(clt_pool *pool, clt_pool_worker *worker, clt_outcome_fn done, clt_error *error);
/* Begins the next step of starting a worker, if one is due, without waiting for its end. */
int clt_pool_start_worker(clt_pool *pool, clt_pool_worker *worker, clt_error *error);
/* Starts workers that are down. On a CPU all of them; on other devices two at first and then, as long as configurations
 * wait, as many at once as have opened the device. NVIDIA's driver opens it for one process after the other, so that of
 * sixteen at once even the first is ready after two seconds only. */
int clt_pool_start_workers(clt_pool *pool, clt_error *error);
/* check: one of the setup's; NULL: the data for preparing and timing. */
json_t *clt_pool_data_request(const clt_pool *pool, const clt_check *check, bool make);

/* --- schedule.c: which worker does what next, and the outcome of each configuration --- */

/* Turns an outcome into a measurement of config. A failed one gets the worker's output as its log, and is
 * confirmed_alone if the process has run no other configuration. An error of the worker itself is returned. */
int clt_pool_measurement(clt_measurement *out, const clt_pool_worker *worker, clt_config config,
                         const clt_outcome *outcome, clt_error *error);
/* Keeps what a timing found out about the device, so that other processes need not. */
void clt_pool_learn(clt_pool *pool, const clt_measurement *timed);
bool clt_pool_taints(clt_reason reason); /* whether the process must be replaced after a failure with this reason */

/* --- kept.c: finalists --- */

void clt_pool_give_up_kept(clt_pool *pool); /* ends their processes */
