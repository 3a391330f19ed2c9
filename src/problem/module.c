/* A problem's own C functions: compiled once into the user's cache, and loaded. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/memory.h"
#include "problem/module_paths.h"
#include "problem/parts.h"

#define MAX_COMPILER_WORDS 16
#define MAX_COMPILER_TEXT 4096

extern char **environ;

static const char *const flags[] = {"-O3", "-fopenmp", "-shared", "-fPIC"};

#define HEADER "clatune/module.h"

/* Relative to bin/clatune, lib/libclatune.so or lib/<architecture>/libclatune.so in a tree that was moved. */
static const char *const include_folders[] = {"../include/" HEADER, "../../include/" HEADER, NULL};

/* The folder that clatune/module.h is included from; malloc'ed. */
static char *include_folder(void) {
  const char *chosen = getenv("CLATUNE_INCLUDE");
  if (chosen && chosen[0]) return strdup(chosen);
  if (CLATUNE_SOURCE_INCLUDE[0] && access(CLATUNE_SOURCE_INCLUDE "/" HEADER, R_OK) == 0)
    return strdup(CLATUNE_SOURCE_INCLUDE);
  char *found = clt_find_near_program(include_folders, R_OK);
  if (found == NULL) found = clt_find_near_library(include_folders, R_OK);
  if (found == NULL) return strdup(CLATUNE_INSTALLED_INCLUDE);
  found[strlen(found) - strlen("/" HEADER)] = '\0';
  return found;
}

static const char *compiler(void) {
  const char *chosen = getenv("CC");
  return chosen && chosen[0] ? chosen : "cc";
}

static int find_cache(char **out, clt_error *error) {
  const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  bool has_cache = cache && cache[0] == '/';
  if (!has_cache && !(home && home[0] == '/'))
    return clt_fail(error, CLT_E_IO, "there is no place for compiled modules; set HOME or XDG_CACHE_HOME");
  char *folder = has_cache ? clt_format("%s/clatune/modules", cache) : clt_format("%s/.cache/clatune/modules", home);
  if (folder == NULL) return clt_fail_memory(error);
  *out = folder;
  return CLT_OK;
}

/* What a compiled module depends on: its text with what it includes, the interface, the compiler and the flags. */
static int hash_module(char out[33], const char *path, clt_error *error) {
  char *text = NULL, *folder = clt_path_folder(path), *include = include_folder();
  char *const paths[] = {include};
  clt_hasher *hasher = clt_hasher_new();
  int rc = folder && include && hasher ? CLT_OK : clt_fail_memory(error);
  if (rc == CLT_OK) rc = clt_file_read(&text, NULL, path, CLT_MAX_TEXT_BYTES, error);
  if (rc == CLT_OK) clt_hasher_add_text(hasher, compiler());
  for (size_t i = 0; rc == CLT_OK && i < sizeof flags / sizeof *flags; i++) clt_hasher_add_text(hasher, flags[i]);
  if (rc == CLT_OK) rc = clt_hash_with_includes(hasher, "#include \"clatune/module.h\"\n", include, NULL, 0, error);
  if (rc == CLT_OK) rc = clt_hash_with_includes(hasher, text, folder, paths, 1, error);
  if (rc == CLT_OK) clt_hasher_hex(hasher, out);
  clt_hasher_free(hasher);
  free(text);
  free(folder);
  free(include);
  return rc;
}

/* Reads what the compiler says until it closes its end, line ends as "; ". */
static void collect(int fd, char *out, size_t capacity) {
  char chunk[512];
  size_t used = 0;
  ssize_t got;
  while ((got = read(fd, chunk, sizeof chunk)) > 0 || (got < 0 && errno == EINTR))
    for (ssize_t i = 0; i < got; i++) {
      if (used + 3 >= capacity) continue; /* go on reading, so that the compiler can finish */
      if (chunk[i] == '\n') out[used++] = ';';
      out[used++] = chunk[i] == '\n' ? ' ' : chunk[i];
    }
  while (used > 0 && (out[used - 1] == ' ' || out[used - 1] == ';')) used--;
  out[used] = 0;
}

