#include "worker/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/hash.h"
#include "base/memory.h"

#define GATE_BYTE 0
#define DEVICE_BYTE 1

static int check_folder(const char *path, clt_error *error) {
  struct stat info;
  if (mkdir(path, 0700) && errno != EEXIST) return clt_fail_errno(error, CLT_E_IO, "make the folder", path);
  if (lstat(path, &info)) return clt_fail_errno(error, CLT_E_IO, "look at", path);
  if (!S_ISDIR(info.st_mode) || info.st_uid != geteuid())
    return clt_fail(error, CLT_E_IO, "'%s' is not a folder of this user; remove it", path);
  return CLT_OK;
}

static int lock_folder(char **out, clt_error *error) {
  const char *runtime = getenv("XDG_RUNTIME_DIR");
  if (runtime && access(runtime, W_OK)) runtime = NULL;
  char *path =
      runtime && *runtime ? clt_format("%s/clatune", runtime) : clt_format("/tmp/clatune-%lld", (long long)geteuid());
  if (path == NULL) return clt_fail_memory(error);
  int rc = check_folder(path, error);
  if (rc) {
    free(path);
    return rc;
  }
  *out = path;
  return CLT_OK;
}

/* Keys come from drivers: only a hash of them becomes a file name, with a readable beginning. */
static char *lock_path(const char *folder, const char *key) {
  char readable[24] = "";
  for (size_t i = 0; i + 1 < sizeof readable && key[i]; i++) {
    char c = key[i];
    bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
    readable[i] = plain ? c : '_';
  }
  return clt_format("%s/lock-%s-%016llx", folder, readable, (unsigned long long)clt_hash64(key, strlen(key)));
}

static int open_file(int *out, const char *path, clt_error *error) {
  struct stat info;
  int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0) return clt_fail_errno(error, CLT_E_IO, "open", path);
  if (fstat(fd, &info) || !S_ISREG(info.st_mode) || info.st_uid != geteuid()) {
    close(fd);
    return clt_fail(error, CLT_E_IO, "'%s' is not a file of this user; remove it", path);
  }
  *out = fd;
  return CLT_OK;
}

int clt_lock_open(clt_lock *out, const char *key, clt_error *error) {
  *out = (clt_lock){.fd = -1};
  if (key == NULL) return CLT_OK;
  char *folder = NULL, *path = NULL;
  int rc = lock_folder(&folder, error);
  if (rc == 0) {
    path = lock_path(folder, key);
    rc = path ? open_file(&out->fd, path, error) : clt_fail_memory(error);
  }
  free(folder);
  free(path);
  return rc;
}

void clt_lock_close(clt_lock *lock) {
  if (lock->fd >= 0) close(lock->fd);
  *lock = (clt_lock){.fd = -1};
}

/* Locks of the open file, not of the process: a host application that opens and closes files does not lose them. */
static bool set(const clt_lock *lock, short type, off_t byte) {
  struct flock range = {.l_type = type, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
  return fcntl(lock->fd, F_OFD_SETLK, &range) == 0;
}

static bool leave(clt_lock *lock) {
  if (lock->at_gate) set(lock, F_UNLCK, GATE_BYTE);
  set(lock, F_UNLCK, DEVICE_BYTE);
  lock->at_gate = false;
  lock->state = CLT_UNLOCKED;
  return true;
}

static bool share(clt_lock *lock) {
  leave(lock);
  if (!set(lock, F_RDLCK, GATE_BYTE)) return false;
  bool shared = set(lock, F_RDLCK, DEVICE_BYTE);
  set(lock, F_UNLCK, GATE_BYTE);
  if (shared) lock->state = CLT_LOCK_SHARED;
  return shared;
}

static bool hold(clt_lock *lock) {
  if (!lock->at_gate) {
    leave(lock);
    lock->at_gate = set(lock, F_WRLCK, GATE_BYTE);
    if (!lock->at_gate) return false;
  }
  if (!set(lock, F_WRLCK, DEVICE_BYTE)) return false;
  set(lock, F_UNLCK, GATE_BYTE);
  lock->at_gate = false;
  lock->state = CLT_LOCK_EXCLUSIVE;
  return true;
}

bool clt_lock_try(clt_lock *lock, clt_lock_state wanted) {
  if (lock->fd < 0) lock->state = wanted;
  if (lock->state == wanted && !lock->at_gate) return true;
  switch (wanted) {
    case CLT_UNLOCKED: return leave(lock);
    case CLT_LOCK_SHARED: return share(lock);
    case CLT_LOCK_EXCLUSIVE: return hold(lock);
  }
  return false;
}
