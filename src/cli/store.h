/* cli/store.h - importing a recording into the store. */
#ifndef CLT_CLI_STORE_H
#define CLT_CLI_STORE_H

#include "cli/command.h"

/* What came of it: records that the store has now and had not; configurations that the problem does not have. */
typedef struct cli_import_count {
  uint64_t added, foreign;
} cli_import_count;

/* Whether a file begins as JSON or gzip. Its measurements become those of the problem --of; adds to count. Returns 0,
 * or an exit code after a message. */
bool cli_is_recording(const char *path);
int cli_store_import_recording(const cli_arguments *arguments, const char *path, cli_import_count *count);

#endif
