/* cli/events.h - progress as JSON lines, with --events. */
#ifndef CLT_CLI_EVENTS_H
#define CLT_CLI_EVENTS_H

#include <clatune/tune.h>
#include <jansson.h>
#include <stdio.h>

#include "cli/arguments.h"
#include "measurement/objective.h"

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

#endif
