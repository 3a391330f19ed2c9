/* cli/command.h - a subcommand: its flags, its help, and what it does. One file each, listed in main.c. */
#ifndef CLT_CLI_COMMAND_H
#define CLT_CLI_COMMAND_H

#include <clatune/problem.h>
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

/* A flag of a command itself. argument NULL: a switch; one that ends in "..." takes all that follows up to a flag. */
typedef struct cli_flag {
  const char *name, *argument, *help;
} cli_flag;

typedef struct cli_arguments cli_arguments;

typedef struct cli_command {
  const char *name, *summary, *synopsis, *description;
  const cli_flag *flags;
  size_t n_flags;
  bool searcher_options, evaluator_options, model_options; /* which plug-ins' flags it takes */
  size_t n_positional[2];                                  /* least and most */
  int (*run)(const cli_arguments *arguments);              /* exit code */
} cli_command;

#define CLI_FLAGS(table) .flags = (table), .n_flags = sizeof(table) / sizeof *(table)

/* All commands, in the order of the help. */
const cli_command *const *cli_commands(size_t *n);

/* Flags that many commands share, for their tables. */
#define CLI_FLAG(...) \
  { __VA_ARGS__ }
#define CLI_FLAG_DEVICE                                                                                            \
  CLI_FLAG("device", "NAME",                                                                                       \
           "OpenCL device: P:D, UUID, cpu, gpu, accelerator, ICD suffix, or part of a platform, vendor or device " \
           "name (default: CLATUNE_DEVICE, else the only device)")
#define CLI_FLAG_SIZE CLI_FLAG("size", "NAME=N", "sets a problem parameter; may be repeated")
#define CLI_FLAG_STORE \
  CLI_FLAG("store", "FILE", "where measurements are kept (default: clatune/store.sqlite under XDG_DATA_HOME)")
#define CLI_FLAG_OBJECTIVE                                                                                        \
  CLI_FLAG("objective", "NAME",                                                                                   \
           "what is best: time (the default), energy, a metric of the problem file, or 'maximise EXPRESSION' or " \
           "'minimise EXPRESSION' over time_s, energy_J, sizes and parameters")
#define CLI_FLAG_LEARN_FROM \
  CLI_FLAG("learn-from", "FILE...", "recordings of the same kernel on other devices, from which the search starts")
#define CLI_FLAG_NO_TRANSFER CLI_FLAG("no-transfer", NULL, "learns nothing from other devices, sizes or drivers")
#define CLI_FLAG_SEED CLI_FLAG("seed", "N", "seed of all random choices (default 1)")
#define CLI_FLAG_JSON CLI_FLAG("json", NULL, "prints the answer as JSON")
#define CLI_FLAG_QUIET CLI_FLAG("quiet", NULL, "no progress and no notes on standard error")

/* --- what was typed --- */

/* Flags that come from a plug-in's option table. */
typedef struct cli_option_group {
  char title[64]; /* "searcher two-stage" */
  const clt_option *options;
  size_t n_options;
} cli_option_group;

#define CLI_MAX_GROUPS 32

struct cli_arguments {
  const cli_command *command;
  clt_setting *typed; /* every flag in the order typed; a switch has the value "yes" */
  size_t n_typed;
  char **positional; /* owned; the texts are argv's */
  size_t n_positional;
  cli_option_group groups[CLI_MAX_GROUPS];
  size_t n_groups;
};

/* Parses argv (argv[0] is the command's name) by getopt_long. Prints a message and returns CLI_USAGE on a mistake.
 * --help is typed as any other switch. Release in either case. */
int cli_arguments_parse(cli_arguments *out, const cli_command *command, int argc, char **argv);
void cli_arguments_release(cli_arguments *arguments);

/* The last value typed for a flag; NULL: not typed. */
const char *cli_text(const cli_arguments *arguments, const char *flag);
bool cli_given(const cli_arguments *arguments, const char *flag);

/* All values typed for a flag, in order: *out is malloc'ed. Returns 0 or an exit code. */
int cli_texts(const char ***out, size_t *n, const cli_arguments *arguments, const char *flag);

/* A number in min..max, or `otherwise` where the flag was not typed. Returns 0, or CLI_USAGE after a message. */
int cli_integer(int64_t *out, const cli_arguments *arguments, const char *flag, int64_t otherwise, int64_t min,
                int64_t max);
int cli_real_number(double *out, const cli_arguments *arguments, const char *flag, double otherwise, double min,
                    double max);

/* The typed --format, one of n names; the first where none was typed, or "json" with --json, which no other one goes
 * with. Returns 0, or CLI_USAGE after a message. */
int cli_format(const char **out, const cli_arguments *arguments, const char *const *names, size_t n);

/* The typed --size NAME=N as sizes; *out is malloc'ed, their names with it. */
int cli_sizes(clt_size **out, size_t *n, const cli_arguments *arguments);

/* The typed flags that belong to the plug-in `name` of a kind ("searcher"): *out is malloc'ed. A typed flag that
 * belongs to another plug-in of the same kind and not to this one is a usage mistake. */
int cli_settings(clt_setting **out, size_t *n, const cli_arguments *arguments, const char *kind, const char *name);

#define CLI_GUESS_BYTES 128

/* "; did you mean '--budget'?" with `dashes` ("--" or "") before the one of n names that is nearest to what was typed;
 * "" where none is near. Returns out. */
const char *cli_guess(char out[CLI_GUESS_BYTES], const char *dashes, const char *typed, const char *const *names,
                      size_t n);

#endif
