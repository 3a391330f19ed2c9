#include <stdio.h>

#include <clatune/sys/searcher.h>

#include "cli/arguments.h"
#include "cli/output.h"

static json_t *searchers(void) {
  json_t *out = json_array();
  for (size_t i = 0; i < clt_n_searchers(); i++) json_array_append_new(out, json_string(clt_searcher_at(i)->name));
  return out;
}

static int run(const cli_arguments *arguments) {
  if (cli_given(arguments, "json"))
    return cli_print_json(json_pack("{s:s, s:o}", "version", CLATUNE_VERSION, "searchers", searchers()));
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
