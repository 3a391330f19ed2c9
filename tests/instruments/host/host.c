/* A library to preload (LD_PRELOAD) that makes the file system fail: full, broken, read-only; or the clock jump. It
 * comes before the C library's own functions, for files whose path contains a text. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

/* CLATUNE_HOST_FAULT: "full:BYTES:TEXT" (no space after so many bytes written), "eio:BYTES:TEXT" (the same, as an error
 * of the device), "read-only:0:TEXT"; or "jump:SECONDS:FILE" (the monotonic clock is ahead by so much for each byte of
 * the file). */
static struct {
  bool on, read_only, jumps;
  int error;
  long long bytes;
  char text[PATH_MAX];
} fault;
static atomic_llong written;

__attribute__((constructor)) static void describe(void) {
  char kind[16];
  const char *given = getenv("CLATUNE_HOST_FAULT");
  if (given == NULL || *given == '\0') return;
  if (sscanf(given, "%15[^:]:%lld:%4095s", kind, &fault.bytes, fault.text) != 3) goto wrong;
  fault.read_only = strcmp(kind, "read-only") == 0;
  fault.jumps = strcmp(kind, "jump") == 0;
  if (fault.jumps) return;
  fault.error = fault.read_only ? EROFS : strcmp(kind, "full") == 0 ? ENOSPC : strcmp(kind, "eio") == 0 ? EIO : 0;
  if (fault.error == 0) goto wrong;
  fault.on = true;
  return;
wrong:
  fprintf(stderr, "instrument: CLATUNE_HOST_FAULT cannot be '%s'\n", given);
  _exit(97);
}

static bool concerns_path(const char *path) { return fault.on && strstr(path, fault.text) != NULL; }

static bool concerns(int fd) {
  char link[64], path[PATH_MAX];
  if (!fault.on || fault.read_only) return false;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t n = readlink(link, path, sizeof path - 1);
  if (n <= 0) return false;
  path[n] = '\0';
  return concerns_path(path);
}

/* Whether there is no space for n more bytes. */
static bool refuses(int fd, size_t n) {
  if (!concerns(fd)) return false;
  if (atomic_fetch_add(&written, (long long)n) + (long long)n <= fault.bytes) return false;
  errno = fault.error;
  return true;
}

#define NEXT(name) ((__typeof__(&name))(uintptr_t)dlsym(RTLD_NEXT, #name))

EXPORTED ssize_t write(int fd, const void *bytes, size_t n) { return refuses(fd, n) ? -1 : NEXT(write)(fd, bytes, n); }

EXPORTED ssize_t pwrite(int fd, const void *bytes, size_t n, off_t at) {
  return refuses(fd, n) ? -1 : NEXT(pwrite)(fd, bytes, n, at);
}

EXPORTED ssize_t pwrite64(int fd, const void *bytes, size_t n, off64_t at) {
  return refuses(fd, n) ? -1 : NEXT(pwrite64)(fd, bytes, n, at);
}

EXPORTED int clock_gettime(clockid_t clock, struct timespec *out) {
  struct stat file;
  const int rc = (int)syscall(SYS_clock_gettime, clock, out);
  if (rc == 0 && fault.jumps && clock == CLOCK_MONOTONIC && stat(fault.text, &file) == 0)
    out->tv_sec += fault.bytes * file.st_size;
  return rc;
}

EXPORTED int statvfs64(const char *path, struct statvfs64 *out) {
  const int rc = NEXT(statvfs64)(path, out);
  if (rc == 0 && fault.error == ENOSPC && concerns_path(path)) out->f_bavail = 0;
  return rc;
}

/* Data for which there is no space cannot be synchronised either. */
static bool sync_fails(int fd) {
  if (!concerns(fd) || fault.error != EIO || atomic_load(&written) <= fault.bytes) return false;
  errno = EIO;
  return true;
}

EXPORTED int fsync(int fd) { return sync_fails(fd) ? -1 : NEXT(fsync)(fd); }
EXPORTED int fdatasync(int fd) { return sync_fails(fd) ? -1 : NEXT(fdatasync)(fd); }

static bool may_not_open(const char *path, int flags) {
  bool writes = (flags & O_ACCMODE) != O_RDONLY || (flags & O_CREAT);
  if (!fault.read_only || !writes || !concerns_path(path)) return false;
  errno = EROFS;
  return true;
}

#define OPEN(name)                                            \
  EXPORTED int name(const char *path, int flags, ...) {       \
    mode_t mode = 0;                                          \
    va_list arguments;                                        \
    va_start(arguments, flags);                               \
    if (flags & O_CREAT) mode = va_arg(arguments, mode_t);    \
    va_end(arguments);                                        \
    return may_not_open(path, flags) ? -1 : NEXT(name)(path, flags, mode); \
  }
OPEN(open)
OPEN(open64)

EXPORTED int mkdir(const char *path, mode_t mode) {
  if (!fault.read_only || !concerns_path(path)) return NEXT(mkdir)(path, mode);
  errno = EROFS;
  return -1;
}
