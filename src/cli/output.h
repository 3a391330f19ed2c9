/* cli/output.h - what the commands print: messages to standard error, answers to standard output. */
#ifndef CLT_CLI_OUTPUT_H
#define CLT_CLI_OUTPUT_H

#include <clatune/lookup.h>
#include <clatune/tune.h>
#include <jansson.h>

#include "base/file.h"
#include "base/json.h"
#include "cli/command.h"
#include "measurement/objective.h"

/* From here on all that is printed to standard output and standard error is shown as clt_text_add_shown says, with
 * newlines and tabs: names, stores, drivers and measured programs cannot steer the terminal. */
void cli_streams_open(void);

/* Where standard output is no terminal, what is printed from here on goes out as it is: other programs read it. */
void cli_exact_output(void);

/* --- messages --- */

/* "clatune: ..." on standard error; returns the exit code. */
int cli_message(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));
#define cli_usage(...) cli_message(CLI_USAGE, __VA_ARGS__)
#define cli_failure(...) cli_message(CLI_FAILURE, __VA_ARGS__)

/* Prints an error of the library and returns the exit code that stands for it. */
int cli_report(const clt_error *error);
int cli_exit_code(int code); /* of a result code of the library */

/* Prints warnings and information of the library; user is a bool *: quiet (warnings only). */
void cli_log(void *user, clt_log_level level, const char *text);

/* --- an answer in a file (-o FILE) that is seen whole or not at all --- */

/* From here on, standard output goes to a file beside path (borrowed; NULL: nothing happens). Returns 0, or an exit
 * code after a message. */
int cli_outfile_begin(clt_replacement *out, const char *path);

/* rc 0: the file takes the place of path; else it is removed. Returns rc, or an exit code after a message. Nothing can
 * be printed after it. */
int cli_outfile_end(clt_replacement *out, int rc);

/* --- JSON: all give new references --- */

/* Prints a JSON value (reference stolen) and returns 0, or CLI_FAILURE. NULL is out of memory. */
int cli_print_json(json_t *json);

json_t *cli_json_configuration(const clt_space *space, clt_config config);
json_t *cli_json_configuration_text(const clt_instance *instance, const char *text); /* of "a=1 b=2"; null: unknown */
json_t *cli_json_sizes(const clt_instance *instance);
json_t *cli_json_device(const clt_device_info *device); /* null where there is none */
json_t *cli_json_best_options(const clt_instance *instance, clt_config config);

/* --- figures --- */

/* "1.234 ms" into out; "-" for NaN. Returns out. */
const char *cli_time(char out[32], double seconds);

/* A value of the standard metric, as cli_time or in the program's own unit; that of a measurement. Return out. */
const char *cli_figure(char out[64], const clt_objective *objective, double value);
const char *cli_figure_of(char out[64], const clt_objective *objective, const clt_measurement *m);

/* The problem's figure of quality, {"name", "unit", "value"}: null where it has none, the value null where that is not
 * known. As text: a line whose label is padded to `width`; nothing where the problem has none. */
json_t *cli_json_quality(const clt_problem *problem, double value);
void cli_print_quality(const clt_problem *problem, double value, int width);

/* --objective, else the problem's, else time. Returns 0, or an exit code after a message. */
int cli_objective(clt_objective **out, const cli_arguments *arguments, const clt_instance *instance);

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

/* --- the best configurations as text for other people's builds, on standard output (export.c) --- */

/* A C header of all that is known of a problem: a table to choose from at run time (clatune_<name>_find), the build
 * options of an entry at any sizes (clatune_<name>_options), and macros for the entry that the compiler is told
 * (-DCLATUNE_<NAME>_ENTRY=0). Texts are quoted so that none of them can end its string or comment. Returns 0, or an
 * exit code after a message. */
int cli_export_header(clt_catalog *catalog, const clt_problem *problem);

/* One configuration for all: a macro for each parameter, and CLATUNE_<NAME>_OPTIONS; also for a kernel. */
void cli_export_portable_header(const clt_problem *problem, const char *configuration, const char *options);

/* CMake variables: CLATUNE_<NAME>_OPTIONS and one a parameter. `from` is a comment. */
void cli_export_cmake(const clt_problem *problem, const char *from, const char *configuration, const char *options);

#endif
