/* cli/output.h - what the commands print: messages to standard error, answers to standard output. */
#ifndef CLT_CLI_OUTPUT_H
#define CLT_CLI_OUTPUT_H

#include <clatune/device.h>
#include <clatune/measurement.h>
#include <clatune/problem.h>
#include <jansson.h>

/* "clatune: ..." on standard error; return CLI_USAGE and CLI_FAILURE. */
int cli_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));
int cli_failure(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints an error of the library and returns the exit code that stands for it. */
int cli_report(const clt_error *error);
int cli_exit_code(int code); /* of a result code of the library */

/* Prints warnings and information of the library; user is a bool *: quiet (warnings only). */
void cli_log(void *user, int level, const char *text);

/* Prints a JSON value (reference stolen) and returns 0, or CLI_FAILURE. NULL is out of memory. */
int cli_print_json(json_t *json);

json_t *cli_json_real(double x); /* null for NaN and infinities */
json_t *cli_json_value(clt_value value);
json_t *cli_json_configuration(const clt_space *space, clt_config config);
json_t *cli_json_sizes(const clt_instance *instance);
json_t *cli_json_device(const clt_device_info *device); /* null where there is none */
json_t *cli_json_best_options(const clt_instance *instance, clt_config config);

/* The problem's figure of quality, {"name", "unit", "value"}: null where it has none, the value null where that is not
 * known. As text: a line whose label is padded to `width`; nothing where the problem has none. */
json_t *cli_json_quality(const clt_problem *problem, double value);
void cli_print_quality(const clt_problem *problem, double value, int width);

/* The figure that configurations are ranked by, as cli_time or in the problem's own unit. Returns out. */
const char *cli_figure(char out[64], const clt_problem *problem, double value);

/* "1.234 ms" into out; "-" for NaN. Returns out. */
const char *cli_time(char out[32], double seconds);

#endif
