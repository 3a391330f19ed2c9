/* cli/signals.h - while something is tuned, SIGINT, SIGTERM and SIGHUP ask for an orderly end; a second one ends at
 * once. Other commands end by them as any program does. */
#ifndef CLT_CLI_SIGNALS_H
#define CLT_CLI_SIGNALS_H

void cli_signals_install(void);
const volatile int *cli_signals_flag(void); /* the signal's number once one came; 0 before */

#endif
