#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/memory.h"
#include "worker/process.h"
#include "worker/worker_place.h" /* made by meson: CLATUNE_LIBEXECDIR */

#define PROGRAM "clatune-worker"

/* Beside the executable, in the build tree of the command line and of the tests, in an installed tree that was moved.
 */
static const char *const near_program[] = {PROGRAM,
                                           "../worker/child/" PROGRAM,
                                           "../../src/worker/child/" PROGRAM,
                                           "../src/worker/child/" PROGRAM,
                                           "../libexec/" PROGRAM,
                                           NULL};

/* For the programs of others: lib/libclatune.so, or lib/<architecture>/libclatune.so, in a tree that was moved. */
static const char *const near_library[] = {"src/worker/child/" PROGRAM, "../libexec/" PROGRAM, "../../libexec/" PROGRAM,
                                           NULL};

static int from_environment(char **out, const char *path, clt_error *error) {
  if (access(path, X_OK)) return clt_fail_errno(error, CLT_E_WORKER, "run the worker that CLATUNE_WORKER names,", path);
  char *copy = strdup(path);
  if (copy == NULL) return clt_fail_memory(error);
  *out = copy;
  return CLT_OK;
}

int clt_worker_path(char **out, clt_error *error) {
  const char *given = getenv("CLATUNE_WORKER");
  if (given && *given) return from_environment(out, given, error);
  char *found = clt_find_near_program(near_program, X_OK);
  if (found == NULL) found = clt_find_near_library(near_library, X_OK);
  if (found == NULL && access(CLATUNE_LIBEXECDIR "/" PROGRAM, X_OK) == 0) {
    found = strdup(CLATUNE_LIBEXECDIR "/" PROGRAM);
    if (found == NULL) return clt_fail_memory(error);
  }
  if (found == NULL)
    return clt_fail(error, CLT_E_WORKER,
                    "cannot find the program '" PROGRAM "' beside the executable or in '" CLATUNE_LIBEXECDIR
                    "'; name it in CLATUNE_WORKER");
  *out = found;
  return CLT_OK;
}
