/* Modules: a problem's own C functions, compiled once into the user's cache and loaded. Those of shipped problems may
 * be installed compiled, for machines without a compiler. */
#include <dlfcn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "base/file.h"
#include "base/hash.h"
#include "problem/instance.h"
#include "problem/module_paths.h"

#define MAX_COMPILER_WORDS 16 /* of $CC, which may contain arguments */
#define MAX_COMPILER_TEXT 2000
#define MOST_MODULE_BYTES ((size_t)1 << 30)

static const char *const flags[] = {"-O3", "-fopenmp", "-shared", "-fPIC"};
#define N_FLAGS (sizeof flags / sizeof *flags)

#define HEADER "clatune/module.h"

/* The folder that clatune/module.h is included from; malloc'ed. */
static char *include_folder(void) {
  /* Relative to bin/clatune, lib/libclatune.so or lib/<architecture>/libclatune.so, also if the installation was moved.
   */
  static const char *const folders[] = {"../include/" HEADER, "../../include/" HEADER, NULL};
  const char *chosen = getenv("CLATUNE_INCLUDE");
  if (chosen && chosen[0]) return strdup(chosen);
  if (CLATUNE_SOURCE_INCLUDE[0] && access(CLATUNE_SOURCE_INCLUDE "/" HEADER, R_OK) == 0)
    return strdup(CLATUNE_SOURCE_INCLUDE);
  char *found = clt_find_near(folders, R_OK);
  if (found == NULL) return strdup(CLATUNE_INSTALLED_INCLUDE);
  found[strlen(found) - strlen("/" HEADER)] = '\0';
  return found;
}

static const char *compiler_command(void) {
  const char *chosen = getenv("CC");
  return chosen && chosen[0] ? chosen : "cc";
}

/* The path of a module's shared object in a folder: the hash of everything that it depends on, which is the text with
 * includes, clatune/module.h, the flags and, in the user's cache, the compiler. */
static int name_library(char **out, const char *folder, const char *path, const char *include, const char *compiler,
                        clt_error *error) {
  char hash[33];
  clt_hasher *hasher = clt_hasher_new();
  if (hasher == NULL) return clt_fail_memory(error);
  clt_hasher_add_text(hasher, compiler);
  for (size_t i = 0; i < N_FLAGS; i++) clt_hasher_add_text(hasher, flags[i]);
  int rc = clt_hash_with_includes(hasher, path, include, error);
  if (rc == CLT_OK) clt_hasher_hex(hasher, hash);
  clt_hasher_free(hasher);
  if (rc == CLT_OK && (*out = clt_format("%s/%s.so", folder, hash)) == NULL) rc = clt_fail_memory(error);
  return rc;
}

/* Whether a folder or file belongs to the user and only the user can write to it. */
static bool is_own(const struct stat *status) {
  return status->st_uid == geteuid() && !(status->st_mode & (S_IWGRP | S_IWOTH));
}

/* --- cached modules end with a mark, which the loader does not read: their size and a hash of their content --- */

typedef struct module_end {
  char mark[8]; /* not terminated */
  uint64_t bytes, hash;
} module_end;

static module_end end_of(const char *bytes, size_t n) {
  return (module_end){{'c', 'l', 't', 'm', 'o', 'd', 'u', '1'}, n, clt_hash64(bytes, n)};
}

static int mark_end(const char *path, clt_error *error) {
  char *bytes = NULL;
  size_t n;
  int rc = clt_file_read(&bytes, &n, path, MOST_MODULE_BYTES, error);
  if (rc) return rc;
  const module_end end = end_of(bytes, n);
  char *marked = realloc(bytes, n + sizeof end);
  if (marked) memcpy(marked + n, &end, sizeof end);
  rc = marked ? clt_file_write(path, marked, n + sizeof end, error) : clt_fail_memory(error);
  free(marked ? marked : bytes);
  return rc;
}

/* Whether a cached module is there, belongs to the user, and is as it was written: loading a file that was cut off ends
 * the process. */
