/* cli/sweep_progress.h - how a sweep gets on, on standard error: a bar on a terminal, a line a tuning elsewhere. Safe
 * to call from several threads. */
#ifndef CLT_CLI_SWEEP_PROGRESS_H
#define CLT_CLI_SWEEP_PROGRESS_H

#include <clatune/tune.h>
#include <pthread.h>

#include "cli/sweep.h"

#define CLI_MAX_LANES 64

/* Physical devices, each with the tunings that are left on it. */
typedef struct cli_lane_progress {
  size_t n_left, n_run;
  double run_s;        /* that the run ones took */
  bool alone;          /* runs when no other lane does */
  char now[160];       /* the tuning under way; "": none */
  int64_t done, total; /* its evaluations */
} cli_lane_progress;

typedef struct cli_sweep_progress {
  pthread_mutex_t lock;
  bool quiet, terminal, colour, bar_shown;
  double next_s;
  size_t total, finished, before, failed; /* finished: also those of runs before */
  cli_lane_progress lanes[CLI_MAX_LANES];
  size_t n_lanes;
} cli_sweep_progress;

void cli_sweep_progress_init(cli_sweep_progress *progress, size_t total, bool quiet);
void cli_sweep_progress_release(cli_sweep_progress *progress); /* takes the bar away */

/* A tuning begins, gets on, and ends (or was known from before: row->now false). */
void cli_sweep_progress_begin(cli_sweep_progress *progress, size_t lane, const clt_sweep_cell *cell,
                              const clt_device_info *device);
void cli_sweep_progress_update(cli_sweep_progress *progress, size_t lane, const clt_progress *now);
void cli_sweep_progress_row(cli_sweep_progress *progress, size_t lane, const cli_row *row);
void cli_sweep_progress_log(cli_sweep_progress *progress, size_t lane, int level, const char *text);

#endif
