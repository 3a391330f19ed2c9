/* cli/known_device.h - choosing a device that need not be here: one that the store has measurements of does as well. */
#ifndef CLT_CLI_KNOWN_DEVICE_H
#define CLT_CLI_KNOWN_DEVICE_H

#include <clatune/device.h>

#include "cli/arguments.h"

/* The device of this machine that `text` names (NULL: the only one). Returns a result code, nothing is said. */
int cli_select_device(clt_device_info *out, const char *text, clt_error *error);

/* The device that `text` names (NULL: the only one): of this machine's, and where none of them is meant, or there is no
 * driver, of those that the store (--store, or the user's and the system's) describes, each with its newest driver.
 * Returns 0, or an exit code after a message. */
int cli_choose_known_device(clt_device_info *out, const cli_arguments *arguments, const char *text);

#endif
