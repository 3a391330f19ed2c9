/* cli/sweep.h - `clatune sweep`: a row for every cell of the plan on every device. */
#ifndef CLT_CLI_SWEEP_H
#define CLT_CLI_SWEEP_H

#include <pthread.h>

#include "cli/cli.h"
#include "sweep/sweep.h"

/* --- the file of finished tunings: JSON lines, only ever appended to --- */

typedef struct cli_results {
  const char *path;
  json_t *lines; /* by key */
  int fd;        /* -1: not open for writing */
} cli_results;   /* path NULL: nothing */

/* --- the tunings --- */

/* Finished where it has a line, also of a search that found nothing right; failed where it has a code alone; else open.
 */
typedef struct cli_row {
  bool elsewhere; /* of another shard: another run's */
  bool now;       /* by this run, not before */
  int code;       /* exit code of what failed, or CLI_NO_VALID; 0: found, or open */
  char *reason;   /* owned; NULL: none */
  json_t *line;   /* of the file of results; owned; NULL: none */
} cli_row;

/* A number of the row's line, or of "evaluations" in it; NaN where there is none. */
double cli_row_number(const cli_row *row, const char *name);

/* Whether it found something; then the costs of the best and of the default configuration, by which tunings of the same
 * plan compare: of an objective's values those which are the less the better, else the times. */
bool cli_row_found(const cli_row *row);
double cli_row_cost(const cli_row *row, bool of_default);

typedef struct cli_sweep {
  clt_sweep *plan;
  clt_device_info *devices; /* those chosen */
  size_t n_devices;
  json_t *missing;       /* texts of the plan that no device fits, with the reason */
  clt_sweep_cell *cells; /* the plan's, of which only the n_cells chosen ones are left */
  size_t n_cells;
  cli_row *rows; /* [device][cell] */
  cli_results results;
  const char *store_path;
  bool no_store;
  double until_s; /* of clt_now_s: nothing is begun that would take longer; INFINITY: no limit */
  FILE *events;   /* NULL: none */
} cli_sweep;

cli_row *cli_sweep_row(const cli_sweep *sweep, size_t device, size_t cell);

/* A cell on a device, made ready: release after use, also where it could not be made (the row then has failed). */
typedef struct cli_sweep_tuning {
  const clt_sweep_cell *cell;
  clt_instance *instance;
  size_t device, size_set; /* of instance */
  clt_tune_settings settings;
  size_t n_left_out;
  char key[33];
} cli_sweep_tuning; /* zeroed: nothing */

/* Makes instance (kept while device and sizes stay the same), settings and key of a cell on a device, and gives the row
 * its line if the results have it. Returns whether it is still to be tuned. */
bool cli_sweep_prepare(cli_sweep_tuning *tuning, const cli_sweep *sweep, size_t device, size_t cell, cli_row *row);
void cli_sweep_tuning_release(cli_sweep_tuning *tuning);
void cli_sweep_fail(cli_row *row, const clt_error *error);

/* --- running them (sweep_run.c) --- */

/* A physical device, whose tunings come one after the other, in a thread of their own. */
typedef struct cli_lane {
  size_t index;
  const size_t *lane_of;    /* of each device of the sweep */
  bool alone;               /* the CPU: runs when no other lane does */
  const volatile int *stop; /* of its tuning */
  pthread_mutex_t *lock;    /* of what follows; who holds it waits for nobody */
  char now[160], said[512]; /* the tuning under way ("": none), and what it warned of last */
  int64_t progress;         /* grows with its evaluations, from tuning to tuning */
  int64_t steps;            /* clt_tune_settings.steps: read atomically */
  double longest_s;         /* that one took, also before */
} cli_lane;

/* Whether a tuning may begin that takes as long as the longest one so far. */
bool cli_lane_has_time(const cli_lane *lane, const cli_sweep *sweep);

enum { CLI_NO_WORK, CLI_WORK, CLI_WAIT }; /* CLI_WAIT: nothing now; ask again */

/* Where lanes get their tunings, and what becomes of these: called in the lanes' threads. */
typedef struct cli_work {
  void *user;
  bool together; /* all lanes at once: next sees to it that the CPU's is alone */
  /* Before all others, for each lane; and after all others, when lanes are no more. */
  void (*begin)(void *user, cli_lane *lane);
  void (*end)(void *user);
  /* Makes a lane's next tuning and its row ready. store: the lane's. */
  int (*next)(void *user, cli_lane *lane, clt_store *store, cli_sweep_tuning *tuning, cli_row **row);
  /* It has ended with rc: the row has a line, or a code and a reason, or, where it was stopped, nothing. Returns 0, or
   * the exit code that ends everything. */
  int (*finish)(void *user, cli_lane *lane, const cli_sweep_tuning *tuning, cli_row *row, int rc);
} cli_work;

/* Runs what work gives; NULL: what is open of the sweep, jobs devices at once (0: all), into the file of results.
 * Returns 0 or the exit code of an interruption or a failure. */
int cli_sweep_run(cli_sweep *sweep, const cli_work *work, int64_t jobs, bool quiet);

/* A line of the file of results; malloc'ed, NULL: out of memory. */
char *cli_result_text(const json_t *line);

/* Reads a line (n bytes): NULL where it cannot be one. */
json_t *cli_result_read(const char *text, size_t n);

/* Adds those lines of a file's text to `lines` that can be read, by their keys; counts the others. */
void cli_results_add(json_t *lines, size_t *n_unreadable, const char *text, size_t n);

/* What became of the tunings. */
typedef struct cli_sweep_counts {
  size_t total, found, failed, open, before; /* before: of those found and failed, by runs before this one */
} cli_sweep_counts;
cli_sweep_counts cli_sweep_count(const cli_sweep *sweep);

/* --shard: the i-th of n, from 1 on; both 1 where nothing was typed. i is 0 where "%a" stands in its place, which goes
 * with --slurm alone. */
void cli_sweep_shard(int64_t *i, int64_t *n, const cli_arguments *arguments);

/* --slurm: hands a job that runs the same command to sbatch, or prints its script with --dry-run. */
int cli_sweep_slurm(const cli_arguments *arguments);

/* Prints the table. format: text, json, csv or markdown. Returns 0 or an exit code. */
int cli_sweep_print(const cli_sweep *sweep, const char *format, bool stopped);

#endif
