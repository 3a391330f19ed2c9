#include "cli/guess.h"

#include <clatune/sys/option.h>
#include <stdio.h>

const char *cli_guess(char out[CLI_GUESS_BYTES], const char *dashes, const char *typed, const char *const *names,
                      size_t n) {
  const char *near = clt_nearest_name(typed, names, n);
  out[0] = '\0';
  if (near) snprintf(out, CLI_GUESS_BYTES, "; did you mean '%s%s'?", dashes, near);
  return out;
}
