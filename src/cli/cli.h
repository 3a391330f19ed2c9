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

/* --- the best configurations for other builds, on standard output (export.c) --- */

/* A parameter in a text such as "a=1 b=2". */
typedef struct cli_parameter {
  const char *name; /* name_length bytes, borrowed from the text */
  int name_length;
  bool is_spelled; /* the value is a text that was written with escapes, never a number */
  char value[CLT_MAX_CONFIG_TEXT];
} cli_parameter;
bool cli_next_parameter(cli_parameter *out, const char **at); /* moves *at behind the parameter; false: none left */

struct clt_portable;

/* Writes a C header with all stored results of a problem: a table to select from at run time (clatune_<name>_find), the
 * build options of an entry at any sizes (clatune_<name>_options), and macros for the entry selected at compile time
 * (-DCLATUNE_<NAME>_ENTRY=0). Texts are quoted so that none can end its string or comment. portable (nullable): one
 * configuration, with an entry for each of its places, a macro for each parameter, and CLATUNE_<NAME>_OPTIONS. */
void cli_export_header(clt_catalog *catalog, const clt_problem *problem, const struct clt_portable *portable);

/* Writes CMake variables: CLATUNE_<NAME>_OPTIONS and one per parameter. from: a comment on the origin. */
void cli_export_cmake(const clt_problem *problem, const char *from, const char *configuration, const char *options);

#endif
