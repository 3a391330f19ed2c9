/* cli/arguments.h - a command: its flags, its help, its function; and its parsed command line. */
#pragma once

#include <clatune/problem.h>
#include <clatune/sys/option.h>

#include "base/plugin.h"

/* Exit codes: enumerator, code, meaning. The man page and the documentation take the texts from here. */
#define CLI_EXIT_TABLE(X)                                                                                         \
  X(CLI_FOUND, 0, "success; of a tuning: a correct configuration was found")                                      \
  X(CLI_FAILURE, 1, "failure, such as a mistake in a file or lack of memory")                                     \
  X(CLI_USAGE, 2, "usage: an unknown command or option, or an invalid argument")                                  \
  X(CLI_NO_DEVICE, 3, "no device matches, or several do")                                                         \
  X(CLI_NO_VALID, 4, "no valid configuration: none satisfies the constraints, or none ran with a correct result") \
  X(CLI_VERIFY_FAILED, 5, "verification failed")                                                                  \
  X(CLI_STORE_UNUSABLE, 6, "the store cannot be used: it is damaged, out of reach, or no store")                  \
  X(CLI_HUNG_UP, 129, "interrupted by SIGHUP; measurements are kept, and the same command continues")             \
  X(CLI_INTERRUPTED, 130, "interrupted by SIGINT (Ctrl-C), likewise")                                             \
  X(CLI_UNREAD, 141, "interrupted because the reader of '--events -' has closed standard output, likewise")       \
  X(CLI_TERMINATED, 143, "interrupted by SIGTERM, likewise")

enum {
#define CLI_EXIT_ENUM(id, code, text) id = code,
  CLI_EXIT_TABLE(CLI_EXIT_ENUM)
#undef CLI_EXIT_ENUM
};

/* A flag of a command. argument: NULL for a switch; if it ends in "...", the flag takes all arguments up to the next
 * flag. */
typedef struct cli_flag {
  const char *name, *argument, *help;
} cli_flag;

typedef struct cli_arguments cli_arguments;

typedef struct cli_command {
  const char *name, *summary, *synopsis, *description;
  const cli_flag *flags;
  size_t n_flags;
  const char *examples;          /* lines for the end of the help; NULL: none */
  const clt_plugins *plugins[4]; /* the kinds of plug-ins whose flags it takes; ends with NULL */
  size_t n_positional[2];        /* minimum and maximum */
  const char *passes; /* the switch that makes arguments after "--" those of another program; "": always; NULL: never */
  int (*run)(const cli_arguments *arguments); /* exit code */
} cli_command;

#define CLI_FLAGS(table) .flags = (table), .n_flags = sizeof(table) / sizeof *(table)

const cli_flag *cli_find_flag(const cli_command *command, const char *name); /* NULL: not found */

/* All commands, in the order of the help, with those of the installed programs. */
const cli_command *const *cli_commands(size_t *n);

/* Flags that many commands share, for their tables. */
#define CLI_FLAG(...) \
  { __VA_ARGS__ }
#define CLI_DEVICE_TEXT                                                                                         \
  "OpenCL device: P:D, UUID, cpu, gpu, accelerator, ICD suffix, or part of a platform, vendor or device name (" \
  "default: CLATUNE_DEVICE, else the only device)"
#define CLI_FLAG_DEVICE CLI_FLAG("device", "NAME", CLI_DEVICE_TEXT)
#define CLI_FLAG_DEVICES CLI_FLAG("device", "NAME", CLI_DEVICE_TEXT "; equal ones share the work: 0:0,0:1 or gpu:all")
#define CLI_FLAG_SIZE CLI_FLAG("size", "NAME=N", "sets a problem parameter; may be repeated")
#define CLI_FLAG_CACHE       \
  CLI_FLAG("cache", "STATE", \
           "state of the device's caches before a run: warm or cold (default: from the problem file, else warm)")
#define CLI_FLAG_CACHES                                                                                             \
  CLI_FLAG(                                                                                                         \
      "cache", "STATE",                                                                                             \
      "state of the device's caches before a run: warm, cold or, for the times in the result, both (default: from " \
      "the problem file, else warm)")
#define CLI_FLAG_STORE                                                                    \
  CLI_FLAG("store", "FILE",                                                               \
           "store with the measurements: a file or postgresql://HOST/DATABASE (default: " \
           "clatune/store.sqlite under XDG_DATA_HOME)")
