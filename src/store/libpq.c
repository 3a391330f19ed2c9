#include "store/libpq.h"

#include <dlfcn.h>
#include <pthread.h>

#include "base/base.h"

#define NAME "libpq.so.5"

clt_libpq clt_pq_library;

static char why[256]; /* why it cannot be loaded; "": loaded */

static void load_library(void) {
  void *library = dlopen(NAME, RTLD_NOW | RTLD_LOCAL);
  const char *missing = library ? NULL : dlerror();
#define FIND(name)                                                         \
  *(void **)&clt_pq_library.name = library ? dlsym(library, #name) : NULL; \
  if (library && !clt_pq_library.name) missing = dlerror();
  CLT_LIBPQ_FUNCTIONS(FIND)
  if (missing) snprintf(why, sizeof why, "%s", missing);
}

int clt_libpq_load(clt_error *error) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, load_library);
  if (why[0] == '\0') return CLT_OK;
  return clt_fail(error, CLT_E_UNSUPPORTED, "cannot load PostgreSQL's client library (%s); install it (Debian: libpq5)",
                  why);
}
