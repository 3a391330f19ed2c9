/* cli/warm_start.h - tuning that begins with what a model of the kernel at other sizes suggests. */
#ifndef CLT_CLI_WARM_START_H
#define CLT_CLI_WARM_START_H

#include "cli/tuning.h"

/* Takes the model that 'clatune train' has kept, or fits one now. Returns 0, or an exit code after a message. */
int cli_warm_start(cli_tuning *tuning, const cli_arguments *arguments);

#endif
