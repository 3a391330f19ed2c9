#include "base/replace.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/memory.h"

int clt_replace_begin(char **beside, int *fd, const char *path, clt_error *error) {
  char *name = clt_format("%s.XXXXXX", path);
  if (name == NULL) return clt_fail_memory(error);
  *fd = mkstemp(name);
  if (*fd < 0) {
    int rc = clt_fail_errno(error, CLT_E_IO, "create", path);
    free(name);
    return rc;
  }
  *beside = name;
  return CLT_OK;
}

int clt_replace_end(char *beside, const char *path, clt_error *error) {
  if (rename(beside, path)) {
    int rc = clt_fail_errno(error, CLT_E_IO, "replace", path);
    clt_replace_abandon(beside);
    return rc;
  }
  free(beside);
  return CLT_OK;
}

void clt_replace_abandon(char *beside) {
  if (beside) unlink(beside);
  free(beside);
}
