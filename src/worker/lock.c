#include "worker/pool.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "base/hash.h"

#define GATE_BYTE 0
#define DEVICE_BYTE 1
#define SAY_AFTER_S 1.0

/* Writes "1234 1700000000 clatune tune x.json" and a newline: process, time, command. Control characters become
 * spaces, so that the line is one line. */
static void describe_holder(char *out, size_t capacity) {
  char command[128] = "";
  int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  ssize_t n = fd >= 0 ? read(fd, command, sizeof command - 1) : 0;
  if (fd >= 0) close(fd);
  for (ssize_t i = 0; i + 1 < n; i++)
    if ((unsigned char)command[i] <= ' ') command[i] = ' ';
  snprintf(out, capacity, "%ld %lld %s\n", (long)getpid(), (long long)time(NULL), command);
}

/* The file names the latest process that got the lock. If that is this process, another one that shares the lock has
 * held it for longer. A process that no longer exists, or belongs to another container, is not named either. */
const char *clt_lock_owner(char out[300], const clt_device_lock *lock) {
  char line[sizeof lock->holder + 1] = "", since[32] = "";
  long pid = 0;
  long long start = 0;
  int at = 0;
  ssize_t n = pread(lock->fd, line, sizeof line - 1, 0);
  line[strcspn(line, "\n")] = '\0';
  bool known = n > 0 && sscanf(line, "%ld %lld %n", &pid, &start, &at) == 2 && pid > 0 && pid != getpid() &&
               (kill((pid_t)pid, 0) == 0 || errno == EPERM);
  time_t when = (time_t)start;
  struct tm local;
  if (!known) return strcpy(out, "another tuner that uses the device");
  if (localtime_r(&when, &local)) strftime(since, sizeof since, "%Y-%m-%d %H:%M:%S", &local);
  snprintf(out, 300, "process %ld, which uses the device (%s, since %s)", pid, line + at, since);
  return out;
}

int clt_lock_open(clt_device_lock *out, const char *key, clt_error *error) {
  char *path = NULL, readable[24] = "";
  struct stat info;
  int fd = -1, rc = CLT_OK;
  *out = (clt_device_lock){.fd = -1};
  if (key == NULL) return CLT_OK;
  const char *runtime = getenv("XDG_RUNTIME_DIR");
  bool usable = runtime && *runtime && access(runtime, W_OK) == 0;
  char *folder = usable ? clt_format("%s/clatune", runtime) : clt_format("/tmp/clatune-%lld", (long long)geteuid());
  /* Keys come from drivers, so file names contain only a hash, after a readable beginning. */
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
    rc = clt_fail_errno(error, CLT_E_IO, "create the folder", folder);
  else if (lstat(folder, &info))
    rc = clt_fail_errno(error, CLT_E_IO, "check the owner of", folder);
  else if (!S_ISDIR(info.st_mode) || info.st_uid != geteuid())
    rc = clt_fail(error, CLT_E_IO, "'%s' is not a folder owned by you; remove it", folder);
  else if ((fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600)) < 0)
    rc = clt_fail_errno(error, CLT_E_IO, "open", path);
  else if (fstat(fd, &info) || !S_ISREG(info.st_mode) || info.st_uid != geteuid())
    rc = clt_fail(error, CLT_E_IO, "'%s' is not a regular file owned by you; remove it", path);
  if (rc && fd >= 0) close(fd);
  if (rc == CLT_OK) out->fd = fd;
  if (rc == CLT_OK) describe_holder(out->holder, sizeof out->holder);
  free(folder);
  free(path);
  return rc;
}

void clt_lock_close(clt_device_lock *lock) {
  if (lock->fd >= 0) close(lock->fd);
  *lock = (clt_device_lock){.fd = -1};
}

/* Locks of the open file, not of the process, so that an application does not lose them when it opens and closes
 * files. */
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
    /* If it cannot be written, waiting processes are not told the holder. */
    size_t n = lock->fd >= 0 && lock->state != CLT_UNLOCKED ? strlen(lock->holder) : 0;
    if (n > 0 && pwrite(lock->fd, lock->holder, n, 0) < 0) lock->holder[0] = '\0';
  }
  bool granted = lock->state == wanted;
  double now_s = clt_now_s();
  /* A longer gap since the last try was spent on other work, so it does not count as waiting. */
  if (lock->wait_s > 0 && lock->waited_s) *lock->waited_s += fmin(now_s - lock->counted_s, SAY_AFTER_S);
  lock->counted_s = now_s;
  if (granted)
    lock->wait_s = 0, lock->said = false;
  else if (lock->wait_s == 0)
    lock->wait_s = now_s;
  if (!granted && !lock->said && log && now_s - lock->wait_s > SAY_AFTER_S) {
    char owner[300];
    clt_log(log, log_user, CLT_LOG_INFO, CLT_LOCK_WAITS "%s", clt_lock_owner(owner, lock));
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
