#include <clatune/store.h>
#include <stdio.h>
#include <string.h>

#include "cli/arguments.h"
#include "cli/output.h"

static int check(const char *path, bool as_json) {
  clt_error error = {0};
  bool whole;
  if (clt_store_check(&whole, path, &error)) return cli_report(&error);
  if (as_json) {
    cli_print_json(json_pack("{s:b}", "whole", whole));
  } else {
    puts(whole ? "the store is whole" : "the store is damaged; 'clatune store repair' saves what can be read");
  }
  return whole ? CLI_FOUND : CLI_STORE_UNUSABLE;
}

static int repair(const char *path, bool as_json) {
  clt_error error = {0};
  clt_store_repair_report report;
  if (clt_store_repair(&report, path, &error)) return cli_report(&error);
  bool damaged = report.set_aside[0] != '\0';
  if (as_json)
    return cli_print_json(json_pack("{s:b, s:I, s:I, s:s?}", "damaged", damaged, "saved", (json_int_t)report.n_saved,
                                    "lost", (json_int_t)report.n_lost, "set_aside", damaged ? report.set_aside : NULL));
  if (!damaged) return puts("the store is whole; nothing was done"), CLI_FOUND;
  printf("saved %llu measurements, lost %llu; the damaged file is now %s\n", (unsigned long long)report.n_saved,
         (unsigned long long)report.n_lost, report.set_aside);
  return CLI_FOUND;
}

static int run(const cli_arguments *arguments) {
  const char *what = arguments->positional[0], *path = cli_text(arguments, "store");
  bool as_json = cli_given(arguments, "json");
  if (strcmp(what, "check") == 0) return check(path, as_json);
  if (strcmp(what, "repair") == 0) return repair(path, as_json);
  return cli_usage("'clatune store' can 'check' and 'repair', not '%s'", what);
}

static const cli_flag flags[] = {CLI_FLAG_STORE, CLI_FLAG_JSON};

const cli_command cli_store = {
    .name = "store",
    .summary = "checks and mends the store's file",
    .synopsis = "check|repair [--store FILE] [--json]",
    .description =
        "check: says whether the file is whole (exit code 6 if it is not).\n"
        "repair: copies every measurement that can still be read into a new file; the damaged one is set aside\n"
        "beside it. No other program may use the store meanwhile.",
    .flags = flags,
    .n_flags = sizeof flags / sizeof *flags,
    .min_positional = 1,
    .max_positional = 1,
    .run = run,
};
