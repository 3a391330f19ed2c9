#include "cli/tuning.h"

static int answer_tune(const cli_tuning *tuning, const clt_tune_result *result, bool as_json) {
  if (as_json) return cli_print_json(cli_tuning_json(tuning, result));
  cli_tuning_print(tuning, result);
  return 0;
}

static int run_tune(const cli_arguments *arguments) {
  cli_tuning tuning;
  const char *searcher = cli_text(arguments, "searcher");
  bool known = searcher == NULL || clt_searcher_find(searcher) != NULL;
  if (known && cli_given(arguments, "dry-run")) return cli_dry_run(arguments, searcher, true);
  int rc = cli_tuning_init(&tuning, arguments, searcher);
  if (rc) return rc;
  if (cli_given(arguments, "warm-start") && cli_given(arguments, "no-store"))
    rc = cli_usage("option '--warm-start' needs a store, for its model");
  else if (cli_given(arguments, "warm-start"))
    rc = cli_trained_model(&tuning.model, arguments, &tuning.subject);
  tuning.settings.model = tuning.model;
  if (rc == 0) rc = cli_tuning_run(&tuning, answer_tune, cli_given(arguments, "json"));
  cli_tuning_release(&tuning);
  return rc;
}

static const cli_flag flags[] = {
    {"searcher", "NAME",
     "what decides what is measured, see below (default: what the problem asks for, or " CLT_DEFAULT_SEARCHER ")"},
    {"budget", "N", "evaluations in all (default: what the searcher's own options say, the problem's Budget, or 200)"},
    {"finalists", "N", "how many of the best are compared in interleaved runs at the end"},
    {"space-fraction", "X", "at most this part of the valid configurations (0.1: a tenth)"},
    {"target", "X", "ends with the first evaluation whose objective is as good as X (seconds, where that is time)"},
    {"stagnation", "N", "ends after N evaluations without anything better by more than the tolerance"},
    {"tolerance", "X", "what counts as equally good, as a fraction (default 0.02)"},
    {"confidence", "P", "for searchers that choose how much to measure (default 0.9)"},
    {"warm-start", NULL, "begins with what a model of the kernel at other sizes suggests (see 'clatune train')"},
    CLI_FLAG_LEARN_FROM,
    CLI_FLAG_NO_TRANSFER,
    CLI_TUNING_FLAGS,
};

const cli_command cli_tune = {
    .name = "tune",
    .summary = "finds the fastest configuration of a kernel or a program",
    .synopsis = "PROBLEM [--device NAME] [--size NAME=N]... [--budget N] [OPTION...]",
    .description =
        "Finds the fastest configuration of the kernel or program of a problem file. Every candidate is built and run "
        "in a\n"
        "process of its own and its result is checked; each measurement is stored as it is made, so the same command "
        "goes on "
        "where\n"
        "it was stopped. The problem's default configuration is evaluated first; at the end the best few are compared "
        "in\n"
        "interleaved runs. Of several limits (--budget, --space-fraction, --time, --target, --stagnation) the first "
        "that\n"
        "is reached ends the search. Exit code: 0 found, 4 no valid configuration, 130 interrupted (and resumable).",
    CLI_FLAGS(flags),
    .searcher_options = true,
    .evaluator_options = true,
    .n_positional = {1, 1},
    .run = run_tune,
};
