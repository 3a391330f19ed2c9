#include <stdio.h>

#include "cli/output.h"
#include "cli/tuning.h"

static int answer(const cli_tuning *tuning, const clt_tune_result *r, bool as_json) {
  if (as_json) return cli_print_json(cli_tuning_json(tuning, r));
  printf("%lld random configurations: %lld measured, %lld already known; %lld correct\n", (long long)r->evaluations,
         (long long)r->measured, (long long)r->reused, (long long)r->by_invalidity[CLT_CORRECT]);
  if (tuning->store) printf("stored in %s\n", clt_store_path(tuning->store));
  return 0;
}

static int run(const cli_arguments *arguments) {
  cli_tuning tuning;
  int64_t samples;
  int rc = cli_integer(&samples, arguments, "samples", 100, 1, INT64_MAX);
  if (rc == 0) rc = cli_tuning_init(&tuning, arguments, "random");
  if (rc) return rc;
  tuning.settings.budget = samples;
  tuning.settings.finalists = 0;
  tuning.settings.skip_default = true;
  if (cli_given(arguments, "json")) tuning.results = json_array();
  return cli_tuning_run(&tuning, answer, cli_given(arguments, "json"));
}

static const cli_flag flags[] = {
    {"samples", "N", "how many configurations (default 100); the same seed draws the same ones first"},
    CLI_TUNING_FLAGS};

const cli_command cli_sample = {
    .name = "sample",
    .summary = "measures random configurations into the store",
    .synopsis = "PROBLEM --samples N [--device NAME] [--size NAME=N]... [OPTION...]",
    .description = "Measures N random valid configurations and stores them, for 'clatune train' and later tunings.",
    .flags = flags,
    .n_flags = sizeof flags / sizeof *flags,
    .evaluator_options = true,
    .min_positional = 1,
    .max_positional = 1,
    .run = run,
};