static bool is_whole(const char *path) {
  struct stat status;
  char *bytes = NULL;
  size_t n = 0;
  bool whole = lstat(path, &status) == 0 && S_ISREG(status.st_mode) && is_own(&status) &&
               clt_file_read(&bytes, &n, path, MOST_MODULE_BYTES, NULL) == CLT_OK && n > sizeof(module_end);
  if (whole) {
    const module_end end = end_of(bytes, n - sizeof end);
    whole = memcmp(bytes + n - sizeof end, &end, sizeof end) == 0;
  }
  free(bytes);
  return whole;
}

/* If the compiler fails, the message contains its output, with "; " instead of line ends. */
static int compile_module(const char *path, const char *library, const char *include, clt_error *error) {
  char *command = strdup(compiler_command()), *from = clt_format("-I%s", include);
  char *partial = clt_format("%s.%ld", library, (long)gettid()), *words[MAX_COMPILER_WORDS + N_FLAGS + 6], *rest;
  if (!command || !from || !partial) {
    free(command);
    free(from);
    free(partial);
    return clt_fail_memory(error);
  }
  size_t n = 0;
  for (char *word = strtok_r(command, " ", &rest); word && n < MAX_COMPILER_WORDS; word = strtok_r(NULL, " ", &rest))
    words[n++] = word;
  for (size_t i = 0; i < N_FLAGS; i++) words[n++] = (char *)flags[i];
  char *const more[] = {from, "-o", partial, (char *)path, "-lm", NULL};
  memcpy(&words[n], more, sizeof more);
  const clt_spawn spawn = {.program = words[0], .arguments = words};
  clt_error cause = {0};
  clt_text said = {0}, reason = {0};
  int status = 0, rc = clt_spawn_output(&said, &status, &spawn, MAX_COMPILER_TEXT, &cause);
  if (rc) {
    clt_fail(error, rc, "cannot compile module '%s': %s; set CC to a C compiler", path, cause.message);
  } else if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    while (said.n > 0 && strchr(" \n", said.bytes[said.n - 1])) said.bytes[--said.n] = 0;
    for (size_t i = 0; i < said.n; i++)
      said.bytes[i] == '\n' ? clt_text_add(&reason, "; ") : clt_text_add_bytes(&reason, &said.bytes[i], 1);
    char *cache = clt_path_folder(library);
    rc = cache ? clt_check_space(NULL, cache, "cannot compile a module", error) : clt_fail_memory(error);
    if (rc == CLT_OK) rc = clt_check_space(said.bytes, clt_temporary_folder(), "cannot compile a module", error);
    free(cache);
    if (rc == CLT_OK)
      rc = clt_fail(error, CLT_E_FORMAT, "cannot compile module '%s': %s", path,
                    reason.n ? reason.bytes : "the compiler failed");
  } else {
    rc = mark_end(partial, error);
    if (rc == CLT_OK && (chmod(partial, 0700) != 0 || rename(partial, library) != 0))
      rc = clt_fail_errno(error, CLT_E_IO, "create", library);
  }
  if (rc) unlink(partial);
  clt_text_release(&said);
  clt_text_release(&reason);
  free(command);
  free(from);
  free(partial);
  return rc;
}

/* --- modules of shipped problems: installed compiled, by whichever compiler --- */

#define ANY_COMPILER ""
#define NO_HEADER "" /* clatune/module.h is of the same release, and missing where no modules are compiled */

int clt_module_ship(const char *path, const char *folder, clt_error *error) {
  char *include = include_folder(), *library = NULL;
  int rc = include ? clt_folder_make(folder, error) : clt_fail_memory(error);
  if (rc == CLT_OK) rc = name_library(&library, folder, path, NO_HEADER, ANY_COMPILER, error);
  if (rc == CLT_OK) rc = compile_module(path, library, include, error);
  if (rc == CLT_OK && chmod(library, 0755) != 0) rc = clt_fail_errno(error, CLT_E_IO, "change the mode of", library);
  free(include);
  free(library);
  return rc;
}

