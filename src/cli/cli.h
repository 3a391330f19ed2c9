/* cli/cli.h - what the commands are made of. A file each, listed in main.c. A failure ends the program where it is
 * found, after a message. What functions give out here stays the command's until it ends (cli_keep). */
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

/* --- a subcommand: its flags, its help, and what it does --- */

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
  const char *examples;          /* lines for the end of the help; NULL: none */
  const clt_plugins *plugins[4]; /* the kinds of plug-ins whose flags it takes, NULL */
  size_t n_positional[2];        /* least and most */
  const char *passes;            /* the switch with which all behind "--" is another program's; NULL: none */
  int (*run)(const cli_arguments *arguments); /* exit code */
} cli_command;

#define CLI_FLAGS(table) .flags = (table), .n_flags = sizeof(table) / sizeof *(table)

const cli_flag *cli_find_flag(const cli_command *command, const char *name); /* NULL: it has none of that name */

/* All commands, in the order of the help. */
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
           "warm or cold: what a run finds in the device's caches (default: as the problem file says, else warm)")
#define CLI_FLAG_STORE                                                                            \
  CLI_FLAG("store", "FILE",                                                                       \
           "where measurements are kept (default: clatune/store.sqlite under XDG_DATA_HOME), or " \
           "postgresql://HOST/DATABASE")
#define CLI_FLAG_OBJECTIVE                                                                                        \
  CLI_FLAG("objective", "NAME",                                                                                   \
           "what is best: time (the default), energy, a metric of the problem file, or 'maximise EXPRESSION' or " \
           "'minimise EXPRESSION' over time_s, energy_J, sizes and parameters")
#define CLI_FLAG_LEARN_FROM \
  CLI_FLAG("learn-from", "FILE...", "recordings of the same kernel on other devices, from which the search starts")
#define CLI_FLAG_NO_TRANSFER CLI_FLAG("no-transfer", NULL, "learns nothing from other devices, sizes or drivers")
#define CLI_FLAG_SEED CLI_FLAG("seed", "N", "seed of all random choices (default 1)")
#define CLI_FLAG_JSON CLI_FLAG("json", NULL, "prints the answer as JSON")
#define CLI_FLAG_EVENTS                                                                                           \
  CLI_FLAG("events", "FILE",                                                                                      \
           "writes what happens as JSON lines (started, phase, evaluation, incumbent, finished); -: to standard " \
           "output, in place of the answer")
#define CLI_FLAG_QUIET CLI_FLAG("quiet", NULL, "no progress and no notes on standard error")

/* --- what was typed --- */

struct cli_arguments {
  const cli_command *command;
  clt_setting *typed; /* every flag in the order typed; a switch has the value "yes" */
  size_t n_typed;
  char **positional; /* argv's texts */
  size_t n_positional;
  char **passed; /* argv's: what goes to another program */
  size_t n_passed;
};

/* Parses argv (argv[0] is the command's name) by getopt_long. --help is typed as any other switch. */
void cli_arguments_parse(cli_arguments *out, const cli_command *command, int argc, char **argv);

/* What a command does whose first word says what ("clatune store list"). */
typedef struct cli_action {
  const char *name;
  size_t max_positional; /* its own name included */
  const char *flags;     /* " store json ": those that it takes beside store, json, quiet and help; " * ": and those of
                            plug-ins */
  int (*run)(const cli_arguments *arguments);
} cli_action;
/* hint: for who gives an action too many words, "; ..." or "". */
int cli_run_action(const cli_arguments *arguments, const cli_action *actions, size_t n, const char *hint);

/* The last value typed for a flag; NULL: not typed. */
const char *cli_text(const cli_arguments *arguments, const char *flag);
bool cli_given(const cli_arguments *arguments, const char *flag);

/* All values typed for a flag, in order. */
const char **cli_texts(size_t *n, const cli_arguments *arguments, const char *flag);

/* A number in min..max, or `otherwise` where the flag was not typed. */
int64_t cli_integer(const cli_arguments *arguments, const char *flag, int64_t otherwise, int64_t min, int64_t max);
double cli_real_number(const cli_arguments *arguments, const char *flag, double otherwise, double min, double max);

/* The same of a time: "90", "90s", "5m", "1h". In seconds. */
double cli_seconds(const cli_arguments *arguments, const char *flag, double otherwise, double min, double max);

