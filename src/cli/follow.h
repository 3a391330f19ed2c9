/* cli/follow.h - what the events of a running search, sweep or farm say, for `clatune report --follow`. */
#ifndef CLT_CLI_FOLLOW_H
#define CLT_CLI_FOLLOW_H

#include <jansson.h>

#include "cli/arguments.h"

/* Zeroed before use, but for the path. */
typedef struct cli_follow {
  const char *path; /* of a file of --events */
  json_t *tunings;  /* key of the tuning -> its state */
  long offset;      /* of the first line that is not read yet */
  bool ended;
} cli_follow;

/* Reads the lines that are new, and complete. Returns whether there are any. A file that got shorter is a new one. */
bool cli_follow_read(cli_follow *follow);
/* The state for the page: "file", "ended" and "tunings". */
json_t *cli_follow_json(const cli_follow *follow);
void cli_follow_release(cli_follow *follow);

#endif
