/* cli/sweep_table.h - a sweep in numbers: a line for every device, problem, size, searcher and budget, medians over
 * seeds. */
#ifndef CLT_CLI_SWEEP_TABLE_H
#define CLT_CLI_SWEEP_TABLE_H

#include "cli/sweep.h"

typedef struct cli_sweep_line {
  const clt_device_info *device;
  clt_sweep_cell cell;         /* the first one's */
  size_t n, n_found, n_failed; /* tunings; the rest are open */
  /* Medians over those that found something; NaN where none did. */
  double best_s, default_s, speedup; /* speedup: default / best of the same tuning; by the objective */
  double best_value, default_value;  /* of the objective, where that is not time */
  double evaluations, wall_s;
  double fraction;    /* best time (cost, by an objective) on this device at this size by any tuning of the sweep / this
                         best time */
  const char *reason; /* of the first failure; NULL: none */
} cli_sweep_line;

/* *out is malloc'ed; NULL when out of memory. */
cli_sweep_line *cli_sweep_lines(const cli_sweep_subject *subject, size_t *n);

/* What became of the tunings. */
typedef struct cli_sweep_counts {
  size_t total, found, failed, open, before; /* before: of those found and failed, by runs before this one */
} cli_sweep_counts;
cli_sweep_counts cli_sweep_count(const cli_sweep_subject *subject);

/* The exit code that the rows come to: 0; what all failures share; or CLI_FAILURE. Then whether a device was missing.
 */
int cli_sweep_exit_code(const cli_sweep_subject *subject);

#endif
