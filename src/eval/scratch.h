/* eval/scratch.h - the folder that one evaluation of a command has to itself. */
#ifndef CLT_EVAL_SCRATCH_H
#define CLT_EVAL_SCRATCH_H

#include "base/file.h"
#include "problem/command.h"

/* Makes "<run>/<name>" anew, with copies of the command's files, its links, and for a configuration (not
 * CLT_CONFIG_NONE) the parameters file. *out is malloc'ed. */
int clt_scratch_new(char **out, const clt_run_folder *run, const char *name, const clt_instance *instance,
                    clt_config config, clt_error *error);
void clt_scratch_remove(char *path); /* with everything in it; frees path, NULL-safe */

#endif
