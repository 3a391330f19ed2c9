/* cli/tuning.h - a tuning session from the command line; reports that follow one. */
#pragma once

#include <jansson.h>

#include "cli/cli.h"
#include "eval/evaluators.h"
#include "search/search.h"

/* --- a tuning session from the command line, shared by `tune`, `sample` and `record` --- */

typedef struct cli_tuning {
  cli_subject subject;
  clt_objective *objective;
  clt_store *store;
  clt_tune_settings settings;
  cli_progress progress;
  bool quiet;
  double load;       /* load average of the last minute before the session */
  json_t *results;   /* nullable: a list to which every evaluation is appended */
  cli_events events; /* out is owned */
  const cli_arguments *arguments;
} cli_tuning;

/* Opens problem, device and store, and fills the settings from the flags. searcher NULL: the one in the problem file,
 * else the default. */
void cli_tuning_init(cli_tuning *out, const cli_arguments *arguments, const char *searcher);

/* Changes the settings to those of a sample: no finalists, no default configuration first, and, unless the flags say
 * otherwise, no time limit relative to the best, since models learn from slow configurations too. */
void cli_tuning_sample(cli_tuning *tuning, const cli_arguments *arguments);

/* Prints the document of a session as text. */
typedef void (*cli_tuning_print)(const json_t *answer);

/* Runs the session. Then prints the result, if there is one, as JSON or with `print` (NULL: not at all), unless events
 * go to standard output. Returns the exit code. */
int cli_tuning_run(cli_tuning *tuning, cli_tuning_print print, bool as_json);

/* The result of a session as JSON (tune.c). */
json_t *cli_tuning_json(const cli_tuning *tuning, const clt_tune_result *result);

/* Parses a configuration ("a=1 b=2"). Missing parameters have their default values, with a note unless `quiet`. typed
 * NULL: the default configuration or, if that violates a constraint, the first valid one (verify.c). */
clt_config cli_choose_configuration(const char *typed, const clt_instance *instance, bool quiet);

/* Whether --cache both is given, which the objective and the evaluator must allow. */
bool cli_wants_both_caches(const cli_arguments *arguments, const clt_objective *objective);
/* Times configurations side by side with the caches in the other state than the subject's, and adds the results to the
 * JSON objects of these configurations as "other_cache" (measure.c). false: stopped. */
bool cli_add_other_cache(json_t *const *of, const cli_arguments *arguments, const cli_subject *subject,
                         const clt_config *configs, size_t n, const clt_tune_settings *settings);

/* Prints what a session would measure and how much of it is stored. Measures nothing and creates no file.
 * default_first: the default configuration is evaluated first. Returns an exit code. */
int cli_dry_run(const cli_arguments *arguments, const char *searcher, bool default_first);

/* The quality of replayed searches of the same length (clt_certainty), as a sentence and as an object. None (false,
 * null) if the search was stopped, had options, prior data or a warm start, measured the whole space, or was shorter
 * than the shortest replayed searches. */
bool cli_certainty_text(char out[200], const clt_tune_settings *settings, const clt_tune_result *result);
json_t *cli_certainty_json(const clt_tune_settings *settings, const clt_tune_result *result);

/* "about 1 in 5", "about 4 in 10", "no" or "nearly all", for a share of searches: no more digits than the table's
 * accuracy allows. Returns out or a constant. */
const char *cli_share(char out[32], double share);

#define CLI_NO_OCLGRIND "--oclgrind needs Oclgrind: 'oclgrind' in PATH, or its driver in OCL_ICD_VENDORS"

#define CLI_TUNING_FLAGS                                                                                       \
  CLI_FLAG_DEVICES, CLI_FLAG_SIZE, CLI_FLAG_CACHES, CLI_FLAG_OBJECTIVE, CLI_FLAG_STORE,                        \
      {"no-store", NULL, "neither stores nor reuses measurements"},                                            \
      {"fresh", NULL, "measures stored configurations again"},                                                 \
      {"dry-run", NULL, "prints what would be measured; measures nothing"},                                    \
      {"evaluator", "NAME",                                                                                    \
       "opencl (worker processes, the default for kernels), in-process (no isolation) or command (programs)"}, \
      {"time", "S",                                                                                            \
       "starts no evaluation after S seconds (90, 90s, 5m, 1h); waiting for other tuners does not count"},     \
      {"batch", "N", "configurations that the searcher proposes at once (default: the number of workers)"},    \
      {"threads", "N", "threads of the model (default: all processors)"}, CLI_FLAG_SEED, CLI_FLAG_JSON, CLI_FLAG_QUIET

/* The text that tune and verify print for a program whose result nothing compares. */
#define CLI_UNCHECKED_PROGRAM "it runs; the result was not checked, because the problem has no \"Check\" command"

/* --- what the events of a running search, sweep or farm say, for `clatune report --follow` --- */

/* Zeroed before use, but for the path. */
typedef struct cli_follow {
  const char *path; /* of a file of --events */
  json_t *tunings;  /* key of the tuning -> its state */
  long offset;      /* of the first line that is not read yet */
  bool ended;
} cli_follow;

/* Reads the lines that are new, and complete. Returns whether there are any. A file that got shorter is a new one. */
bool cli_follow_read(cli_follow *follow);
/* The state for the page: "file", "ended" and "tunings". */
json_t *cli_follow_json(const cli_follow *follow);
void cli_follow_release(cli_follow *follow);
