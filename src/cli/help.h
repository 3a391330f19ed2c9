/* cli/help.h - help texts from the commands' and plug-ins' tables. */
#ifndef CLT_CLI_HELP_H
#define CLT_CLI_HELP_H

#include "cli/arguments.h"

void cli_help(const cli_command *const *commands, size_t n);
void cli_help_command(const cli_arguments *arguments);

#endif
