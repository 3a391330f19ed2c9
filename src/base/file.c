#include "base/file.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdatomic.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <zlib.h>

#include "base/base.h"
#include "base/hash.h"

#define CHUNK_BYTES (64 << 10)
#define MOST_PACKED 100 /* the largest compression ratio: recordings reach 10 to 20, decompression bombs 1,000 */
#define LEAST_SPACE_BYTES 65536
#define MOST_OPEN 32 /* descriptors of nftw while a tree is removed */

/* Reads n bytes, or fewer at the end of the file. Returns their number; -1: failure. */
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

int clt_file_open(int *out, size_t *bytes, const char *path, clt_error *error) {
  struct stat status;
  int rc = CLT_OK, fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return clt_fail_errno(error, CLT_E_IO, "open", path);
  if (fstat(fd, &status) != 0)
    rc = clt_fail_errno(error, CLT_E_IO, "read", path);
  else if (!S_ISREG(status.st_mode))
    rc = clt_fail(error, CLT_E_IO, "cannot read '%s': not a regular file", path);
  if (rc) {
    close(fd);
    return rc;
  }
  if (bytes) *bytes = (size_t)status.st_size;
  *out = fd;
  return CLT_OK;
}

int clt_file_size(size_t *bytes, const char *path, clt_error *error) {
  int fd, rc = clt_file_open(&fd, bytes, path, error);
  if (rc == CLT_OK) close(fd);
  return rc;
}

int clt_file_read_start(void *out, size_t *n, const char *path, clt_error *error) {
  int fd, rc = clt_file_open(&fd, NULL, path, error);
  if (rc) return rc;
  ssize_t got = read_all(fd, out, *n);
  if (got < 0) rc = clt_fail_errno(error, CLT_E_IO, "read", path);
  *n = got < 0 ? 0 : (size_t)got;
  close(fd);
  return rc;
}

static int open_to_read(int *out, size_t *bytes, const char *path, size_t max_bytes, clt_error *error) {
  int rc = clt_file_open(out, bytes, path, error);
  if (rc || *bytes <= max_bytes) return rc;
  close(*out);
  return clt_fail(error, CLT_E_RANGE, "cannot read '%s': larger than %zu bytes", path, max_bytes);
}

