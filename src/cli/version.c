#include <stdio.h>

#include "cli/arguments.h"
#include "cli/output.h"

static int run(const cli_arguments *arguments) {
  if (cli_given(arguments, "json")) return cli_print_json(json_pack("{s:s}", "version", CLATUNE_VERSION));
  puts("clatune " CLATUNE_VERSION);
  return 0;
}

static const cli_flag flags[] = {CLI_FLAG_JSON};

const cli_command cli_version = {
    .name = "version",
    .summary = "prints the version",
    .synopsis = "[--json]",
    .description = "Prints the version of clatune.",
    .flags = flags,
    .n_flags = sizeof flags / sizeof *flags,
    .run = run,
};
