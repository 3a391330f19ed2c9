/* cli/sweep.h - `clatune sweep`: a row for every cell of the plan on every device. */
#ifndef CLT_CLI_SWEEP_H
#define CLT_CLI_SWEEP_H

#include "cli/cli.h"
#include "sweep/sweep.h"

/* --- the file of finished tunings: JSON lines, only ever appended to --- */

typedef struct cli_results {
  char *path;
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

/* Makes instance (kept while device and sizes stay the same), settings and key of a row, and takes its line if the
 * results have it. Returns whether it is still to be tuned. */
bool cli_sweep_prepare(cli_sweep_tuning *tuning, const cli_sweep *sweep, size_t device, size_t cell);
void cli_sweep_tuning_release(cli_sweep_tuning *tuning);
void cli_sweep_fail(cli_row *row, const clt_error *error);

/* Runs what is open, jobs devices at once (0: all). Returns 0 or the exit code of an interruption or a failure. */
int cli_sweep_run(cli_sweep *sweep, int64_t jobs, bool quiet);

/* What became of the tunings. */
typedef struct cli_sweep_counts {
  size_t total, found, failed, open, before; /* before: of those found and failed, by runs before this one */
} cli_sweep_counts;
cli_sweep_counts cli_sweep_count(const cli_sweep *sweep);

/* --shard: the i-th of n, from 1 on; both 1 where nothing was typed. i is 0 where "%a" stands in its place, which goes
 * with --slurm alone. */
int cli_sweep_shard(int64_t *i, int64_t *n, const cli_arguments *arguments);

/* --slurm: hands a job that runs the same command to sbatch, or prints its script with --dry-run. */
int cli_sweep_slurm(const cli_arguments *arguments);

/* Prints the table. format: text, json, csv or markdown. Returns 0 or an exit code. */
int cli_sweep_print(const cli_sweep *sweep, const char *format, bool stopped);

#endif
