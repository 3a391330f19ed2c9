/* cli/cli.h - shared by the commands. Each command has a file and is listed in main.c. Unless a function returns an
 * exit code, a failure prints a message and ends the program. Results live until the command ends (cli_keep). */
#ifndef CLT_CLI_CLI_H
#define CLT_CLI_CLI_H

#include <clatune/lookup.h>
#include <clatune/model.h>
#include <clatune/recording.h>
#include <clatune/store.h>
#include <clatune/sys/option.h>
#include <clatune/tune.h>
#include <jansson.h>
#include <stdio.h>

#include "base/file.h"
#include "base/json.h"
#include "base/plugin.h"
#include "measurement/objective.h"
#include "store/store.h"

/* --- a command: its flags, its help and its function --- */

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
#define CLI_FLAG_STORE                                                                    \
  CLI_FLAG("store", "FILE",                                                               \
           "store with the measurements: a file or postgresql://HOST/DATABASE (default: " \
           "clatune/store.sqlite under XDG_DATA_HOME)")
#define CLI_FLAG_OBJECTIVE                                                                                           \
  CLI_FLAG(                                                                                                          \
      "objective", "NAME",                                                                                           \
      "quantity to optimise: time (the default), energy, a metric of the problem file, or 'maximise EXPRESSION' or " \
      "'minimise EXPRESSION' of time_s, energy_J, sizes and parameters")
#define CLI_FLAG_LEARN_FROM \
  CLI_FLAG("learn-from", "FILE...", "recordings of the same kernel on other devices, used as prior data")
#define CLI_FLAG_NO_TRANSFER \
  CLI_FLAG("no-transfer", NULL, "uses no measurements of other devices, sizes or drivers as prior data")
