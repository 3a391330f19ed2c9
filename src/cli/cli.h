/* cli/cli.h - shared by the commands: their subject, their answers, running them. Each command has a file and is listed
 * in main.c. Unless a function returns an exit code, a failure prints a message and ends the program. Results live
 * until the command ends (cli_keep). */
#pragma once

#include <clatune/lookup.h>
#include <clatune/model.h>
#include <clatune/recording.h>
#include <clatune/store.h>
#include <clatune/tune.h>
#include <jansson.h>

#include "base/file.h"
#include "base/json.h"
#include "cli/arguments.h"
#include "cli/output.h"
#include "format/format.h"
#include "report/draw.h"
#include "store/store.h"

/* --- the problem, device, instance and store of a command --- */

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
/* The path of a shipped problem, installed or in the source tree; malloc'ed. NULL: none has this name. */
char *cli_shipped_problem(const char *name);
void cli_subject_complete(cli_subject *subject, const cli_arguments *arguments, cli_device_need need);

/* The same subject with warm or cold caches, whatever --cache and the file say. */
cli_subject cli_subject_with_cache(const cli_arguments *arguments, const cli_subject *subject, bool cold);

/* As clt_devices, but a driver that breaks the others is left out from then on, with a warning. */
int cli_devices_here(clt_device_info **out, size_t *n, clt_error *error);

/* If no GPU or accelerator is listed, but the library of a known driver has one: prints how to use it. */
void cli_suggest_drivers(const clt_device_info *devices, size_t n);

/* As cli_check, for a choice of devices of this machine: if none was found, it suggests drivers. */
void cli_check_device(int rc);

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

/* Whether each word of `words` is a word of `text`; words are separated by spaces. */
bool cli_has_words(const char *text, const char *words);

/* --- answers: JSON documents, and the text drawn from them ---
 * Functions that make JSON give new references. */

/* Prints a JSON value (reference stolen). Returns 0, or CLI_FAILURE if standard output fails. NULL ends the program as
 * out of memory. */
int cli_print_json(json_t *json);

/* Prints an answer (reference stolen): as JSON with --json, else the text that the layout draws from it. Returns 0, or
 * CLI_FAILURE if standard output fails. cli_answer_line: a text of one form. cli_draw: only the text; borrows. */
int cli_answer(const cli_arguments *arguments, json_t *document, const clt_text_layout *layout);
int cli_answer_line(const cli_arguments *arguments, json_t *document, const char *form);
void cli_draw(const json_t *document, const clt_text_layout *layout);

/* Adds indented JSON, with lists of numbers and texts on one line. */
void cli_add_json(clt_text *out, json_t *json, int indent);

json_t *cli_json_configuration_text(const clt_instance *instance, const char *text); /* from "a=1 b=2"; null: invalid */
json_t *cli_json_config_text(const clt_space *space, clt_config config);             /* "a=1 b=2" */
json_t *cli_json_device(const clt_device_info *device);                              /* nullable: null */
json_t *cli_json_places(const cli_subject *subject); /* of its devices: ["0:0", "0:1"] */

/* The problem's figure of quality as {"name", "unit", "value"}: null if it has none; the value is null if not known. */
json_t *cli_json_quality(const clt_problem *problem, double value);

/* The checks of a configuration (checks.c). */
json_t *cli_json_checks(const clt_check_result *checks, size_t n);
void cli_draw_checks(const char *title, const json_t *checks, int width);

/* The objective of --objective, else of the problem, else time. */
clt_objective *cli_objective(const cli_arguments *arguments, const clt_instance *instance);

/* The problem, the device and the search: "problem", "sizes", "device", "searcher", "seed", "objective" and "space". */
json_t *cli_json_session(const clt_instance *instance, const clt_device_info *device, const clt_tune_settings *settings,
                         const clt_objective *objective);

/* The metrics of a measurement that have a value, energy included, time excluded: [{"name", "value", "unit"}]. */
json_t *cli_json_metrics(const clt_objective *objective, const clt_measurement *measurement);

/* The figure that a program reports, as {"value", "unit"}; null if it is the time. */
json_t *cli_json_figure(const clt_objective *objective, const clt_measurement *measurement);

/* is_median: the measurement is the median of interleaved rounds, and so has an interval. */
json_t *cli_json_measurement(const clt_instance *instance, const clt_objective *objective, const clt_measurement *m,
                             bool is_median);

/* --- running commands, of clatune itself and of the programs next to it ---
 * A program is a file libexec/clatune/clatune-NAME: 'clatune NAME ...' runs it. Programs are made with this library
 * (cli_program_main) or with anything else. clatune knows no more of them than the table in programs.c. */

/* argv[0] is the command's name. Returns an exit code. */
int cli_run_command(const cli_command *command, int argc, char **argv);
void cli_print_help_line(const char *left, const char *text);

/* The first and the last call of main. cli_finish returns the exit code: rc, or a failure of standard output. */
void cli_begin(void);
int cli_finish(int rc);

/* main of a program with one command. */
int cli_program_main(const cli_command *command, int argc, char **argv);
#define CLI_DESCRIBE "--describe" /* its only argument: it prints its summary and its options as JSON */

/* --- clatune's end (programs.c) --- */

/* Replaces this process by the program, with these arguments (argv[0] is replaced). Returns if there is none. */
void cli_exec_program(const char *name, char **argv);

/* The *n programs that clatune's packages have. */
typedef struct cli_program {
  cli_command command; /* without a function; with `describe`, the summary and the flags of an installed one */
  const char *package;
  bool is_installed;
} cli_program;
const cli_program *cli_programs(size_t *n, bool describe);
