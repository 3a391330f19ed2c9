/* cli/oclgrind.h - running a kernel under Oclgrind, which sees what no guard band does: reads out of bounds, races,
 * values that nobody wrote. Oclgrind ends with status 0 whatever it finds, so its log is read. */
#ifndef CLT_CLI_OCLGRIND_H
#define CLT_CLI_OCLGRIND_H

#include <stddef.h>

typedef struct cli_oclgrind {
  char log[4096]; /* path of a temporary file; "": none */
} cli_oclgrind;

/* Sets the environment that workers inherit, and Oclgrind as the device unless one is chosen. Returns 0, or an exit
 * code after a message. */
int cli_oclgrind_begin(cli_oclgrind *out);

/* What it has found, malloc'ed; "" nothing; NULL where the log cannot be read. *n: how many findings. */
char *cli_oclgrind_findings(const cli_oclgrind *oclgrind, size_t *n);
void cli_oclgrind_end(cli_oclgrind *oclgrind); /* removes the log */

#endif
