/* cli/sweep_results.h - the file of a sweep's finished tunings: JSON lines, only ever appended to. */
#ifndef CLT_CLI_SWEEP_RESULTS_H
#define CLT_CLI_SWEEP_RESULTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* What a finished tuning came to; NaN where there is none. */
typedef struct cli_outcome {
  double best_s, default_s, wall_s;
  double best_value, default_value; /* of the plan's objective; NaN: that is time */
  bool maximised;                   /* the objective */
  int64_t evaluations, measured, left_out;
} cli_outcome;

typedef struct cli_results {
  char *path;
  json_t *lines; /* by key */
  size_t n_unreadable;
  int fd;      /* -1: not open for writing */
} cli_results; /* path NULL: nothing */

/* Reads what is there, which may be nothing. Lines that cannot be read are counted and left out. Returns 0, or an exit
 * code after a message. */
int cli_results_read(cli_results *out, const char *path);

/* Opens the file for appending, making it. Returns 0, or an exit code after a message. */
int cli_results_open(cli_results *results);

/* Appends a line (reference stolen) and synchronises. Returns 0, or an exit code after a message. One thread at a time.
 */
int cli_results_append(cli_results *results, json_t *line);

/* The outcome of a key. */
bool cli_results_find(cli_outcome *out, const cli_results *results, const char *key);
void cli_results_close(cli_results *results);

#endif