/* Starts a program with its output in a pipe; returns its process or -1 with errno set. */
static pid_t start(char *const *words, int *output) {
  posix_spawn_file_actions_t actions;
  int ends[2], rc;
  pid_t child;
  if (pipe2(ends, O_CLOEXEC) != 0) return -1;
  if ((rc = posix_spawn_file_actions_init(&actions)) == 0) {
    rc = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    if (rc == 0) rc = posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    if (rc == 0) rc = posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
    if (rc == 0) rc = posix_spawnp(&child, words[0], &actions, NULL, words, environ);
    posix_spawn_file_actions_destroy(&actions);
  }
  close(ends[1]);
  if (rc == 0) return *output = ends[0], child;
  close(ends[0]);
  errno = rc;
  return -1;
}

static int run_compiler(char *const *words, const char *path, clt_error *error) {
  char text[MAX_COMPILER_TEXT];
  int output, status = 0;
  pid_t child = start(words, &output), waited;
  if (child < 0)
    return clt_fail(error, CLT_E_IO, "cannot compile module '%s': cannot run '%s': %s; set CC to a C compiler", path,
                    words[0], strerror(errno));
  collect(output, text, sizeof text);
  close(output);
  do waited = waitpid(child, &status, 0);
  while (waited < 0 && errno == EINTR);
  if (waited == child && WIFEXITED(status) && WEXITSTATUS(status) == 0) return CLT_OK;
  return clt_fail(error, CLT_E_FORMAT, "cannot compile module '%s': %s", path, text[0] ? text : "the compiler failed");
}

/* $CC may hold arguments. Splits in place. */
static size_t split(char *text, char **words) {
  size_t n = 0;
  for (char *rest, *word = strtok_r(text, " ", &rest); word && n < MAX_COMPILER_WORDS;
       word = strtok_r(NULL, " ", &rest))
    words[n++] = word;
  return n;
}

static int compile(const char *path, const char *library, clt_error *error) {
  char *command = strdup(compiler()), *folder = include_folder(), *include = folder ? clt_format("-I%s", folder) : NULL;
  char *partial = clt_format("%s.%ld", library, (long)gettid());
  char *words[MAX_COMPILER_WORDS + 12];
  int rc = command && include && partial ? CLT_OK : clt_fail_memory(error);
  if (rc == CLT_OK) {
    size_t n = split(command, words);
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) words[n++] = (char *)flags[i];
    char *const rest[] = {include, "-o", partial, (char *)path, "-lm", NULL};
    memcpy(&words[n], rest, sizeof rest);
    rc = run_compiler(words, path, error);
  }
  if (rc == CLT_OK && rename(partial, library) != 0) rc = clt_fail_errno(error, CLT_E_IO, "create", library);
  if (rc && partial) unlink(partial);
  free(command);
  free(folder);
  free(include);
  free(partial);
  return rc;
}

static bool is_c(const char *path) {
  size_t n = strlen(path);
  return n > 2 && strcmp(path + n - 2, ".c") == 0;
}

/* The shared object of a module; compiled if it is C and not in the cache. */
static int find_library(char **out, const char *path, clt_error *error) {
  char hash[33], *folder = NULL, *library = NULL;
  if (!is_c(path)) return (*out = strdup(path)) ? CLT_OK : clt_fail_memory(error);
  int rc = find_cache(&folder, error);
  if (rc == CLT_OK) rc = hash_module(hash, path, error);
  if (rc == CLT_OK && (library = clt_format("%s/%s.so", folder, hash)) == NULL) rc = clt_fail_memory(error);
  if (rc == CLT_OK && access(library, R_OK) != 0) {
    rc = clt_folder_make(folder, error);
    if (rc == CLT_OK) rc = compile(path, library, error);
  }
  free(folder);
  if (rc == CLT_OK) {
    *out = library;
  } else {
    free(library);
  }
  return rc;
}

int clt_module_find_function(clt_module_function *out, const char *path, const char *function, clt_error *error) {
  char *library = NULL;
  int rc = find_library(&library, path, error);
  if (rc) return rc;
  /* RTLD_NODELETE: threads of the OpenMP runtime may outlive the call. */
  void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  void *symbol = handle ? dlsym(handle, function) : NULL;
  if (handle == NULL) rc = clt_fail(error, CLT_E_IO, "cannot load module '%s': %s", path, dlerror());
  if (handle && symbol == NULL)
    rc = clt_fail(error, CLT_E_NOT_FOUND, "module '%s' has no function '%s'", path, function);
  if (rc == CLT_OK) memcpy(out, &symbol, sizeof *out);
  if (handle) dlclose(handle);
  free(library);
  return rc;
}
