/* cli/store.h - what `clatune store` can do; each returns an exit code. */
#ifndef CLT_CLI_STORE_H
#define CLT_CLI_STORE_H

#include "cli/command.h"

/* What came of a recording: records that the store has now and had not; configurations that the problem does not have.
 */
typedef struct cli_import_count {
  uint64_t added, foreign;
} cli_import_count;

/* Whether what was typed for a problem is its file: it ends in .json or has a slash. Anything else is a name. */
bool cli_is_problem_file(const char *typed);

/* store_contents.c */
int cli_store_where(const cli_arguments *arguments);
int cli_store_list(const cli_arguments *arguments);
int cli_store_show(const cli_arguments *arguments);

/* store_exchange.c */
int cli_store_export(const cli_arguments *arguments);
int cli_store_import(const cli_arguments *arguments);
int cli_store_prune(const cli_arguments *arguments);

/* store_recording.c: whether a file begins as JSON or gzip; its measurements become those of the problem --of, adding
 * to count. */
bool cli_is_recording(const char *path);
int cli_store_import_recording(const cli_arguments *arguments, const char *path, cli_import_count *count);

#endif
