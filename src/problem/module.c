/* A problem's own C functions: compiled once into the user's cache, and loaded. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/spawn.h"
#include "problem/module_paths.h"
#include "problem/parts.h"

#define MAX_COMPILER_WORDS 16 /* of $CC, which may hold arguments */
#define MAX_COMPILER_TEXT 2000

static const char *const flags[] = {"-O3", "-fopenmp", "-shared", "-fPIC"};
#define N_FLAGS (sizeof flags / sizeof *flags)

#define HEADER "clatune/module.h"

/* The folder that clatune/module.h is included from; malloc'ed. */
static char *include_folder(void) {
  /* Relative to bin/clatune, lib/libclatune.so or lib/<architecture>/libclatune.so in a tree that was moved. */
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

/* What a compiled module depends on: its text with what it includes, the interface, the compiler and the flags. */
static int hash_module(char out[33], const char *path, const char *include, clt_error *error) {
  char *text = NULL, *folder = clt_path_folder(path);
  clt_hasher *hasher = clt_hasher_new();
  int rc = folder && hasher ? CLT_OK : clt_fail_memory(error);
  if (rc == CLT_OK) rc = clt_file_read(&text, NULL, path, CLT_MAX_TEXT_BYTES, error);
  if (rc == CLT_OK) clt_hasher_add_text(hasher, compiler_command());
  for (size_t i = 0; rc == CLT_OK && i < N_FLAGS; i++) clt_hasher_add_text(hasher, flags[i]);
  if (rc == CLT_OK) rc = clt_hash_with_includes(hasher, "#include \"clatune/module.h\"\n", include, NULL, 0, error);
  if (rc == CLT_OK) rc = clt_hash_with_includes(hasher, text, folder, &include, 1, error);
  if (rc == CLT_OK) clt_hasher_hex(hasher, out);
  clt_hasher_free(hasher);
  free(text);
  free(folder);
  return rc;
}

/* What the compiler says, its line ends as "; ", is the reason where it fails. */
static int run_compiler(char *const *words, const char *path, clt_error *error) {
  const clt_spawn spawn = {.program = words[0], .arguments = words};
  clt_error cause = {0};
  clt_text said = {0}, reason = {0};
  int status = 0;
  int rc = clt_spawn_output(&said, &status, &spawn, MAX_COMPILER_TEXT, &cause);
  if (rc) {
    rc = clt_fail(error, rc, "cannot compile module '%s': %s; set CC to a C compiler", path, cause.message);
  } else if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    while (said.n > 0 && strchr(" \n", said.bytes[said.n - 1])) said.bytes[--said.n] = 0;
    for (size_t i = 0; i < said.n; i++) {
      if (said.bytes[i] == '\n')
        clt_text_add(&reason, "; ");
      else
        clt_text_add_bytes(&reason, &said.bytes[i], 1);
    }
    rc = clt_fail(error, CLT_E_FORMAT, "cannot compile module '%s': %s", path,
                  reason.n ? reason.bytes : "the compiler failed");
  }
  clt_text_release(&said);
  clt_text_release(&reason);
  return rc;
}

static int compile_module(const char *path, const char *library, const char *include, clt_error *error) {
  char *command = strdup(compiler_command()), *from = clt_format("-I%s", include);
  char *partial = clt_format("%s.%ld", library, (long)gettid()), *words[MAX_COMPILER_WORDS + N_FLAGS + 6];
  int rc = command && from && partial ? CLT_OK : clt_fail_memory(error);
  if (rc == CLT_OK) {
    size_t n = 0;
    for (char *rest, *word = strtok_r(command, " ", &rest); word && n < MAX_COMPILER_WORDS;
         word = strtok_r(NULL, " ", &rest))
      words[n++] = word;
    for (size_t i = 0; i < N_FLAGS; i++) words[n++] = (char *)flags[i];
    char *const more[] = {from, "-o", partial, (char *)path, "-lm", NULL};
    memcpy(&words[n], more, sizeof more);
    rc = run_compiler(words, path, error);
  }
  if (rc == CLT_OK && rename(partial, library) != 0) rc = clt_fail_errno(error, CLT_E_IO, "create", library);
  if (rc && partial) unlink(partial);
  free(command);
  free(from);
  free(partial);
  return rc;
}

/* The shared object of a module; compiled if it is C and not in the cache. */
static int find_library(char **out, const char *path, clt_error *error) {
  const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  char hash[33], *folder = NULL, *library = NULL, *include = NULL;
  if (!clt_ends_with(path, ".c")) return (*out = strdup(path)) ? CLT_OK : clt_fail_memory(error);
  if (cache && cache[0] == '/')
    folder = clt_format("%s/clatune/modules", cache);
  else if (home && home[0] == '/')
    folder = clt_format("%s/.cache/clatune/modules", home);
  else
    return clt_fail(error, CLT_E_IO, "there is no place for compiled modules; set HOME or XDG_CACHE_HOME");
  int rc = folder && (include = include_folder()) ? CLT_OK : clt_fail_memory(error);
  if (rc == CLT_OK) rc = hash_module(hash, path, include, error);
  if (rc == CLT_OK && (library = clt_format("%s/%s.so", folder, hash)) == NULL) rc = clt_fail_memory(error);
  if (rc == CLT_OK && access(library, R_OK) != 0) {
    rc = clt_folder_make(folder, error);
    if (rc == CLT_OK) rc = compile_module(path, library, include, error);
  }
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
