/* cli/sweep.h - what `clatune sweep` works on: a row for every cell of the plan on every device. */
#ifndef CLT_CLI_SWEEP_H
#define CLT_CLI_SWEEP_H

#include <clatune/store.h>
#include <clatune/sweep.h>
#include <pthread.h>

#include "cli/command.h"
#include "cli/sweep_results.h"

typedef enum cli_row_state { CLI_ROW_OPEN, CLI_ROW_FINISHED, CLI_ROW_FAILED } cli_row_state;

typedef struct cli_row {
  cli_row_state state; /* finished: there is an outcome, also that no configuration is valid; failed: reason says why */
  bool now;            /* by this run, not before */
  int code;            /* exit code of what failed, or CLI_NO_VALID; 0: found */
  char *reason;        /* owned; NULL: none */
  cli_outcome outcome;
} cli_row;

typedef struct cli_sweep_subject {
  clt_sweep *plan;
  clt_device_info *devices; /* those chosen */
  size_t n_devices;
  json_t *missing; /* texts of the plan that no device fits, with the reason */
  size_t *cells;   /* those chosen, ascending: n_cells */
  size_t n_cells;
  cli_row *rows; /* [device][cell] */
  cli_results results;
  const char *store_path;
  bool no_store;
} cli_sweep_subject;

/* Loads the plan, chooses devices and cells, reads the results so far. Returns 0, or an exit code after a message;
 * release in either case. */
int cli_sweep_subject_init(cli_sweep_subject *out, const cli_arguments *arguments);
void cli_sweep_subject_release(cli_sweep_subject *subject);

/* The row and the cell of a number below n_devices * n_cells. */
cli_row *cli_sweep_row(const cli_sweep_subject *subject, size_t device, size_t cell);

/* A cell on a device, made ready: release after use, also where it could not be made (the row then has failed). */
typedef struct cli_sweep_tuning {
  clt_sweep_cell cell;
  clt_instance *instance;
  size_t device, size_set; /* of instance */
  clt_tune_settings settings;
  size_t n_left_out;
  char key[33];
} cli_sweep_tuning; /* zeroed: nothing */

/* Makes instance (kept while device and sizes stay the same), settings and key of a row, and takes its outcome if the
 * results have it. Returns whether it is still to be tuned. */
bool cli_sweep_prepare(cli_sweep_tuning *tuning, const cli_sweep_subject *subject, size_t device, size_t cell);
void cli_sweep_tuning_release(cli_sweep_tuning *tuning);
void cli_sweep_fail(cli_row *row, const clt_error *error);

/* Runs what is open, jobs devices at once (0: all). Returns 0 or the exit code of an interruption or a failure. */
int cli_sweep_run(cli_sweep_subject *subject, int64_t jobs, bool quiet);

/* Prints the table. format: text, json, csv or markdown. Returns 0 or an exit code. */
int cli_sweep_print(const cli_sweep_subject *subject, const char *format, int stopped);

#endif
