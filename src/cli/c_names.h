/* cli/c_names.h - names of problems as names of members and parameters in C and C++. */
#ifndef CLT_CLI_C_NAMES_H
#define CLT_CLI_C_NAMES_H

#include <stdio.h>

/* Prints a C name; one that is a keyword of C11 or C++17, or in the list `taken` (ends with NULL; NULL: none), gets '_' behind
 * it. So does one that would be the same as another with its '_': different names stay different. */
void cli_put_c_name(FILE *out, const char *name, const char *const *taken);

#endif
