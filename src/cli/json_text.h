/* cli/json_text.h - JSON as people write it. */
#ifndef CLT_CLI_JSON_TEXT_H
#define CLT_CLI_JSON_TEXT_H

#include <jansson.h>

/* Indented, but lists of numbers and texts on one line. malloc'ed; NULL when out of memory. */
char *cli_json_readable(const json_t *json);

#endif
