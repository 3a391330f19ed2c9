#include "base/here.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"

/* Takes the file's path. */
static char *find_beside(char *file, const char *const *names, int mode) {
  char *found = NULL, *slash = file ? strrchr(file, '/') : NULL;
  if (slash) *slash = '\0';
  for (size_t i = 0; slash && found == NULL && names[i]; i++) {
    found = clt_format("%s/%s", file, names[i]);
    if (found == NULL || access(found, mode) == 0) continue;
    free(found);
    found = NULL;
  }
  free(file);
  return found;
}

char *clt_find_near_program(const char *const *names, int mode) {
  char path[PATH_MAX];
  ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
  if (n <= 0) return NULL;
  path[n] = '\0';
  return find_beside(strdup(path), names, mode);
}

char *clt_find_near_library(const char *const *names, int mode) {
  static const char here = 0; /* an object of the same file */
  Dl_info info;
  if (dladdr(&here, &info) == 0 || info.dli_fname == NULL || strchr(info.dli_fname, '/') == NULL) return NULL;
  return find_beside(realpath(info.dli_fname, NULL), names, mode);
}
