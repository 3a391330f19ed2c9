/* cli/progress.h - how a tuning gets on, on standard error: a bar on a terminal, plain lines elsewhere. */
#ifndef CLT_CLI_PROGRESS_H
#define CLT_CLI_PROGRESS_H

#include <clatune/tune.h>

typedef struct cli_progress {
  bool quiet, terminal, colour;
  double next_s; /* when the next line is due */
  char phase[32];
  bool bar_shown;
} cli_progress;

void cli_progress_init(cli_progress *progress, bool quiet);
void cli_progress_update(cli_progress *progress, const clt_progress *now);
void cli_progress_end(cli_progress *progress); /* takes the bar away */

#endif
