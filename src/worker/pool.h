/* worker/pool.h - several workers on one device: configurations are prepared in parallel and timed one at a time. A
 * tuning over several equal devices has a pool on each. Also the lock of a device, and workers between two tunings.
 *
 * Blame: a failure in a process that has run other configurations may be their fault. So the configuration is prepared
 * again in a process of its own, and only a failure there counts. */
#pragma once

#include <clatune/sys/evaluator.h>

#include "base/file.h"
#include "worker/process.h"

/* --- the lock of a physical device: processes take it shared to prepare and exclusive to time ---
 * It is a file per device in $XDG_RUNTIME_DIR/clatune or /tmp/clatune-<uid>. Byte 0 is a gate: a process that waits
 * for exclusive use holds it, and no process can take the lock shared meanwhile, so two tuners cannot starve each
 * other. The file's text names the last owner: process, start (seconds since 1970), command. */

typedef enum clt_lock_state { CLT_UNLOCKED, CLT_LOCK_SHARED, CLT_LOCK_EXCLUSIVE } clt_lock_state;

typedef struct clt_device_lock {
  int fd; /* -1: no lock is used; every request is granted */
  clt_lock_state state;
  bool at_gate;
  double wait_s;    /* since when this process has been waiting; 0: it is not */
  bool said;        /* the user was told that another tuner has it */
  double *waited_s; /* nullable, set by the owner after opening: waiting time is added here */
  double counted_s; /* up to when waiting time has been added */
  char holder[200]; /* the line that this tuner writes into the file */
} clt_device_lock;

/* key: clt_device_lock_key; NULL: no lock. After a failure every request is granted. */
int clt_lock_open(clt_device_lock *out, const char *key, clt_error *error);
void clt_lock_close(clt_device_lock *lock);

/* Changes the state at once, or returns false: try again. While a shared lock waits to become exclusive, it is
 * released. After a long wait the log (nullable) names the owner. */
bool clt_lock_try(clt_device_lock *lock, clt_lock_state wanted, clt_log_fn log, void *log_user);
#define CLT_LOCK_RETRY_S 0.01
#define CLT_LOCK_WAITS "waiting for " /* the beginning of that message */

/* Who has the device, as far as known: "process 17, which uses the device (clatune tune x.json, since ...)". */
const char *clt_lock_owner(char out[300], const clt_device_lock *lock);

/* A claim on one of 2^62 things, identified by the upper bits of a hash; one tuner at a time can have it. Use a
 * clt_device_lock that serves no device. A claim ends with its process, even after a crash. */
bool clt_lock_claim(const clt_device_lock *lock, uint64_t hash);
void clt_lock_disclaim(const clt_device_lock *lock, uint64_t hash);

/* --- the pool --- */

#define CLT_POOL_MAX_WORKERS 64
#define CLT_POOL_MAX_SLOTS 8 /* prepared configurations that one worker keeps during a search */

typedef struct clt_pool clt_pool;

typedef struct clt_pool_setup {
  clt_evaluator_setup evaluator; /* its callbacks are used; instance and space are not */
  char label[32];                /* "0:1": put before its messages; "": nothing */
  size_t n_workers;
  size_t n_slots;           /* per worker */
  json_t *open;             /* the "open" request; NULL: workers need no opening (tests) */
  const clt_pool *data_of;  /* nullable: another pool whose input and reference data it uses */
  char lock_key[256];       /* "": no lock */
  bool quiet_builds;        /* the device is the CPU: nothing compiles while something is timed */
  double compile_timeout_s; /* 0: derived from the build times of this tuning */
  double run_timeout_s, host_timeout_s;
  double run_timeout_factor, run_timeout_floor_s; /* factor 0: only run_timeout_s counts */
  int64_t memory_limit_bytes;
  bool no_heap_checks; /* in the finalists' processes: kernels are interpreted there and cannot damage the heap */
  clt_timing_policy timing;
} clt_pool_setup;

/* The checks of every evaluator: CLT_E_ARGUMENT if n_submitted are as many as can be; if any are, so that there can be
 * no finalists; if an index of time_again is not that of a finalist. CLT_E_STOPPED: *stop is set. */
int clt_check_submitted(size_t n_submitted, size_t capacity, clt_error *error);
int clt_check_finalists(size_t n_submitted, clt_error *error);
int clt_check_indices(const size_t *indices, size_t n, size_t n_kept, clt_error *error);
int clt_check_stop(const volatile int *stop, clt_error *error);

/* Initialises a zeroed pool and starts its first workers in the background (with `lenient`, none before clt_pool_keep).
 */
int clt_pool_open(clt_pool *pool, const clt_pool_setup *setup, clt_error *error);

/* The functions of clt_evaluator_type. At most n_workers * n_slots configurations may be submitted, and at most
 * CLT_POOL_MAX_WORKERS kept. Each kept one has a process of its own, with glibc's heap checks, and is also verified on
 * the data of seed 2. */
int clt_pool_submit(clt_pool *pool, clt_config config, double best_s, clt_error *error);
int clt_pool_keep(clt_pool *pool, const clt_config *configs, size_t n, clt_measurement *out, clt_error *error);
int clt_pool_time_again(clt_pool *pool, const size_t *indices, size_t n, size_t n_runs, clt_measurement *out,
                        clt_error *error);
void clt_pool_close(clt_pool *pool); /* again does nothing */

/* `wait` in parts, for a caller with several pools. clt_pool_take takes a result if there is one (else CLT_E_AGAIN) and
 * gives idle workers something to do; it never blocks. */
int clt_pool_take(clt_pool *pool, clt_measurement *out, clt_error *error);
/* clt_pool_watch fills the descriptors for poll (at most CLT_POOL_WATCHED; returns how many) and lowers *wait_s, the
 * time to wait. After clt_poll, which was given waited_s and returned jump_s,
 * clt_pool_handle deals with what has happened. */
#define CLT_POOL_WATCHED (CLT_PROCESS_WATCHED * CLT_POOL_MAX_WORKERS)
size_t clt_pool_watch(const clt_pool *pool, struct pollfd *out, double *wait_s);
int clt_pool_handle(clt_pool *pool, double waited_s, double jump_s, clt_error *error);
/* Watches, polls and handles, for a single pool; waits at most timeout_s. */
int clt_pool_pump(clt_pool *pool, double timeout_s, clt_error *error);

/* --- workers between two tunings --- */

/* For threads that run one tuning after another. wanted: from now on, workers that a tuning of this thread no longer
 * needs are kept for its next tuning on the same device. Not wanted: they end, and so do the kept ones; a thread must
 * call this in the end. keeps_builds: later tunings use the driver's compiler cache of earlier ones, for the same
 * kernels on other inputs; their build times then mean nothing. */
void clt_workers_reserve(bool wanted, bool keeps_builds);
bool clt_workers_reserved(void); /* what the thread asked for last */
/* Ends the kept workers; with keeps_builds, the compiler's cache stays. The next tuning gets new processes, with other
 * memory pages, and need not compile the same configurations again. */
void clt_workers_renew(void);
