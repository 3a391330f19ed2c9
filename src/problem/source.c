/* Kernel text and what it includes. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/memory.h"
#include "problem/parts.h"

#define MAX_INCLUDED 256 /* files in one hash */

int clt_kernel_read(const clt_problem *problem, const char *file, char **text, char **folder, clt_error *error) {
  char *path = clt_problem_file(problem, file);
  char *above = clt_format("%s/../%s", problem->folder, file);
  const char *found = NULL;
  int rc = path && above ? CLT_OK : clt_fail_memory(error);
  if (rc == CLT_OK) found = access(path, R_OK) != 0 && file[0] != '/' && access(above, R_OK) == 0 ? above : path;
  if (rc == CLT_OK) rc = clt_file_read(text, NULL, found, CLT_MAX_TEXT_BYTES, error);
  if (rc == CLT_OK && folder && (*folder = clt_path_folder(found)) == NULL) {
    free(*text);
    *text = NULL; /* callers free it */
    rc = clt_fail_memory(error);
  }
  free(path);
  free(above);
  return rc;
}

/* The included files on the way: names that were seen, so that none is read twice. */
typedef struct includes {
  clt_hasher *hasher;
  char *const *paths;
  size_t n_paths;
  char *seen[MAX_INCLUDED];
  size_t n_seen;
} includes;

static int add_text(includes *state, const char *text, const char *folder, clt_error *error);

static bool was_seen(const includes *state, const char *path) {
  for (size_t i = 0; i < state->n_seen; i++)
    if (strcmp(state->seen[i], path) == 0) return true;
  return false;
}

/* Adds an included file if it lies in the folder; *found says whether. */
static int add_file(includes *state, const char *folder, const char *name, bool *found, clt_error *error) {
  char *joined = clt_path_join(folder, name), *path = joined ? realpath(joined, NULL) : NULL, *text = NULL;
  free(joined);
  if (path == NULL) return CLT_OK;
  *found = true;
  if (was_seen(state, path) || state->n_seen == MAX_INCLUDED) {
    free(path);
    return CLT_OK;
  }
  state->seen[state->n_seen++] = path;
  int rc = clt_file_read(&text, NULL, path, CLT_MAX_TEXT_BYTES, error);
  char *inner = rc == CLT_OK ? clt_path_folder(path) : NULL;
  if (rc == CLT_OK && inner == NULL) rc = clt_fail_memory(error);
  if (rc == CLT_OK) rc = add_text(state, text, inner, error);
  free(inner);
  free(text);
  return rc;
}

/* The name in an include directive at the start of a line, or NULL. malloc'ed. */
static char *included_name(const char *line) {
  line += strspn(line, " \t");
  if (*line++ != '#') return NULL;
  line += strspn(line, " \t");
  if (strncmp(line, "include", 7) != 0) return NULL;
  line += 7 + strspn(line + 7, " \t");
  if (*line++ != '"') return NULL;
  size_t n = strcspn(line, "\"\n");
  return line[n] == '"' && n > 0 ? strndup(line, n) : NULL;
}

static int add_text(includes *state, const char *text, const char *folder, clt_error *error) {
  int rc = CLT_OK;
  clt_hasher_add_text(state->hasher, text);
  for (const char *line = text; rc == CLT_OK && line; line = strchr(line, '\n')) {
    line += *line == '\n';
    char *name = included_name(line);
    bool found = false;
    if (name) rc = add_file(state, folder, name, &found, error);
    for (size_t i = 0; name && rc == CLT_OK && !found && i < state->n_paths; i++)
      rc = add_file(state, state->paths[i], name, &found, error);
    free(name);
  }
  return rc;
}

int clt_hash_with_includes(clt_hasher *hasher, const char *text, const char *folder, char *const *include_paths,
                           size_t n_include_paths, clt_error *error) {
  includes *state = calloc(1, sizeof *state);
  if (state == NULL) return clt_fail_memory(error);
  state->hasher = hasher;
  state->paths = include_paths;
  state->n_paths = n_include_paths;
  int rc = add_text(state, text, folder, error);
  for (size_t i = 0; i < state->n_seen; i++) free(state->seen[i]);
  free(state);
  return rc;
}
