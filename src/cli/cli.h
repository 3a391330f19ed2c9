/* cli/cli.h - shared by the commands. Each command has a file and is listed in main.c. Unless a function returns an
 * exit code, a failure prints a message and ends the program. Results live until the command ends (cli_keep). */
#ifndef CLT_CLI_CLI_H
#define CLT_CLI_CLI_H

#include "base/file.h"
#include "cli/arguments.h"
#include "cli/document.h"
#include "cli/events.h"
#include "cli/output.h"
#include "cli/subject.h"

#endif
