/* cli/portable.h - `clatune lookup --portable`. */
#ifndef CLT_CLI_PORTABLE_H
#define CLT_CLI_PORTABLE_H

#include "lookup/portable.h"

#include "cli/command.h"

/* Finds and prints the answer in a format of `clatune lookup`. Returns the exit code. */
int cli_portable(clt_catalog *catalog, const cli_arguments *arguments, const char *format);

#endif
