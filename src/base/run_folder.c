#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/memory.h"

#define PREFIX "clatune-"
#define UNFINISHED_PREFIX "clatune.new-"
#define ALPHANUMERIC "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define RANDOM_CHARACTERS 6 /* mkdtemp's */

/* --- what dead runs left behind --- */

/* What the lock of a run on this host holds. Where locks are not shared between hosts, a folder of another host looks
 * as if its owner were dead; and a folder without it is nobody's run, whatever its name is. */
static char *make_marker(void) {
  char host[HOST_NAME_MAX + 1] = "";
  gethostname(host, sizeof host - 1);
  return clt_format("clatune run on %s\n", host);
}

/* Whether a folder carries this host's marker and nobody holds its lock. A run holds the lock from before its folder
 * has its final name until the folder is gone. */
static bool is_dead(const char *lock, const char *marker) {
  char content[HOST_NAME_MAX + 32];
  int fd = open(lock, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return false;
  ssize_t n = read(fd, content, sizeof content);
  bool dead =
      n == (ssize_t)strlen(marker) && memcmp(content, marker, (size_t)n) == 0 && flock(fd, LOCK_EX | LOCK_NB) == 0;
  close(fd);
  return dead;
}

/* Names of exactly our form, with our marker. */
static void remove_dead_runs(const char *parent, const char *marker) {
  DIR *listing = opendir(parent);
  if (listing == NULL) return;
  for (struct dirent *entry; (entry = readdir(listing));) {
    bool finished = clt_starts_with(entry->d_name, PREFIX);
    const char *prefix = finished ? PREFIX : UNFINISHED_PREFIX, *random = entry->d_name + strlen(prefix);
    if (!clt_starts_with(entry->d_name, prefix) || strspn(random, ALPHANUMERIC) != RANDOM_CHARACTERS ||
        random[RANDOM_CHARACTERS])
      continue;
    char *path = clt_format("%s/%s", parent, entry->d_name), *lock = clt_format("%s/lock", path ? path : "");
    struct stat info;
    bool ours = path && lock && lstat(path, &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == geteuid();
    if (ours && finished && is_dead(lock, marker)) clt_remove_tree(path, false);
    if (ours && !finished && is_dead(lock, marker)) { /* only what it can hold */
      unlink(lock);
      rmdir(path);
    }
    free(lock);
    free(path);
  }
  closedir(listing);
}

/* --- the folder of this run --- */

static int lock_new(int *out, const char *folder, const char *marker, clt_error *error) {
  char *path = clt_format("%s/lock", folder);
  if (path == NULL) return clt_fail_memory(error);
  int rc = CLT_OK, fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  size_t n = strlen(marker);
  if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) || write(fd, marker, n) != (ssize_t)n) {
    rc = clt_fail_errno(error, CLT_E_IO, "lock", path);
    if (fd >= 0) close(fd);
  } else {
    *out = fd;
  }
  free(path);
  return rc;
}

int clt_run_folder_new(clt_run_folder *out, clt_error *error) {
  const char *parent = clt_temporary_folder();
  int rc = CLT_OK, lock_fd = -1;
  char *unfinished = clt_format("%s/" UNFINISHED_PREFIX "XXXXXX", parent), *marker = make_marker(), *final = NULL;
  if (unfinished == NULL || marker == NULL) {
    rc = clt_fail_memory(error);
    goto done;
  }
  remove_dead_runs(parent, marker);
  if (mkdtemp(unfinished) == NULL) {
    rc = clt_fail_errno(error, CLT_E_IO, "make the folder", unfinished);
    goto done;
  }
  final = clt_format("%s/" PREFIX "%s", parent, unfinished + strlen(unfinished) - RANDOM_CHARACTERS);
  rc = final ? lock_new(&lock_fd, unfinished, marker, error) : clt_fail_memory(error);
  if (rc == 0 && rename(unfinished, final)) rc = clt_fail_errno(error, CLT_E_IO, "make the folder", final);
  if (rc) {
    clt_remove_tree(unfinished, false);
    if (lock_fd >= 0) close(lock_fd);
    goto done;
  }
  *out = (clt_run_folder){.path = final, .lock_fd = lock_fd};
  final = NULL;
done:
  free(marker);
  free(unfinished);
  free(final);
  return rc;
}

void clt_run_folder_remove(clt_run_folder *folder) {
  if (folder->path == NULL) return;
  clt_remove_tree(folder->path, false);
  close(folder->lock_fd);
  free(folder->path);
  folder->path = NULL;
}

int clt_run_folder_make(char **out, const clt_run_folder *folder, const char *name, clt_error *error) {
  char *path = clt_format("%s/%s", folder->path, name);
  if (path == NULL) return clt_fail_memory(error);
  if (mkdir(path, 0700) && errno != EEXIST) {
    int rc = clt_fail_errno(error, CLT_E_IO, "make the folder", path);
    free(path);
    return rc;
  }
  *out = path;
  return CLT_OK;
}
