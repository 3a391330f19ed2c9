#include "store/path.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "base/memory.h"

static const char *absolute_variable(const char *name) {
  const char *value = getenv(name);
  return value && value[0] == '/' ? value : NULL;
}

int clt_standard_path(char **out, const char *file, clt_error *error) {
  const char *data = absolute_variable("XDG_DATA_HOME"), *home = absolute_variable("HOME");
  if (data == NULL && home == NULL)
    return clt_fail(error, CLT_E_STORE, "no place for the store: neither XDG_DATA_HOME nor HOME is set; give a path");
  char *path = data ? clt_format("%s/clatune/%s", data, file) : clt_format("%s/.local/share/clatune/%s", home, file);
  if (path == NULL) return clt_fail_memory(error);
  *out = path;
  return CLT_OK;
}

static int make_folder(const char *folder, clt_error *error) {
  if (mkdir(folder, 0700) == 0 || errno == EEXIST) return CLT_OK;
  int cause = errno; /* an existing folder may answer otherwise, on a read-only file system for one */
  struct stat status;
  if (stat(folder, &status) == 0 && S_ISDIR(status.st_mode)) return CLT_OK;
  errno = cause;
  return clt_fail_errno(error, CLT_E_STORE, "create the store's folder", folder);
}

/* Cuts the path at each slash in turn while it makes the folders. */
static int make_folders(char *path, clt_error *error) {
  for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = 0;
    int rc = make_folder(path, error);
    *slash = '/';
    if (rc) return rc;
  }
  return CLT_OK;
}

int clt_absolute_path(char **out, const char *path, clt_error *error) {
  *out = path[0] == '/' ? strdup(path) : clt_format("./%s", path);
  return *out ? CLT_OK : clt_fail_memory(error);
}

int clt_prepare_path(char **out, const char *path, clt_error *error) {
  char *prepared;
  int rc = clt_absolute_path(&prepared, path, error);
  if (rc) return rc;
  rc = make_folders(prepared, error);
  if (rc == CLT_OK) {
    *out = prepared;
  } else {
    free(prepared);
  }
  return rc;
}
