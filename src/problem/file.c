#include "problem/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/memory.h"

/* As many bytes as there are, or fewer at the end of the file; -1 on failure. */
static ssize_t read_all(int fd, char *bytes, size_t n) {
  size_t done = 0;
  while (done < n) {
    ssize_t got = read(fd, bytes + done, n - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return -1;
    if (got == 0) break;
    done += (size_t)got;
  }
  return (ssize_t)done;
}

int clt_file_read(char **out, size_t *n, const char *path, size_t max_bytes, clt_error *error) {
  struct stat status;
  char *bytes = NULL;
  ssize_t length;
  int rc = CLT_OK, fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return clt_fail_errno(error, CLT_E_IO, "open", path);
  if (fstat(fd, &status) != 0) {
    rc = clt_fail_errno(error, CLT_E_IO, "read", path);
  } else if (!S_ISREG(status.st_mode)) {
    rc = clt_fail(error, CLT_E_IO, "cannot read '%s': not a regular file", path);
  } else if ((unsigned long long)status.st_size > max_bytes) {
    rc = clt_fail(error, CLT_E_RANGE, "cannot read '%s': larger than %zu bytes", path, max_bytes);
  } else if ((bytes = malloc((size_t)status.st_size + 1)) == NULL) {
    rc = clt_fail_memory(error);
  } else if ((length = read_all(fd, bytes, (size_t)status.st_size)) < 0) {
    rc = clt_fail_errno(error, CLT_E_IO, "read", path);
  } else {
    bytes[length] = 0;
    if (n) *n = (size_t)length;
    *out = bytes;
  }
  close(fd);
  if (rc) free(bytes);
  return rc;
}

static int write_all(int fd, const char *bytes, size_t n) {
  while (n > 0) {
    ssize_t put = write(fd, bytes, n);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return -1;
    bytes += put;
    n -= (size_t)put;
  }
  return 0;
}

int clt_file_write(const char *path, const void *bytes, size_t n, clt_error *error) {
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) return clt_fail_errno(error, CLT_E_IO, "create", path);
  int rc = write_all(fd, bytes, n) == 0 ? CLT_OK : clt_fail_errno(error, CLT_E_IO, "write", path);
  if (close(fd) != 0 && rc == CLT_OK) rc = clt_fail_errno(error, CLT_E_IO, "write", path);
  return rc;
}

int clt_folder_make(const char *path, clt_error *error) {
  char *copy = strdup(path);
  if (copy == NULL) return clt_fail_memory(error);
  int rc = CLT_OK;
  for (char *slash = copy; rc == CLT_OK && slash;) {
    slash = strchr(slash + 1, '/');
    if (slash) *slash = 0;
    if (mkdir(copy, 0700) != 0 && errno != EEXIST) rc = clt_fail_errno(error, CLT_E_IO, "make the folder", copy);
    if (slash) *slash = '/';
  }
  free(copy);
  return rc;
}

char *clt_path_folder(const char *path) {
  const char *slash = strrchr(path, '/');
  char *folder = slash == NULL ? strdup(".") : slash == path ? strdup("/") : strndup(path, (size_t)(slash - path));
  if (folder == NULL) return NULL;
  char *absolute = realpath(folder, NULL);
  if (absolute == NULL) return folder;
  free(folder);
  return absolute;
}

char *clt_path_join(const char *folder, const char *path) {
  return path[0] == '/' ? strdup(path) : clt_format("%s/%s", folder, path);
}
