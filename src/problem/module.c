/* Modules: a problem's own C functions, compiled once into the user's cache and loaded. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/spawn.h"
#include "problem/content.h"
#include "problem/instance.h"
#include "problem/module_paths.h"

#define MAX_COMPILER_WORDS 16 /* of $CC, which may contain arguments */
#define MAX_COMPILER_TEXT 2000

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
  char *found = clt_find_near_program(folders, R_OK);
  if (found == NULL) found = clt_find_near_library(folders, R_OK);
  if (found == NULL) return strdup(CLATUNE_INSTALLED_INCLUDE);
  found[strlen(found) - strlen("/" HEADER)] = '\0';
  return found;
}

static const char *compiler_command(void) {
  const char *chosen = getenv("CC");
  return chosen && chosen[0] ? chosen : "cc";
}

/* Hashes everything that a compiled module depends on: its text with includes, clatune/module.h, the compiler and the
 * flags. */
static int hash_module(char out[33], const char *path, const char *include, clt_error *error) {
  clt_hasher *hasher = clt_hasher_new();
  if (hasher == NULL) return clt_fail_memory(error);
  clt_hasher_add_text(hasher, compiler_command());
  for (size_t i = 0; i < N_FLAGS; i++) clt_hasher_add_text(hasher, flags[i]);
  int rc = clt_hash_with_includes(hasher, path, include, error);
  if (rc == CLT_OK) clt_hasher_hex(hasher, out);
  clt_hasher_free(hasher);
  return rc;
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
    rc = clt_fail(error, CLT_E_FORMAT, "cannot compile module '%s': %s", path,
                  reason.n ? reason.bytes : "the compiler failed");
  } else if (chmod(partial, 0700) != 0 || rename(partial, library) != 0) {
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

/* Whether a folder or file belongs to the user and only the user can write to it. */
static bool is_own(const struct stat *status) {
  return status->st_uid == geteuid() && !(status->st_mode & (S_IWGRP | S_IWOTH));
}

/* Finds the shared object of a module, and compiles it if it is C and not in the cache. Loading a shared object
 * executes it. So nothing is loaded from a cache folder that others can write to, and a cached file of another user is
 * replaced. */
static int find_library(char **out, const char *path, clt_error *error) {
  const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  char hash[33], *folder = NULL, *library = NULL, *include = NULL;
  struct stat status;
  if (!clt_ends_with(path, ".c")) { /* dlopen would wait for a FIFO */
    int fd, rc = clt_file_open(&fd, NULL, path, error);
    if (rc) return rc;
    close(fd);
    return (*out = strdup(path)) ? CLT_OK : clt_fail_memory(error);
  }
  if (cache && cache[0] == '/')
    folder = clt_format("%s/clatune/modules", cache);
  else if (home && home[0] == '/')
    folder = clt_format("%s/.cache/clatune/modules", home);
  else
    return clt_fail(error, CLT_E_IO, "cannot store compiled modules; set HOME or XDG_CACHE_HOME");
  int rc = folder && (include = include_folder()) ? CLT_OK : clt_fail_memory(error);
  if (rc == CLT_OK) rc = hash_module(hash, path, include, error);
  if (rc == CLT_OK && (library = clt_format("%s/%s.so", folder, hash)) == NULL) rc = clt_fail_memory(error);
  if (rc == CLT_OK && stat(folder, &status) != 0) rc = clt_folder_make(folder, error);
  if (rc == CLT_OK && stat(folder, &status) != 0) rc = clt_fail_errno(error, CLT_E_IO, "open the folder", folder);
  if (rc == CLT_OK && !is_own(&status))
    rc = clt_fail(error, CLT_E_IO,
                  "compiled modules are not loaded from '%s': %s; set XDG_CACHE_HOME to a folder of your own", folder,
                  status.st_uid == geteuid() ? "other users can write to it" : "it belongs to another user");
  if (rc == CLT_OK && !(lstat(library, &status) == 0 && S_ISREG(status.st_mode) && is_own(&status)))
    rc = compile_module(path, library, include, error);
  free(folder);
  free(include);
  if (rc == CLT_OK)
    *out = library;
  else
    free(library);
  return rc;
}

int clt_module_find_function(clt_module_function *out, const char *path, const char *function, clt_error *error) {
  char *library = NULL;
  int rc = find_library(&library, path, error);
  if (rc) return rc;
  /* RTLD_NODELETE: threads of the OpenMP runtime may outlive the call. */
  void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
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
