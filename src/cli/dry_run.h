/* cli/dry_run.h - what a tuning would do. */
#ifndef CLT_CLI_DRY_RUN_H
#define CLT_CLI_DRY_RUN_H

#include "cli/command.h"

/* Says what `clatune tune`, `sample` or `record` would measure, where and how much of it is known; measures nothing and
 * makes no file. default_first: the default configuration is the first to be measured. Returns an exit code. */
int cli_dry_run(const cli_arguments *arguments, const char *searcher, bool default_first);

#endif
