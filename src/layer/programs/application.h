/* layer/programs/application.h - runs unmodified applications under the OpenCL layer. */
#ifndef CLT_LAYER_PROGRAMS_APPLICATION_H
#define CLT_LAYER_PROGRAMS_APPLICATION_H

#include "cli/cli.h"

/* Runs the command line after "--" with the OpenCL layer and waits for its end. instructions (layer/layer.h, reference
 * stolen) are written to layer.json in `folder`. to_stderr: its standard output goes to this process's standard error.
 * Returns its exit code, or 128 + the number of the signal that ended it. */
int layer_run_application(const cli_arguments *arguments, json_t *instructions, const char *folder, bool to_stderr);

#define LAYER_FLAG_NO_BINARIES \
  CLI_FLAG("no-binaries", NULL, "refuses binaries, so that an application with a cache of them compiles its source")
#define LAYER_FROM_BINARY                                                                                            \
  "it was made from a binary, as from a cache of the application's; delete that cache, often a folder in ~/.cache, " \
  "or use --no-binaries"

/* The path of the layer's library. Ends the program if it is not found. */
const char *layer_library(void);

#endif
