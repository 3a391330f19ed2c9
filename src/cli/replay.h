/* cli/replay.h - what `clatune replay` says of its runs. */
#ifndef CLT_CLI_REPLAY_H
#define CLT_CLI_REPLAY_H

#include <clatune/replay.h>

/* The answer for people and as JSON. Return 0 or an exit code. */
int cli_replay_print(const clt_replay_result *result, const char *searcher);
int cli_replay_print_json(const clt_replay_result *result, const clt_replay_settings *settings, bool with_curves);

#endif
