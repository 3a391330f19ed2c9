/* farm/sweep.h - `clatune sweep`: one row per cell of the plan and device. */
#pragma once

#include <pthread.h>

#include "cli/cli.h"
#include "farm/plan.h"

/* --- the file of results: one JSON line per finished tuning; only appended to --- */

typedef struct farm_results {
  const char *path;
  json_t *lines; /* by key */
  int fd;        /* -1: not open for writing */
} farm_results;  /* path NULL: none */

/* A line's text, malloc'ed; NULL: out of memory. */
char *farm_result_text(const json_t *line);

/* Reads a line of n bytes; NULL: it is invalid. */
json_t *farm_result_read(const char *text, size_t n);

/* Adds the valid lines of a file's text to `lines`, by their keys; counts the invalid ones. */
void farm_results_add(json_t *lines, size_t *n_unreadable, const char *text, size_t n);

/* Reads the file if it exists; warns of unreadable lines. */
void farm_results_read(farm_results *out);

/* --- the tunings --- */

/* Finished if it has a line, even if no configuration was correct; failed if it only has a code; otherwise open. */
typedef struct farm_row {
  bool elsewhere; /* it belongs to another shard */
  bool now;       /* ended in this run, not before */
  int code;       /* exit code of the failure, or CLI_NO_VALID; 0: found, or open */
  char *reason;   /* owned; NULL: none */
  json_t *line;   /* of the file of results; owned; NULL: none */
  json_t *best;   /* of farm_sweep_best, if it ended now; owned */
} farm_row;

/* A number of the row's line, or of its "evaluations"; NaN if there is none. */
double farm_row_number(const farm_row *row, const char *name);

const char *farm_row_reason(const farm_row *row); /* of a row that failed */

/* Whether the tuning found a correct configuration; and the cost of the best or default configuration: the objective's
 * cost if it has values, otherwise the time. NaN if there is none. */
bool farm_row_found(const farm_row *row);
double farm_row_cost(const farm_row *row, bool of_default);

typedef struct farm_sweep {
  clt_sweep *plan;
  clt_device_info *devices; /* the chosen ones */
  size_t n_devices;
  json_t *missing;       /* texts that select no device, with the reason */
  clt_sweep_cell *cells; /* the plan's array, reduced to the n_cells chosen ones */
  size_t n_cells;
  farm_row *rows; /* [device][cell] */
  farm_results results;
  const char *store_path;
  bool no_store;
  double until_s; /* on clt_now_s's clock; no tuning is started that would end later; INFINITY: no limit */
  FILE *events;   /* NULL: none */
} farm_sweep;

farm_row *farm_sweep_row(const farm_sweep *sweep, size_t device, size_t cell);

/* A cell prepared for a device. Release after use, also if preparing failed. */
typedef struct farm_sweep_tuning {
  const clt_sweep_cell *cell;
  clt_instance *instance;
  size_t device, size_set; /* of instance */
  clt_tune_settings settings;
  size_t n_left_out;
  char key[33];
} farm_sweep_tuning; /* zeroed: nothing */

/* Prepares a cell on a device: instance (reused while device and sizes stay the same), settings and key. Sets the row's
 * line if the file of results has it, or fails the row. Returns whether it is still to be tuned. */
bool farm_sweep_prepare(farm_sweep_tuning *tuning, const farm_sweep *sweep, size_t device, size_t cell, farm_row *row);
void farm_sweep_tuning_release(farm_sweep_tuning *tuning);
void farm_sweep_fail(farm_row *row, const clt_error *error);

/* The part of a tuning's line that follows from its plan, its device and its best measurement (NULL: none is correct).
 * farm_sweep_best: what that measurement is, for clt_queue_finish. New references. */
json_t *farm_sweep_line(const farm_sweep_tuning *tuning, const clt_device_info *device, const clt_measurement *best);
json_t *farm_sweep_best(const farm_sweep_tuning *tuning, const clt_measurement *best);

/* A measurement's value of the tuning's objective. NaN: there is none, or the objective is time. */
double farm_sweep_value(const farm_sweep_tuning *tuning, const clt_measurement *measurement);

/* The number of tunings by state. */
typedef struct farm_sweep_counts {
  size_t total, found, failed, open, before; /* before: found or failed in earlier runs */
} farm_sweep_counts;
farm_sweep_counts farm_sweep_count(const farm_sweep *sweep);

/* Reads --shard I/N; both are 1 without it. *i is 0 for "%a/N", which is allowed with --slurm only. */
void farm_sweep_shard(int64_t *i, int64_t *n, const cli_arguments *arguments);

/* --- running them (run.c) --- */

/* A thread that runs the tunings of one physical device one after the other. */
typedef struct farm_lane {
  size_t index;
  const size_t *lane_of;    /* the lane of each device of the sweep */
  bool alone;               /* the CPU: runs when no other lane does */
  const volatile int *stop; /* of its tuning */
  pthread_mutex_t *lock;    /* protects the members below; never held while waiting */
  char now[160], said[512]; /* the current tuning ("": none), and its last warning */
  int64_t progress;         /* evaluations, summed over all tunings */
  int64_t steps;            /* clt_tune_settings.steps: read atomically */
  double longest_s;         /* of all tunings, including those of earlier runs */
} farm_lane;

/* Whether a tuning as long as the longest one so far would end within --time-limit. */
bool farm_lane_has_time(const farm_lane *lane, const farm_sweep *sweep);

enum { FARM_NO_WORK, FARM_WORK, FARM_WAIT }; /* FARM_WAIT: none now, ask again */

/* The source of the lanes' tunings, and the receiver of their results. Called in the lanes' threads. */
typedef struct farm_work {
  void *user;
  bool together; /* start all lanes at once; `next` makes the CPU's lane run alone */
  /* begin: called first, for each lane; end: called last, after all lanes have ended. */
  void (*begin)(void *user, farm_lane *lane);
  void (*end)(void *user);
  /* Prepares a lane's next tuning and its row; store: the lane's. Returns FARM_NO_WORK, FARM_WORK or FARM_WAIT. */
  int (*next)(void *user, farm_lane *lane, clt_store *store, farm_sweep_tuning *tuning, farm_row **row);
  /* A tuning has ended with rc. Its row has a line, or a code and a reason, or nothing if it was stopped. Returns 0, or
   * an exit code that ends the sweep. */
  int (*finish)(void *user, farm_lane *lane, const farm_sweep_tuning *tuning, farm_row *row, int rc);
} farm_work;

/* Runs the tunings that `work` provides; NULL: the open rows of the sweep, on at most `jobs` devices at once (0: all),
 * with results in the file. Returns 0 or the exit code of an interruption or a failure. */
int farm_sweep_run(farm_sweep *sweep, const farm_work *work, int64_t jobs, bool quiet);

/* --- slurm.c, table.c --- */

/* --slurm: submits a job that runs the same command, or prints its script with --dry-run. Returns an exit code. */
int farm_sweep_slurm(const cli_arguments *arguments);

/* Prints the table. format: text, json, csv or markdown. stopped: for the JSON. summary: nothing was measured. Returns
 * 0 or an exit code. */
int farm_sweep_print(const farm_sweep *sweep, const char *format, bool stopped, bool summary);