/* Ends the program: a kind has no plug-in of that name. Says which may be meant. */
int cli_no_plugin(const cli_arguments *arguments, const clt_plugins *plugins, const char *name)
    __attribute__((noreturn));

/* The typed --format, one of n names; the first where none was typed, or "json" with --json, which no other one goes
 * with. */
const char *cli_format(const cli_arguments *arguments, const char *const *names, size_t n);

/* The typed --size NAME=N as sizes. */
clt_size *cli_sizes(size_t *n, const cli_arguments *arguments);

/* The typed flags that belong to the plug-in `name` of a kind. A typed flag that belongs to another plug-in of the same
 * kind and not to this one is a usage mistake. */
clt_setting *cli_settings(size_t *n, const cli_arguments *arguments, const clt_plugins *plugins, const char *name);

#define CLI_GUESS_BYTES 128

/* "; did you mean '--budget'?" with `dashes` ("--" or "") before the one of n names that is nearest to what was typed;
 * "" where none is near. Returns out. */
const char *cli_guess(char out[CLI_GUESS_BYTES], const char *dashes, const char *typed, const char *const *names,
                      size_t n);

/* --- standard output and standard error (output.c) --- */

/* From here on all that is printed to standard output and standard error is shown as clt_text_add_shown says, with
 * newlines and tabs: names, stores, drivers and measured programs cannot steer the terminal. */
void cli_streams_open(void);

/* Where standard output is no terminal, what is printed from here on goes out as it is: other programs read it. */
void cli_exact_output(void);

/* --- messages, and the end of the program --- */

/* Says that standard output cannot be written to, unless its reader has gone; returns the exit code. */
int cli_output_failed(void);

