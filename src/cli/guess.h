/* cli/guess.h - "did you mean", behind messages about words that are not known. */
#ifndef CLT_CLI_GUESS_H
#define CLT_CLI_GUESS_H

#include <stddef.h>

#define CLI_GUESS_BYTES 128

/* "; did you mean '--budget'?" with `dashes` ("--" or "") before the one of n names that is nearest to what was typed;
 * "" where none is near. Returns out. */
const char *cli_guess(char out[CLI_GUESS_BYTES], const char *dashes, const char *typed, const char *const *names,
                      size_t n);

#endif
