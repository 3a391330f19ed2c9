/* The files that a command finds in the folder that it runs in, and what its measurements depend on. */
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/memory.h"
#include "problem/command.h"
#include "problem/command_files.h"

#define MAX_FILES 20000
#define MAX_DEPTH 16
#define MAX_BYTES ((int64_t)1 << 30)

typedef struct walk {
  const clt_problem *problem;
  clt_file_visitor visit;
  void *user;
  clt_error *error;
  size_t n;
  int64_t bytes;
} walk;

static int visit_path(walk *w, const char *relative, const char *path, int depth, bool listed);

static bool ends_with(const char *text, const char *end) {
  size_t n = strlen(text), m = strlen(end);
  return n > m && strcmp(text + n - m, end) == 0;
}

static bool is_elf(const char *path) {
  char magic[4];
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  bool yes = fd >= 0 && read(fd, magic, 4) == 4 && memcmp(magic, "\177ELF", 4) == 0;
  if (fd >= 0) close(fd);
  return yes;
}

/* Of a whole folder: what was built before would keep make from building, and stores and folders of runs change while
 * they are used. */
static bool is_left_out(const walk *w, const char *name, const char *path) {
  const char *own = strrchr(w->problem->source.path, '/');
  bool temporary = strncmp(name, "clatune-", 8) == 0 || strncmp(name, "clatune.new-", 12) == 0;
  bool store = ends_with(name, ".sqlite") || ends_with(name, ".sqlite-wal") || ends_with(name, ".sqlite-shm");
  if (name[0] == '.' || store || temporary || strcmp(name, own ? own + 1 : w->problem->source.path) == 0) return true;
  return w->problem->command->n_build > 0 && is_elf(path);
}

static int dots_left_out(const struct dirent *entry) {
  return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

/* Sorted, as the key depends on the order. relative "": the top. */
static int visit_folder(walk *w, const char *relative, const char *path, int depth, bool listed) {
  struct dirent **entries = NULL;
  int n = scandir(path, &entries, dots_left_out, alphasort), rc = CLT_OK;
  if (n < 0) return clt_fail_errno(w->error, CLT_E_IO, "list", path);
  for (int i = 0; i < n; i++) {
    const char *name = entries[i]->d_name;
    char *inner = clt_path_join(path, name), *as = clt_format("%s%s%s", relative, relative[0] ? "/" : "", name);
    if (rc == CLT_OK && !(inner && as)) rc = clt_fail_memory(w->error);
    if (rc == CLT_OK && (listed || !is_left_out(w, name, inner))) rc = visit_path(w, as, inner, depth + 1, listed);
    free(inner);
    free(as);
    free(entries[i]);
  }
  free(entries);
  return rc;
}

static int visit_path(walk *w, const char *relative, const char *path, int depth, bool listed) {
  struct stat status;
  if (stat(path, &status) != 0) /* a link to nowhere is of no use to anybody */
    return listed && depth == 0 ? clt_fail_errno(w->error, CLT_E_IO, "read", path) : CLT_OK;
  bool folder = S_ISDIR(status.st_mode);
  if (!folder && !S_ISREG(status.st_mode)) return CLT_OK;
  w->bytes += folder ? 0 : (int64_t)status.st_size;
  if (++w->n > MAX_FILES || w->bytes > MAX_BYTES || depth > MAX_DEPTH)
    return clt_fail(w->error, CLT_E_RANGE,
                    "'%s' holds more than can be copied for every configuration; name what is needed in \"Files\", and "
                    "large data in \"Links\"",
                    w->problem->folder);
  int rc = w->visit(w->user, relative, path, folder, w->error);
  return rc == CLT_OK && folder ? visit_folder(w, relative, path, depth, listed) : rc;
}

const char *clt_name_in_scratch(const char *written) {
  const char *slash = strrchr(written, '/');
  bool inside = written[0] != '/' && strncmp(written, "..", 2) != 0 && strstr(written, "/..") == NULL;
  return inside || slash == NULL ? written : slash + 1;
}

int clt_command_each_file(const clt_instance *instance, clt_file_visitor visit, void *user, clt_error *error) {
  const clt_problem *problem = instance->problem;
  const clt_command *command = problem->command;
  walk w = {.problem = problem, .visit = visit, .user = user, .error = error};
  int rc = command->whole_folder ? visit_folder(&w, "", problem->folder, 0, false) : CLT_OK;
  for (size_t i = 0; rc == CLT_OK && i < command->n_files; i++) {
    char *path = clt_problem_file(problem, command->files[i]);
    rc = path ? visit_path(&w, clt_name_in_scratch(command->files[i]), path, 0, true) : clt_fail_memory(error);
    free(path);
  }
  return rc;
}

/* --- the key --- */

static int hash_file(void *user, const char *relative, const char *path, bool folder, clt_error *error) {
  clt_hasher *hasher = user;
  char *bytes = NULL;
  size_t n = 0;
  clt_hasher_add_text(hasher, relative);
  if (folder) return CLT_OK;
  int rc = clt_file_read(&bytes, &n, path, (size_t)MAX_BYTES, error);
  if (rc == CLT_OK) clt_hasher_add(hasher, bytes, n);
  free(bytes);
  return rc;
}

static void hash_line(clt_hasher *hasher, const clt_problem *problem, const clt_command_line *line) {
  clt_hasher_add(hasher, &line->n, sizeof line->n);
  for (size_t i = 0; i < line->n; i++) {
    clt_expression_id when = line->words[i].when;
    clt_hasher_add_text(hasher, line->words[i].text);
    clt_hasher_add_text(hasher, when == CLT_NO_EXPRESSION ? "" : problem->expressions[when].text);
  }
}

static void hash_text(clt_hasher *hasher, const char *text) {
  clt_hasher_add_text(hasher, text ? "there" : "none");
  clt_hasher_add_text(hasher, text ? text : "");
}

static void hash_figure(clt_hasher *hasher, const clt_figure *figure) {
  const int kinds[] = {(int)figure->source, figure->larger_is_better, (int)figure->statistic};
  clt_hasher_add(hasher, kinds, sizeof kinds);
  clt_hasher_add(hasher, &figure->scale, sizeof figure->scale);
  hash_text(hasher, figure->file);
  hash_text(hasher, figure->member);
  hash_text(hasher, figure->pattern);
  hash_text(hasher, figure->unit);
}

int clt_command_hash(clt_hasher *hasher, const clt_instance *instance, clt_error *error) {
  const clt_problem *problem = instance->problem;
  const clt_command *command = problem->command;
  const int kinds[] = {command->shell, (int)command->parameters_form, command->batch.used};
  clt_hasher_add_text(hasher, "clatune command 1");
  clt_hasher_add(hasher, kinds, sizeof kinds);
  for (size_t i = 0; i < command->n_build; i++) hash_line(hasher, problem, &command->build[i]);
  hash_line(hasher, problem, &command->run);
  hash_line(hasher, problem, &command->check);
  hash_text(hasher, command->environment);
  hash_text(hasher, command->parameters_file);
  hash_text(hasher, command->batch.input);
  hash_text(hasher, command->batch.output);
  hash_figure(hasher, &command->figure);
  for (size_t i = 0; i < command->n_links; i++) clt_hasher_add_text(hasher, command->links[i]);
  return clt_command_each_file(instance, hash_file, hasher, error);
}
