/* cli/output.h - what a command prints: its output, its errors, its events. */
#pragma once

#include <clatune/log.h>
#include <clatune/tune.h>
#include <jansson.h>
#include <stdio.h>

#include "cli/arguments.h"
#include "measurement/measurement.h"

/* --- standard output, standard error, and the end of the program --- */

/* Replaces standard output and standard error by streams that filter control characters other than newlines and tabs
 * (clt_text_add_shown), so that names, stores, drivers and measured programs cannot control the terminal. */
void cli_streams_open(void);

/* Ends the filtering of standard output, unless it is a terminal: other programs need exact answers. */
void cli_exact_output(void);

/* Writes control sequences to standard error, without the filter. */
void cli_command_terminal(const char *format, ...) __attribute__((format(printf, 1, 2)));

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
json_t *cli_keep_json(json_t *json); /* a reference */
void *cli_new(size_t n, size_t bytes);
void cli_end(void);

/* A clt_log_fn that prints on standard error. user: a nullable bool *; true: warnings only. */
void cli_log(void *user, clt_log_level level, const char *text);

/* --- progress: a bar on a terminal, else plain lines --- */

typedef struct cli_progress {
  bool quiet, terminal, colour;
  double next_s; /* when the next line is due */
  char phase[32];
  bool bar_shown;
  struct {
    double end_s, at_s; /* the earliest end that was expected, in elapsed seconds, and when; end_s 0: none yet */
    int64_t measured;   /* evaluations until then */
  } expected;
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
/* Waits for what others hold in a shared store, until a signal; see clt_pq_on_wait. */
bool cli_wait_for_others(const char *why);
const volatile int *cli_signals_flag(void); /* the number of the received signal; 0: none */

/* Asks for an orderly end as that signal does. */
void cli_stop(int signal);

/* --- progress as JSON lines, with --events --- */

#define CLI_SCHEMA 1 /* of `tune --json` and the events; members may be added, existing ones keep their meaning */

/* Zeroed before use. */
typedef struct cli_events {
  FILE *out;                      /* borrowed; NULL: no events */
  const char *tuning;             /* in a sweep, the key of the tuning, added to every line; NULL: none */
  const clt_space *space;         /* borrowed */
  const clt_objective *objective; /* borrowed */
  char phase[32];
  int64_t measured;
  double waits_next_s; /* when the next "waits" is due */
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
void cli_events_progress(cli_events *events, const clt_progress *now); /* "phase", "waits", "evaluation", "incumbent" */

/* now->last as JSON; "known": it was not measured now. Call before cli_events_progress. */
json_t *cli_json_evaluation(const cli_events *events, const clt_progress *now);
