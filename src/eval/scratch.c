#include "eval/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/memory.h"

#define CHUNK_BYTES ((size_t)1 << 26)

/* Folders above a file that is listed as "a/b/c". */
static int make_parents(const char *path, size_t top, clt_error *error) {
  char *copy = strdup(path);
  int rc = copy ? CLT_OK : clt_fail_memory(error);
  for (char *slash = copy ? strchr(copy + top + 1, '/') : NULL; rc == CLT_OK && slash; slash = strchr(slash + 1, '/')) {
    *slash = 0;
    if (mkdir(copy, 0700) && errno != EEXIST) rc = clt_fail_errno(error, CLT_E_IO, "make the folder", copy);
    *slash = '/';
  }
  free(copy);
  return rc;
}

static int copy_bytes(int to, int from, const char *path, clt_error *error) {
  ssize_t sent;
  do {
    sent = sendfile(to, from, NULL, CHUNK_BYTES);
  } while (sent > 0 || (sent < 0 && errno == EINTR));
  return sent == 0 ? CLT_OK : clt_fail_errno(error, CLT_E_IO, "copy", path);
}

/* With its permissions to run, but as a new file: make goes by that. */
static int copy_file(const char *to, const char *from, clt_error *error) {
  struct stat status;
  int rc = CLT_OK, in = open(from, O_RDONLY | O_CLOEXEC);
  if (in < 0) return clt_fail_errno(error, CLT_E_IO, "open", from);
  mode_t mode = fstat(in, &status) == 0 ? (status.st_mode & 0100) | 0600 : 0600;
  int out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, mode);
  if (out < 0) rc = clt_fail_errno(error, CLT_E_IO, "create", to);
  if (rc == CLT_OK) rc = copy_bytes(out, in, from, error);
  close(in);
  if (out >= 0 && close(out) != 0 && rc == CLT_OK) rc = clt_fail_errno(error, CLT_E_IO, "write", to);
  return rc;
}

static int copy(void *user, const char *relative, const char *path, bool folder, clt_error *error) {
  const char *scratch = user;
  char *to = clt_path_join(scratch, relative);
  int rc = to ? make_parents(to, strlen(scratch), error) : clt_fail_memory(error);
  if (rc == CLT_OK && folder && mkdir(to, 0700) && errno != EEXIST)
    rc = clt_fail_errno(error, CLT_E_IO, "make the folder", to);
  if (rc == CLT_OK && !folder) rc = copy_file(to, path, error);
  free(to);
  return rc;
}

static int make_link(const char *scratch, const clt_problem *problem, const char *written, clt_error *error) {
  char *target = clt_problem_file(problem, written), *to = clt_path_join(scratch, clt_name_in_scratch(written));
  int rc = target && to ? make_parents(to, strlen(scratch), error) : clt_fail_memory(error);
  if (rc == CLT_OK && symlink(target, to)) rc = clt_fail_errno(error, CLT_E_IO, "make the link", to);
  free(target);
  free(to);
  return rc;
}

static int write_parameters(const char *scratch, const clt_instance *instance, clt_config config, clt_error *error) {
  char *to = clt_path_join(scratch, clt_instance_command(instance)->parameters_file), *text = NULL;
  int rc = to ? make_parents(to, strlen(scratch), error) : clt_fail_memory(error);
  if (rc == CLT_OK) rc = clt_command_parameters(instance, config, &text, error);
  if (rc == CLT_OK) rc = clt_file_write(to, text, strlen(text), error);
  free(text);
  free(to);
  return rc;
}

int clt_scratch_new(char **out, const clt_run_folder *run, const char *name, const clt_instance *instance,
                    clt_config config, clt_error *error) {
  const clt_command *command = clt_instance_command(instance);
  char *path = NULL;
  int rc = clt_run_folder_make(&path, run, name, error);
  if (rc) return rc;
  clt_remove_tree(path, true);
  rc = clt_command_each_file(instance, copy, path, error);
  for (size_t i = 0; rc == CLT_OK && i < command->n_links; i++)
    rc = make_link(path, clt_instance_problem(instance), command->links[i], error);
  if (rc == CLT_OK && command->parameters_file && config != CLT_CONFIG_NONE)
    rc = write_parameters(path, instance, config, error);
  if (rc) return clt_scratch_remove(path), rc;
  *out = path;
  return CLT_OK;
}

void clt_scratch_remove(char *path) {
  if (path) clt_remove_tree(path, false);
  free(path);
}
