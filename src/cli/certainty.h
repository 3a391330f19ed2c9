/* cli/certainty.h - what recorded searches of the same length missed (clatune/certainty.h), as an answer's line. */
#ifndef CLT_CLI_CERTAINTY_H
#define CLT_CLI_CERTAINTY_H

#include <clatune/certainty.h>
#include <clatune/tune.h>
#include <jansson.h>

/* A sentence, and an object. There is none (false, null) unless the search went to its end with the searcher's default
 * options, left something unmeasured, and was no shorter than the shortest recorded ones. */
bool cli_certainty_text(char out[200], const clt_tune_settings *settings, const clt_tune_result *result);
json_t *cli_certainty_json(const clt_tune_settings *settings, const clt_tune_result *result);

/* "about 1 in 5", "about 4 in 10", with no more digits than the table is good for. Returns out or a constant. */
const char *cli_share(char out[32], double share);

#endif
