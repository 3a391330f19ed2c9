#include <clatune/store.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/output.h"
#include "cli/subject.h"
#include "cli/store.h"
#include "store/store.h"

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

static int run_check(const cli_arguments *arguments) {
  if (!cli_has_store(arguments)) return cli_no_store(arguments);
  return check(cli_text(arguments, "store"), cli_given(arguments, "json"));
}

static int run_repair(const cli_arguments *arguments) {
  if (!cli_has_store(arguments)) return cli_no_store(arguments);
  return repair(cli_text(arguments, "store"), cli_given(arguments, "json"));
}

#define SELECTION " problem device older-than "

static const struct {
  const char *name;
  size_t max_positional; /* its own name included */
  const char *flags;     /* beside those that all take */
  int (*run)(const cli_arguments *arguments);
} actions[] = {{"where", 1, "", cli_store_where},
               {"list", 1, "", cli_store_list},
               {"show", 2, "", cli_store_show},
               {"export", 1, " output" SELECTION, cli_store_export},
               {"import", 64, " of size" SELECTION, cli_store_import},
               {"merge", 64, SELECTION, cli_store_import},
               {"prune", 1, " dry-run" SELECTION, cli_store_prune},
               {"check", 1, "", run_check},
               {"repair", 1, "", run_repair}};

/* A flag that an action would pass over in silence is refused: 'import --dry-run' must not import. */
static int check_flags(const cli_arguments *arguments, const char *what, const char *flags) {
  static const char everywhere[] = " store json quiet help ";
  for (size_t i = 0; i < arguments->n_typed; i++) {
    char word[64], padded[96];
    snprintf(word, sizeof word, " %s ", arguments->typed[i].name);
    snprintf(padded, sizeof padded, "%s ", flags);
    if (strstr(everywhere, word) == NULL && strstr(padded, word) == NULL)
      return cli_usage("'clatune store %s' takes no option '--%s'", what, arguments->typed[i].name);
  }
  return 0;
}

static int no_action(const char *what) {
  const char *names[sizeof actions / sizeof *actions];
  char guess[CLI_GUESS_BYTES];
  for (size_t i = 0; i < sizeof actions / sizeof *actions; i++) names[i] = actions[i].name;
  return cli_usage("'clatune store' can where, list, show, export, import, merge, prune, check and repair, not '%s'%s",
                   what, cli_guess(guess, "", what, names, sizeof actions / sizeof *actions));
}

static int run_store(const cli_arguments *arguments) {
  const char *what = arguments->positional[0];
  for (size_t i = 0; i < sizeof actions / sizeof *actions; i++) {
    if (strcmp(actions[i].name, what) != 0) continue;
    if (arguments->n_positional > actions[i].max_positional)
      return cli_usage("'clatune store %s' does not know what to do with '%s'", what,
                       arguments->positional[actions[i].max_positional]);
    int rc = check_flags(arguments, what, actions[i].flags);
    return rc ? rc : actions[i].run(arguments);
  }
  return no_action(what);
}

static const cli_flag flags[] = {
    CLI_FLAG_STORE,
    {"output", "FILE", "export: the store to write; also -o FILE"},
    {"problem", "NAME|FILE", "export, import, prune: of this problem alone, by its name or its file"},
    {"device", "NAME", "export, import, prune: of devices with this in their key; import of a recording that does not say it: the device"},
    {"of", "FILE", "import of a recording: the problem file that it is of"},
    {"size", "NAME=N", "import of a recording: a problem parameter that it does not say; may be repeated"},
    {"older-than", "DAYS", "export, import, prune: what was measured so long ago"},
    {"dry-run", NULL, "prune: says what would be removed"},
    CLI_FLAG_JSON,
    CLI_FLAG_QUIET};

const cli_command cli_store = {
    .name = "store",
    .summary = "shows, exchanges, prunes and mends what was measured",
    .synopsis = "where|list|show PROBLEM|export -o FILE|import FILE...|merge FILE...|prune|check|repair [OPTION...]",
    .description =
        "where: prints the path. list: what was measured, where, how often. show: the best of each device and size.\n"
        "export: writes a store with what is selected. import, merge: adds what other stores hold and this one does\n"
        "not; doing it again adds nothing. With --of, import also takes recordings: T4 results, cache files of Kernel\n"
        "Tuner, what CLTune, CLBlast's tuners, KTT and 'clatune record' wrote. prune: removes what is selected, for good.\n"
        "check: says whether the file is whole (exit code 6 if it is not).\n"
        "repair: copies every measurement that can still be read into a new file; the damaged one is set aside\n"
        "beside it. No other program may use the store meanwhile.",
    CLI_FLAGS(flags),
    .n_positional = {1, 64},
    .run = run_store,
};