/* A module's installed shared object; *out is NULL if there is none. */
static int find_shipped(char **out, const char *path, clt_error *error) {
  static const char *const folders[] = {"../" CLATUNE_SHIPPED_MODULES, "../../" CLATUNE_SHIPPED_MODULES, NULL};
  char *folder = clt_find_near(folders, R_OK);
  int rc = folder ? name_library(out, folder, path, NO_HEADER, ANY_COMPILER, error) : CLT_OK;
  if (rc == CLT_OK && *out && access(*out, R_OK) != 0) {
    free(*out);
    *out = NULL;
  }
  free(folder);
  return rc;
}

/* --- the others: in the user's cache --- */

/* Loading a shared object executes it. So nothing is loaded from a cache folder that others can write to. */
static int open_cache(char **out, clt_error *error) {
  const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  struct stat status;
  int rc = CLT_OK;
  if (cache && cache[0] == '/')
    *out = clt_format("%s/clatune/modules", cache);
  else if (home && home[0] == '/')
    *out = clt_format("%s/.cache/clatune/modules", home);
  else
    return clt_fail(error, CLT_E_IO, "cannot store compiled modules; set HOME or XDG_CACHE_HOME");
  if (*out == NULL) return clt_fail_memory(error);
  if (stat(*out, &status) != 0) rc = clt_folder_make(*out, error);
  if (rc == CLT_OK && stat(*out, &status) != 0) rc = clt_fail_errno(error, CLT_E_IO, "open the folder", *out);
  if (rc == CLT_OK && !is_own(&status))
    rc = clt_fail(error, CLT_E_IO,
                  "compiled modules are not loaded from '%s': %s; set XDG_CACHE_HOME to a folder of your own", *out,
                  status.st_uid == geteuid() ? "other users can write to it" : "it belongs to another user");
  return rc;
}

/* Finds the shared object of a module. One in C is compiled if it is neither shipped nor in the cache, or anew. A
 * cached file of another user is replaced. */
static int find_library(char **out, const char *path, bool anew, clt_error *error) {
  char *folder = NULL, *include = NULL;
  size_t n;
  if (!clt_ends_with(path, ".c")) { /* dlopen would wait for a FIFO */
    int rc = clt_file_size(&n, path, error);
    if (rc) return rc;
    return (*out = strdup(path)) ? CLT_OK : clt_fail_memory(error);
  }
  int rc = (include = include_folder()) ? CLT_OK : clt_fail_memory(error);
  if (rc == CLT_OK && !anew) rc = find_shipped(out, path, error);
  if (rc == CLT_OK && *out == NULL) {
    rc = open_cache(&folder, error);
    if (rc == CLT_OK) rc = name_library(out, folder, path, include, compiler_command(), error);
    if (rc == CLT_OK && (anew || !is_whole(*out))) rc = compile_module(path, *out, include, error);
  }
  free(folder);
  free(include);
  return rc;
}

int clt_module_find_function(clt_module_function *out, const char *path, const char *function, clt_error *error) {
  void *handle = NULL;
  char *library = NULL;
  int rc = CLT_OK;
  /* A cached one may be of another system that shares the folder, so it is compiled once more. */
  for (int attempt = 0; rc == CLT_OK && handle == NULL && attempt < (clt_ends_with(path, ".c") ? 2 : 1); attempt++) {
    free(library);
    library = NULL;
    rc = find_library(&library, path, attempt > 0, error);
    /* RTLD_NODELETE: threads of the OpenMP runtime may outlive the call. */
    if (rc == CLT_OK) handle = dlopen(library, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  }
  if (rc) {
    free(library);
    return rc;
  }
  void *symbol = handle ? dlsym(handle, function) : NULL;
  if (handle == NULL)
    rc = clt_fail(error, CLT_E_IO, "cannot load module '%s': %s", path, dlerror());
  else if (symbol == NULL)
    rc = clt_fail(error, CLT_E_NOT_FOUND, "module '%s' has no function '%s'", path, function);
  else
    memcpy(out, &symbol, sizeof *out);
  if (handle) dlclose(handle);
  free(library);
  return rc;
}
