#include "worker/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/hash.h"
#include "base/memory.h"

#define GATE_BYTE 0
#define DEVICE_BYTE 1
#define SAY_AFTER_S 1.0

int clt_lock_open(clt_device_lock *out, const char *key, clt_error *error) {
  char *path = NULL, readable[24] = "";
  struct stat info;
  int fd = -1, rc = CLT_OK;
  *out = (clt_device_lock){.fd = -1};
  if (key == NULL) return CLT_OK;
  const char *runtime = getenv("XDG_RUNTIME_DIR");
  bool usable = runtime && *runtime && access(runtime, W_OK) == 0;
  char *folder = usable ? clt_format("%s/clatune", runtime) : clt_format("/tmp/clatune-%lld", (long long)geteuid());
  /* Keys come from drivers: only a hash of them becomes a file name, with a readable beginning. */
  for (size_t i = 0; i + 1 < sizeof readable && key[i]; i++) {
    char c = key[i];
    bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
    readable[i] = plain ? c : '_';
  }
  if (folder)
    path = clt_format("%s/lock-%s-%016llx", folder, readable, (unsigned long long)clt_hash64(key, strlen(key)));
  if (path == NULL)
    rc = clt_fail_memory(error);
  else if (mkdir(folder, 0700) && errno != EEXIST)
    rc = clt_fail_errno(error, CLT_E_IO, "make the folder", folder);
  else if (lstat(folder, &info))
    rc = clt_fail_errno(error, CLT_E_IO, "look at", folder);
  else if (!S_ISDIR(info.st_mode) || info.st_uid != geteuid())
    rc = clt_fail(error, CLT_E_IO, "'%s' is not a folder of this user; remove it", folder);
  else if ((fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600)) < 0)
    rc = clt_fail_errno(error, CLT_E_IO, "open", path);
  else if (fstat(fd, &info) || !S_ISREG(info.st_mode) || info.st_uid != geteuid())
    rc = clt_fail(error, CLT_E_IO, "'%s' is not a file of this user; remove it", path);
  if (rc && fd >= 0) close(fd);
  if (rc == 0) out->fd = fd;
  free(folder);
  free(path);
  return rc;
}

void clt_lock_close(clt_device_lock *lock) {
  if (lock->fd >= 0) close(lock->fd);
  *lock = (clt_device_lock){.fd = -1};
}

/* Locks of the open file, not of the process: a host application that opens and closes files does not lose them. */
static bool set_byte(const clt_device_lock *lock, short type, off_t byte) {
  struct flock range = {.l_type = type, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
  return fcntl(lock->fd, F_OFD_SETLK, &range) == 0;
}

bool clt_lock_try(clt_device_lock *lock, clt_lock_state wanted, clt_log_fn log, void *log_user) {
  if (lock->fd < 0) lock->state = wanted;
  if (lock->state != wanted || lock->at_gate) {
    if (wanted != CLT_LOCK_EXCLUSIVE || !lock->at_gate) {
      if (lock->at_gate) set_byte(lock, F_UNLCK, GATE_BYTE);
      set_byte(lock, F_UNLCK, DEVICE_BYTE);
      lock->at_gate = false;
      lock->state = CLT_UNLOCKED;
    }
    if (wanted == CLT_LOCK_SHARED && set_byte(lock, F_RDLCK, GATE_BYTE)) {
      if (set_byte(lock, F_RDLCK, DEVICE_BYTE)) lock->state = CLT_LOCK_SHARED;
      set_byte(lock, F_UNLCK, GATE_BYTE);
    } else if (wanted == CLT_LOCK_EXCLUSIVE) {
      lock->at_gate = lock->at_gate || set_byte(lock, F_WRLCK, GATE_BYTE);
      if (lock->at_gate && set_byte(lock, F_WRLCK, DEVICE_BYTE)) {
        set_byte(lock, F_UNLCK, GATE_BYTE);
        lock->at_gate = false;
        lock->state = CLT_LOCK_EXCLUSIVE;
      }
    }
  }
  bool granted = lock->state == wanted;
  if (granted)
    lock->wait_s = 0, lock->said = false;
  else if (lock->wait_s == 0)
    lock->wait_s = clt_now_s();
  if (!granted && !lock->said && log && clt_now_s() - lock->wait_s > SAY_AFTER_S) {
    log(log_user, CLT_LOG_INFO, "waiting for another tuner that uses the device");
    lock->said = true;
  }
  return granted;
}

bool clt_lock_claim(const clt_device_lock *lock, uint64_t hash) {
  return lock->fd < 0 || set_byte(lock, F_WRLCK, (off_t)(hash >> 2)) || (errno != EAGAIN && errno != EACCES);
}

void clt_lock_disclaim(const clt_device_lock *lock, uint64_t hash) {
  if (lock->fd >= 0) set_byte(lock, F_UNLCK, (off_t)(hash >> 2));
}
