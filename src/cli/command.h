/* cli/command.h - a subcommand: its flags, its help, and what it does. One file each, listed in main.c. */
#ifndef CLT_CLI_COMMAND_H
#define CLT_CLI_COMMAND_H

#include <clatune/sys/option.h>
#include <stdbool.h>
#include <stdint.h>

/* Exit codes (docs/command-line.md). */
enum {
  CLI_FOUND = 0,
  CLI_FAILURE = 1,
  CLI_USAGE = 2,
  CLI_NO_DEVICE = 3,
  CLI_NO_VALID = 4,
  CLI_VERIFY_FAILED = 5,
  CLI_STORE_UNUSABLE = 6
};

/* A flag of a command itself. argument NULL: a switch; one that ends in "..." takes all arguments up to the next flag.
 */
typedef struct cli_flag {
  const char *name, *argument, *help;
} cli_flag;

/* Flags that come from plug-ins' option tables. */
typedef struct cli_option_group {
  const char *title; /* "searcher two-stage" */
  const clt_option *options;
  size_t n_options;
} cli_option_group;

typedef struct cli_arguments cli_arguments;

typedef struct cli_command {
  const char *name, *summary, *synopsis, *description;
  const cli_flag *flags;
  size_t n_flags;
  bool searcher_options, evaluator_options, model_options; /* which plug-ins' flags it takes */
  size_t min_positional, max_positional;
  int (*run)(const cli_arguments *arguments); /* exit code */
} cli_command;

extern const cli_command cli_devices, cli_init, cli_space, cli_tune, cli_sweep, cli_sample, cli_train, cli_predict, cli_record,
    cli_convert, cli_replay, cli_report_command, cli_lookup, cli_store, cli_verify, cli_completion, cli_version;

/* All commands, in the order of the help. */
const cli_command *const *cli_commands(size_t *n);

/* Flags that many commands share, for their tables. */
#define CLI_FLAG_DEVICE                                                                                  \
  {                                                                                                      \
    "device", "NAME",                                                                                    \
        "OpenCL device: P:D, UUID, cpu, gpu, accelerator, ICD suffix, or part of a platform, vendor or " \
        "device name (default: CLATUNE_DEVICE, else the only device)"                                    \
  }
#define CLI_FLAG_SIZE \
  { "size", "NAME=N", "sets a problem parameter; may be repeated" }
#define CLI_FLAG_STORE \
  { "store", "FILE", "where measurements are kept (default: clatune/store.sqlite under XDG_DATA_HOME)" }
#define CLI_FLAG_OBJECTIVE                                                                                     \
  {                                                                                                            \
    "objective", "NAME",                                                                                       \
        "what is best: time (the default), energy, a metric of the problem file, or 'maximise EXPRESSION' or " \
        "'minimise EXPRESSION' over time_s, energy_J, sizes and parameters"                                    \
  }
#define CLI_FLAG_LEARN_FROM \
  { "learn-from", "FILE...", "recordings of the same kernel on other devices, from which the search starts" }
#define CLI_FLAG_NO_TRANSFER \
  { "no-transfer", NULL, "learns nothing from other devices, sizes or drivers" }
#define CLI_FLAG_SEED \
  { "seed", "N", "seed of all random choices (default 1)" }
#define CLI_FLAG_JSON \
  { "json", NULL, "prints the answer as JSON" }
#define CLI_FLAG_QUIET \
  { "quiet", NULL, "no progress and no notes on standard error" }

#endif
