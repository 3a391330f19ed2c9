/* cli/store.h - what `clatune store` can do; each returns an exit code. */
#ifndef CLT_CLI_STORE_H
#define CLT_CLI_STORE_H

#include "cli/arguments.h"

/* store_contents.c */
int cli_store_where(const cli_arguments *arguments);
int cli_store_list(const cli_arguments *arguments);
int cli_store_show(const cli_arguments *arguments);

/* store_exchange.c */
int cli_store_export(const cli_arguments *arguments);
int cli_store_import(const cli_arguments *arguments);
int cli_store_prune(const cli_arguments *arguments);

#endif
