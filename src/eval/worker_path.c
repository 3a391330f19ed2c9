#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/memory.h"
#include "eval/process.h"
#include "eval/worker_place.h" /* made by meson: CLATUNE_LIBEXECDIR */

#define PROGRAM "clatune-worker"

/* Relative to the executable's folder: beside it, in the build tree of the command line and of the tests, in an
 * installed tree that was moved. */
static const char *const places[] = {".", "../worker", "../../src/worker", "../src/worker", "../libexec"};

static int from_environment(char **out, const char *path, clt_error *error) {
  if (access(path, X_OK)) return clt_fail_errno(error, CLT_E_WORKER, "run the worker that CLATUNE_WORKER names,", path);
  char *copy = strdup(path);
  if (copy == NULL) return clt_fail_memory(error);
  *out = copy;
  return CLT_OK;
}

/* *out stays NULL where there is no such program. */
static int try(char **out, const char *folder, const char *place, clt_error *error) {
  char *path = clt_format("%s/%s/" PROGRAM, folder, place);
  if (path == NULL) return clt_fail_memory(error);
  if (access(path, X_OK) == 0) {
    *out = path;
  } else {
    free(path);
  }
  return CLT_OK;
}

int clt_worker_path(char **out, clt_error *error) {
  const char *given = getenv("CLATUNE_WORKER");
  if (given && *given) return from_environment(out, given, error);
  char executable[PATH_MAX], *found = NULL;
  ssize_t n = readlink("/proc/self/exe", executable, sizeof executable - 1);
  int rc = CLT_OK;
  if (n > 0) {
    executable[n] = 0;
    const char *folder = dirname(executable);
    for (size_t i = 0; rc == 0 && !found && i < sizeof places / sizeof *places; i++)
      rc = try(&found, folder, places[i], error);
  }
  if (rc == 0 && !found) rc = try(&found, CLATUNE_LIBEXECDIR, ".", error);
  if (rc == 0 && !found)
    rc = clt_fail(error, CLT_E_WORKER,
                  "cannot find the program '" PROGRAM "' beside the executable or in '" CLATUNE_LIBEXECDIR
                  "'; name it in CLATUNE_WORKER");
  if (rc == 0) *out = found;
  return rc;
}
