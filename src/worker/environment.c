/* The environment of a worker: this process's, with changes for every worker. */
#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <unistd.h>

#include "base/base.h"
#include "base/text.h"
#include "worker/process.h"

#define MALLOC_DEBUG "libc_malloc_debug.so.0"
/* Freed memory stays in the process, as it does without these checks: each configuration needs as much again. */
#define MALLOC_TUNABLES "glibc.malloc.check=3:glibc.malloc.mmap_threshold=33554432:glibc.malloc.trim_threshold=67108864"

extern char **environ;

static const char *const nothing[] = {NULL};
static _Thread_local const char *const *added = nothing;

void clt_worker_add_environment(const char *const *entries) { added = entries ? entries : nothing; }

const char *const *clt_worker_added_environment(void) { return added; }

/* Finds the library next to libc that has glibc's heap checks. malloc'ed; NULL: there is none, or a sanitizer has
 * its own checks. */
static char *find_malloc_debug(void) {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  Dl_info libc;
  bool known = dladdr((void *)(uintptr_t)gnu_get_libc_version, &libc) && libc.dli_fname;
  const char *slash = known ? strrchr(libc.dli_fname, '/') : NULL;
  char *path = slash ? clt_format("%.*s/" MALLOC_DEBUG, (int)(slash - libc.dli_fname), libc.dli_fname) : NULL;
  if (path && access(path, R_OK) == 0) return path;
  free(path);
#endif
  return NULL;
}

/* Appends an item to a list with colons; malloc'ed, NULL when out of memory. */
static char *extend_list(const char *old, const char *item) {
  return old && *old ? clt_format("%s:%s", old, item) : strdup(item);
}

/* The value if the entry has the name of `named`, a name alone or with a value, else NULL. */
static const char *value_of(const char *entry, const char *named) {
  const size_t n = strcspn(named, "=");
  return strncmp(entry, named, n) == 0 && entry[n] == '=' ? entry + n + 1 : NULL;
}

int clt_worker_environment(char ***out, const clt_process_setup *setup, clt_error *error) {
  char *cache = setup->cache ? clt_format("%s", setup->cache) : clt_format("%s/cache", setup->folder);
  char *malloc_debug = setup->heap_checks ? find_malloc_debug() : NULL;
  char *preload = malloc_debug ? extend_list(getenv("LD_PRELOAD"), malloc_debug) : NULL;
  char *tunables = malloc_debug ? extend_list(getenv("GLIBC_TUNABLES"), MALLOC_TUNABLES) : NULL;
  /* Drivers' caches in the home folder would hide build times, and survive edits of included files. A program that
   * is tuned as a whole uses them, as it will later. */
  const char *const off = setup->trade ? NULL : "0";
  const char *const kept = setup->trade ? NULL : cache;
  const struct {
    const char *name, *value; /* NULL: unchanged */
    bool yields;              /* the user's own value takes precedence */
  } ours[] = {{"POCL_CACHE_DIR", cache, false},
              /* Kept on in the folder of this tuning. Without a cache, NVIDIA's driver builds its own kernels again for
               * each context, which takes 1.5 s instead of 0.1 s; rusticl builds during launches, which distorts run
               * times. */
              {"CUDA_CACHE_PATH", kept, true},
              {"CUDA_CACHE_MAXSIZE", setup->trade ? NULL : "268435456", true},
              {"MESA_SHADER_CACHE_DIR", kept, true},
              {"MESA_SHADER_CACHE_MAX_SIZE", setup->trade ? NULL : "256M", true},
              {"AMD_COMGR_CACHE", off, true},
              {"NEO_CACHE_PERSISTENT", off, true},
              {"POCL_SIGFPE_HANDLER", "0", false},
              {"TMPDIR", setup->folder, false},
              {"CLATUNE_LAYER", setup->trade ? NULL : "", false}, /* measure the requested kernel, not a tuned one */
              {"LD_PRELOAD", preload, false},
              {"GLIBC_TUNABLES", tunables, false}};
  const size_t n_ours = sizeof ours / sizeof *ours;
  bool set[sizeof ours / sizeof *ours];
  clt_words list = {0};
  int rc = cache && (malloc_debug == NULL || (preload && tunables)) ? CLT_OK : clt_fail_memory(error);
  for (size_t k = 0; k < n_ours; k++) {
    const char *users = NULL;
    for (char **entry = environ; users == NULL && entry && *entry; entry++) users = value_of(*entry, ours[k].name);
    set[k] = ours[k].value && !(ours[k].yields && users && *users);
    if (rc == CLT_OK && set[k]) rc = clt_words_add(&list, clt_format("%s=%s", ours[k].name, ours[k].value), error);
  }
  for (char **entry = environ; rc == CLT_OK && entry && *entry; entry++) {
    bool replaced = false;
    for (size_t k = 0; k < n_ours; k++) replaced = replaced || (set[k] && value_of(*entry, ours[k].name));
    for (const char *const *a = added; *a; a++) replaced = replaced || value_of(*entry, *a) != NULL;
    if (!replaced) rc = clt_words_add(&list, strdup(*entry), error);
  }
  for (const char *const *a = added; rc == CLT_OK && *a; a++) rc = clt_words_add(&list, strdup(*a), error);
  free(cache);
  free(malloc_debug);
  free(preload);
  free(tunables);
  if (rc == CLT_OK)
    *out = list.all;
  else
    clt_words_free(list.all);
  return rc;
}
