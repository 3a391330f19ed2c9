/* cli/progress.h - how a tuning gets on, on standard error: a bar on a terminal, plain lines elsewhere. */
#ifndef CLT_CLI_PROGRESS_H
#define CLT_CLI_PROGRESS_H

#include <clatune/tune.h>

#include "measurement/objective.h"

typedef struct cli_progress {
  bool quiet, terminal, colour;
  double next_s; /* when the next line is due */
  char phase[32];
  bool bar_shown;
  const clt_problem *problem; /* both borrowed */
  const clt_objective *objective;
} cli_progress;

/* What the figures are of; NULL where the bar is drawn by cli_progress_bar alone. */
void cli_progress_init(cli_progress *progress, bool quiet, const clt_problem *problem, const clt_objective *objective);
void cli_progress_update(cli_progress *progress, const clt_progress *now);
void cli_progress_end(cli_progress *progress); /* takes the bar away */

/* What others draw with: a bar of which a share is filled, and "4m10s". Returns out. */
void cli_progress_bar(double share, bool colour, const char *text);
const char *cli_duration(char out[32], double seconds);

/* While something is tuned, SIGINT, SIGTERM and SIGHUP ask for an orderly end; a second one ends at once. Other
 * commands end by them as any program does. */
void cli_signals_install(void);
const volatile int *cli_signals_flag(void); /* the signal's number once one came; 0 before */

#endif