int clt_file_read(char **out, size_t *n, const char *path, size_t max_bytes, clt_error *error) {
  char *bytes = NULL;
  size_t size;
  ssize_t length;
  int fd, rc = open_to_read(&fd, &size, path, max_bytes, error);
  if (rc) return rc;
  if ((bytes = malloc(size + 1)) == NULL) {
    rc = clt_fail_memory(error);
  } else if ((length = read_all(fd, bytes, size)) < 0) {
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

int clt_file_read_packed(clt_text *out, const char *path, size_t max_bytes, clt_error *error) {
  clt_text text = {0};
  size_t size;
  int fd, rc = open_to_read(&fd, &size, path, max_bytes, error);
  if (rc) return rc;
  gzFile file = gzdopen(fd, "rb");
  if (file == NULL) {
    close(fd);
    return clt_fail_memory(error);
  }
  gzbuffer(file, CHUNK_BYTES);
  char *chunk = malloc(CHUNK_BYTES);
  if (chunk == NULL) rc = clt_fail_memory(error);
  for (int n = 1; rc == CLT_OK && n > 0;) {
    int code = Z_OK;
    n = gzread(file, chunk, CHUNK_BYTES);
    const char *why = n <= 0 ? gzerror(file, &code) : NULL; /* a file that was cut off ends without bytes */
    if (why && clt_starts_with(why, "<fd:") && strstr(why, ": ")) why = strstr(why, ": ") + 2; /* zlib's own name */
    if (n < 0 || code != Z_OK) {
      rc = code == Z_ERRNO ? clt_fail_errno(error, CLT_E_IO, "read", path)
                           : clt_fail(error, CLT_E_FORMAT, "cannot unpack '%s': %s", path, why);
    } else {
      clt_text_add_bytes(&text, chunk, (size_t)n);
      if (text.rc) rc = clt_fail_memory(error);
      if (text.n > max_bytes)
        rc = clt_fail(error, CLT_E_RANGE, "cannot read '%s': larger than %zu bytes", path, max_bytes);
      if (text.n > CHUNK_BYTES && text.n / MOST_PACKED > size)
        rc = clt_fail(error, CLT_E_RANGE,
                      "'%s' unpacks to more than %d times its size; if you trust it, unpack it first", path,
                      MOST_PACKED);
    }
  }
  free(chunk);
  gzclose(file);
  if (rc)
    clt_text_release(&text);
  else
    *out = text;
  return rc;
}

uint64_t clt_file_version(const char *path) {
  struct stat s;
  if (stat(path, &s)) return 0;
  const int64_t parts[] = {s.st_dev, s.st_ino, s.st_size, s.st_mtim.tv_sec, s.st_mtim.tv_nsec};
  return clt_hash64(parts, sizeof parts);
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

/* --- replacing --- */

/* The descriptor behind a path such as /dev/stdout; -1: none. Opening the path again would start at the beginning of
 * the file and overwrite earlier output of this process. */
static int own_descriptor(const char *path) {
  int fd;
  char end;
  if (strcmp(path, "/dev/stdout") == 0) return STDOUT_FILENO;
  if (strcmp(path, "/dev/stderr") == 0) return STDERR_FILENO;
  bool named = sscanf(path, "/dev/fd/%d%c", &fd, &end) == 1 || sscanf(path, "/proc/self/fd/%d%c", &fd, &end) == 1;
  return named ? fd : -1;
}

bool clt_file_is_special(const char *path) {
  struct stat status;
  return own_descriptor(path) >= 0 ||
         (stat(path, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode));
}

/* The name is made here instead of with mkstemp, because mkstemp creates files with mode 0600, and the umask can only
 * be read by changing it. */
int clt_file_replace_open(clt_replacement *out, const char *path, clt_error *error) {
  static atomic_uint n_made;
  struct stat status;
  int own = own_descriptor(path);
  bool direct = clt_file_is_special(path), exists = direct || stat(path, &status) == 0;
  *out = (clt_replacement){.fd = -1};
  out->path = exists && !direct ? realpath(path, NULL) : strdup(path);
  if (out->path == NULL && errno == ENOMEM) return clt_fail_memory(error);
  if (out->path == NULL) return clt_fail_errno(error, CLT_E_IO, "create", path);
  if (own >= 0) {
    fflush(stdout);
    out->fd = fcntl(own, F_DUPFD_CLOEXEC, 0);
  } else if (direct) {
    out->fd = open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
  } else if (exists && S_ISDIR(status.st_mode)) {
    errno = EISDIR;
  } else {
    for (int attempt = 0; attempt < 100; attempt++) {
      out->beside = clt_format("%s.%lx-%x", out->path, (unsigned long)getpid(), atomic_fetch_add(&n_made, 1));
      if (out->beside == NULL) break;
      out->fd = open(out->beside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
      if (out->fd >= 0 || errno != EEXIST) break;
      free(out->beside);
      out->beside = NULL;
    }
  }
  if (out->fd >= 0) return CLT_OK;
  int rc = clt_fail_errno(error, CLT_E_IO, "create", path);
  free(out->beside);
  out->beside = NULL;
  clt_file_replace_abort(out);
  return rc;
}

int clt_file_replace_commit(clt_replacement *r, clt_error *error) {
  int rc = CLT_OK;
  if (r->fd >= 0 && close(r->fd)) rc = clt_fail_errno(error, CLT_E_IO, "write", r->path);
  r->fd = -1;
  if (rc == CLT_OK && r->beside && rename(r->beside, r->path)) {
    rc = clt_fail_errno(error, CLT_E_IO, "replace", r->path);
  } else if (rc == CLT_OK) {
    free(r->beside);
    r->beside = NULL;
  }
  clt_file_replace_abort(r);
  return rc;
}

void clt_file_replace_abort(clt_replacement *r) {
  if (r->fd >= 0) close(r->fd);
  if (r->beside) unlink(r->beside);
  free(r->beside);
  free(r->path);
  *r = (clt_replacement){.fd = -1};
}

int clt_file_replace(const char *path, const void *bytes, size_t n, clt_error *error) {
  clt_replacement r;
  int rc = clt_file_replace_open(&r, path, error);
  if (rc) return rc;
  if (write_all(r.fd, bytes, n)) {
    rc = clt_fail_errno(error, CLT_E_IO, "write", path);
    clt_file_replace_abort(&r);
    return rc;
  }
  return clt_file_replace_commit(&r, error);
}

int clt_check_space(const char *words, const char *folder, const char *what, clt_error *error) {
  struct statvfs disk;
  const bool said = words && (strcasestr(words, "no space left") || strcasestr(words, strerror(ENOSPC)) ||
                              strcasestr(words, strerror(EDQUOT)));
  const bool full =
      statvfs(folder, &disk) == 0 && disk.f_blocks > 0 && disk.f_bavail * disk.f_frsize < LEAST_SPACE_BYTES;
  if (!said && !full) return CLT_OK;
  return clt_fail(error, CLT_E_IO,
                  "%s: no space left in '%s'; free some, or set TMPDIR or XDG_CACHE_HOME to a folder on another disk, "
                  "then run the same command to continue",
                  what, folder);
}

/* --- folders and paths --- */

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
  char *folder = slash ? strndup(path, slash > path ? (size_t)(slash - path) : 1) : strdup(".");
  if (folder == NULL) return NULL;
  char *absolute = realpath(folder, NULL);
  if (absolute == NULL) return folder;
  free(folder);
  return absolute;
}

char *clt_path_join(const char *folder, const char *path) {
  return path[0] == '/' ? strdup(path) : clt_format("%s/%s", folder, path);
}

const char *clt_temporary_folder(void) {
  const char *folder = getenv("TMPDIR");
  return folder && *folder ? folder : "/tmp";
}

static int remove_below(const char *path, const struct stat *status, int kind, struct FTW *at) {
  (void)status, (void)kind;
  if (at->level > 0) remove(path);
  return 0;
}

void clt_remove_tree(const char *path, bool keep_top) {
  nftw(path, remove_below, MOST_OPEN, FTW_DEPTH | FTW_PHYS);
  if (!keep_top) rmdir(path);
}

/* Finds a file relative to the folder of `file`, whose path it frees. */
static char *find_beside(char *file, const char *const *names, int mode) {
  char *found = NULL, *slash = file ? strrchr(file, '/') : NULL;
  if (slash) *slash = '\0';
  for (size_t i = 0; slash && found == NULL && names[i]; i++) {
    found = clt_format("%s/%s", file, names[i]);
    if (found == NULL || access(found, mode) == 0) continue;
    free(found);
    found = NULL;
  }
  free(file);
  return found;
}

char *clt_find_near_program(const char *const *names, int mode) {
  char path[PATH_MAX];
  ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
  if (n <= 0) return NULL;
  path[n] = '\0';
  char *found = find_beside(strdup(path), names, mode), *slash = strrchr(path, '/');
  if (found || slash == NULL) return found;
  *slash = '\0';
  return clt_ends_with(path, "/clatune") ? find_beside(clt_format("%s/" CLATUNE_COMMANDS "/.", path), names, mode)
                                         : NULL;
}

char *clt_find_near_library(const char *const *names, int mode) {
  static const char here = 0; /* an object of the same file */
  Dl_info info;
  if (dladdr(&here, &info) == 0 || info.dli_fname == NULL || strchr(info.dli_fname, '/') == NULL) return NULL;
  return find_beside(realpath(info.dli_fname, NULL), names, mode);
}

char *clt_find_near(const char *const *names, int mode) {
  char *found = clt_find_near_program(names, mode);
  return found ? found : clt_find_near_library(names, mode);
}

/* --- run folders: removing those of dead runs --- */

#define PREFIX "clatune-"
#define ALPHANUMERIC "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define RANDOM_CHARACTERS 6 /* mkdtemp's */

/* Whether a folder has this host's marker and its lock is free. A run takes the lock before it writes the marker, and
 * holds it until the folder is removed. */
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

/* Only folders whose name has exactly the form of a run folder, and which have the marker. */
static void remove_dead_runs(const char *parent, const char *marker) {
  DIR *listing = opendir(parent);
  if (listing == NULL) return;
  for (struct dirent *entry; (entry = readdir(listing));) {
    const char *random = entry->d_name + strlen(PREFIX);
    if (!clt_starts_with(entry->d_name, PREFIX) || strspn(random, ALPHANUMERIC) != RANDOM_CHARACTERS ||
        random[RANDOM_CHARACTERS])
      continue;
    char *path = clt_format("%s/%s", parent, entry->d_name), *lock = clt_format("%s/lock", path ? path : "");
    struct stat info;
    bool ours = path && lock && lstat(path, &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == geteuid();
    if (ours && is_dead(lock, marker)) clt_remove_tree(path, false);
    free(lock);
    free(path);
  }
  closedir(listing);
}

/* --- the folder of this run --- */

int clt_run_folder_new(clt_run_folder *out, clt_error *error) {
  const char *parent = clt_temporary_folder();
  char host[HOST_NAME_MAX + 1] = "";
  gethostname(host, sizeof host - 1);
  /* The text in the lock file. On file systems that do not share locks between hosts, the folder of another host would
   * look dead; and folders without this text are not runs, whatever their name. */
  char *path = clt_format("%s/" PREFIX "XXXXXX", parent), *marker = clt_format("clatune run on %s\n", host);
  int fd = -1, rc = path && marker ? CLT_OK : clt_fail_memory(error);
  if (rc == CLT_OK) remove_dead_runs(parent, marker);
  const bool made = rc == CLT_OK && mkdtemp(path);
  if (rc == CLT_OK && !made) rc = clt_fail_errno(error, CLT_E_IO, "make the folder", path);
  char *lock = made ? clt_format("%s/lock", path) : NULL;
  if (made && lock == NULL) rc = clt_fail_memory(error);
  if (lock) fd = open(lock, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (lock && (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) || write(fd, marker, strlen(marker)) != (ssize_t)strlen(marker)))
    rc = clt_fail_errno(error, CLT_E_IO, "lock", lock);
  free(lock);
  free(marker);
  if (rc == CLT_OK) {
    *out = (clt_run_folder){.path = path, .lock_fd = fd};
    return CLT_OK;
  }
  if (fd >= 0) close(fd);
  if (made) clt_remove_tree(path, false);
  free(path);
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
