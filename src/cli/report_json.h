/* cli/report_json.h - a report as JSON. */
#ifndef CLT_CLI_REPORT_JSON_H
#define CLT_CLI_REPORT_JSON_H

#include <clatune/report.h>
#include <jansson.h>

/* A text of whatever bytes; what is no UTF-8 becomes "?". */
json_t *cli_report_json_text(const char *text);

/* NULL: out of memory, or *error says what else. */
json_t *cli_report_json(const clt_report *report, const clt_report_options *options, clt_error *error);

#endif
