/* cli/document.h - answers: JSON documents, and the text drawn from them. Functions that make JSON give new
 * references. */
#ifndef CLT_CLI_DOCUMENT_H
#define CLT_CLI_DOCUMENT_H

#include <clatune/tune.h>
#include <jansson.h>

#include "base/json.h"
#include "cli/output.h"
#include "cli/subject.h"
#include "format/answers.h"
#include "report/draw.h"

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

#endif
