/* cli/export.h - the best configurations as text for other people's builds, on standard output. */
#ifndef CLT_CLI_EXPORT_H
#define CLT_CLI_EXPORT_H

#include <clatune/lookup.h>

/* A C header of all that is known of a problem: a table to choose from at run time (clatune_<name>_find), the build
 * options of an entry at any sizes (clatune_<name>_options), and macros for the entry that the compiler is told
 * (-DCLATUNE_<NAME>_ENTRY=0). Texts are quoted so that none of them can end its string or comment. Returns 0, or an
 * exit code after a message. */
int cli_export_header(clt_catalog *catalog, const clt_problem *problem);

/* One configuration for all: a macro for each parameter, and CLATUNE_<NAME>_OPTIONS; also for a kernel. */
void cli_export_portable_header(const clt_problem *problem, const char *configuration, const char *options);

/* CMake variables: CLATUNE_<NAME>_OPTIONS and one a parameter. `from` is a comment. */
void cli_export_cmake(const clt_problem *problem, const char *from, const char *configuration, const char *options);

#endif