#define CLI_FLAG_OBJECTIVE                                                                                            \
  CLI_FLAG(                                                                                                           \
      "objective", "NAME",                                                                                            \
      "quantity to optimise, or up to four with commas between: time (the default), energy, a metric of the problem " \
      "file, 'maximise EXPRESSION' or 'minimise EXPRESSION' of time_s, energy_J, sizes and parameters")
#define CLI_FLAG_LEARN_FROM \
  CLI_FLAG("learn-from", "FILE...", "recordings of the same kernel on other devices, used as sources")
#define CLI_FLAG_NO_TRANSFER \
  CLI_FLAG("no-transfer", NULL, "uses no measurements of other devices, sizes or drivers as sources")
#define CLI_FLAG_SEED CLI_FLAG("seed", "N", "seed of all random choices (default 1)")
#define CLI_FLAG_JSON CLI_FLAG("json", NULL, "prints the answer as JSON")
#define CLI_FLAG_EVENTS                                                                                               \
  CLI_FLAG(                                                                                                           \
      "events", "FILE",                                                                                               \
      "writes events as JSON lines (started, phase, waits, evaluation, incumbent, finished); -: to standard output, " \
      "instead of the answer")
#define CLI_FLAG_QUIET CLI_FLAG("quiet", NULL, "prints no progress and no notes on standard error")

/* --- the parsed command line --- */

struct cli_arguments {
  const cli_command *command;
  clt_setting *typed; /* all given flags, in order; a switch has the value "yes" */
  size_t n_typed;
  char **positional; /* borrowed from argv */
  size_t n_positional;
  char **passed; /* borrowed from argv: the command line of another program */
  size_t n_passed;
};

/* Parses argv (argv[0] is the command's name) with getopt_long. --help is a switch like any other. */
void cli_arguments_parse(cli_arguments *out, const cli_command *command, int argc, char **argv);

/* An action of a command, named by its first argument: "list" in "clatune store list". */
typedef struct cli_action {
  const char *name;
  size_t max_positional; /* including its name */
  const char *flags;     /* " size device ": its flags in addition to store, json, quiet and help; " * ": also those of
                            plug-ins */
  int (*run)(const cli_arguments *arguments);
} cli_action;
/* Runs the named action. hint: "; ..." or "", for the message about a superfluous argument. Returns an exit code. */
int cli_run_action(const cli_arguments *arguments, const cli_action *actions, size_t n, const char *hint);

/* The last value given for a flag; NULL: the flag was not given. */
const char *cli_text(const cli_arguments *arguments, const char *flag);
bool cli_given(const cli_arguments *arguments, const char *flag);

/* All *n values given for a flag, in order. */
const char **cli_texts(size_t *n, const cli_arguments *arguments, const char *flag);

/* A flag's value as a number in min..max; `otherwise` if the flag was not given. */
int64_t cli_integer(const cli_arguments *arguments, const char *flag, int64_t otherwise, int64_t min, int64_t max);
double cli_real_number(const cli_arguments *arguments, const char *flag, double otherwise, double min, double max);

/* The same for a time such as "90", "90s", "5m" or "1h", in seconds. */
double cli_seconds(const cli_arguments *arguments, const char *flag, double otherwise, double min, double max);

/* Ends the program with a message: there is no plug-in with this name. The message suggests a similar name. */
int cli_no_plugin(const cli_arguments *arguments, const clt_plugins *plugins, const char *name)
    __attribute__((noreturn));

/* The value of --format, which must be one of n names. Without --format: "json" if --json was given, else the first
 * name. */
const char *cli_format(const cli_arguments *arguments, const char *const *names, size_t n);

/* The *n sizes given with --size NAME=N. */
clt_size *cli_sizes(size_t *n, const cli_arguments *arguments);

/* The *n given flags that are options of the plug-in `name`. A flag that is only an option of other plug-ins of the
 * same kind is a usage error. */
clt_setting *cli_settings(size_t *n, const cli_arguments *arguments, const clt_plugins *plugins, const char *name);

#define CLI_GUESS_BYTES 128

/* Writes "; did you mean '--budget'?" with the most similar of n names after `dashes` ("--" or ""), or "" if none is
 * similar. Returns out. */
const char *cli_guess(char out[CLI_GUESS_BYTES], const char *dashes, const char *typed, const char *const *names,
                      size_t n);
