/* cli/tuning.h - a tuning session from the command line: what `tune`, `sample` and `record` share. */
#ifndef CLT_CLI_TUNING_H
#define CLT_CLI_TUNING_H

#include "cli/cli.h"
#include "eval/evaluators.h"
#include "search/search.h"

typedef struct cli_tuning {
  cli_subject subject;
  clt_objective *objective;
  clt_store *store;
  clt_tune_settings settings;
  cli_progress progress;
  bool quiet;
  bool needs_race_check;  /* --oclgrind yes */
  double race_check_s;    /* that it has taken so far */
  const char *race_check; /* what came of it: "passed", "failed" (the default configuration, too) or "not checked" */
  double load;            /* of the machine when the session began: how many processes wanted a processor */
  json_t *results;        /* NULL, or a list that every evaluation is appended to */
  cli_events events;      /* out is owned */
} cli_tuning;

/* Opens problem, device and store, and fills the settings from the flags. searcher NULL: the one that the problem asks
 * for, or the standard one. */
void cli_tuning_init(cli_tuning *out, const cli_arguments *arguments, const char *searcher);

/* For what samples rather than searches: no finalists, the default configuration is not measured first, and no
 * configuration is given up for being slow unless the flags say so: it is learnt from. */
void cli_tuning_sample(cli_tuning *tuning, const cli_arguments *arguments);

/* Runs the session; where there is anything to tell prints the result, as JSON or by `print` (NULL: not at all), unless
 * events go to standard output. Returns the exit code. */
int cli_tuning_run(cli_tuning *tuning, void (*print)(const cli_tuning *, const clt_tune_result *), bool as_json);

/* A measurement as `tune` and `measure` give it, and the result of a session, as JSON (tune.c). is_median: of
 * interleaved rounds, so that it has an interval. */
json_t *cli_measurement_json(const clt_instance *instance, const clt_objective *objective, const clt_measurement *m,
                             bool is_median);
json_t *cli_tuning_json(const cli_tuning *tuning, const clt_tune_result *result);

/* " (4 devices)", "" where there is one. Returns out. */
const char *cli_more_devices(char out[40], const cli_tuning *tuning);

/* The typed configuration ("a=1 b=2"), with the default's values of the parameters that it does not name, which are
 * said unless `quiet`. NULL: the default, or the first valid one where that violates a constraint (verify.c). */
clt_config cli_choose_configuration(const char *typed, const clt_instance *instance, bool quiet);

/* Says what a session would measure, where and how much of it is known; measures nothing and makes no file.
 * default_first: the default configuration is the first to be measured. Returns an exit code. */
int cli_dry_run(const cli_arguments *arguments, const char *searcher, bool default_first);

/* What recorded searches of the same length missed (clatune/certainty.h): a sentence, and an object. There is none
 * (false, null) unless the search went to its end with the searcher's default options and nothing from elsewhere, left
 * something unmeasured, and was no shorter than the shortest recorded ones. */
bool cli_certainty_text(char out[200], const clt_tune_settings *settings, const clt_tune_result *result);
json_t *cli_certainty_json(const clt_tune_settings *settings, const clt_tune_result *result);

/* "about 1 in 5", "about 4 in 10", with no more digits than the table is good for. Returns out or a constant. */
const char *cli_share(char out[32], double share);

/* --- Oclgrind (oclgrind.c) --- */

#define CLI_NO_OCLGRIND "--oclgrind needs Oclgrind: 'oclgrind' in PATH, or its driver in OCL_ICD_VENDORS"
#define CLI_OCLGRIND_VARIABLES 7

typedef struct cli_oclgrind {
  char *log; /* the path of a temporary file: Oclgrind ends with status 0 whatever it finds. NULL: not begun */
  char *before[CLI_OCLGRIND_VARIABLES]; /* of the environment */
} cli_oclgrind;

/* Makes workers that are started from now on find Oclgrind, until cli_oclgrind_end, which also deletes its log; with
 * the limits of a device (nullable). uninitialised: it looks for values that nobody wrote, too. */
int cli_oclgrind_begin(cli_oclgrind *out, const clt_device_info *device, bool uninitialised, clt_error *error);
void cli_oclgrind_end(cli_oclgrind *oclgrind);
/* What it has found so far, malloc'ed; "" nothing; NULL where the log cannot be read. *n: how many findings. */
char *cli_oclgrind_findings(size_t *n, const cli_oclgrind *oclgrind);

/* Has the winner checked as --oclgrind says. */
void cli_race_check(cli_tuning *tuning, const cli_arguments *arguments);

#define CLI_TUNING_FLAGS                                                                                       \
  CLI_FLAG_DEVICES, CLI_FLAG_SIZE, CLI_FLAG_CACHE, CLI_FLAG_OBJECTIVE, CLI_FLAG_STORE,                         \
      {"no-store", NULL, "keeps nothing and reuses nothing"},                                                  \
      {"fresh", NULL, "measures again what the store knows already"},                                          \
      {"dry-run", NULL, "says what would be measured, and what is known of it; measures nothing"},             \
      {"evaluator", "NAME",                                                                                    \
       "opencl (worker processes, the default for kernels), in-process (no isolation) or command (programs)"}, \
      {"time", "S",                                                                                            \
       "begins no evaluation after S seconds (90, 90s, 5m, 1h), without those of waiting for other tuners"},   \
      {"batch", "N", "configurations asked of the searcher at once (default: as many as there are workers)"},  \
      {"threads", "N", "threads of the model (default: all processors)"}, CLI_FLAG_SEED, CLI_FLAG_JSON, CLI_FLAG_QUIET

#endif
