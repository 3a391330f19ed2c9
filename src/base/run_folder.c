#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/memory.h"

#define PREFIX "clatune-"
#define UNFINISHED_PREFIX "clatune.new-"
#define UNFINISHED_AGE_S 3600

/* --- what dead runs left behind --- */

/* A run holds the lock from before its folder has its final name until the folder is gone. */
static bool is_dead(const char *path) {
  char *lock = clt_format("%s/lock", path);
  if (lock == NULL) return false;
  int fd = open(lock, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
  free(lock);
  bool dead = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0;
  if (fd >= 0) close(fd);
  return dead;
}

static void remove_dead_runs(const char *parent) {
  DIR *listing = opendir(parent);
  if (listing == NULL) return;
  for (struct dirent *entry; (entry = readdir(listing));) {
    bool finished = clt_starts_with(entry->d_name, PREFIX);
    if (!finished && !clt_starts_with(entry->d_name, UNFINISHED_PREFIX)) continue;
    char *path = clt_format("%s/%s", parent, entry->d_name);
    struct stat info;
    if (path && lstat(path, &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == geteuid() &&
        (finished ? is_dead(path) : time(NULL) - info.st_mtime > UNFINISHED_AGE_S))
      clt_remove_tree(path, false);
    free(path);
  }
  closedir(listing);
}

/* --- the folder of this run --- */

static int lock_new(int *out, const char *folder, clt_error *error) {
  char *path = clt_format("%s/lock", folder);
  if (path == NULL) return clt_fail_memory(error);
  int rc = CLT_OK, fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB)) {
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
  remove_dead_runs(parent);
  int rc = CLT_OK, lock_fd = -1;
  char *unfinished = clt_format("%s/" UNFINISHED_PREFIX "XXXXXX", parent), *final = NULL;
  if (unfinished == NULL) return clt_fail_memory(error);
  if (mkdtemp(unfinished) == NULL) {
    rc = clt_fail_errno(error, CLT_E_IO, "make the folder", unfinished);
    goto done;
  }
  final = clt_format("%s/" PREFIX "%s", parent, unfinished + strlen(unfinished) - 6);
  rc = final ? lock_new(&lock_fd, unfinished, error) : clt_fail_memory(error);
  if (rc == 0 && rename(unfinished, final)) rc = clt_fail_errno(error, CLT_E_IO, "make the folder", final);
  if (rc) {
    clt_remove_tree(unfinished, false);
    if (lock_fd >= 0) close(lock_fd);
    goto done;
  }
  *out = (clt_run_folder){.path = final, .lock_fd = lock_fd};
  final = NULL;
done:
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
