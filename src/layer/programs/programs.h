/* layer/programs/programs.h - the programs that run applications under the layer: clatune-capture, clatune-apply. */
#pragma once

#include "cli/cli.h"
#include "init/init.h"

/* --- runs unmodified applications under the OpenCL layer --- */

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

/* --- `clatune capture`: from what the layer wrote (layer/layer.h) to problem folders --- */

/* A captured kernel and its problem. */
typedef struct captured {
  const json_t *kernel, *capture; /* of the manifest; capture: its member */
  const char *raw;                /* the folder of the layer's files */
  const char *folder;             /* the problem's folder, which exists */
  bool flags;                     /* compiler flags become parameters */
  clt_device_info device;         /* the application's, or another one of its platform */
  bool quiet;                     /* no notes */
  double tolerance;               /* relative, of floating-point results; NaN: the default */
  clt_draft *draft;
  json_t *options, *includes; /* CompilerOptions and IncludePaths */
  json_t *included;           /* the copied include files, each with its path in the application */
} captured;

/* Writes the problem's folder: KERNEL.json, kernel.cl, the included files, and the data, which is moved there. Returns
 * the problem file's path, kept until the command ends; NULL with the reason in error. *parameters: the
 * names of its tuning parameters, "a, b", kept as long; "none" without any. */
const char *capture_problem(const char **parameters, captured *c, clt_error *error);

/* --- capture_files.c --- */

/* Writes kernel.cl, copies the files that it includes, and reads the build options: macros to tune go to the draft, the
 * others to the draft, c->options and c->includes. Returns the path of kernel.cl, kept until the command ends; NULL
 * with the reason in error. */
const char *capture_source(captured *c, clt_error *error);

/* --- capture_try.c --- */

/* Changes the problem by what runs of it show. path: the problem's file, which is overwritten; its data exist.
 * CLT_E_UNSUPPORTED: wrong results could not be detected. */
int capture_try(captured *c, json_t *problem, const char *path, clt_error *error);