/* "clatune: ..." on standard error; returns the exit code. */
int cli_message(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same, and ends the program with that exit code, after cli_end. For the thread of main alone. They return int so
 * that they can stand where a result is wanted. */
int cli_die(int code, const char *format, ...) __attribute__((noreturn, format(printf, 2, 3)));
#define cli_usage(...) cli_die(CLI_USAGE, __VA_ARGS__)
#define cli_failure(...) cli_die(CLI_FAILURE, __VA_ARGS__)

/* Prints an error of the library and returns the exit code that stands for it; cli_report ends the program with it. */
int cli_say(const clt_error *error);
int cli_report(const clt_error *error) __attribute__((noreturn));
int cli_exit_code(int code); /* of a result code of the library */

/* What a call of the library says of its failure, which cli_check then ends the program with. One for all of them. */
extern clt_error cli_error;
void cli_check(int rc);
void cli_check_typed(int rc); /* whatever the error, it is a usage mistake */

/* Releases `what` when the command ends, however it does: the last one first. Returns what. cli_keep_memory: malloc'ed;
 * NULL is out of memory, and ends the program. cli_new: n zeroed elements. cli_end: does it now. */
void cli_exit(int code) __attribute__((noreturn)); /* ends the command, and the program */
void *cli_keep(void *what, void (*release)(void *what));
void *cli_keep_memory(void *memory);
void *cli_new(size_t n, size_t bytes);
void cli_end(void);

/* Prints warnings and information of the library; user is a bool *: quiet (warnings only). */
void cli_log(void *user, clt_log_level level, const char *text);

/* --- JSON: all give new references --- */

/* Prints a JSON value (reference stolen) and returns 0, or CLI_FAILURE where standard output has failed. NULL is out of
 * memory. */
int cli_print_json(json_t *json);

json_t *cli_json_configuration(const clt_space *space, clt_config config);
json_t *cli_json_configuration_text(const clt_instance *instance, const char *text); /* of "a=1 b=2"; null: unknown */
json_t *cli_json_sizes(const clt_instance *instance);
json_t *cli_json_device(const clt_device_info *device); /* null where there is none */
json_t *cli_json_best_options(const clt_instance *instance, clt_config config);

/* --- figures --- */

/* A value of the standard metric, as clt_time_text or in the program's own unit; that of a measurement. Return out. */
const char *cli_figure(char out[64], const clt_objective *objective, double value);
const char *cli_figure_of(char out[64], const clt_objective *objective, const clt_measurement *m);
/* Of a measurement that is a median, with its interval: "1.672 ms +- 2.8 % (95 %)". Returns out. */
const char *cli_median_of(char out[128], const clt_objective *objective, const clt_measurement *m);

/* The problem's figure of quality, {"name", "unit", "value"}: null where it has none, the value null where that is not
 * known. As text: a line whose label is padded to `width`; nothing where the problem has none. */
json_t *cli_json_quality(const clt_problem *problem, double value);
void cli_print_quality(const clt_problem *problem, double value, int width);

/* --objective, else the problem's, else time. */
clt_objective *cli_objective(const cli_arguments *arguments, const clt_instance *instance);

/* {"name", "expression", "unit", "goal"}, "maximise GFLOP/s", "minimise energy_J * time_s" */
json_t *cli_json_objective(const clt_objective *objective);
const char *cli_objective_text(char out[160], const clt_objective *objective);

/* "1.234 ms", "345 GFLOP/s" into out; "-" for NaN. Returns out. */
const char *cli_value(char out[96], const clt_objective *objective, double value);

/* What is computed of a measurement, energy included: [{"name", "value", "unit"}], those that have a value. As text: a
 * line each, whose label is padded to `width`. Time is not among them, nor as text the objective. */
json_t *cli_json_metrics(const clt_objective *objective, const clt_measurement *measurement);
void cli_print_metrics(const clt_objective *objective, const clt_measurement *measurement, int width);

/* Whether each of some words, which blanks part, is one of text. */
bool cli_has_words(const char *text, const char *words);

/* --- how a tuning gets on: a bar on a terminal, plain lines elsewhere --- */

typedef struct cli_progress {
  bool quiet, terminal, colour;
  double next_s; /* when the next line is due */
  char phase[32];
  bool bar_shown;
  const clt_objective *objective; /* borrowed */
} cli_progress;

/* objective: what the figures are of; NULL where the bar is drawn by cli_progress_bar alone. */
void cli_progress_init(cli_progress *progress, bool quiet, const clt_objective *objective);
void cli_progress_update(cli_progress *progress, const clt_progress *now);
void cli_progress_end(cli_progress *progress); /* takes the bar away */

/* What others draw with: a bar of which a share is filled, and "4m10s". Returns out. */
void cli_progress_bar(double share, bool colour, const char *text);
const char *cli_duration(char out[32], double seconds);

/* While something is tuned, SIGINT, SIGTERM and SIGHUP ask for an orderly end; a second one ends at once. Other
 * commands end by them as any program does. */
void cli_signals_install(void);
const volatile int *cli_signals_flag(void); /* the signal's number once one came; 0 before */

/* Asks for an end as that signal does. */
void cli_stop(int signal);

/* --- the same as JSON lines, with --events (events.c) --- */

#define CLI_SCHEMA 1 /* of `tune --json` and the events: members are added, never changed */

/* Zeroed before use. */
typedef struct cli_events {
  FILE *out;                      /* borrowed; NULL: nothing is written */
  const char *tuning;             /* in a sweep, a member of every line: the key of its results; NULL: none */
  const clt_space *space;         /* borrowed */
  const clt_objective *objective; /* borrowed */
  char phase[32];
  int64_t measured;
  clt_config best;
  double best_value;
} cli_events;

/* --events FILE or -, which is standard output; NULL: not typed. */
FILE *cli_events_open(const cli_arguments *arguments);
int cli_events_close(FILE *events); /* nullable; returns 0, or CLI_FAILURE after a message */

/* Writes a line: "event", then the members of body (reference stolen). Where nobody reads standard output any more, it
 * asks for an end. */
void cli_event(const cli_events *events, const char *name, json_t *body);
void cli_event_started(const cli_events *events, const clt_instance *instance, const clt_device_info *device,
                       const clt_tune_settings *settings);
void cli_events_progress(cli_events *events, const clt_progress *now); /* "phase", "evaluation", "incumbent" */

/* now->last; "known": it was not measured now. Before cli_events_progress. */
json_t *cli_json_evaluation(const cli_events *events, const clt_progress *now);

/* --- the best configurations as text for other people's builds, on standard output (export.c) --- */

/* A parameter of "a=1 b=2". */
typedef struct cli_parameter {
  const char *name; /* name_length bytes of that text */
  int name_length;
  bool is_spelled; /* the value is a text that stands there in another form, never a number */
  char value[CLT_MAX_CONFIG_TEXT];
} cli_parameter;
bool cli_next_parameter(cli_parameter *out, const char **at); /* goes on behind it; false: there is no other one */

struct clt_portable;

/* A C header of all that is known of a problem: a table to choose from at run time (clatune_<name>_find), the build
 * options of an entry at any sizes (clatune_<name>_options), and macros for the entry that the compiler is told
 * (-DCLATUNE_<NAME>_ENTRY=0). Texts are quoted so that none of them can end its string or comment. portable (nullable):
 * one configuration for all its places, which are the entries; and a macro for each parameter and
 * CLATUNE_<NAME>_OPTIONS, also for a kernel. */
void cli_export_header(clt_catalog *catalog, const clt_problem *problem, const struct clt_portable *portable);

/* CMake variables: CLATUNE_<NAME>_OPTIONS and one a parameter. `from` is a comment. */
void cli_export_cmake(const clt_problem *problem, const char *from, const char *configuration, const char *options);

/* --- what most commands begin with: the problem, the device, the instance, the store (subject.c) --- */

typedef struct cli_subject {
  clt_problem *problem;
  clt_device_info *device; /* NULL: none; else the first of n_devices, the others behind it */
  size_t n_devices;
  clt_instance *instance;
} cli_subject;

/* CLI_DEVICES_REQUIRED: there may be several. CLI_DEVICE_KNOWN: a device that is not here will do as well, if the store
 * (--store, or the user's and the system's) describes it; the newest driver counts. */
typedef enum cli_device_need {
  CLI_DEVICE_IF_NAMED,
  CLI_DEVICE_REQUIRED,
  CLI_DEVICES_REQUIRED,
  CLI_DEVICE_KNOWN
} cli_device_need;

/* Loads a problem file and instantiates it at the typed sizes on the typed device (--device, else CLATUNE_DEVICE, else
 * the only device where one is required). */
cli_subject cli_subject_new(const cli_arguments *arguments, const char *path, cli_device_need need);

/* The same in two steps: the problem alone, with --cache; then the rest. A command's device is the machine itself,
 * which
 * --device may only confirm. */
cli_subject cli_subject_load(const cli_arguments *arguments, const char *path);
void cli_subject_complete(cli_subject *subject, const cli_arguments *arguments, cli_device_need need);

/* clt_devices, but where a driver breaks the others, it is left out from then on, which is said on standard error. */
int cli_devices_here(clt_device_info **out, size_t *n, clt_error *error);

/* Where no GPU or accelerator is listed: says so if the library of a known driver has one, and how it can be used. */
void cli_suggest_drivers(const clt_device_info *devices, size_t n);

/* The device of this machine that `text` names (NULL: the only one). Returns a result code, nothing is said. */
int cli_find_device(clt_device_info *out, const char *text, clt_error *error);

/* The device of this machine that was typed, else CLATUNE_DEVICE's, else the only one. */
void cli_choose_device(clt_device_info *out, const cli_arguments *arguments);

/* Opens the store that was typed, or the standard one; for reading alone, NULL: there is none yet. */
clt_store *cli_open_store(const cli_arguments *arguments);
clt_store *cli_open_store_to_read(const cli_arguments *arguments);
clt_store *cli_read_store(const char *path); /* one that has to be there, for reading alone */
bool cli_has_store(const cli_arguments *arguments);

/* Ends the program: "there is no store ... yet". To say it without failing: cli_note_no_store, nothing with --quiet. */
int cli_no_store(const cli_arguments *arguments) __attribute__((noreturn));
void cli_note_no_store(const cli_arguments *arguments);

/* Recordings from files, and those of --learn-from; none with --no-transfer. */
clt_recording **cli_load_recordings(const char *const *paths, size_t n);
clt_recording **cli_load_sources(size_t *n, const cli_arguments *arguments);

/* A model of the named type (NULL: auto) fitted on what the store holds of the subject, at all sizes or at its own
 * (options of `clatune train`). It speaks of the subject's instance. */
clt_model *cli_fit(const cli_arguments *arguments, const cli_subject *subject, const char *type, bool own_size,
                   size_t *n_sizes);

/* The model that `clatune train` has kept; where there is none, one that is fitted now. */
clt_model *cli_trained_model(const cli_arguments *arguments, const cli_subject *subject);

#endif