#define CLI_FLAG_SEED CLI_FLAG("seed", "N", "seed of all random choices (default 1)")
#define CLI_FLAG_JSON CLI_FLAG("json", NULL, "prints the answer as JSON")
#define CLI_FLAG_EVENTS                                                                                             \
  CLI_FLAG("events", "FILE",                                                                                        \
           "writes events as JSON lines (started, phase, evaluation, incumbent, finished); -: to standard output, " \
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

/* --- standard output and standard error (output.c) --- */

/* Replaces standard output and standard error by streams that filter control characters other than newlines and tabs
 * (clt_text_add_shown), so that names, stores, drivers and measured programs cannot control the terminal. */
void cli_streams_open(void);

/* Ends the filtering of standard output, unless it is a terminal: other programs need exact answers. */
void cli_exact_output(void);

/* --- messages, and the end of the program --- */

/* Reports that standard output cannot be written, unless its reader has closed it. Returns the exit code. */
int cli_output_failed(void);

/* Prints "clatune: ..." on standard error and returns `code`. */
int cli_message(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same, then ends the program with that exit code, after cli_end. Only for the main thread. It returns int so that
 * it can be used in expressions. */
int cli_die(int code, const char *format, ...) __attribute__((noreturn, format(printf, 2, 3)));
#define cli_usage(...) cli_die(CLI_USAGE, __VA_ARGS__)
#define cli_failure(...) cli_die(CLI_FAILURE, __VA_ARGS__)

/* Prints an error of the library and returns the matching exit code; cli_report ends the program with it. */
int cli_say(const clt_error *error);
int cli_report(const clt_error *error) __attribute__((noreturn));
int cli_exit_code(int code); /* the exit code for a result code of the library */

/* The error of the latest library call. cli_check ends the program with it if rc is not 0. */
extern clt_error cli_error;
void cli_check(int rc);
void cli_check_typed(int rc); /* the same, as a usage error */

/* cli_keep registers `what` for release when the command ends, in reverse order, and returns it. cli_keep_memory: for
 * malloc'ed memory; NULL ends the program as out of memory. cli_new: n zeroed elements. cli_end: releases all. */
void cli_exit(int code) __attribute__((noreturn)); /* cli_end, then ends the program */
void *cli_keep(void *what, void (*release)(void *what));
void *cli_keep_memory(void *memory);
void *cli_new(size_t n, size_t bytes);
void cli_end(void);

/* A clt_log_fn that prints on standard error. user: a nullable bool *; true: warnings only. */
void cli_log(void *user, clt_log_level level, const char *text);

/* --- JSON: all give new references --- */

/* Prints a JSON value (reference stolen). Returns 0, or CLI_FAILURE if standard output fails. NULL ends the program as
 * out of memory. */
int cli_print_json(json_t *json);

/* Adds indented JSON, with lists of numbers and texts on one line. */
void cli_add_json(clt_text *out, json_t *json, int indent);

json_t *cli_json_configuration(const clt_space *space, clt_config config);
json_t *cli_json_configuration_text(const clt_instance *instance, const char *text); /* from "a=1 b=2"; null: invalid */
json_t *cli_json_sizes(const clt_instance *instance);
json_t *cli_json_device(const clt_device_info *device); /* nullable: null */
json_t *cli_json_best_options(const clt_instance *instance, clt_config config);
json_t *cli_json_launches(const clt_launch_sizes *launches, size_t n);

/* --- figures --- */

/* A value of the standard metric as text: a time, or a figure in the program's own unit. cli_figure_of: the value of a
 * measurement. Both return out. */
const char *cli_figure(char out[64], const clt_objective *objective, double value);
const char *cli_figure_of(char out[64], const clt_objective *objective, const clt_measurement *m);
/* The same for the median of rounds, with its interval: "1.672 ms +- 2.8 % (95 %)", and above 50 %
 * "1.672 ms, 1.2 ms to 4.9 ms (95 %)". Returns out. */
const char *cli_median_of(char out[200], const clt_objective *objective, const clt_measurement *m);

/* The problem's figure of quality as {"name", "unit", "value"}: null if it has none; the value is null if not known. As
 * text: a line whose label is padded to `width`; nothing if the problem has none. */
/* checks.c: the checks of a configuration. *other_sizes: the first ones at which it passed; NULL: none. */
json_t *cli_json_checks(const clt_check_result *checks, size_t n);
void cli_print_checks(const char *title, const clt_check_result *checks, size_t n, int width);
bool cli_checked_elsewhere(const clt_check_result *checks, size_t n, const char **other_sizes);

json_t *cli_json_quality(const clt_problem *problem, double value);
void cli_print_quality(const clt_problem *problem, double value, int width);

/* The objective of --objective, else of the problem, else time. */
clt_objective *cli_objective(const cli_arguments *arguments, const clt_instance *instance);

/* {"name", "expression", "unit", "goal"}, "maximise GFLOP/s", "minimise energy_J * time_s" */
json_t *cli_json_objective(const clt_objective *objective);
const char *cli_objective_text(char out[160], const clt_objective *objective);

/* "1.234 ms", "345 GFLOP/s" into out; "-" for NaN. Returns out. */
const char *cli_value(char out[96], const clt_objective *objective, double value);

/* The metrics of a measurement that have a value, energy included, time excluded: [{"name", "value", "unit"}]. As text:
 * one line per metric, without the objective, with labels padded to `width`. */
json_t *cli_json_metrics(const clt_objective *objective, const clt_measurement *measurement);
void cli_print_metrics(const clt_objective *objective, const clt_measurement *measurement, int width);

/* Whether each word of `words` is a word of `text`; words are separated by spaces. */
bool cli_has_words(const char *text, const char *words);

/* --- progress: a bar on a terminal, else plain lines --- */

typedef struct cli_progress {
  bool quiet, terminal, colour;
  double next_s; /* when the next line is due */
  char phase[32];
  bool bar_shown;
  const clt_objective *objective; /* borrowed */
} cli_progress;

/* objective: of the shown values; NULL if only cli_progress_bar is used. */
void cli_progress_init(cli_progress *progress, bool quiet, const clt_objective *objective);
void cli_progress_update(cli_progress *progress, const clt_progress *now);
void cli_progress_end(cli_progress *progress); /* removes the bar */

/* Draws a bar, filled to `share` (0 to 1), and text. cli_duration: "4m10s"; returns out. */
void cli_progress_bar(double share, bool colour, const char *text);
const char *cli_duration(char out[32], double seconds);

/* From here on, SIGINT, SIGTERM and SIGHUP ask for an orderly end; a second one ends the program at once. Without this
 * call they end it as usual. */
void cli_signals_install(void);
const volatile int *cli_signals_flag(void); /* the number of the received signal; 0: none */

/* Asks for an orderly end as that signal does. */
void cli_stop(int signal);

/* --- progress as JSON lines, with --events (events.c) --- */

#define CLI_SCHEMA 1 /* of `tune --json` and the events; members may be added, existing ones keep their meaning */

/* Zeroed before use. */
typedef struct cli_events {
  FILE *out;                      /* borrowed; NULL: no events */
  const char *tuning;             /* in a sweep, the key of the tuning, added to every line; NULL: none */
  const clt_space *space;         /* borrowed */
  const clt_objective *objective; /* borrowed */
  char phase[32];
  int64_t measured;
  clt_config best;
  double best_value;
} cli_events;

/* Opens the file of --events; "-" is standard output. NULL: not given. */
FILE *cli_events_open(const cli_arguments *arguments);
int cli_events_close(FILE *events); /* nullable; returns 0, or CLI_FAILURE after a message */

/* Writes a line: "event", then the members of body (reference stolen). Asks for an orderly end if the reader of
 * standard output has closed it. */
void cli_event(const cli_events *events, const char *name, json_t *body);
void cli_event_started(const cli_events *events, const clt_instance *instance, const clt_device_info *device,
                       const clt_tune_settings *settings);
void cli_events_progress(cli_events *events, const clt_progress *now); /* "phase", "evaluation", "incumbent" */

/* now->last as JSON; "known": it was not measured now. Call before cli_events_progress. */
json_t *cli_json_evaluation(const cli_events *events, const clt_progress *now);

/* --- the best configurations for other builds, on standard output (export.c) --- */

/* A parameter in a text such as "a=1 b=2". */
typedef struct cli_parameter {
  const char *name; /* name_length bytes, borrowed from the text */
  int name_length;
  bool is_spelled; /* the value is a text that was written with escapes, never a number */
  char value[CLT_MAX_CONFIG_TEXT];
} cli_parameter;
bool cli_next_parameter(cli_parameter *out, const char **at); /* moves *at behind the parameter; false: none left */

struct clt_portable;

/* Writes a C header with all stored results of a problem: a table to select from at run time (clatune_<name>_find), the
 * build options of an entry at any sizes (clatune_<name>_options), and macros for the entry selected at compile time
 * (-DCLATUNE_<NAME>_ENTRY=0). Texts are quoted so that none can end its string or comment. portable (nullable): one
 * configuration, with an entry for each of its places, a macro for each parameter, and CLATUNE_<NAME>_OPTIONS. */
void cli_export_header(clt_catalog *catalog, const clt_problem *problem, const struct clt_portable *portable);

/* Writes CMake variables: CLATUNE_<NAME>_OPTIONS and one per parameter. from: a comment on the origin. */
void cli_export_cmake(const clt_problem *problem, const char *from, const char *configuration, const char *options);

/* --- the problem, device, instance and store of a command (subject.c) --- */

typedef struct cli_subject {
  clt_problem *problem;
  clt_device_info *device; /* array of n_devices; NULL: none */
  size_t n_devices;
  clt_instance *instance;
} cli_subject;

/* CLI_DEVICES_REQUIRED: one or several. CLI_DEVICE_KNOWN: the device may be missing on this machine if the store
 * (--store, else the user's or the system's) describes it; the newest driver counts. */
typedef enum cli_device_need {
  CLI_DEVICE_IF_NAMED,
  CLI_DEVICE_REQUIRED,
  CLI_DEVICES_REQUIRED,
  CLI_DEVICE_KNOWN
} cli_device_need;

/* Loads a problem file and instantiates it at the sizes of --size on the device of --device, else of CLATUNE_DEVICE,
 * else (if one is required) on the only device. */
cli_subject cli_subject_new(const cli_arguments *arguments, const char *path, cli_device_need need);

/* The same in two steps: first the problem, with --cache; then the rest. The device of a program is the machine itself;
 * --device can only confirm it. */
cli_subject cli_subject_load(const cli_arguments *arguments, const char *path);
void cli_subject_complete(cli_subject *subject, const cli_arguments *arguments, cli_device_need need);

/* As clt_devices, but a driver that breaks the others is left out from then on, with a warning. */
int cli_devices_here(clt_device_info **out, size_t *n, clt_error *error);

/* If no GPU or accelerator is listed, but the library of a known driver has one: prints how to use it. */
void cli_suggest_drivers(const clt_device_info *devices, size_t n);

/* The device of this machine that `text` names (NULL: the only one). Returns a result code and prints nothing. */
int cli_find_device(clt_device_info *out, const char *text, clt_error *error);

/* The device of this machine named by --device, else by CLATUNE_DEVICE, else the only one. */
void cli_choose_device(clt_device_info *out, const cli_arguments *arguments);

/* Opens the store of --store, else the default one. cli_open_store_to_read: read only; NULL if it does not exist. */
clt_store *cli_open_store(const cli_arguments *arguments);
clt_store *cli_open_store_to_read(const cli_arguments *arguments);
clt_store *cli_read_store(const char *path); /* read only; it must exist */
bool cli_has_store(const cli_arguments *arguments);

/* Ends the program with the message that there is no store. cli_note_no_store: only prints it, unless --quiet. */
int cli_no_store(const cli_arguments *arguments) __attribute__((noreturn));
void cli_note_no_store(const cli_arguments *arguments);

/* Loads n recordings. cli_load_sources: the *n of --learn-from; none with --no-transfer. */
clt_recording **cli_load_recordings(const char *const *paths, size_t n);
clt_recording **cli_load_sources(size_t *n, const cli_arguments *arguments);

/* Fits a model of a type (NULL: auto) to the stored measurements of the subject, at all sizes (*n_sizes of them) or
 * only at its own, with the options of `clatune train`. It predicts for the subject's instance. */
clt_model *cli_fit(const cli_arguments *arguments, const cli_subject *subject, const char *type, bool own_size,
                   size_t *n_sizes);

/* The model saved by `clatune train`; if there is none, a model fitted now. */
clt_model *cli_trained_model(const cli_arguments *arguments, const cli_subject *subject);

#endif
